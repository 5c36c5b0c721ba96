/* answer: an estimate from blocks, and what is learnt for it.
 *
 * A block that lists has the answer; in one that shares, it is the posterior's (model/posterior.h). An answer depends
 * on the content of the sketch alone: not on what is asked together, nor on what was asked before. */
#include <math.h>
#include <stddef.h>

#include "core/parallel.h"
#include "model/bounds.h"
#include "sketch/answer.h"

/* ---- what is learnt ---------------------------------------------------------------------------------------------- */

/* The place to keep it, which the first reader who needs one makes; NULL if there is no memory. */
static struct blocks_summary *summary_of(const lego_sketch *sketch)
{
    struct blocks_summary *_Atomic *place = &((lego_sketch *)(uintptr_t)sketch)->summary, *summary = *place,
                                   *none = NULL;
    if (summary) return summary;
    struct blocks_summary *made = sketch->allocator.alloc(sketch->allocator.context, sizeof *made);
    if (!made) return NULL;
    atomic_init(&made->state, SUMMARY_EMPTY);
    made->touched.n = 0;
    made->learnt.of = (struct hash){0, 0};
    if (atomic_compare_exchange_strong(place, &none, made)) return made;
    sketch->allocator.free(sketch->allocator.context, made, sizeof *made);
    return none; /* what another reader has made */
}

void summary_touch(struct blocks_summary *summary, const struct blocks *blocks, uint32_t block)
{
    uint32_t state = atomic_load_explicit(&summary->state, memory_order_relaxed);
    if (state == SUMMARY_EMPTY) return;
    bool kept = histogram_touch(&summary->histogram, blocks, block, &summary->touched);
    if (kept && summary->touched.n == 0) return; /* it is none that tells anything */
    atomic_store_explicit(&summary->state, kept ? SUMMARY_TOUCHED : SUMMARY_EMPTY, memory_order_relaxed);
}

/* Learns anew, if that is needed; false, and nothing is kept, if there is no memory for it. */
static bool summary_learn(struct blocks_summary *summary, const lego_sketch *sketch, bool touched)
{
    void *room = sketch->allocator.alloc(sketch->allocator.context, LEARN_BYTES);
    if (!room) return false;
    if (!touched || !histogram_again(&sketch->blocks, &summary->touched, &summary->histogram))
        histogram_scan(&sketch->blocks, &summary->histogram);
    summary->touched.n = 0;
    learn_from(&summary->histogram, &summary->learnt, room);
    sketch->allocator.free(sketch->allocator.context, room, LEARN_BYTES);
    return true;
}

/* One reader learns, and the others wait for it: a millisecond or two. NULL if there is no memory. */
const struct learnt *blocks_learnt(const lego_sketch *sketch)
{
    struct blocks_summary *summary = summary_of(sketch);
    if (!summary) return NULL;
    uint32_t state = atomic_load_explicit(&summary->state, memory_order_acquire);
    while (state != SUMMARY_READY) { /* hardly ever: readers write nothing */
        if (state == SUMMARY_BUSY) {
            parallel_yield();
            state = atomic_load_explicit(&summary->state, memory_order_acquire);
        } else if (atomic_compare_exchange_weak(&summary->state, &state, SUMMARY_BUSY)) {
            bool learnt = summary_learn(summary, sketch, state == SUMMARY_TOUCHED);
            atomic_store_explicit(&summary->state, learnt ? SUMMARY_READY : state, memory_order_release);
            return learnt ? &summary->learnt : NULL;
        }
    }
    return &summary->learnt;
}

