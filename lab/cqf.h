/* What the test of the counting quotient filter sees of it. */
#pragma once

#include <stdint.h>

/* The slots that so many occurrences of a remainder of `width` bits, at least 2, take. */
unsigned cqf_length(uint64_t remainder, uint64_t count, unsigned width);

/* What was chosen for the stream. */
typedef struct cqf_shape {
    uint64_t slots;
    unsigned width; /* of a remainder, in bits */
} cqf_shape;
cqf_shape cqf_describe(const void *self);
