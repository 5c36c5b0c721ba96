#include "sketch/mass.h"

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* ---- of blocks --------------------------------------------------------------------------------------------------- */

void sums_add(struct sums *sums, const struct content *content)
{
    bool lists = step_lists(content->step);
    unsigned cells = lists ? 0 : step_row(content->step, 0).cells;
    for (unsigned row = 0; row < 2; row++)
        for (unsigned i = row * cells, end = lists || row ? content->n : cells; i < end; i++) {
            sums->magnitude[row] += magnitude(content->value[i]);
            sums->sum[row] += content->value[i];
        }
}

static uint64_t most_of(uint64_t most, lego_u128 other)
{
    return other > INT64_MAX ? UINT64_MAX : other > most ? (uint64_t)other : most;
}

bool sums_mass(const struct sums *sums, int64_t total, uint64_t quantum, uint64_t *mass)
{
    uint64_t most = magnitude(total);
    for (unsigned k = 0; k < 2; k++) most = most_of(most, sums->magnitude[k]);
    most = most_of(most, sums->caps);
    *mass = most * quantum;
    return most <= INT64_MAX / quantum;
}

static uint64_t blocks_mass(const struct blocks *blocks, uint64_t quantum)
{
    struct sums all = {0};
    struct content content;
    uint64_t mass;
    for (uint32_t i = 0; i < blocks->blocks; i++) {
        blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
        sums_add(&all, &content);
    }
    for (uint32_t i = 0; i < blocks_caps(blocks->blocks, blocks->most); i++) {
        struct sums cap = {0};
        blocks->kernels->open(&blocks->block[blocks->blocks + i], blocks->whole, &content);
        sums_add(&cap, &content);
        all.caps += cap.magnitude[0];
    }
    return sums_mass(&all, blocks->total, quantum, &mass) ? mass : UINT64_MAX;
}

/* ---- of a sketch ------------------------------------------------------------------------------------------------- */

/* The mass of what is there, which is never more than sketch->mass. */
static uint64_t mass_now(const lego_sketch *sketch)
{
    const uint64_t quantum = sketch->model->quantum;
    uint64_t mass = 0;
    if (sketch->mass == magnitude(lego_total(sketch)) * quantum) return sketch->mass; /* it cannot be less */
    if (has_blocks(sketch->model)) mass = blocks_mass(&sketch->blocks, quantum);
    else bricks_check(&sketch->bricks, &mass);
    if (has_top(sketch)) mass += sketch->top.votes * quantum;
    return mass < sketch->mass ? mass : sketch->mass;
}

lego_status mass_take(lego_sketch *sketch, uint64_t sizes)
{
    uint64_t mass;
    if (__builtin_mul_overflow(sizes, sketch->model->quantum, &mass) || mass > INT64_MAX) return LEGO_ERR_RANGE;
    if (mass > (uint64_t)INT64_MAX - sketch->mass) sketch->mass = mass_now(sketch);
    if (mass > (uint64_t)INT64_MAX - sketch->mass) return LEGO_ERR_RANGE;
    sketch->mass += mass;
    return LEGO_OK;
}

lego_status mass_join(const lego_sketch *into, const lego_sketch *from, uint64_t *mass)
{
    *mass = into->mass + from->mass;
    if (*mass > INT64_MAX) *mass = mass_now(into) + mass_now(from);
    return *mass <= INT64_MAX ? LEGO_OK : LEGO_ERR_RANGE;
}
