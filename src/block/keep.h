/* keep: the rule of a full block. It keeps its heaviest entries exactly, and lets the lightest go. keep.c is all of it,
 * to be read from top to bottom. */
#pragma once

#include <stddef.h>

#include "block/content.h"

/* Adds one item to a content that keeps. */
void keep_add(struct content *content, uint64_t key, int64_t count);

/* Makes a content of the last step before keep, and fit. It has at most one entry more than fits. */
void keep_start(struct content *content);

/* Whether a content from outside has a loss that a sequence of additions may have left, as far as one look can tell.
 * Its entries are in order, and of 0 only in the sample. */
bool keep_valid(struct content *content);

/* The entries of several contents together, in the order of their keys. */
struct entry {
    uint64_t key;
    int64_t value;
    uint8_t known;
};

struct joined {
    unsigned step;
    struct loss loss;
    size_t n;
    struct entry *entry; /* in no order; there is room for all */
};

/* Adds the entries of a content, each `times` as often, to those of others; whole: bits of a whole key. */
void keep_gather(struct joined *joined, const struct content *from, unsigned whole, int64_t times);

/* Makes a content that keeps of what was gathered. Nobody presses: the heaviest stay. */
void keep_join(struct joined *joined, struct content *content);

/* What the content of a block that keeps takes of it, the head left out. */
unsigned keep_size(const struct content *content);

/* The widths of the tail. */
struct tail_widths keep_widths(const struct loss *loss);
