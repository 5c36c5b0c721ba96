/* words: of an item, the 62 bits of its hash that blocks know (blocks.h): the 38 of its place above those of its
 * print. Words are in the order of the places, as blocks are. */
#pragma once

#include "block/blocks.h"

static inline struct hash word_hash(uint64_t word)
{
    return (struct hash){word >> BLOCK_PRINT << (64 - HASH_PLACE), word << (64 - BLOCK_PRINT)};
}

static inline uint64_t hash_word(struct hash hash)
{
    return hash.lo >> (64 - HASH_PLACE) << BLOCK_PRINT | hash.hi >> (64 - BLOCK_PRINT);
}

/* Of n items from `first` on. */
void words_of(const lego_items *items, size_t first, size_t n, uint64_t seed, const struct block_kernels *kernels,
              uint64_t word[]);
