/* checkpoint: a run as bytes, to go on with later, and the model that comes out of it.
 *
 * | offset | size | field |                     (little-endian)
 * | 0      | 8    | LEGOTRAI                    |
 * | 8      | 4    | u32 version: 3              |
 * | 12     | 4    | u32 parameters: 5356        |
 * | 16     | 8    | u64 length of the file      |
 * | 24     | 16   | u64 seed, tasks             |
 * | 40     | 16   | u32 n_min, n_max, scouts, scout_n_min |
 * | 56     | 28   | f32 alpha_min, alpha_max, scale_min, scale_max, scout_alpha_max, rate, rate_table |
 * | 84     | 20   | u32 from_rule, fixed_table, no_norm, no_scan, plain_loss |
 * | 104    | 8    | u64 steps done              |
 * | 112    | 104  | u64 steps in the sums, 12 f64: sums of losses since the last line of the log |
 * | 216    | 4 each | f32 parameters, first and second moments, average |
 * | end - 8 | 8   | u64 XXH3-64 of all before   | */
#ifndef LEGO_TRAIN_CHECKPOINT_H
#define LEGO_TRAIN_CHECKPOINT_H

#include "train.h"

#include <stddef.h>

/* A run between two steps. The sums are those of its log, so that a run that was stopped writes the same log. */
struct run {
    struct recipe recipe;
    struct state state;
    uint64_t summed;   /* steps in `sums` */
    struct losses sums;
};

enum { CHECKPOINT_SIZE = 216 + 4 * 4 * TRAIN_PARAMETERS + 8 };

void checkpoint_write(const struct run *run, unsigned char bytes[CHECKPOINT_SIZE]);

/* NULL, or what is wrong with the bytes, in words that follow "FILE ". The run is changed only if all is well. */
const char *checkpoint_read(const unsigned char *bytes, size_t size, struct run *run);

/* What differs between a checkpoint's recipe and the one asked for, as "--seed 1, not 0"; false if nothing does. */
bool checkpoint_difference(const struct recipe *made, const struct recipe *asked, char *text, size_t size);

/* The model file of what was learnt. name: 1 to 15 of a-z 0-9 - and dot. Trained without the scan, its heads say 0 and
 * the networks always decode. Trained without normalisation it is of little use, since the library normalises. */
lego_status train_export(const struct recipe *recipe, const float parameters[TRAIN_PARAMETERS], const char *name,
                         lego_write write, void *context);

#endif
