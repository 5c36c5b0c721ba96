/* words: items -> words, which are all that blocks know of their hashes (kernels.h). Words are in the order of the
 * items' places, as blocks are. */
#pragma once

#include "block/blocks.h"

/* Of n items from `first` on. */
void words_of(const lego_items *items, size_t first, size_t n, struct seed seed, const struct block_kernels *kernels,
              uint64_t word[]);

/* n of the items, from `first` on. */
static inline lego_items items_from(const lego_items *items, size_t first, size_t n)
{
    lego_items some = *items;
    some.n = n;
    if (items->integers) some.integers += first;
    else some.offsets += first;
    if (items->counts) some.counts += first;
    return some;
}
