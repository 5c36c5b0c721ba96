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

void blocks_change(lego_sketch *sketch, struct hash hash)
{
    struct blocks_summary *summary = atomic_load_explicit(&sketch->summary, memory_order_relaxed);
    if (!summary || atomic_load_explicit(&summary->state, memory_order_relaxed) == SUMMARY_EMPTY) return;
    const uint32_t block = spot_of(sketch->blocks.blocks, hash).block;
    bool kept = histogram_touch(&summary->histogram, &sketch->blocks, block, &summary->touched);
    if (kept && summary->touched.n == 0) return; /* it is none that tells anything */
    atomic_store_explicit(&summary->state, kept ? SUMMARY_TOUCHED : SUMMARY_EMPTY, memory_order_relaxed);
}

/* A few may all be of blocks that tell nothing, or of the same that do. */
void blocks_change_items(lego_sketch *sketch, const lego_items *items)
{
    enum { FEW = 64 };
    if (items->n > FEW) blocks_changed(sketch);
    for (size_t i = 0; sketch->summary && i < items->n && items->n <= FEW; i++)
        blocks_change(sketch, items_hash(items, i, sketch->seed));
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
    answering->as = asked_as_of(asking);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* What others add to a cell, or to an entry, on average, if the stream is spread evenly. */
static double noise_of(const struct blocks *blocks, const struct reading *reading, unsigned value)
{
    bool cap = value == (step_lists(reading->step) ? 1 : 2);
    uint32_t sharers = cap && blocks->blocks > BLOCKS_A_CAP ? BLOCKS_A_CAP : cap ? blocks->blocks : 1;
    return fabs((double)blocks->total) * sharers / ((double)blocks->blocks * reading->width[value]);
}

double slack_of(const struct blocks *blocks, const struct reading *reading)
{
    struct reads reads = {.rows = reading->values};
    for (unsigned i = 0; i < reading->values; i++) reads.noise[i] = noise_of(blocks, reading, i);
    return decode_slack(&reads);
}

/* The same of a block that shares. */
static double slack_shared(const struct answering *a, const struct reading *reading)
{
    if (!a->slack) return slack_of(&a->sketch->blocks, reading);
    double *slack = &a->slack[width_triple(reading)];
    if (*slack < 0) *slack = slack_of(&a->sketch->blocks, reading);
    return *slack;
}

/* Where there is no memory to learn in, it is done on the stack, for each item anew. */
static __attribute__((noinline)) lego_estimate answer_without_memory(const struct answering *a,
                                                                     const struct reading *reading)
{
    struct learnt learnt;
    _Alignas(max_align_t) unsigned char room[LEARN_BYTES];
    learn(&a->sketch->blocks, &learnt, room);
    return answer_shared(&learnt, reading, a->as, slack_shared(a, reading));
}

lego_estimate answer_unsure(struct answering *a, const struct reading *reading)
{
    if (step_lists(reading->step)) return answer_bounds(reading, slack_of(&a->sketch->blocks, reading));
    if (!a->learnt) a->learnt = blocks_learnt(a->sketch);
    if (!a->learnt) return answer_without_memory(a, reading);
    return answer_shared(a->learnt, reading, a->as, slack_shared(a, reading));
}

lego_estimate blocks_query(const lego_sketch *sketch, struct hash hash, const lego_asking *asking)
{
    struct answering answering;
    struct reading reading;
    blocks_read(&sketch->blocks, spot_of(sketch->blocks.blocks, hash), &reading);
    answering_start(&answering, sketch, asking, NULL);
    return answer(&answering, &reading);
}
