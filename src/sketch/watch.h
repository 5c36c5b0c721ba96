/* watch: items that are counted aside while a batch goes by, all of them and exactly: those that the top of a sketch
 * keeps, and those that may come to be kept. Unlike `frequent` it may not lose one, so it has as many slots as it
 * takes, and a word that finds its slot taken looks on in the next ones. */
#pragma once

#include "sketch/words.h"

enum {
    WATCH_REACH = 64, /* slots that a search looks at: words may be chosen so that all begin at one */
    WATCH_AT_ONCE = 256
};

#define WATCH_NONE UINT64_MAX /* in an empty slot: no word is it */

struct watched {
    uint64_t word;
    int64_t count;
};

struct watch {
    struct watched *slot;
    unsigned bits; /* of a slot's number; WATCH_REACH more slots follow the last */
};

static inline size_t watch_slots(unsigned bits)
{
    return ((size_t)1 << bits) + WATCH_REACH;
}

/* Bits, for which at most half of the slots are taken by so many words. */
unsigned watch_bits(size_t words);

/* Empty, over watch_slots() of them. */
void watch_init(struct watch *watch, unsigned bits, struct watched *slot);

/* Where a search begins. */
static inline size_t watch_first(const struct watch *watch, uint64_t word)
{
    return (size_t)(word >> (HASH_PLACE + PRINT_MOST - watch->bits));
}

/* The slot of a word, or an empty one that it can have; watch_slots() if it is not there and there is none. */
static inline size_t watch_slot(const struct watch *watch, uint64_t word)
{
    const size_t first = watch_first(watch, word);
    size_t at = first;
    while (watch->slot[at].word != word && watch->slot[at].word != WATCH_NONE)
        if (++at == first + WATCH_REACH) return watch_slots(watch->bits);
    return at;
}

static inline bool watch_has(const struct watch *watch, uint64_t word)
{
    const size_t slot = watch_slot(watch, word);
    return slot < watch_slots(watch->bits) && watch->slot[slot].word == word;
}

/* Watches a word, if it is not watched yet; false if there is no slot for it. */
bool watch_put(struct watch *watch, uint64_t word);

/* Counts a word; false if it is not watched. */
static inline bool watch_take(struct watch *watch, uint64_t word, int64_t count)
{
    const size_t slot = watch_slot(watch, word);
    if (slot == watch_slots(watch->bits) || watch->slot[slot].word != word) return false;
    watch->slot[slot].count += count;
    return true;
}

/* How often a word came that is watched. */
static inline int64_t watch_count(const struct watch *watch, uint64_t word)
{
    return watch->slot[watch_slot(watch, word)].count;
}

/* Counts those of n words, at most WATCH_AT_ONCE, that are watched, and moves the others, with their counts, if
 * there are any (else `count` is NULL), to the front, in another order; returns how many these are. */
unsigned watch_pass(struct watch *watch, uint64_t word[], int64_t *count, unsigned n);
