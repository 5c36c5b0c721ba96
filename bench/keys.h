/* The stream that every method gets: keys drawn one by one from a Zipf law of exponent 1, as 64-bit numbers, as text,
 * and as numbers that come with counts.
 *
 * Drawn, where cli/zipf.h deals out exact counts: a stream of any length from any number of items, so that length and
 * distinct items can be varied each on its own. Rank r comes with probability ln((r + 1) / r) / ln(n + 1), which is
 * close to 1 / (r ln n). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_kind { NUMBERS, TEXTS, COUNTED, KEY_KINDS };

struct keys {
    size_t length;
    uint32_t ranks;    /* the law's n */
    uint32_t distinct; /* how many of them came */
    uint64_t *numbers; /* the stream */
    char *text;        /* the same as 8 characters each: key i is text[offsets[i] .. offsets[i + 1]) */
    uint64_t *offsets;
    int64_t *counts; /* how often each comes, where it comes with a count: 1 to 8 times */
    uint32_t *truth; /* how often rank r came, by r, where each came once */
};

/* How many distinct items a sketch of so many bytes is given: one for every two bytes, where errors start to matter and
 * blocks are well filled; from 8 million on the stream would need more items than a bench has time for. */
uint32_t keys_for_budget(uint64_t bytes);

/* False if there is no memory. Numbers are always there, the other kinds if asked for. */
bool keys_make(struct keys *self, uint32_t ranks, size_t length, const bool kinds[KEY_KINDS]);
void keys_free(struct keys *self);

/* Other items than those of any stream, all different, from number `from` on, as many as self has room for: numbers
 * with the counts that a Zipf law of exponent 1 gives, of which one in c is at least c. */
void keys_crowd(struct keys *self, uint64_t from);
