/* TowerSketch (Yang, Wu, Miao, Yang and others, "SketchINT", ICNP 2021): four rows of equal bytes, of counters of 4, 8,
 * 16 and 32 bits, so that rare items have many narrow counters and heavy ones still find wide ones. A counter at its
 * largest value has overflowed and says nothing: it stands for infinity, and the answer is the least of the others.
 * `tower-cm` adds to every row, as Count-Min; `tower-cu` only where it must, as conservative update. Neither deletes:
 * what overflowed is lost. */
#include "counters.h"

#include <string.h>

enum { LEVELS = 4 };

typedef struct tower {
    estimator_table of; /* its units are words of 4 bytes, one of each row */
    unsigned char rows[];
} tower;

static const uint32_t infinity[LEVELS] = {15, UINT8_MAX, UINT16_MAX, UINT32_MAX};

/* An item's counter in each row. A row of b-bit counters has 8 / b of them a byte: 2, 1, 1/2, 1/4. */
static void locate(const tower *sketch, const void *item, size_t size, uint64_t at[LEVELS])
{
    XXH128_hash_t hash = hash_item(item, size, sketch->of.seed);
    for (unsigned level = 0; level < LEVELS; level++)
        at[level] = pick(hash_row(hash, level), 8 * sketch->of.units >> level);
}

static uint32_t get(const tower *sketch, unsigned level, uint64_t at)
{
    const unsigned char *row = sketch->rows + level * 4 * sketch->of.units;
    uint16_t half;
    uint32_t word;
    switch (level) {
    case 0: return row[at / 2] >> at % 2 * 4 & 15;
    case 1: return row[at];
    case 2: memcpy(&half, row + 2 * at, sizeof half); return half;
    default: memcpy(&word, row + 4 * at, sizeof word); return word;
    }
}

static void set(tower *sketch, unsigned level, uint64_t at, uint32_t value)
{
    unsigned char *row = sketch->rows + level * 4 * sketch->of.units;
    uint16_t half = (uint16_t)value;
    switch (level) {
    case 0: row[at / 2] = (unsigned char)((row[at / 2] & (at % 2 == 0 ? 0xf0 : 0x0f)) | value << at % 2 * 4); break;
    case 1: row[at] = (unsigned char)value; break;
    case 2: memcpy(row + 2 * at, &half, sizeof half); break;
    default: memcpy(row + 4 * at, &value, sizeof value);
    }
}

/* The least of the counters that have not overflowed. If all have, the largest number of the widest. */
static uint32_t least_of(const tower *sketch, const uint64_t at[LEVELS])
{
    uint32_t least = UINT32_MAX;
    for (unsigned level = 0; level < LEVELS; level++) {
        uint32_t value = get(sketch, level, at[level]);
        if (value < infinity[level] && value < least) least = value;
    }
    return least;
}

/* Every counter grows by count, or as far as it must for the least to do so. */
static lego_status add(tower *sketch, const void *item, size_t size, int64_t count, bool conservatively)
{
    uint64_t at[LEVELS];
    if (count < 0) return LEGO_ERR_ARGUMENT;
    locate(sketch, item, size, at);
    uint32_t raised = add_u32(least_of(sketch, at), count);
    for (unsigned level = 0; level < LEVELS; level++) {
        uint32_t value = get(sketch, level, at[level]);
        uint64_t sum = !conservatively ? add_within(value, count, infinity[level]) : value < raised ? raised : value;
        set(sketch, level, at[level], sum < infinity[level] ? (uint32_t)sum : infinity[level]);
    }
    return LEGO_OK;
}

static lego_status add_to_all(void *self, const void *item, size_t size, int64_t count)
{
    return add(self, item, size, count, false);
}

static lego_status add_conservatively(void *self, const void *item, size_t size, int64_t count)
{
    return add(self, item, size, count, true);
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    uint64_t at[LEVELS];
    locate(self, item, size, at);
    *value = least_of(self, at);
    return LEGO_OK;
}

#define TOWER ESTIMATOR_TABLE(tower, LEVELS * sizeof(uint32_t)), .insert_only = true, .estimate = estimate

const estimator_kind estimator_tower_cm = {"tower-cm", TOWER, .add = add_to_all};
const estimator_kind estimator_tower_cu = {"tower-cu", TOWER, .in_order = true, .add = add_conservatively};
