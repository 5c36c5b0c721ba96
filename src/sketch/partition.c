/* partition: see partition.h. */
#include "sketch/partition.h"

#include <string.h>

void parts_start(struct parts *parts, uint32_t blocks)
{
    parts->used = 1;
    parts->blocks = blocks;
    parts->shift = parts_shift(blocks);
    memset(parts->end, 0, sizeof parts->end);
}

static inline void put(struct parts *parts, uint32_t part, uint64_t word, const int64_t *count)
{
    uint32_t end = parts->end[part];
    if (end % PART_CHUNK == 0) {
        parts->before[parts->used] = end;
        end = parts->used++ * PART_CHUNK;
    }
    parts->pool[end] = word;
    if (count) parts->pool[end + 1] = (uint64_t)*count;
    parts->end[part] = end + (count ? 2 : 1);
}

static void hash_some(const lego_items *items, size_t first, unsigned n, uint64_t seed,
                      const struct block_kernels *kernels, struct hashes *hashes)
{
    if (items->integers) {
        kernels->hash_keys(items->integers + first, n, seed, hashes);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        struct hash hash = items_hash(items, first + i, seed);
        hashes->lo[i] = hash.lo;
        hashes->hi[i] = hash.hi;
    }
}

/* n items from `first` on, at most HASHES_MOST. */
static void take_some(struct parts *parts, const lego_items *items, size_t first, unsigned n, uint64_t seed,
                      const struct block_kernels *kernels)
{
    const uint32_t last = parts_last(parts);
    struct hashes hashes;
    hash_some(items, first, n, seed, kernels, &hashes);
    for (unsigned i = 0; i < n; i++) {
        uint64_t place = hashes.lo[i] >> (64 - HASH_PLACE);
        uint64_t word = place << BLOCK_PRINT | hashes.hi[i] >> (64 - BLOCK_PRINT);
        uint32_t part = (uint32_t)((lego_u128)place * parts->blocks >> HASH_PLACE) >> parts->shift;
        put(parts, part < last ? part : last, word, parts->counted ? items->counts + first + i : NULL);
    }
}

size_t parts_take(struct parts *parts, const lego_items *items, size_t first, size_t end, uint64_t seed,
                  const struct block_kernels *kernels)
{
    uint64_t rest[PARTS_AT_ONCE];
    while (first < end && parts->chunks - parts->used >= PARTS_AT_ONCE) {
        unsigned n = end - first < PARTS_AT_ONCE ? (unsigned)(end - first) : PARTS_AT_ONCE, left = n;
        lego_items some = *items;
        size_t from = first;
        if (parts->frequent) {
            left = frequent_pass(parts->frequent, items->integers + first, n, parts->times, rest);
            some.integers = rest;
            from = 0;
        }
        for (unsigned i = 0; i < left; i += HASHES_MOST)
            take_some(parts, &some, from + i, left - i < HASHES_MOST ? left - i : HASHES_MOST, seed, kernels);
        first += n;
    }
    return first;
}

const uint64_t *parts_walk(const struct parts *parts, uint32_t *end, unsigned *words)
{
    if (*end == 0) return NULL;
    uint32_t chunk = (*end - 1) / PART_CHUNK;
    *words = *end - chunk * PART_CHUNK;
    *end = parts->before[chunk];
    return parts->pool + (size_t)chunk * PART_CHUNK;
}
