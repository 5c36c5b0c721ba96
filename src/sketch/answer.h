/* answer: what questions share that are answered one after the other. */
#pragma once

#include "sketch/answer_shared.h"
#include "sketch/sketch.h"

struct answering {
    const lego_sketch *sketch;
    double *slack;               /* by widths, below 0 if it is not known yet; NULL if there are few questions */
    const struct learnt *learnt; /* NULL until it is needed */
    struct asked_as as;
};

/* slack: room for WIDTH_TRIPLES, or NULL. */
void answering_start(struct answering *answering, const lego_sketch *sketch, const lego_asking *asking, double *slack);

/* Of a list whose entry may be others', and of shared cells. */
lego_estimate answer_unsure(struct answering *answering, const struct reading *reading);

static inline lego_estimate answer(struct answering *answering, const struct reading *reading)
{
    return answer_is_listed(reading) ? answer_listed(reading) : answer_unsure(answering, reading);
}

/* How far the least read is above the count, for 95 % of the items. */
double slack_of(const struct blocks *blocks, const struct reading *reading);
