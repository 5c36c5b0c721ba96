/* blocks: the memory of a compact model. It has as many blocks as its content needs, up to those of the budget.
 *
 * Of an item's hash 62 bits are used: 38 of the lower half, X, and the print, 24 of the upper. Of B blocks the item has
 * number floor(X B / 2^38), and what that leaves of X, the fraction, is below the print in its key. So blocks are in
 * the order of X, twice as many split each in two, and from a block's number and a whole key the hash comes back.
 *
 * **Growing.** A young sketch has the least number of blocks at which all of them list whole keys, of those that it can
 * have; while that is so, everything is exact. At the most, the number that its budget gives, blocks begin to give up
 * bits, one by one, where it is crowded.
 *
 * It can have the most, half of that, half of it again, each rounded down: 1, 2, 4, 9, 18, 36, 73, 146. What fits some
 * blocks with whole keys fits twice as many; so a sketch that has the most already, because of what has been taken away
 * since, gives up no bit that another would not. (One of twice as many and one more can have items of two, but of less
 * than half a block's range: only items chosen for it would be more than the fullest of the fewer has.)
 *
 * **Caps.** At the budget, 32 blocks share a cap (the last one has what is left over, too): a row of cells, to which
 * each of their items is added once any of the 32 has given up a bit of its prints. Until then it is empty, and it
 * can be made of the lists, which know all the bits that it needs. An item's count is at most its cell there. */
#pragma once

#include "block/kernels.h"

enum { BLOCKS_A_CAP = 32, BLOCKS_LINE = 64, BLOCKS_LIMIT = 1 << 28 };

struct blocks {
    struct block *block;   /* on a cache line; caps are behind them, if there are as many blocks as at most */
    uint32_t blocks, most; /* the most are those of the budget */
    unsigned whole;        /* bits of a whole key */
    bool loose;            /* fewer blocks might do: something was taken away, or they were made ahead */
    int64_t total;         /* N */
    const struct block_kernels *kernels;
};

static inline uint32_t blocks_caps(uint32_t blocks, uint32_t most)
{
    return blocks < most ? 0 : most < BLOCKS_A_CAP ? 1 : most / BLOCKS_A_CAP;
}

/* Bits of a whole key, if there are so many. Of the 38 bits of a fraction X B mod 2^38 those count that tell one X
 * from the next, which is B further on. */
static inline unsigned key_bits(uint32_t blocks)
{
    return BLOCK_PRINT + HASH_PLACE - (31 - (unsigned)__builtin_clz(blocks));
}

/* Bytes of memory for so many blocks: what the caller allocates is aligned for any type, but may start anywhere in a
 * line. So behind the last block there are 8 bytes or more, which readers may touch. */
static inline uint64_t blocks_bytes(uint32_t blocks, uint32_t most)
{
    return ((uint64_t)blocks + blocks_caps(blocks, most)) * sizeof(struct block) + BLOCKS_LINE;
}

/* The number that has as many bits as `blocks`, of those that a sketch can have. */
static inline uint32_t blocks_like(uint32_t blocks, uint32_t most)
{
    return most >> (__builtin_clz(blocks) - __builtin_clz(most));
}

/* Whether a sketch can have so many. */
static inline bool blocks_possible(uint32_t blocks, uint32_t most)
{
    return blocks > 0 && blocks <= most && blocks == blocks_like(blocks, most);
}

/* How many come after so many, which are fewer than the most. */
static inline uint32_t blocks_after(uint32_t blocks, uint32_t most)
{
    return blocks_like(2 * blocks, most);
}

static inline bool blocks_grow(const struct blocks *blocks)
{
    return blocks->blocks < blocks->most;
}

/* Empty blocks in blocks_bytes() of memory. */
void blocks_init(struct blocks *blocks, uint32_t number, uint32_t most, void *bytes);

/* ---- where an item is -------------------------------------------------------------------------------------------- */

struct spot {
    uint32_t block;
    uint64_t key;
};

static inline struct spot spot_of(uint32_t blocks, struct hash hash)
{
    lego_u128 product = (lego_u128)(hash.lo >> (64 - HASH_PLACE) << (64 - HASH_PLACE)) * blocks;
    return (struct spot){(uint32_t)(product >> 64),
                         hash.hi >> (64 - BLOCK_PRINT) << (64 - BLOCK_PRINT) | (uint64_t)product >> BLOCK_PRINT};
}

