/* What the test of the table of fingerprints sees of it. */
#pragma once

#include "legosketch.h"

#include <stdbool.h>

/* What was chosen for the stream, and whether an item found no room. */
typedef struct fingerprint_shape {
    uint64_t buckets;
    unsigned print_bits, count_bits;
    bool turned_away;
} fingerprint_shape;
fingerprint_shape fingerprint_describe(const void *self);

/* Settles with these widths, each from 1 to 32 bits, instead of the best. */
lego_status fingerprint_settle_at(void *self, unsigned print_bits, unsigned count_bits);
