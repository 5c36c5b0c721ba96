/* compact_train: training of the networks of a compact model (src/compact.h), on the CPU, in minutes.
 *
 * A **task** is a stream in a dense sketch of 256 blocks, stored by the library itself, with 0.25 to 8 bytes a distinct
 * item; one in four has 64 blocks and 0.02 to 0.25 bytes, one in sixteen 1,200 items and 8 to 1,000 bytes for each. Its
 * counts are one of five kinds: Zipf (skewness 0.2 to 1.6, as they are or Poisson-sampled), log-normal, a flat body with a
 * heavy head, a geometric body with a Zipf head, and all equal. In one stream of eight all of them are multiples of a
 * number up to 1,000, and in one of sixteen an item is half of all or more. 512 items of it are asked: the 64 most
 * frequent, and others drawn at random, which stand for all the rest.
 *
 * The tasks are made once (8,000), for that takes most of the time, and drawn from in every **step**: 16 tasks, whose loss is
 *
 *     ln(AAE + 0.01) + 0.4 ln(ARE + 0.01)
 *
 * of each, so that every difficulty counts alike. 0.4: with 1 the absolute error at a byte a key was above the rule's.
 * Clipped at 1, Adam at a rate that falls linearly from 2e-3 to a fiftieth; the model is the average over the last tenth.
 * Outside [0, 1] the answer's h still has a slope of 0.01, or it could never come back.
 *
 * Everything random follows from the seed, and every sum has a fixed order: the same seed gives the same model with any
 * number of threads. */
#ifndef LEGO_TRAIN_COMPACT_TRAIN_H
#define LEGO_TRAIN_COMPACT_TRAIN_H

#include "legosketch.h"

#include <stdbool.h>

enum { COMPACT_TASKS = 8000, COMPACT_STEPS = 20000, COMPACT_BATCH = 16, COMPACT_ITEMS = 512 };

struct compact_recipe {
    uint64_t seed;
    uint32_t tasks, steps;
};

/* Means over the 16 tasks of a step. */
struct compact_losses {
    double total, aae, are, rule_aae, rule_are;
};

/* Trains; `report` is called now and then with tasks made or steps done, and may return false to stop. *weights is what was
 * learnt, to be freed, or NULL if the result is not COMPACT_DONE. */
typedef bool (*compact_report)(void *context, bool making, uint32_t done, const struct compact_losses *losses);
enum compact_result { COMPACT_DONE, COMPACT_STOPPED, COMPACT_NO_MEMORY, COMPACT_NOT_FINITE };
enum compact_result compact_train(const struct compact_recipe *recipe, unsigned threads, compact_report report, void *context,
                                  float **weights);

/* The model file. name: 1 to 15 of a-z 0-9 - and dot. */
lego_status compact_export(const float *weights, const char *name, lego_write write, void *context);

#endif
