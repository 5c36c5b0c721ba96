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
    return hash.lo >> (64 - HASH_PLACE) << PRINT_MOST | hash.hi >> (64 - PRINT_MOST);
}

static inline struct hash word_hash(uint64_t word)
{
    return (struct hash){word >> PRINT_MOST << (64 - HASH_PLACE), word << (64 - PRINT_MOST)};
}

/* What a block says of a key. */
struct reading {
    int64_t value; /* of the entry that the item is counted in: the one that agrees in all it knows and knows most */
    int64_t alike; /* the sum of all entries that agree with it in the bits that all of them know */
    uint64_t plus, minus; /* what the block has lost above 0, and below; 0 if it does not keep */
    bool listed;          /* there is such an entry; else value is 0 */
    uint8_t step;
};

/* `whole` is always the number of bits of a whole key. */
struct block_kernels {
    const char *name;
    bool (*supported)(void);

    void (*read)(const struct block *block, unsigned whole, uint64_t key, struct reading *reading);

    /* The same of n keys, at most MANY_MOST, and of blocks that are so many behind the first. */
    void (*read_many)(const struct block *base, unsigned whole, const uint32_t block[], const uint64_t key[],
                      unsigned n, struct reading reading[]);

    /* Adds an item. False, and nothing has changed, if the block's step has no room for it. A block that keeps always
     * takes it. */
    bool (*add)(struct block *block, unsigned whole, uint64_t key, int64_t count);

    /* The same at the first step from the block's own on that has room; if no list has, the block keeps from now on.
     * Returns how many newcomers came into the sample of one that does: at most 1. */
    unsigned (*add_on)(struct block *block, unsigned whole, uint64_t key, int64_t count);

    /* Adds n items as long as that is a matter of a few bits moved; how many these were. */
    unsigned (*add_some)(struct block *block, unsigned whole, const uint64_t key[], const int64_t count[], unsigned n);

    void (*open)(const struct block *block, unsigned whole, struct content *content);

    /* The block of this content at its step. False, and the block is as it was, if it does not fit. Of a list: of all
     * ways to code it the one with the fewest bits, and of those the least g, so that equal content gives equal bytes.
     * (A block that was added to may have another g.) A content that keeps tells its g. */
    bool (*close)(struct block *block, unsigned whole, const struct content *content);

    /* The same at the first step from the content's own on at which it fits, to which it is brought. If no list has
     * room, it keeps from now on. */
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
