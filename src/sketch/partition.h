/* partition: items of a batch, put by ranges of blocks. What is kept of an item is its word (words.h), and its count,
 * if the batch has counts. */
#pragma once

#include "sketch/frequent.h"
#include "sketch/watch.h"

enum {
    PARTS_MOST = 512,
    PART_LEAST = 1024,  /* items, so that a part is worth its while */
    PART_CHUNK = 64,    /* words of a part that are in one place */
    PARTS_AT_ONCE = 256 /* items */
};

struct parts {
    uint64_t *pool; /* chunks */
    uint32_t *next; /* of each chunk, the one after it in its part, if it is not the last */
    uint32_t chunks, used;
    uint32_t blocks; /* at most: parts stay as they are while a sketch grows */
    unsigned shift;  /* a part has 2^shift blocks */
    bool counted;
    struct frequent *frequent;  /* items that are counted aside until the parts are added, or NULL */
    struct watch *watch;        /* items that are counted aside instead, and left to the caller; or NULL */
    uint32_t first[PARTS_MOST]; /* chunks */
    uint32_t end[PARTS_MOST];   /* in the pool; 0: nothing there */
};

static inline uint32_t parts_last(const struct parts *parts)
{
    return (parts->blocks - 1) >> parts->shift;
}

/* The part of a word. */
static inline uint32_t parts_index(const struct parts *parts, uint64_t word)
{
    return (uint32_t)((lego_u128)(word >> PRINT_MOST) * parts->blocks >> HASH_PLACE) >> parts->shift;
}

/* Where the blocks of a part begin; those of the last end where there are no more. */
static inline uint32_t parts_first(const struct parts *parts, uint32_t part)
{
    return part > parts_last(parts) ? parts->blocks : part << parts->shift;
}

/* Chunks that surely have room for so many items. Chunk 0 is never used. */
static inline uint64_t parts_chunks(uint64_t items, bool counted)
{
    return items * (1 + counted) / PART_CHUNK + PARTS_MOST + PARTS_AT_ONCE + 1;
}

/* For about so many items. */
void parts_start(struct parts *parts, uint32_t blocks, uint64_t items);

/* Takes items from `first` on, as many as there is room for, and returns the first that it did not take. */
size_t parts_take(struct parts *parts, const lego_items *items, size_t first, size_t end, struct seed seed,
                  const struct block_kernels *kernels);

/* Goes through the chunks of a part, in the order of its items: *words words at the address; NULL after the last one.
 * *at is the part's first chunk at first, or 0 if it has none. */
const uint64_t *parts_walk(const struct parts *parts, uint32_t part, uint32_t *at, unsigned *words);

static inline uint32_t parts_begin(const struct parts *parts, uint32_t part)
{
    return parts->end[part] ? parts->first[part] : 0;
}
