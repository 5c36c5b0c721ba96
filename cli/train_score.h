/* How good networks are at the loads a brick may have, straight from a checkpoint: whatever ablation they were trained
 * with. */
#pragma once

#include "backend.h"
#include "checkpoint.h"
#include "paper.h"

/* Items of a brick: 100,000 in budgets of 3300, 1900, 1200, 600, 300 and 200 KB, bricks of 100 KB. */
enum { SCORE_LOADS = 6, SCORE_STEPS = 40 }; /* 320 tasks a load */
extern const uint32_t score_loads[SCORE_LOADS];

/* Mean errors over tasks of one load. */
typedef struct score {
    double rule_aae, aae, rule_are, are;
} score;

/* Over up to SCORE_STEPS steps; alpha of the tasks as in the run's recipe, or if it is not negative that one, with
 * scale 1. Says what goes wrong. */
bool train_score_load(const struct backend *backend, unsigned threads, const struct run *run, uint32_t load,
                      uint32_t steps, double alpha, score *result);

/* Prints a table; says what goes wrong. */
bool train_score(const struct backend *backend, unsigned threads, const char *checkpoint);
