/* watch: see watch.h. */
#include "sketch/watch.h"

unsigned watch_bits(size_t words)
{
    unsigned bits = 8;
    while ((size_t)1 << bits < 2 * words) bits++;
    return bits;
}

void watch_init(struct watch *watch, unsigned bits, struct watched *slot)
{
    *watch = (struct watch){slot, bits};
    for (size_t i = 0; i < watch_slots(bits); i++) slot[i] = (struct watched){WATCH_NONE, 0};
}

bool watch_put(struct watch *watch, uint64_t word)
{
    const size_t slot = watch_slot(watch, word);
    if (slot == watch_slots(watch->bits)) return false;
    watch->slot[slot].word = word;
    return true;
}

/* Most words are settled by the slot that they begin at: it is theirs, or empty. The others look on. What is left keeps
 * its order. */
static inline unsigned pass(struct watch *watch, uint64_t word[], int64_t *count, unsigned n)
{
    enum { AHEAD = 16 }; /* words whose slots are on their way */
    unsigned left = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t own = word[i];
        const int64_t add = count ? count[i] : 1;
        if (i + AHEAD < n) __builtin_prefetch(&watch->slot[watch_first(watch, word[i + AHEAD])]);
        struct watched *slot = &watch->slot[watch_first(watch, own)];
        const uint64_t there = slot->word;
        slot->count += add & -(int64_t)(there == own);
        bool passes = there == WATCH_NONE;
        if (!passes && there != own) passes = !watch_take(watch, own, add);
        word[left] = own;
        if (count) count[left] = add;
        left += passes;
    }
    return left;
}

unsigned watch_pass(struct watch *watch, uint64_t word[], int64_t *count, unsigned n)
{
    return count ? pass(watch, word, count, n) : pass(watch, word, NULL, n);
}
