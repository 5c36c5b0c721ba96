/* checkpoint: a run as bytes, to go on with later. One format for all nets.
 *
 * | offset | size | field |                     (little-endian)
 * | 0      | 8    | LEGOTRAI                            |
 * | 8      | 4    | u32 version: 6                      |
 * | 12     | 4    | u32 net: 0 paper, 1 ms              |
 * | 16     | 8    | u64 length of the file              |
 * | 24     | 8 each | fields of the recipe, in the order of recipe_fields: u64, or f64 of those that are no integers |
 * | 208    | 8    | u64 steps done                      |
 * | 216    | 8    | u64 steps in the sums               |
 * | 224    | 96   | 12 f64: sums of losses since the last line of the log |
 * | 320    | 4 each | f32 parameters, first and second moments, average |
 * |        | 8 each | f64 statistics                    |
 * | end - 8 | 8   | u64 XXH3-64 of all before           | */
#pragma once

#include "train.h"

/* A run between two steps. The sums are those of its log, so that a run that was stopped writes the same log. */
struct run {
    struct recipe recipe;
    struct state state;
    uint64_t summed; /* steps in `sums` */
    double sums[NET_LOSSES];
};

enum {
    CHECKPOINT_PARAMETERS = 24 + 8 * (RECIPE_FIELDS + 2 + NET_LOSSES),
    CHECKPOINT_MOST = CHECKPOINT_PARAMETERS + 16 * NET_PARAMETERS + 8 * NET_STATISTICS + 8
};

/* Returns how many bytes there are. */
size_t checkpoint_write(const struct run *run, unsigned char bytes[CHECKPOINT_MOST]);

/* NULL, or what is wrong with the bytes, in words that follow "FILE ". The run is changed only if all is well. */
const char *checkpoint_read(const unsigned char *bytes, size_t size, struct run *run);
