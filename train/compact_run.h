/* compact_run: training of the networks of a compact model (src/model/compact.h), on the CPU, in minutes.
 *
 * A **task** is a stream in 8 to 64 blocks, stored by the library itself, with 0.25 to 2 bytes a distinct item; in
 * one of six 0.02 to 0.25. Streams of which all blocks still list are drawn again. Its counts are one of six kinds:
 * Zipf (skewness 0.2 to 1.6, as they are or Poisson-sampled), log-normal, the same with the tail of a power law, a
 * flat body with a heavy head, a geometric body with a Zipf head, and all equal. In one stream of eight all of them
 * are multiples of a number up to 1,000, and in one of sixteen an item is half of all or more. 512 items of it are
 * asked: the 64 most frequent, and others drawn at random, which stand for all the rest. Those in blocks that list
 * count in the errors; the networks can do nothing about them.
 *
 * The 16,000 tasks of the pool are drawn from in every **step**, and made when they are drawn first, for that takes
 * most of the time: 16 tasks, whose loss is
 *
 *     ln(AAE + 0.01) + (0.29 + 0.15 ln(1 + ARE of the rule)) ln(ARE + 0.01)
 *
 * of each, so that every difficulty counts alike; ARE is worth more where it is crowded.
 * Clipped at 1, Adam at a rate that falls linearly from 2e-3 to a fiftieth; the model is the average over the last
 * tenth. Outside [0, 1] the answer's h still has a slope of 0.01, or it could never come back.
 *
 * Everything random follows from the seed, and every sum has a fixed order: the same seed gives the same model with any
 * number of threads.
 *
 *     compact_net.h    the networks, forward and backward      compact_tasks.c   tasks, from the number in the pool
 *     compact_run.c    recipe, first weights, steps, model */
#pragma once

#include "model/compact.h"
#include "train.h"

enum { COMPACT_BATCH = 16, COMPACT_ITEMS = 512 };

/* Means over the 16 tasks of a step. */
struct compact_losses {
    double total, aae, are, rule_aae, rule_are;
};

/* What a task is asked: what the networks see of each item, its least read, its count, what part it is of all. */
struct compact_task {
    struct compact_view view;
    float reads[COMPACT_READS][COMPACT_ITEMS], least[COMPACT_ITEMS], count[COMPACT_ITEMS], part[COMPACT_ITEMS];
    bool shares[COMPACT_ITEMS]; /* or it is in a list */
};

/* Makes the task of this number in the pool; false if there is not enough memory. */
bool compact_task_make(const struct recipe *recipe, uint32_t number, struct compact_task *task);
