/* spill: see spill.h for the picture. */
#include "spill.h"

#include <string.h>

static const uint64_t digit_mask = (UINT64_C(1) << SPILL_DIGIT_BITS) - 1;
static const uint64_t continues = UINT64_C(1) << SPILL_DIGIT_BITS;

static uint64_t slot_key(uint64_t slot)
{
    return slot >> (SPILL_DIGIT_BITS + 1);
}

static bool fits_digit(int64_t value)
{
    return value >= -(INT64_C(1) << (SPILL_DIGIT_BITS - 1)) && value < INT64_C(1) << (SPILL_DIGIT_BITS - 1);
}

static int64_t digit_signed(uint64_t slot)
{
    int64_t digit = (int64_t)(slot & digit_mask);
    return digit >> (SPILL_DIGIT_BITS - 1) ? digit - (INT64_C(1) << SPILL_DIGIT_BITS) : digit;
}

unsigned spill_cost(int64_t value)
{
    if (value == 0) return 0;
    unsigned digits = 1;
    for (; !fits_digit(value); value >>= SPILL_DIGIT_BITS) digits++;
    return digits;
}

uint64_t spill_size(uint64_t slots)
{
    return slots < 8 ? 8 : (slots + 7) / 8 * 8;
}

void spill_init(struct spill *spill, uint64_t slots, uint64_t keys)
{
    *spill = (struct spill){NULL, spill_size(slots), 0, slots * 7 / 8, keys};
}

/* Keys of 16 neighbours (8 cells, see cells.c) start in the same cache line, so that a fold, which asks for every cell
 * of a row in turn, reads a line once for 8 cells. The line is a Fibonacci hash of the rest of the key. */
static uint64_t home(const struct spill *spill, uint64_t key)
{
    uint64_t mixed = (key >> 4) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
    return (uint64_t)((lego_u128)mixed * (spill->size / 8) >> 64) * 8 + (key >> 1 & 7);
}

/* The slot that has the key, or the empty one where it would go: there always is one, as the limit is below the size. */
static uint64_t find(const struct spill *spill, uint64_t key)
{
    uint64_t i = home(spill, key);
    while (spill->slots[i] != 0 && slot_key(spill->slots[i]) != key)
        if (++i == spill->size) i = 0;
    return i;
}

int64_t spill_get(const struct spill *spill, uint64_t key)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += SPILL_DIGIT_BITS, key += spill->keys) {
        uint64_t slot = spill->slots[find(spill, key)];
        if (!(slot & continues)) return (int64_t)(value + ((uint64_t)digit_signed(slot) << shift));
        value |= (slot & digit_mask) << shift;
    }
}

/* Empties slot i and closes the gap: a later slot of the same run moves back unless its home lies behind the gap. */
static void erase(struct spill *spill, uint64_t i)
{
    spill->used--;
    for (uint64_t j = i;;) {
        if (++j == spill->size) j = 0;
        if (spill->slots[j] == 0) break;
        uint64_t h = home(spill, slot_key(spill->slots[j]));
        bool stays = i < j ? i < h && h <= j : i < h || h <= j;
        if (stays) continue;
        spill->slots[i] = spill->slots[j];
        i = j;
    }
    spill->slots[i] = 0;
}

int64_t spill_take(struct spill *spill, uint64_t key)
{
    uint64_t first = find(spill, key);
    if (spill->slots[first] == 0) return 0;
    int64_t value = spill_get(spill, key);
    for (unsigned digits = spill_cost(value); digits > 0; digits--, key += spill->keys) erase(spill, find(spill, key));
    return value;
}

static void insert(struct spill *spill, uint64_t key, int64_t value)
{
    for (unsigned digits = spill_cost(value); digits > 0; digits--, key += spill->keys, value >>= SPILL_DIGIT_BITS) {
        uint64_t slot = key << (SPILL_DIGIT_BITS + 1) | ((uint64_t)value & digit_mask);
        spill->slots[find(spill, key)] = digits > 1 ? slot | continues : slot;
        spill->used++;
    }
}

bool spill_add(struct spill *spill, uint64_t key, int64_t delta)
{
    uint64_t i = find(spill, key), slot = spill->slots[i];
    if (slot != 0 && !(slot & continues) && fits_digit(delta)) { /* nearly always: one digit before and after */
        int64_t value = digit_signed(slot) + delta;
        if (value != 0 && fits_digit(value)) {
            spill->slots[i] = (slot & ~digit_mask) | ((uint64_t)value & digit_mask);
            return true;
        }
    }
    int64_t before = slot == 0 ? 0 : spill_get(spill, key), after = before + delta;
    if (spill->used - spill_cost(before) + spill_cost(after) > spill->limit) return false;
    spill_take(spill, key);
    insert(spill, key, after);
    return true;
}
