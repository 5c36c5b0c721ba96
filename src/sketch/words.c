/* words: see words.h. */
#include "sketch/words.h"

static void words_of_integers(const uint64_t keys[], unsigned n, uint64_t seed, const struct block_kernels *kernels,
                              uint64_t word[])
{
    struct hashes hashes;
    kernels->hash_keys(keys, n, seed, &hashes);
    for (unsigned i = 0; i < n; i++) word[i] = hash_word((struct hash){hashes.lo[i], hashes.hi[i]});
}

void words_of(const lego_items *items, size_t first, size_t n, uint64_t seed, const struct block_kernels *kernels,
              uint64_t word[])
{
    for (size_t i = 0; items->integers && i < n; i += HASHES_MOST)
        words_of_integers(items->integers + first + i, n - i < HASHES_MOST ? (unsigned)(n - i) : HASHES_MOST, seed,
                          kernels, word + i);
    for (size_t i = 0; !items->integers && i < n; i++) word[i] = hash_word(items_hash(items, first + i, seed));
}