/* The hash that a whole key came from, as far as blocks know it: of the X with such a fraction there is one. */
static inline struct hash spot_hash(uint32_t blocks, struct spot spot)
{
    const unsigned down = 64 - HASH_PLACE;
    lego_u128 product = (lego_u128)spot.block << 64 | spot.key << BLOCK_PRINT;
    lego_u128 least = ((product + ((UINT64_C(1) << down) - 1)) >> down) + (blocks - 1); /* X B, rounded up */
    uint64_t x = least >> 64 ? (uint64_t)(least / blocks) : (uint64_t)least / blocks;   /* which is a faster division */
    return (struct hash){x << down, spot.key >> (64 - BLOCK_PRINT) << (64 - BLOCK_PRINT)};
}

/* The cap of a block, of a sketch that has all its blocks; and which blocks have it. */
static inline uint32_t cap_index(const struct blocks *blocks, uint32_t block)
{
    uint32_t caps = blocks_caps(blocks->blocks, blocks->most), cap = block / BLOCKS_A_CAP;
    return cap < caps ? cap : caps - 1;
}

static inline struct block *cap_of(const struct blocks *blocks, uint32_t block)
{
    return &blocks->block[blocks->blocks + cap_index(blocks, block)];
}

static inline uint32_t cap_first(uint32_t cap)
{
    return cap * BLOCKS_A_CAP;
}

static inline uint32_t cap_end(const struct blocks *blocks, uint32_t cap)
{
    return cap + 1 == blocks_caps(blocks->blocks, blocks->most) ? blocks->blocks : cap_first(cap + 1);
}

/* Has a block fetched, all of its lines at once. */
static inline void block_prefetch(const struct block *block)
{
    for (unsigned i = 0; i < BLOCK_WORDS; i += 8) __builtin_prefetch(&block->word[i]);
}

/* The block of an item, for a reading or an addition that comes soon. While there are few items for each block, these
 * are in its first half. */
static inline void blocks_prefetch(const struct blocks *blocks, uint32_t block)
{
    const struct block *at = &blocks->block[block];
    for (unsigned i = 0; i < (blocks_grow(blocks) ? BLOCK_WORDS / 2 : BLOCK_WORDS); i += 8)
        __builtin_prefetch(&at->word[i]);
}

/* ---- adding and reading ------------------------------------------------------------------------------------------ */

/* Adds an item. False, and nothing has changed, if there must be more blocks first. The total is left to the caller. */
bool blocks_add(struct blocks *blocks, struct hash hash, int64_t count);

/* The same of its block alone: the cap is left to the caller, but made if it is needed. */
bool blocks_put(struct blocks *blocks, struct spot spot, int64_t count);

/* Adds a content, times sign, to a block; likewise false if there must be more blocks first. Both are brought to the
 * later of their steps, and on. The cap is left to the caller, but made if it is needed. */
bool blocks_join(struct blocks *blocks, uint32_t block, struct content *from, int sign);

/* Makes the cap of these blocks, of their lists, if it does not count yet. */
void blocks_make_cap(struct blocks *blocks, uint32_t block);

/* The same of lists of whole keys that are looked at one by one: their entries are added to cells, and these become the
 * cap, by way of a content that is needed no more. (Two contents would be 33 KB of a stack, below others.) */
struct cap_cells {
    int64_t cell[512];
};
void cap_cells_add(struct cap_cells *cells, const struct content *list);
void cap_settle(const struct blocks *blocks, struct block *cap, const struct cap_cells *cells, struct content *room);

/* What is known of an item. */
void blocks_read(const struct blocks *blocks, struct spot spot, struct reading *reading);

/* The same of n items, at most MANY_MOST. */
void blocks_read_many(const struct blocks *blocks, const struct spot spot[], unsigned n, struct reading reading[]);

/* The least of the values, which is never below the item's count if no count is negative. */
static inline int64_t reading_upper(const struct reading *reading)
{
    int64_t upper = reading->value[0];
    for (unsigned i = 1; i < reading->values; i++)
        if (reading->value[i] < upper) upper = reading->value[i];
    return upper;
}
