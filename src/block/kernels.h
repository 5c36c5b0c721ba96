/* kernels: what is compiled more than once, for CPUs with more or fewer instructions; the only choice made at run time.
 * On x86-64 the body, kernels_body.h, is compiled plainly, for x86-64-v3, which has instructions to find and to count
 * bits, and for x86-64-v4. All give the same bits. */
#pragma once

#include <stddef.h>

#include "block/content.h"
#include "core/hash.h"

enum { MANY_MOST = 64 }; /* items at once */

/* Of a hash blocks know 62 bits (blocks.h). They make up a *word*: 38 of its place above the 24 of its print. */
enum { HASH_PLACE = 38 };

static inline uint64_t hash_word(struct hash hash)
{
    return hash.lo >> (64 - HASH_PLACE) << BLOCK_PRINT | hash.hi >> (64 - BLOCK_PRINT);
}

static inline struct hash word_hash(uint64_t word)
{
    return (struct hash){word >> BLOCK_PRINT << (64 - HASH_PLACE), word << (64 - BLOCK_PRINT)};
}

/* A listed count below this is no giant's, and its cap is not asked: another cache line to look at. */
enum { BLOCKS_UNCAPPED = 64 };

/* What is known of an item: one value of a list, or one of each row, and behind it that of the cap, if it counts. */
struct reading {
    unsigned step, values;
    int64_t value[3];
    uint32_t width
        [3]; /* an item has a chance of 1 in so many to be in the cell; of a list's, to have this print, at most 2^24 */
    unsigned entries; /* of a list */
};

/* Keys, and the blocks and caps that they are asked of, by how many blocks these are behind the first. */
struct asked {
    const uint32_t *block, *cap; /* cap may be NULL */
    const uint64_t *key;
};

/* `whole` is always the number of bits of a whole key. */
struct block_kernels {
    const char *name;
    bool (*supported)(void);

    /* What a block and its cap say of a key. A cap is NULL if there is none, and is asked only if the block has given
     * up bits. Behind both there are 8 bytes that may be read, and that nobody is writing. */
    void (*read)(const struct block *block, const struct block *cap, unsigned whole, uint64_t key,
                 struct reading *reading);

    /* The same of n keys, at most MANY_MOST. */
    void (*read_many)(const struct block *base, unsigned whole, const struct asked *asked, unsigned n,
                      struct reading reading[]);

    /* Adds an item. False, and nothing has changed, if the block's step has no room for it. */
    bool (*add)(struct block *block, unsigned whole, uint64_t key, int64_t count);

    /* The same at the first step from the block's own on that has room. */
    void (*add_on)(struct block *block, unsigned whole, uint64_t key, int64_t count);

    /* The same to a block and to its cap. */
    void (*add_both)(struct block *block, struct block *cap, unsigned whole, uint64_t key, int64_t count);

    /* Adds n items as long as that is a matter of a few bits moved; how many these were. */
    unsigned (*add_some)(struct block *block, unsigned whole, const uint64_t key[], const int64_t count[], unsigned n);

    void (*open)(const struct block *block, unsigned whole, struct content *content);

    /* The block of this content at its step: of all ways to code it the one with the fewest bits, and of those the
     * least g, so that equal content gives equal bytes. (A block that was added to may have another g.) False, and
     * the block is as it was, if it does not fit. */
    bool (*close)(struct block *block, unsigned whole, const struct content *content);

    /* The same at the first step from the content's own on at which it fits, to which it is brought. */
    void (*settle)(struct block *block, unsigned whole, struct content *content);

    /* Whether bytes from outside are a block as close() makes them: then content is what they hold. */
    bool (*valid)(const struct block *block, unsigned whole, struct content *content);

    /* The words of n keys, whose hashes are those of hash_u64(). */
    void (*hash_words)(const uint64_t key[], unsigned n, struct seed seed, uint64_t word[]);
};

/* Best first; those that do not run on this CPU say so. NULL ends the list. */
extern const struct block_kernels *const block_kernels_all[];

/* The first of them that is supported. */
const struct block_kernels *block_kernels_best(void);
