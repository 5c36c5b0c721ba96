/* answer: an item's reading and its estimate: the library's own source, compiled for a GPU. */
#pragma once

#include "cuda/merge.cuh"

/* Four floats, as posterior_body.h wants them. */
struct quad {
    float x[4];
    DEVICE float &operator[](unsigned k)
    {
        return x[k];
    }
};

DEVICE quad operator+(const quad &a, const quad &b)
{
    return {a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2], a.x[3] + b.x[3]};
}

#define WIDE 1
#ifdef LEGO_ON_HOST
#define POSTERIOR posterior_one
#define POSTERIOR_SIGNED posterior_one_signed
#else
#define POSTERIOR DEVICE posterior_one
#define POSTERIOR_SIGNED __device__ __noinline__ posterior_one_signed
#define static static __device__
#endif
#include "model/posterior_body.h"
#include "model/posterior_signed_body.h"
#define posterior_alike posterior_one
#define posterior_signed posterior_one_signed
#include "sketch/answer_shared.h"
#undef static

DEVICE lego_estimate answer_item(const struct device_blocks &blocks, const struct questions *q, struct asked_as as,
                                 struct hash hash)
{
    struct reading reading;
    const struct spot spot = spot_of(blocks.blocks, hash);
    const uint32_t cap = spot.block / BLOCKS_A_CAP, last = blocks.caps - 1;
    body_read(&blocks.block[spot.block], &blocks.block[blocks.blocks + (cap < last ? cap : last)], blocks.whole,
              spot.key, &reading);
    if (answer_is_listed(&reading)) return answer_listed(&reading);
    if (step_lists(reading.step)) return answer_bounds(&reading, q->slack_listed[list_widths(&reading)]);
    return answer_shared(&q->learnt, &reading, as, q->slack_shared[width_triple(&reading)]);
}
