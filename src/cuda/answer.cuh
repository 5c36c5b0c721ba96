/* answer: an item's reading, as blocks_read() has it, and its estimate: the library's own source, compiled for a
 * GPU. */
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
#include "model/posterior_body.h"
#include "model/posterior_signed_body.h"
#else
#define POSTERIOR DEVICE posterior_one
#define POSTERIOR_SIGNED                                                                                               \
    __device__ __noinline__ posterior_one_signed /* which takes a thread some hundred microseconds */
#define static static __device__
#include "model/posterior_body.h"
#include "model/posterior_signed_body.h"
#endif
#define posterior_alike posterior_one
#define posterior_signed posterior_one_signed
#include "sketch/answer_shared.h"
#undef static

DEVICE void read_cap(const struct device_blocks &blocks, struct spot spot, struct reading &reading)
{
    const uint32_t index = spot.block / BLOCKS_A_CAP;
    const struct block *cap = &blocks.block[blocks.blocks + (index < blocks.caps ? index : blocks.caps - 1)];
    if (step_lists(reading.step) && block_signs(cap) != SIGNS_ABOVE) return;
    int64_t value[2];
    body_read(cap, blocks.whole, spot.key, value);
    reading.value[reading.values] = value[0];
    reading.width[reading.values++] = step_width(block_step(cap), 0, spot.key);
}

DEVICE void read_item(const struct device_blocks &blocks, struct spot spot, struct reading &reading)
{
    const struct block *block = &blocks.block[spot.block];
    reading.values = body_read(block, blocks.whole, spot.key, reading.value);
    reading.step = block_step(block);
    reading.entries = block_entries(block);
    const bool lists = step_lists(reading.step);
    if (lists) {
        unsigned length = step_length(reading.step, blocks.whole, spot.key);
        reading.width[0] = UINT32_C(1) << (length < BLOCK_PRINT ? length : BLOCK_PRINT);
    } else {
        for (unsigned row = 0; row < 2; row++) reading.width[row] = step_width(reading.step, row, spot.key);
    }
    if (reading.step > STEP_LIST && !(lists && reading.value[0] < BLOCKS_UNCAPPED)) read_cap(blocks, spot, reading);
}

DEVICE lego_estimate answer_item(const struct device_blocks &blocks, const struct questions *q, struct asked_as as,
                                 struct hash hash)
{
    struct reading reading;
    read_item(blocks, spot_of(blocks.blocks, hash), reading);
    if (answer_is_listed(&reading)) return answer_listed(&reading);
    if (step_lists(reading.step)) return answer_bounds(&reading, q->slack_listed[list_widths(&reading)]);
    return answer_shared(&q->learnt, &reading, as, q->slack_shared[width_triple(&reading)]);
}
