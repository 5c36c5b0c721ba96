/* answer: what questions share that are answered one after the other. */
#pragma once

#include "sketch/sketch.h"

enum { WIDTH_TRIPLES = LEARN_WIDTHS * LEARN_WIDTHS * LEARN_WIDTHS };

struct answering {
    const lego_sketch *sketch;
    double *slack;               /* by widths, below 0 if it is not known yet; NULL if there are few questions */
    const struct learnt *learnt; /* NULL until it is needed */
    float absent;                /* the odds that an item never came */
    double relative;
};

/* slack: room for WIDTH_TRIPLES, or NULL. */
void answering_start(struct answering *answering, const lego_sketch *sketch, const lego_asking *asking, double *slack);

/* Of a list whose entry may be others', and of shared cells. */
lego_estimate answer_unsure(struct answering *answering, const struct reading *reading);

/* Of a list: its entry, or what the cap says if that is less. Where fewer than one item of twenty can share its
 * print, that is the count for at least 95 % of the items: all three are the same. */
static inline lego_estimate answer(struct answering *answering, const struct reading *reading)
{
    int64_t upper = reading_upper(reading);
    if (step_lists(reading->step) && (upper <= 0 || 20 * (uint64_t)reading->entries < reading->width[0]))
        return (lego_estimate){(double)upper, upper, upper};
    return answer_unsure(answering, reading);
}
