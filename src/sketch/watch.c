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

/* Most words are settled by the slot that they begin at: it is theirs, or empty. No branch depends on which. The others
 * look on one by one. */
static inline unsigned pass(struct watch *watch, uint64_t word[], int64_t *count, unsigned n)
{
    enum { AHEAD = 16 }; /* words whose slots are on their way */
    uint64_t late[WATCH_AT_ONCE];
    int64_t late_count[WATCH_AT_ONCE];
    unsigned left = 0, lates = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t own = word[i];
        const int64_t add = count ? count[i] : 1;
        if (i + AHEAD < n) __builtin_prefetch(&watch->slot[watch_first(watch, word[i + AHEAD])]);
        struct watched *slot = &watch->slot[watch_first(watch, own)];
        const uint64_t there = slot->word;
        slot->count += add & -(int64_t)(there == own);
        word[left] = late[lates] = own;
        if (count) count[left] = late_count[lates] = add;
        left += there == WATCH_NONE;
        lates += there != WATCH_NONE && there != own;
    }
    for (unsigned i = 0; i < lates; i++) {
        const int64_t add = count ? late_count[i] : 1;
        word[left] = late[i];
        if (count) count[left] = add;
        left += !watch_take(watch, late[i], add);
    }
    return left;
}

unsigned watch_pass(struct watch *watch, uint64_t word[], int64_t *count, unsigned n)
{
    return count ? pass(watch, word, count, n) : pass(watch, word, NULL, n);
}
