/* query: item -> hash -> top, if the sketch keeps one -> blocks or bricks -> estimate. */
#include <math.h>

#include "core/parallel.h"
#include "sketch/sketch.h"

lego_estimate light_query(const lego_sketch *sketch, struct hash hash, const lego_asking *asking)
{
    return has_blocks(sketch->model) ? blocks_query(sketch, hash, asking) : bricks_query(&sketch->bricks, hash);
}

lego_estimate query_resident(const lego_sketch *sketch, const struct resident *one, const lego_asking *asking)
{
    int64_t votes = (int64_t)one->votes;
    lego_estimate estimate = {(double)votes, votes, votes, votes};
    if (!one->flagged) return estimate;
    unsigned char integer[8];
    size_t size;
    const void *item = top_item(&one->key, integer, &size);
    lego_asking rest = *asking;
    if (has_blocks(sketch->model)) rest.absent = LEGO_ABSENT; /* all of it may be here */
    lego_estimate light = light_query(sketch, hash_bytes(item, size, sketch->seed), &rest);
    estimate.lower += light.lower;
    estimate.upper += light.upper;
    estimate.likely += light.likely;
    /* Counts beyond 2^53 are rounded, and rounded again as a sum. */
    estimate.value = fmin(fmax(estimate.value + light.value, (double)estimate.lower), (double)estimate.likely);
    return estimate;
}

/* ---- one item ---------------------------------------------------------------------------------------------------- */

static lego_estimate query_item(const lego_sketch *sketch, struct hash hash, const void *item, size_t size,
                                const lego_asking *asking)
{
    struct resident one;
    if (has_top(sketch) && top_find(&sketch->top, hash, item, size, &one)) return query_resident(sketch, &one, asking);
    return light_query(sketch, hash, asking);
}

lego_status lego_query(const lego_sketch *sketch, const void *item, size_t size, lego_estimate *estimate)
{
    static const lego_asking asking = LEGO_ASKING_INIT;
    if (!item && size > 0) return LEGO_ERR_ARGUMENT;
    *estimate = query_item(sketch, hash_bytes(item, size, sketch->seed), item, size, &asking);
    return LEGO_OK;
}

lego_status lego_query_u64(const lego_sketch *sketch, uint64_t item, lego_estimate *estimate)
{
    static const lego_asking asking = LEGO_ASKING_INIT;
    unsigned char integer[8];
    size_t size = 0;
    const void *bytes = NULL; /* which only a top asks for */
    if (has_top(sketch)) bytes = items_bytes(&(lego_items){.n = 1, .integers = &item}, 0, integer, &size);
    *estimate = query_item(sketch, hash_u64(item, sketch->seed), bytes, size, &asking);
    return LEGO_OK;
}

/* ---- many items -------------------------------------------------------------------------------------------------- */

enum { MANY = 1 << 15 }; /* items, from which on other threads are asked */

struct question {
    const lego_sketch *sketch;
    const lego_items *items;
    const lego_asking *asking;
    lego_estimate *estimates;
};

static lego_status check_asking(const lego_sketch *sketch, const lego_asking *asking)
{
    bool valid = asking->absent >= 0 && asking->absent < 1;
    if (!valid) return LEGO_ERR_ARGUMENT; /* also what is not a number */
    bool plain = asking->absent == 0;
    return plain || has_blocks(sketch->model) ? LEGO_OK : LEGO_ERR_MODEL;
}

/* A thread's share of the items. */
static void ask(void *context, struct team *team, unsigned index, unsigned members)
{
    (void)team;
    const struct question *job = context;
    const lego_items *items = job->items;
    size_t part = items->n / members, first = part * index, end = index + 1 == members ? items->n : first + part;
    if (has_blocks(job->sketch->model) && !has_top(job->sketch) && items->n > 1) {
        blocks_query_items(job->sketch, items, first, end, job->asking, job->estimates);
        return;
    }
    for (size_t i = first; i < end; i++) {
        unsigned char integer[8];
        size_t size;
        const void *item = items_bytes(items, i, integer, &size);
        job->estimates[i] = query_item(job->sketch, items_hash(items, i, job->sketch->seed), item, size, job->asking);
    }
}

lego_status lego_query_items(const lego_sketch *sketch, const lego_items *items, const lego_asking *asking,
                             lego_estimate *estimates)
{
    const lego_asking plain = LEGO_ASKING_INIT;
    struct question job = {sketch, items, asking ? asking : &plain, estimates};
    lego_status status = items_valid(items) ? check_asking(sketch, job.asking) : LEGO_ERR_ARGUMENT;
    if (status != LEGO_OK) return status;
    if (items->n < MANY) ask(&job, NULL, 0, 1);
    else parallel_run(sketch->threads, ask, &job);
    return LEGO_OK;
}
