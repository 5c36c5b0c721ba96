/* ms_checkpoint: a run of the meta-sketch as bytes, to go on with later.
 *
 * | offset | size | field |                     (little-endian; head and tail: sealed.h)
 * | 0      | 24   | LEGOTRMS, version 1, 52,036 parameters, length |
 * | 24     | 16   | u64 seed, tasks             |
 * | 40     | 16   | u32 batch, n_min, n_max, log_scale |
 * | 56     | 48   | f64 alpha_min, alpha_max, scale_min, scale_max, rate, rate_end |
 * | 104    | 8    | u64 steps done              |
 * | 112    | 40   | u64 steps in the sums, 4 f64: sums of losses since the last line of the log |
 * | 152    | 4 each | f32 parameters, first and second moments |
 * |        | 8 each | f64 means and variances of batch norm    |
 * | end - 8 | 8   | checksum                    | */
#ifndef LEGO_TRAIN_MS_CHECKPOINT_H
#define LEGO_TRAIN_MS_CHECKPOINT_H

#include "ms_train.h"

/* A run between two steps, with the sums of its log. */
struct ms_run {
    struct ms_recipe recipe;
    struct ms_state state;
    uint64_t summed; /* steps in `sums` */
    struct ms_losses sums;
};

enum { MS_CHECKPOINT_SIZE = 152 + 3 * 4 * MS_PARAMETERS + 2 * 8 * MS_NORMED + 8 };

void ms_checkpoint_write(const struct ms_run *run, unsigned char bytes[MS_CHECKPOINT_SIZE]);

/* NULL, or what is wrong with the bytes, in words that follow "FILE ". The run is changed only if all is well. */
const char *ms_checkpoint_read(const unsigned char *bytes, size_t size, struct ms_run *run);

/* What differs between a checkpoint's recipe and the one asked for, as "--seed 1, not 0"; false if nothing does. */
bool ms_checkpoint_difference(const struct ms_recipe *made, const struct ms_recipe *asked, char *text, size_t size);

#endif
