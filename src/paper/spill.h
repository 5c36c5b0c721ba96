/* spill: the high parts of the few cells that outgrow their bits.
 *
 * A map from the number of a cell to a signed 64-bit value that is not 0, in a fixed array of 8-byte slots, open
 * addressing:
 *
 *     bit 63            22  21  20        0
 *         | key          | c | digit       |        an empty slot is 0
 *
 * A value that fits 21 signed bits takes one slot. A larger one keeps its low 21 bits there, sets c ("continues") and
 * puts the rest under the key of the next digit; three digits hold 63 bits, and the part that is spilled has at most
 * 64 - 8. So a spilled cell costs 8 bytes, and only one above 2^28 costs more.
 *
 * How many slots a value takes follows from the value alone. The limit on slots in use is what makes a sketch fold, so
 * the moment of folding follows from the content of the sketch alone. */
#ifndef LEGO_SRC_SPILL_H
#define LEGO_SRC_SPILL_H

#include <stdbool.h>

#include "core/hash.h"

enum { SPILL_DIGIT_BITS = 21, SPILL_DIGITS = 3 };

struct spill {
    uint64_t *slots;
    uint64_t size;  /* slots there are: whole cache lines */
    uint64_t used;  /* slots not empty */
    uint64_t limit; /* used never exceeds this, seven eighths of the slots asked for: probing stays short */
    uint64_t keys;  /* a key is below this; digit d of key x is stored under x + d * keys */
};

/* Keys of all three digits must fit the 42 bits above a digit and its flag. */
#define SPILL_KEYS_MAX ((UINT64_C(1) << (63 - SPILL_DIGIT_BITS)) / SPILL_DIGITS)

/* Empty, for so many slots; the caller attaches spill_size(slots) of them, zeroed, as spill->slots. */
void spill_init(struct spill *spill, uint64_t slots, uint64_t keys);
uint64_t spill_size(uint64_t slots);

/* The value under key, 0 if there is none. */
int64_t spill_get(const struct spill *spill, uint64_t key);

/* Adds to the value under key; false, and nothing changed, if that would take more slots than the limit. */
bool spill_add(struct spill *spill, uint64_t key, int64_t delta);

/* Removes and returns the value under key. */
int64_t spill_take(struct spill *spill, uint64_t key);

/* Slots that a value takes: 0 for 0. */
unsigned spill_cost(int64_t value);

#endif
