/* words: see words.h. */
#include "sketch/words.h"

enum { LINE = 8, AHEAD = 4096 }; /* integers of a cache line; bytes, which may be behind the last */

/* What memory gives in order comes sooner if it is asked for: a batch is read once, and nothing else is to do. */
static inline void prefetch_ahead(const uint64_t *at)
{
    __builtin_prefetch((const void *)((uintptr_t)at + AHEAD));
}

static void words_of_integers(const uint64_t keys[], unsigned n, struct seed seed, const struct block_kernels *kernels,
                              uint64_t word[])
{
    for (unsigned i = 0; i < n; i += LINE) prefetch_ahead(keys + i);
    kernels->hash_words(keys, n, seed, word);
}

static void words_of_texts(const void *bytes, const uint64_t offsets[], unsigned n, struct seed seed, uint64_t word[])
{
    struct hash hash[MANY_MOST];
    hash_texts(bytes, offsets, n, seed, hash);
    for (unsigned i = 0; i < n; i++) word[i] = hash_word(hash[i]);
}

void words_of(const lego_items *items, size_t first, size_t n, struct seed seed, const struct block_kernels *kernels,
              uint64_t word[])
{
    for (size_t i = 0; i < n; i += MANY_MOST) {
        unsigned some = n - i < MANY_MOST ? (unsigned)(n - i) : MANY_MOST;
        if (items->integers) words_of_integers(items->integers + first + i, some, seed, kernels, word + i);
        else words_of_texts(items->bytes, items->offsets + first + i, some, seed, word + i);
    }
}
