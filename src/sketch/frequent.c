/* frequent: see frequent.h. */
#include "sketch/frequent.h"

enum {
    STRETCHES = 128,
    STRETCH_MOST = 1024, /* of the batch that are looked at, and items of each */
    PART = 8             /* the sample is at most this part of it */
};

bool frequent_find(struct frequent *frequent, const lego_items *items, uint64_t seed,
                   const struct block_kernels *kernels)
{
    const size_t part = items->n / STRETCHES, stretch = part / PART < STRETCH_MOST ? part / PART : STRETCH_MOST;
    uint64_t word[STRETCH_MOST], seen = 0;
    for (unsigned i = 0; i < FREQUENT_SLOTS; i++) frequent->slot[i].word = UINT64_MAX;
    frequent_clear(frequent);
    for (size_t s = 0; s < STRETCHES; s++) {
        words_of(items, part * s, stretch, seed, kernels, word);
        for (size_t i = 0; i < stretch; i++) { /* the most frequent item of a slot wins it, if it has more than half */
            unsigned slot = frequent_slot(word[i]);
            int64_t *credit = &frequent->slot[slot].count;
            if (*credit == 0) frequent->slot[slot].word = word[i];
            bool is_there = frequent->slot[slot].word == word[i];
            seen += is_there && *credit > 0;
            *credit += is_there ? 1 : -1;
        }
    }
    return seen > STRETCHES * stretch / 6; /* where it costs as much as it saves, 2 of 12 ns */
}

void frequent_clear(struct frequent *frequent)
{
    for (unsigned i = 0; i < FREQUENT_SLOTS; i++) frequent->slot[i].count = 0;
}

void frequent_copy(struct frequent *frequent, const struct frequent *from)
{
    for (unsigned i = 0; i < FREQUENT_SLOTS; i++) frequent->slot[i].word = from->slot[i].word;
}

static inline unsigned pass(struct frequent *frequent, uint64_t word[], int64_t *count, unsigned n)
{
    unsigned left = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t own = word[i];
        const int64_t add = count ? count[i] : 1;
        unsigned slot = frequent_slot(own);
        bool is_one = frequent->slot[slot].word == own;
        frequent->slot[slot].count += add & -(int64_t)is_one;
        word[left] = own;
        if (count) count[left] = add;
        left += !is_one;
    }
    return left;
}

unsigned frequent_pass(struct frequent *frequent, uint64_t word[], int64_t *count, unsigned n)
{
    return count ? pass(frequent, word, count, n) : pass(frequent, word, NULL, n);
}
