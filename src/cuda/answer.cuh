/* answer: an item's reading and its estimate, as blocks_read() and src/sketch/answer.c have them. */
#pragma once

#include "cuda/merge.cuh"
#include "cuda/posterior.cuh"

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

DEVICE unsigned narrow(uint32_t width)
{
    return (unsigned)__builtin_ctz(width) - LEARN_NARROWEST;
}

DEVICE lego_estimate answer_bounds(const struct reading &reading, double slack)
{
    int64_t upper = reading_upper(&reading);
    return {(double)upper, slack < (double)upper ? upper - (int64_t)slack : 0, upper};
}

DEVICE lego_estimate answer_listed(const struct questions *q, const struct reading &reading)
{
    int64_t upper = reading_upper(&reading);
    if (upper <= 0 || 20 * (uint64_t)reading.entries < reading.width[0]) return {(double)upper, upper, upper};
    unsigned cap = reading.values > 1 ? 1 + narrow(reading.width[1]) : 0;
    return answer_bounds(reading, q->slack_listed[__builtin_ctz(reading.width[0])][cap]);
}

DEVICE double slack_shared(const struct questions *q, const struct reading &reading)
{
    return q->slack_shared[narrow(reading.width[0])][narrow(reading.width[1])][narrow(reading.width[2])];
}

/* A reading in the unit that was learnt; false if it is no multiple of it. */
DEVICE bool in_units(const struct learnt *learnt, const struct reading &reading, struct reading &units)
{
    bool whole = true;
    units = reading;
    for (unsigned k = 0; k < 3 && learnt->unit > 1; k++) {
        units.value[k] = reading.value[k] / learnt->unit;
        whole = whole && reading.value[k] % learnt->unit == 0;
    }
    return whole;
}

#ifdef LEGO_ON_HOST
#define SELDOM
#else
#define SELDOM __device__ __noinline__
#endif

SELDOM lego_estimate answer_signed(const struct questions *q, const struct asked_as &as, const struct reading &reading,
                                   const struct weighing &weighing)
{
    struct weighing three[3] = {weighing, {1, 0, 0.025f}, {1, 0, 0.975f}};
    double answer[3];
    struct reading units;
    in_units(&q->learnt, reading, units);
    posterior_three(&q->learnt, units, as.absent, three, answer);
    for (unsigned i = 0; i < 3; i++) answer[i] = fmax(fmin(answer[i] * (double)q->learnt.unit, 0x1p62), -0x1p62);
    return {answer[0], (int64_t)fmin(answer[1], answer[0]), (int64_t)fmax(answer[2], answer[0])};
}

DEVICE lego_estimate answer_alike(const struct questions *q, const struct asked_as &as, const struct reading &reading,
                                  const struct weighing &weighing)
{
    lego_estimate estimate = answer_bounds(reading, slack_shared(q, reading));
    struct reading units;
    if (!in_units(&q->learnt, reading, units)) return estimate;
    estimate.value = posterior_one(&q->learnt, units, as.absent, weighing);
    estimate.value *= (double)q->learnt.unit;
    if ((double)estimate.lower > estimate.value) estimate.lower = (int64_t)estimate.value;
    return estimate;
}

DEVICE lego_estimate answer_unlearnt(const struct questions *q, const struct reading &reading)
{
    int64_t least = reading_upper(&reading), most = reading.value[0];
    for (unsigned k = 1; k < 3; k++) most = reading.value[k] > most ? reading.value[k] : most;
    if (least >= 0) return answer_bounds(reading, slack_shared(q, reading));
    return {(double)(most > 0 ? 0 : most), least, most};
}

DEVICE lego_estimate answer_shared(const struct questions *q, const struct asked_as &as, const struct reading &given)
{
    struct reading reading = given;
    bool zero = false, wrong = false;
    if (!q->learnt.any) return answer_unlearnt(q, given);
    const int sign = q->learnt.sign;
    for (unsigned k = 0; k < 3; k++) {
        if (sign < 0) reading.value[k] = -reading.value[k];
        zero = zero || reading.value[k] == 0;
        wrong = wrong || reading.value[k] < 0;
    }
    struct weighing weighing = {(float)(1 - as.relative), (float)as.relative * q->learnt.worth, 0.5f};
    if (sign == 0 || wrong) return answer_signed(q, as, given, weighing);
    if (zero) return {0, 0, 0};
    lego_estimate e = answer_alike(q, as, reading, weighing);
    if (sign > 0) return e;
    return {0 - e.value, -e.upper, -e.lower};
}

DEVICE lego_estimate answer_item(const struct device_blocks &blocks, const struct questions *q,
                                 const struct asked_as &as, struct hash hash)
{
    struct reading reading;
    read_item(blocks, spot_of(blocks.blocks, hash), reading);
    return step_lists(reading.step) ? answer_listed(q, reading) : answer_shared(q, as, reading);
}
