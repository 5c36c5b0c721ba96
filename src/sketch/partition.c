/* partition: see partition.h. */
#include "sketch/partition.h"

#include <string.h>

void parts_start(struct parts *parts, uint32_t blocks, uint64_t items)
{
    const uint64_t most = items / PART_LEAST < PARTS_MOST ? items / PART_LEAST : PARTS_MOST;
    parts->used = 1;
    parts->blocks = blocks;
    parts->shift = 5;
    while ((blocks - 1) >> parts->shift > 0 && (blocks - 1) >> parts->shift >= most) parts->shift++;
    if (parts->frequent) frequent_clear(parts->frequent);
    memset(parts->end, 0, sizeof parts->end);
}

static inline void put(struct parts *parts, uint32_t part, uint64_t word, const int64_t *count)
{
    uint32_t end = parts->end[part];
    if (end % PART_CHUNK == 0) {
        if (end == 0) parts->first[part] = parts->used;
        else parts->next[end / PART_CHUNK - 1] = parts->used;
        end = parts->used++ * PART_CHUNK;
    }
    parts->pool[end] = word;
    if (count) parts->pool[end + 1] = (uint64_t)*count;
    parts->end[part] = end + (count ? 2 : 1);
}

static void put_words(struct parts *parts, const uint64_t word[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) put(parts, parts_index(parts, word[i]), word[i], NULL);
}

static void put_counted(struct parts *parts, const uint64_t word[], const int64_t count[], unsigned n)
{
    for (unsigned i = 0; i < n; i++) put(parts, parts_index(parts, word[i]), word[i], &count[i]);
}

size_t parts_take(struct parts *parts, const lego_items *items, size_t first, size_t end, struct seed seed,
                  const struct block_kernels *kernels)
{
    uint64_t word[PARTS_AT_ONCE];
    int64_t count[PARTS_AT_ONCE];
    for (size_t n; first < end && parts->chunks - parts->used >= PARTS_AT_ONCE; first += n) {
        n = end - first < PARTS_AT_ONCE ? end - first : PARTS_AT_ONCE;
        unsigned left = (unsigned)n;
        words_of(items, first, n, seed, kernels, word);
        if (parts->counted) memcpy(count, items->counts + first, n * sizeof *count);
        if (parts->frequent) left = frequent_pass(parts->frequent, word, parts->counted ? count : NULL, left);
        if (parts->watch) left = watch_pass(parts->watch, word, parts->counted ? count : NULL, left);
        if (parts->counted) put_counted(parts, word, count, left);
        else put_words(parts, word, left);
    }
    return first;
}

const uint64_t *parts_walk(const struct parts *parts, uint32_t part, uint32_t *at, unsigned *words)
{
    const uint32_t chunk = *at, last = (parts->end[part] - 1) / PART_CHUNK;
    if (chunk == 0) return NULL;
    *words = chunk == last ? parts->end[part] - chunk * PART_CHUNK : PART_CHUNK;
    *at = chunk == last ? 0 : parts->next[chunk];
    if (*at > 0) { /* it is on its way while the words of this one are counted */
        const uint64_t *word = parts->pool + (size_t)*at * PART_CHUNK;
        for (unsigned i = 0; i < PART_CHUNK; i += BLOCKS_LINE / sizeof *word) __builtin_prefetch(word + i);
        __builtin_prefetch(&parts->next[*at]);
    }
    return parts->pool + (size_t)chunk * PART_CHUNK;
}
