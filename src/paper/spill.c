/* spill: see spill.h for the picture. */
#include "paper/spill.h"

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

/* The 16 keys of 8 neighbouring cells (see cells.h) have one home, so that a fold, which asks for every cell of a row in
 * turn, stays in the same cache lines for a while. It is a Fibonacci hash of the rest of the key. */
static uint64_t home(const struct spill *spill, uint64_t key)
{
    uint64_t mixed = (key >> 4) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
    return (uint64_t)((lego_u128)mixed * spill->size >> 64);
}

static uint64_t next_slot(const struct spill *spill, uint64_t i)
{
    return i + 1 == spill->size ? 0 : i + 1;
}

/* How far the entry in slot i is from its home. */
static uint64_t distance(const struct spill *spill, uint64_t i)
{
    uint64_t h = home(spill, slot_key(spill->slots[i]));
    return i >= h ? i - h : i + spill->size - h;
}

/* The slot that has the key, or else the one where it belongs. Entries stand in the order of their homes ("Robin Hood"),
 * so the search for a key that is not there, which is most searches, ends at the first entry nearer to its home than
 * the key would be: after 4 or 5 slots at seven eighths full, where plain linear probing takes 30. */
static uint64_t find(const struct spill *spill, uint64_t key, bool *found)
{
    uint64_t i = home(spill, key);
    for (uint64_t steps = 0;; steps++, i = next_slot(spill, i)) {
        uint64_t slot = spill->slots[i];
        *found = slot != 0 && slot_key(slot) == key;
        if (*found || slot == 0 || distance(spill, i) < steps) return i;
    }
}

int64_t spill_get(const struct spill *spill, uint64_t key)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += SPILL_DIGIT_BITS, key += spill->keys) {
        bool found;
        uint64_t slot = spill->slots[find(spill, key, &found)];
        if (!found) return 0;
        if (!(slot & continues)) return (int64_t)(value + ((uint64_t)digit_signed(slot) << shift));
        value |= (slot & digit_mask) << shift;
    }
}

/* Puts an entry where it belongs; what stands there moves on by one. */
static void insert(struct spill *spill, uint64_t slot)
{
    bool found;
    for (uint64_t i = find(spill, slot_key(slot), &found); slot != 0; i = next_slot(spill, i)) {
        uint64_t moved = spill->slots[i];
        spill->slots[i] = slot;
        slot = moved;
    }
    spill->used++;
}

/* Takes an entry out; those behind it that are not at home move back by one. */
static void erase(struct spill *spill, uint64_t key)
{
    bool found;
    uint64_t i = find(spill, key, &found);
    for (uint64_t next = next_slot(spill, i); spill->slots[next] != 0 && distance(spill, next) > 0;
         i = next, next = next_slot(spill, next))
        spill->slots[i] = spill->slots[next];
    spill->slots[i] = 0;
    spill->used--;
}

int64_t spill_take(struct spill *spill, uint64_t key)
{
    int64_t value = spill_get(spill, key);
    for (unsigned digits = spill_cost(value); digits > 0; digits--, key += spill->keys) erase(spill, key);
    return value;
}

static void put(struct spill *spill, uint64_t key, int64_t value)
{
    for (unsigned digits = spill_cost(value); digits > 0; digits--, key += spill->keys, value >>= SPILL_DIGIT_BITS)
        insert(spill, key << (SPILL_DIGIT_BITS + 1) | (digits > 1 ? continues : 0) | ((uint64_t)value & digit_mask));
}

bool spill_add(struct spill *spill, uint64_t key, int64_t delta)
{
    bool found;
    uint64_t *slot = &spill->slots[find(spill, key, &found)];
    if (found && !(*slot & continues) && fits_digit(delta)) { /* nearly always: one digit before and after */
        int64_t value = digit_signed(*slot) + delta;
        if (value != 0 && fits_digit(value)) {
            *slot = (*slot & ~digit_mask) | ((uint64_t)value & digit_mask);
            return true;
        }
    }
    int64_t before = found ? spill_get(spill, key) : 0, after = before + delta;
    if (spill->used - spill_cost(before) + spill_cost(after) > spill->limit) return false;
    spill_take(spill, key);
    put(spill, key, after);
    return true;
}
