/* items: those of one call, of either kind, and their hashes. */
#ifndef LEGO_SRC_ITEMS_H
#define LEGO_SRC_ITEMS_H

#include "sketch.h"

struct items {
    const uint64_t *keys; /* or NULL: */
    const unsigned char *bytes;
    const uint64_t *offsets;
};

static inline struct hash item_hash(const struct items *items, size_t i, uint64_t seed)
{
    if (items->keys) return hash_u64(items->keys[i], seed);
    return hash_bytes(items->bytes + items->offsets[i], (size_t)(items->offsets[i + 1] - items->offsets[i]), seed);
}

/* Where n items are from `first` on, at most DECODE_MOST, in a sketch of blocks. */
static inline void items_place(const struct items *items, size_t first, unsigned n, const lego_sketch *sketch,
                               struct decode_places *places)
{
    const struct dense *dense = &sketch->dense;
    struct hashes hashes;
    if (items->keys) {
        dense->kernels->hash_keys(items->keys + first, n, sketch->seed, &hashes);
    } else {
        for (unsigned i = 0; i < n; i++) {
            struct hash hash = item_hash(items, first + i, sketch->seed);
            hashes.lo[i] = hash.lo;
            hashes.hi[i] = hash.hi;
        }
    }
    dense->kernels->place(&hashes, n, dense->odd, dense->mask, places);
}

#endif