void answering_start(struct answering *answering, const lego_sketch *sketch, const lego_asking *asking, double *slack)
{
    for (unsigned i = 0; slack && i < WIDTH_TRIPLES; i++) slack[i] = -1;
    answering->sketch = sketch;
    answering->slack = slack;
    answering->learnt = NULL;
    answering->absent = (float)(asking->absent / (1 - asking->absent));
    answering->relative = asking->relative;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* What others add to a cell, or to an entry, on average, if the stream is spread evenly. */
static double noise_of(const struct blocks *blocks, const struct reading *reading, unsigned value)
{
    bool cap = value == (step_lists(reading->step) ? 1 : 2);
    uint32_t sharers = cap && blocks->blocks > BLOCKS_A_CAP ? BLOCKS_A_CAP : cap ? blocks->blocks : 1;
    return fabs((double)blocks->total) * sharers / ((double)blocks->blocks * reading->width[value]);
}

static double slack_of(const struct blocks *blocks, const struct reading *reading)
{
    struct reads reads = {.rows = reading->values};
    for (unsigned i = 0; i < reading->values; i++) reads.noise[i] = noise_of(blocks, reading, i);
    return decode_slack(&reads);
}

/* The same of a block that shares. */
static double slack_shared(const struct answering *a, const struct reading *reading)
{
    unsigned triple = 0;
    if (!a->slack) return slack_of(&a->sketch->blocks, reading);
    for (unsigned k = 0; k < 3; k++)
        triple = triple * LEARN_WIDTHS + (unsigned)__builtin_ctz(reading->width[k]) - LEARN_NARROWEST;
    double *slack = &a->slack[triple];
    if (*slack < 0) *slack = slack_of(&a->sketch->blocks, reading);
    return *slack;
}

/* The least read and, for 95 % of the items, how far below it the count is at most. */
static lego_estimate answer_bounds(const struct reading *reading, double slack)
{
    int64_t upper = reading_upper(reading);
    return (lego_estimate){(double)upper, slack < (double)upper ? upper - (int64_t)slack : 0, upper};
}

/* A reading in the unit that was learnt; false if it is no multiple of it. */
static bool in_units(const struct learnt *learnt, const struct reading *reading, struct reading *units)
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
static lego_estimate answer_signed(const struct answering *a, const struct reading *reading,
                                   const struct weighing *weighing)
{
    struct weighing three[3] = {*weighing, {1, 0, 0.025f}, {1, 0, 0.975f}};
    double answer[3];
    struct reading units;
    in_units(a->learnt, reading, &units);
    posterior_signed(a->learnt, &units, a->absent, three, 3, answer);
    for (unsigned i = 0; i < 3; i++) answer[i] = fmax(fmin(answer[i] * (double)a->learnt->unit, 0x1p62), -0x1p62);
    return (lego_estimate){answer[0], (int64_t)fmin(answer[1], answer[0]), (int64_t)fmax(answer[2], answer[0])};
}

/* Of cells whose counts are all above 0. Who asks has mostly seen the item: it is not 0, unless it may be absent. */
static lego_estimate answer_alike(const struct answering *a, const struct reading *reading,
                                  const struct weighing *weighing)
{
    lego_estimate estimate = answer_bounds(reading, slack_shared(a, reading));
    struct reading units;
    if (!in_units(a->learnt, reading, &units)) return estimate; /* there is a count that no scan has met the like of */
    posterior_alike(a->learnt, &units, a->absent, weighing, 1, &estimate.value);
    estimate.value *= (double)a->learnt->unit;
    if ((double)estimate.lower > estimate.value) estimate.lower = (int64_t)estimate.value;
    return estimate;
}

/* Where no scanned block shares, but this one does, the reads are all that is known. */
static lego_estimate answer_unlearnt(const struct answering *a, const struct reading *reading)
{
    int64_t least = reading_upper(reading), most = reading->value[0];
    for (unsigned k = 1; k < 3; k++) most = reading->value[k] > most ? reading->value[k] : most;
    if (least >= 0) return answer_bounds(reading, slack_shared(a, reading));
    return (lego_estimate){(double)(most > 0 ? 0 : most), least, most};
}

static lego_estimate answer_shared(const struct answering *a, const struct reading *given)
{
    struct reading reading = *given;
    bool zero = false, wrong = false;
    if (!a->learnt->any) return answer_unlearnt(a, given);
    const int sign = a->learnt->sign;
    for (unsigned k = 0; k < 3; k++) {
        if (sign < 0) reading.value[k] = -reading.value[k];
        zero = zero || reading.value[k] == 0;
        wrong = wrong || reading.value[k] < 0;
    }
    struct weighing weighing = {(float)(1 - a->relative), (float)a->relative * a->learnt->worth, 0.5f};
    if (sign == 0 || wrong) return answer_signed(a, given, &weighing);
    if (zero) return (lego_estimate){0, 0, 0};
    lego_estimate e = answer_alike(a, &reading, &weighing);
    return sign > 0 ? e : (lego_estimate){0 - e.value, -e.upper, -e.lower};
}

/* Where there is no memory to learn in, it is done on the stack, for each item anew. */
static __attribute__((noinline)) lego_estimate answer_without_memory(const struct answering *a,
                                                                     const struct reading *reading)
{
    struct answering own = *a;
    struct learnt learnt;
    _Alignas(max_align_t) unsigned char room[LEARN_BYTES];
    learn(&a->sketch->blocks, &learnt, room);
    own.learnt = &learnt;
    return answer_shared(&own, reading);
}

lego_estimate answer_unsure(struct answering *a, const struct reading *reading)
{
    if (step_lists(reading->step)) return answer_bounds(reading, slack_of(&a->sketch->blocks, reading));
    if (!a->learnt) a->learnt = blocks_learnt(a->sketch);
    return a->learnt ? answer_shared(a, reading) : answer_without_memory(a, reading);
}

lego_estimate blocks_query(const lego_sketch *sketch, struct hash hash, const lego_asking *asking)
{
    struct answering answering;
    struct reading reading;
    blocks_read(&sketch->blocks, spot_of(sketch->blocks.blocks, hash), &reading);
    answering_start(&answering, sketch, asking, NULL);
    return answer(&answering, &reading);
}
