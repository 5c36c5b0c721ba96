/* judge: what a sketch answers for items that it does not list, and how far above what is listed a count may be.
 *
 * The first four entries of a block that keeps are a sample of all its items (keep.h), with exact counts. What they
 * show and the lists do not is what was let go. This is judged anew whenever the total enters another class, of four an
 * octave, and after a merge: so an addition does not scan, a question neither, and it does not matter how additions are
 * put into calls. */
#pragma once

#include "block/blocks.h"

/* The class of a total. Those that are too small for blocks that keep are one: around 0 it would change all the time.
 * */
static inline unsigned total_class(const struct blocks *blocks, int64_t total)
{
    enum { A_BLOCK = 16 };
    const uint64_t x = total < 0 ? -(uint64_t)total : (uint64_t)total;
    const unsigned top = 63 - (unsigned)__builtin_clzll(x | 4);
    return x < (uint64_t)blocks->most * A_BLOCK ? 0 : 4 * top + (unsigned)(x >> (top - 2) & 3);
}

/* Looks at 256 of the blocks, or at all if they are fewer. */
void blocks_judge(struct blocks *blocks);

/* What was judged, as far as it can be true still. Where items come in falling order of their counts, most of them come
 * while the total hardly grows: but then many come into the samples, and they are lighter than what was judged. */
static inline struct unlisted unlisted_now(const struct blocks *blocks)
{
    struct unlisted now = blocks->unlisted;
    if (2 * now.lighter > blocks->blocks) now.value = 1;
    if (now.entered > blocks->blocks) now.likely = UINT64_MAX;
    return now;
}

/* Items of this weight were added to the blocks. */
static inline void blocks_count(struct blocks *blocks, int64_t weight)
{
    const unsigned before = total_class(blocks, blocks->total);
    blocks->total += weight;
    if (blocks->keeps && total_class(blocks, blocks->total) != before) blocks_judge(blocks);
}
