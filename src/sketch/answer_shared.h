/* answer_shared: an estimate from a reading and what was learnt: functions of their arguments alone, on a CPU and on a
 * GPU. */
#pragma once

#include <math.h>

#include "model/posterior.h"

/* As a question is meant. */
struct asked_as {
    float absent; /* the odds that an item never came */
    double relative;
};

static inline struct asked_as asked_as_of(const lego_asking *asking)
{
    struct asked_as as = {(float)(asking->absent / (1 - asking->absent)), 0.5};
    return as;
}

/* Slack, how far an upper bound is off, depends on the widths of the three cells of an item: which of all triples. */
enum { WIDTH_TRIPLES = LEARN_WIDTHS * LEARN_WIDTHS * LEARN_WIDTHS };

static inline unsigned width_triple(const struct reading *reading)
{
    unsigned triple = 0;
    for (unsigned k = 0; k < 3; k++)
        triple = triple * LEARN_WIDTHS + (unsigned)__builtin_ctz(reading->width[k]) - LEARN_NARROWEST;
    return triple;
}

/* Of a list, whether its entry, or what the cap says if that is less, is the count for at least 95 % of the items:
 * fewer than one of twenty can share its print. */
static inline bool answer_is_listed(const struct reading *reading)
{
    return step_lists(reading->step) &&
           (reading_upper(reading) <= 0 || 20 * (uint64_t)reading->entries < reading->width[0]);
}

static inline lego_estimate answer_listed(const struct reading *reading)
{
    int64_t upper = reading_upper(reading);
    return (lego_estimate){(double)upper, upper, upper, upper};
}

/* The least read and, for 95 % of the items, how far below it the count is at most. */
static inline lego_estimate answer_bounds(const struct reading *reading, double slack)
{
    int64_t upper = reading_upper(reading);
    return (lego_estimate){(double)upper, slack < (double)upper ? upper - (int64_t)slack : 0, upper, upper};
}

/* A reading in the unit that was learnt; false if it is no multiple of it. */
static inline bool in_units(const struct learnt *learnt, const struct reading *reading, struct reading *units)
{
    bool whole = true;
    *units = *reading;
    for (unsigned k = 0; k < 3 && learnt->unit > 1; k++) {
        units->value[k] = reading->value[k] / learnt->unit;
        whole = whole && reading->value[k] % learnt->unit == 0;
    }
    return whole;
}

/* Where counts of both signs share cells, these are no bounds: what 95 % of the weight is between is given instead. */
static inline lego_estimate answer_signed(const struct learnt *learnt, const struct reading *reading, float absent,
                                          const struct weighing *weighing)
{
    struct weighing three[3] = {*weighing, {1, 0, 0.025f}, {1, 0, 0.975f}};
    double answer[3];
    struct reading units;
    in_units(learnt, reading, &units);
    posterior_signed(learnt, &units, absent, three, 3, answer);
    for (unsigned i = 0; i < 3; i++) answer[i] = fmax(fmin(answer[i] * (double)learnt->unit, 0x1p62), -0x1p62);
    return (lego_estimate){answer[0], (int64_t)fmin(answer[1], answer[0]), (int64_t)fmax(answer[2], answer[0]), 0};
}

/* Of cells whose counts are all above 0. Who asks has mostly seen the item: it is not 0, unless it may be absent. */
static inline lego_estimate answer_alike(const struct learnt *learnt, const struct reading *reading, float absent,
                                         const struct weighing *weighing, double slack)
{
    lego_estimate estimate = answer_bounds(reading, slack);
    struct reading units;
    if (!in_units(learnt, reading, &units)) return estimate; /* there is a count that no scan has met the like of */
    posterior_alike(learnt, &units, absent, weighing, 1, &estimate.value);
    estimate.value *= (double)learnt->unit;
    if ((double)estimate.lower > estimate.value) estimate.lower = (int64_t)estimate.value;
    return estimate;
}

/* Where no scanned block shares, but this one does, the reads are all that is known. */
static inline lego_estimate answer_unlearnt(const struct reading *reading, double slack)
{
    int64_t least = reading_upper(reading), most = reading->value[0];
    for (unsigned k = 1; k < 3; k++) most = reading->value[k] > most ? reading->value[k] : most;
    if (least >= 0) return answer_bounds(reading, slack);
    return (lego_estimate){(double)(most > 0 ? 0 : most), least, most, most};
}

/* Of a block that shares. */
static inline lego_estimate answer_shared(const struct learnt *learnt, const struct reading *given, struct asked_as as,
                                          double slack)
{
    struct reading reading = *given;
    bool zero = false, wrong = false;
    if (!learnt->any) return answer_unlearnt(given, slack);
    const int sign = learnt->sign;
    for (unsigned k = 0; k < 3; k++) {
        if (sign < 0) reading.value[k] = -reading.value[k];
        zero = zero || reading.value[k] == 0;
        wrong = wrong || reading.value[k] < 0;
    }
    struct weighing weighing = {(float)(1 - as.relative), (float)as.relative * learnt->worth, 0.5f};
    if (sign == 0 || wrong) return answer_signed(learnt, given, as.absent, &weighing);
    if (zero) return (lego_estimate){0, 0, 0, 0};
    lego_estimate e = answer_alike(learnt, &reading, as.absent, &weighing, slack);
    return sign > 0 ? e : (lego_estimate){0 - e.value, -e.upper, -e.lower, 0};
}
