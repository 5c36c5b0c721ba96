/* posterior, where counts of both signs share cells. */
#define POSTERIOR_SIGNED posterior_signed
#include "model/posterior_signed_body.h"
