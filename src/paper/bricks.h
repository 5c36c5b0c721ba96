/* bricks: the memory of the paper's model, K bricks of R rows and C columns, and all that is done with it.
 *
 * An item goes to brick (hash mod K) and there to one cell a row, to which its weight in that row times its count is
 * added. A question reads these cells, has the brick scanned (stream.h) and decodes (decode.h).
 *
 * In memory and in a file, all little-endian:
 *
 *     cells     K bricks of R rows of 4 C bytes: C cells of 32 bits, or pairs of them as one of 64 (row.h)
 *     totals    K of 64 bits: the stream length of each brick
 *     marks     K bytes: bit k is set if row k of the brick is wide
 *
 * This room is the paper's sketch, complete: embed, row, bricks, stream (the scan), decode. It may include core and
 * model. */
#pragma once

#include "core/hash.h"
#include "paper/stream.h"

struct bricks {
    const struct lego_model *model;
    struct divisor bricks, columns;
    unsigned char *cells, *totals, *marks;
    unsigned char *scans; /* one a brick */
    int64_t total;        /* the sum of the totals */
};

/* ---- shape and life ---------------------------------------------------------------------------------------------- */

bool bricks_valid_shape(const struct lego_model *model, uint32_t bricks, uint32_t columns);

/* Bytes of the cells, totals and marks; and of what scans keep, which lies behind them. */
uint64_t bricks_bytes(const struct lego_model *model, uint32_t bricks, uint32_t columns);
uint64_t bricks_cache_bytes(const struct lego_model *model, uint32_t bricks);

/* The shape that fills so many bytes: the bricks whose columns come nearest, in ratio, to those of the model as
 * trained. The columns are rounded down by less than 1 %, so that twice the bricks mostly have the same, and such
 * sketches merge. False if not even the least brick fits. */
bool bricks_fit(const struct lego_model *model, uint64_t bytes, uint32_t *bricks, uint32_t *columns);

/* The least bytes for which it gives this shape, if there are any. */
uint64_t bricks_least(const struct lego_model *model, uint32_t bricks, uint32_t columns);

/* Empty bricks over memory of bricks_bytes() + bricks_cache_bytes(), aligned to 8 bytes. */
void bricks_init(struct bricks *self, const struct lego_model *model, uint32_t bricks, uint32_t columns, void *bytes);
void bricks_clear(struct bricks *self);
void bricks_copy(struct bricks *into, const struct bricks *from); /* of the same shape */

/* ---- counting and asking: the caller sees to it that the sum of all |count| * Q fits 63 bits --------------------- */

void bricks_add(struct bricks *self, struct hash hash, int64_t count);
lego_estimate bricks_query(const struct bricks *self, struct hash hash);

/* The rule's bound alone, without a scan. */
int64_t bricks_upper(const struct bricks *self, struct hash hash);

/* All items, on several threads: each hashes all of them and adds those in its own bricks. */
void bricks_add_items(struct bricks *self, const lego_items *items, struct seed seed, unsigned threads);

/* Adds all of `from`, times sign: as many columns, and a multiple of into's bricks. Brick b goes to b mod K of into. */
void bricks_merge(struct bricks *into, const struct bricks *from, int sign);

/* What the scan sees in a brick; returns its stream length. */
int64_t bricks_scan(const struct bricks *self, uint32_t brick, struct stream *stream);

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Bytes from self->cells on, which are those of a file. */
uint64_t bricks_saved_size(const struct lego_model *model, uint32_t bricks, uint32_t columns);

/* Takes them from a file, and self->total, unchecked; returns where they end there. */
const unsigned char *bricks_load(struct bricks *self, const unsigned char *p, int64_t total);

/* Whether what was loaded is possible. mass: at least the sum of all |value| of each row, and of the totals, so that
 * sums of 64 bits never wrap where the caller keeps it below 2^63 from here on. */
bool bricks_check(const struct bricks *self, uint64_t *mass);
