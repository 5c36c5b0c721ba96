#include "sketch/mass.h"

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* ---- of blocks --------------------------------------------------------------------------------------------------- */

void sums_add(struct block_sums *sums, const struct content *content)
{
    for (unsigned i = 0; i < content->n; i++) {
        sums->magnitude += magnitude(content->value[i]);
        sums->sum += content->value[i];
    }
    sums->magnitude += (lego_u128)content->loss.plus + content->loss.minus;
    sums->sum += content->loss.plus;
    sums->sum -= content->loss.minus;
}

bool sums_mass(const struct block_sums *sums, int64_t total, uint64_t quantum, uint64_t *mass)
{
    uint64_t most = magnitude(total);
    if (sums->magnitude > most) most = sums->magnitude > INT64_MAX ? UINT64_MAX : (uint64_t)sums->magnitude;
    *mass = most * quantum;
    return most <= INT64_MAX / quantum;
}

static uint64_t blocks_mass(const struct blocks *blocks, uint64_t quantum)
{
    struct block_sums all = {0};
    struct content content;
    uint64_t mass;
    for (uint32_t i = 0; i < blocks->blocks; i++) {
        blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
        sums_add(&all, &content);
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

/* The sum, with what is said of each sketch or with what a look at it says. */
static lego_u128 sum_masses(const lego_sketch *into, const lego_sketch *const from[], const int64_t weights[], size_t n,
                            bool look)
{
    lego_u128 sum = look ? mass_now(into) : into->mass;
    for (size_t i = 0; i < n && sum <= INT64_MAX; i++)
        sum += (lego_u128)(look ? mass_now(from[i]) : from[i]->mass) * (weights ? magnitude(weights[i]) : 1);
    return sum;
}

lego_status mass_join(const lego_sketch *into, const lego_sketch *const from[], const int64_t weights[], size_t n,
                      uint64_t *mass)
{
    lego_u128 sum = sum_masses(into, from, weights, n, false);
    if (sum > INT64_MAX) sum = sum_masses(into, from, weights, n, true);
    *mass = (uint64_t)sum;
    return sum <= INT64_MAX ? LEGO_OK : LEGO_ERR_RANGE;
}
