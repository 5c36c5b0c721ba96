/* brick: K bricks of R rows and C columns of cells, their folding, and where each of them lies.
 *
 * An item goes to brick (hash mod K) and there to one cell a row. When the spill is full, two bricks fold into one of
 * cells twice as wide, in the bytes of the two, and the sketch goes on. The ladder of a sketch of 8 bricks:
 *
 *     level 0:  8 bricks of  8 bits    0 1 2 3 4 5 6 7
 *     between:  folded = 1             0   1 2 3   5 6 7      (brick 0 of level 1 is 0 + 4)
 *     level 1:  4 bricks of 16 bits    0   1   2   3
 *     level 2:  2 bricks of 32 bits    0       1
 *     level 3:  1 brick  of 64 bits    0
 *
 * Where the number of bricks is odd, the columns halve instead: column c of the next level is c + (c + C/2). One step is
 * one brick of the next level, always the lowest that is not there yet. So a shape is two numbers, (level, folded), and
 * which one a sketch has follows from its content: it is the first whose overflow fits the spill. (Content that only
 * grows never needs an earlier one: a wide cell overflows only if one of its two parts did before.)
 *
 * In memory the bricks that will fold into one are neighbours, row by row, so that a fold works in place:
 *
 *     region r = b mod M, one for each brick that remains when no more can pair up;
 *     in it    row 0 of the region's bricks, row 1 of them, ... ; their order in a row is the reversal of the bits of b / M. */
#ifndef LEGO_SRC_BRICK_H
#define LEGO_SRC_BRICK_H

#include <stdatomic.h>

#include "paper/cells.h"
#include "core/sizes.h"
#include "model/model.h"
#include "paper/stream.h"

struct shape { /* as made */
    uint32_t bricks, columns, rows, bits;
};

/* What a scan found, kept until the brick changes. Its sums follow single stores; then what the networks make of them
 * is behind: COUNTED. Readers may fill it at the same time: the first to move state to BUSY writes. (MASS is of blocks:
 * of what was counted only the mass has changed.) */
enum { SUMMARY_EMPTY, SUMMARY_BUSY, SUMMARY_READY, SUMMARY_COUNTED, SUMMARY_MASS };
struct summary {
    _Atomic uint32_t state;
    uint32_t lag;    /* stores that were followed since the networks have run */
    uint32_t behind; /* bit k: the sums of row k have changed since what is seen in it was made of them */
    struct stream stream; /* the mean of what is seen in the rows */
    struct summary_row {
        struct stream seen;
        struct fixed {
            uint64_t low, high; /* of 128 bits, signed */
        } sum[SCAN_SET]; /* over the cells that are looked at */
    } row[];
};

struct level {
    struct divisor bricks, columns;
    uint32_t bits, step; /* of a cell, and how many cells as made it covers */
};

struct memory {
    struct shape shape;
    uint32_t level, folded;
    uint32_t last;       /* the level of 64 bits */
    uint32_t pairings;   /* levels at which bricks pair up; the columns halve after that */
    struct divisor regions;
    uint32_t cell_shift; /* log2 of the bytes of a cell as made */
    size_t row_bytes;    /* of one row as made */
    struct level levels[LEVELS_MAX];
    int64_t *totals;     /* stream length of each brick, by its number in its level */
    unsigned char *cells;
    struct spill spill;
    unsigned char *summaries; /* one a brick, or NULL if the model has no networks */
};

static inline struct summary *brick_summary(const struct memory *memory, uint32_t number)
{
    size_t size = sizeof(struct summary) + memory->shape.rows * sizeof(struct summary_row);
    return (struct summary *)(void *)(memory->summaries + number * size);
}

/* A brick as it is now. */
struct brick {
    const struct level *level;
    uint32_t number; /* in its level */
    unsigned char *cells;
};

/* Spill slots that a memory of this shape has, and its bytes in all; within sizes.h nothing overflows. */
uint64_t memory_spill_slots(const struct shape *shape);
uint64_t memory_bytes(const struct shape *shape);
uint64_t memory_summary_bytes(const struct shape *shape);

/* An empty memory of this shape: the ladder, then the layout over memory_bytes() of memory, and
 * memory_summary_bytes() more where summaries is set. The bytes are as they were until memory_clear(). */
void memory_init(struct memory *memory, const struct shape *shape);
void memory_attach(struct memory *memory, void *bytes, bool summaries);
void memory_clear(struct memory *memory);

/* Where brick `number` of a level lies. */
static inline struct brick brick_place(const struct memory *memory, const struct level *level, uint32_t number)
{
    static const unsigned char reversed[LEVELS_MAX][8] = {{0}, {0, 1}, {0, 2, 1, 3}, {0, 4, 2, 6, 1, 5, 3, 7}};
    uint32_t j = divisor_div(memory->regions, number), r = number - j * memory->regions.d;
    size_t slot = ((size_t)r * memory->shape.rows << memory->pairings) + reversed[memory->pairings][j];
    return (struct brick){level, number, memory->cells + slot * memory->row_bytes};
}

/* The brick of a brick hash. */
static inline struct brick brick_of(const struct memory *memory, uint32_t hash)
{
    const struct level *level = &memory->levels[memory->level];
    uint32_t number = divisor_mod(level->bricks, hash);
    if (memory->folded) {
        uint32_t half = level[1].bricks.d, next = number >= half ? number - half : number;
        if (next < memory->folded) return brick_place(memory, level + 1, next);
    }
    return brick_place(memory, level, number);
}

static inline struct row brick_row(const struct memory *memory, const struct brick *brick, uint32_t k)
{
    unsigned char *bytes = brick->cells + ((size_t)k << memory->pairings) * memory->row_bytes;
    return (struct row){bytes, (uint64_t)(bytes - memory->cells) >> memory->cell_shift, brick->level->bits,
                        brick->level->step};
}

/* How many bricks there are now, and the i-th of them. */
uint32_t brick_count(const struct memory *memory);
struct brick brick_at(const struct memory *memory, uint32_t i);

/* The item's cell in each row of its brick. */
void brick_read(const struct memory *memory, const struct brick *brick, const struct place *place, int64_t value[]);

/* Adds count to the brick's stream length and count * weight[k] to the item's cell in row k. */
void memory_add(struct memory *memory, const struct place *place, const uint32_t weight[], int64_t count);

/* The same without the spill: what row k leaves for the high part is put, as a value, into late[k]. Returns in which
 * rows there is such, bit k for row k. Calls for different bricks may run at the same time. */
unsigned char memory_add_low(struct memory *memory, const struct place *place, const uint32_t weight[], int64_t count,
                             int64_t late[]);

/* Adds a value to the cell of row k at this brick hash and column hash, folding as often as it takes. */
void memory_add_value(struct memory *memory, uint32_t k, uint32_t brick_hash, uint32_t column_hash, int64_t value);

/* Adds all of `from`, times sign, to `into`; shape_folds_to() must hold. */
void memory_add_all(struct memory *into, const struct memory *from, int sign);

/* One step of the ladder; not beyond the last level. */
void memory_fold(struct memory *memory);

/* Whether the cells of a memory of shape `from` can be added to one of shape `into`. */
bool shape_folds_to(const struct shape *from, const struct shape *into);

#endif
