/* frequent: see frequent.h. */
#include "sketch/frequent.h"

enum {
    STRETCHES = 128,
    STRETCH_MOST = 1024, /* of the batch that are looked at, and items of each */
    PART = 8             /* the sample is at most this part of it */
};

/* Of each so many items of a batch, so many are looked at, those that come first. */
struct sample {
    size_t part, stretch;
};

static struct sample sample_of(const lego_items *items)
{
    const size_t part = items->n / STRETCHES;
    return (struct sample){part, part / PART < STRETCH_MOST ? part / PART : STRETCH_MOST};
}

bool frequent_find(struct frequent *frequent, const lego_items *items, struct seed seed,
                   const struct block_kernels *kernels)
{
    const struct sample sample = sample_of(items);
    uint64_t word[STRETCH_MOST], seen = 0;
    for (unsigned i = 0; i < FREQUENT_SLOTS; i++) frequent->slot[i].word = UINT64_MAX;
    frequent_clear(frequent);
    for (size_t s = 0; s < STRETCHES; s++) {
        words_of(items, sample.part * s, sample.stretch, seed, kernels, word);
        for (size_t i = 0; i < sample.stretch; i++) { /* an item wins its slot if it has more than half of it */
            unsigned slot = frequent_slot(word[i]);
            int64_t *credit = &frequent->slot[slot].count;
            if (*credit == 0) frequent->slot[slot].word = word[i];
            bool is_there = frequent->slot[slot].word == word[i];
            seen += is_there && *credit > 0;
            *credit += is_there ? 1 : -1;
        }
    }
    return seen > STRETCHES * sample.stretch / 6; /* where it costs as much as it saves, 2 of 12 ns */
}

size_t frequent_list(struct frequent *frequent, const lego_items *items, struct seed seed,
                     const struct block_kernels *kernels, size_t item[FREQUENT_SLOTS])
{
    const struct sample sample = sample_of(items);
    uint64_t word[STRETCH_MOST];
    size_t n = 0;
    for (size_t s = 0; s < STRETCHES; s++) {
        words_of(items, sample.part * s, sample.stretch, seed, kernels, word);
        for (size_t i = 0; i < sample.stretch; i++) {
            unsigned slot = frequent_slot(word[i]);
            if (frequent->slot[slot].word != word[i] || frequent->slot[slot].count < 2) continue;
            frequent->slot[slot].count = 0; /* so that it is listed once */
            item[n++] = sample.part * s + i;
        }
    }
    return n;
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
