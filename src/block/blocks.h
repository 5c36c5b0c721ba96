/* blocks: the memory of a compact model. It has as many blocks as its content needs, up to those of the budget.
 *
 * Of an item's hash 62 bits are used: 38 of the lower half, X, and the print, 24 of the upper. Of B blocks the item has
 * number floor(X B / 2^38), and what that leaves of X, the fraction, is below the print in its key. So blocks are in
 * the order of X, twice as many split each in two, and from a block's number and a whole key the hash comes back.
 *
 * **Growing.** A young sketch has the least number of blocks at which all of them list whole keys, of those that it can
 * have; while that is so, everything is exact. At the most, the number that its budget gives, blocks begin to give up
 * bits, one by one, where it is crowded; and those that would need fewer than 20 bits keep their heaviest (keep.h).
 *
 * It can have the most, half of that, half of it again, each rounded down: 1, 2, 4, 9, 18, 36, 73, 146. What fits some
 * blocks with whole keys fits twice as many; so a sketch that has the most already, because of what has been taken away
 * since, gives up no bit that another would not. (One of twice as many and one more can have items of two, but of less
 * than half a block's range: only items chosen for it would be more than the fullest of the fewer has.)
 *
 * **Order.** Until a block keeps, what is in it follows from what was added, in whatever order. One that keeps takes
 * its items one after the other. */
#pragma once

#include "block/kernels.h"

enum { BLOCKS_LINE = 64, BLOCKS_LIMIT = 1 << 28 };

/* What is answered for items that a block which let some go does not list: one number for the whole sketch. */
struct unlisted {
    uint64_t value;   /* what most of them count, about: 1 in most streams */
    uint64_t likely;  /* what 99 % of all items count at most beyond what is listed of them */
    uint64_t entered; /* newcomers in the samples since this was told: if they are many, it is told no more; */
    uint64_t lighter; /* those of them that came with a smaller count than the value */
};

/* Newcomers in samples, of some additions. */
struct news {
    uint64_t entered, lighter;
};

struct blocks {
    struct block *block;      /* on a cache line */
    uint32_t blocks, most;    /* the most are those of the budget */
    unsigned whole;           /* bits of a whole key */
    bool loose;               /* fewer blocks might do: something was taken away, or they were made ahead */
    bool keeps;               /* some block does */
    int64_t total;            /* N */
    struct unlisted unlisted; /* taken anew when the total enters another class (judge.c) */
    const struct block_kernels *kernels;
};

/* Bits of a whole key, if there are so many. Of the 38 bits of a fraction X B mod 2^38 those count that tell one X
 * from the next, which is B further on. */
static inline unsigned key_bits(uint32_t blocks)
{
    return PRINT_MOST + HASH_PLACE - (31 - (unsigned)__builtin_clz(blocks));
}

/* Bytes of memory for so many blocks: what the caller allocates is aligned for any type, but may start anywhere in a
 * line. So behind the last block there are 8 bytes or more, which readers may touch. */
static inline uint64_t blocks_bytes(uint32_t blocks)
{
    return (uint64_t)blocks * sizeof(struct block) + BLOCKS_LINE;
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
                         hash.hi >> (64 - PRINT_MOST) << (64 - PRINT_MOST) | (uint64_t)product >> PRINT_MOST};
}

/* The hash that a whole key came from, as far as blocks know it: of the X with such a fraction there is one. */
static inline struct hash spot_hash(uint32_t blocks, struct spot spot)
{
    const unsigned down = 64 - HASH_PLACE;
    lego_u128 product = (lego_u128)spot.block << 64 | spot.key << PRINT_MOST;
    lego_u128 least = ((product + ((UINT64_C(1) << down) - 1)) >> down) + (blocks - 1); /* X B, rounded up */
    uint64_t x = least >> 64 ? (uint64_t)(least / blocks) : (uint64_t)least / blocks;   /* which is a faster division */
    return (struct hash){x << down, spot.key >> (64 - PRINT_MOST) << (64 - PRINT_MOST)};
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

/* Takes an addition back, for which there is room. If there are as many blocks as there can be nothing is written but
 * the item's block: others may do the same to theirs. */
void blocks_take_back(struct blocks *blocks, struct hash hash, int64_t count);

/* Adds a content of whole keys to a block, in no order. False, and nothing has changed, if there must be more blocks
 * first; or if there can not be, and the block would come to keep, or does: then order matters. */
bool blocks_join(struct blocks *blocks, uint32_t block, struct content *from);

/* Adds n items of one block in their order. There are as many blocks as there can be. Returns whether the block keeps;
 * *news rises by the newcomers in its sample. */
bool blocks_take(const struct blocks *blocks, uint32_t block, const uint64_t key[], const int64_t count[], size_t n,
                 struct news *news);

/* Writes a content that does not keep into a block, at the first step from its own on at which it fits; false if it
 * would have to keep. */
bool blocks_list(const struct blocks *blocks, struct block *block, struct content *content);

/* What is known of an item. */
static inline void blocks_read(const struct blocks *blocks, struct spot spot, struct reading *reading)
{
    block_prefetch(&blocks->block[spot.block]);
    blocks->kernels->read(&blocks->block[spot.block], blocks->whole, spot.key, reading);
}
