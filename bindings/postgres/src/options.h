/* options: what a sketch is to be like, out of a function's arguments.
 *
 * SPDX-License-Identifier: MIT */
#ifndef LEGO_POSTGRES_OPTIONS_H
#define LEGO_POSTGRES_OPTIONS_H

#include "module.h"

/* The last arguments: that of number `budget`, and if there are two more, the seed and the model. */
lego_elastic_options options_read(FunctionCallInfo fcinfo, int budget);

#endif
