/* content: what a block holds, unpacked: entries or cells, and how they change from step to step.
 *
 * A block is opened into a content (kernels.h), which can be added to, brought to a later step, joined with another's,
 * and closed into a block again. */
#pragma once

#include "block/block.h"

enum {
    CONTENT_BEHIND = 8,                                   /* places behind the last entry */
    CONTENT_MOST = 2 * BLOCK_ENTRIES + 2 + CONTENT_BEHIND /* those of two blocks */
};

struct content {
    unsigned step, n; /* entries, or cells */
    uint64_t key[CONTENT_MOST];
    int64_t value[CONTENT_MOST]; /* none is 0 in a list */
};

/* An empty one. */
void content_start(struct content *content, unsigned step);

/* Brings it to a later step: from list to list or to rows, from rows to rows, from cap to cap. */
void content_lower(struct content *content, unsigned step, unsigned whole);

/* Adds one item. A list must have room for one entry more. */
void content_add(struct content *content, unsigned whole, uint64_t key, int64_t count);

/* Adds entries that are cut for this step and in the order of their keys, times sign (1 or -1); or cells. Both at the
 * same step, and both lists of at most BLOCK_ENTRIES entries. */
void content_join(struct content *into, const struct content *from, int sign);
