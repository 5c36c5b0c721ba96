/* dense: the memory of a compact model, blocks of one cache line (block.h).
 *
 * An item has two blocks, picked by two hashes: rows 0 and 2 of the one, rows 1 and 3 of the other. So it costs two cache
 * lines, and where one of its blocks is heavy the other is most likely not. (All rows in one block: errors on Zipf streams
 * of skewness 0.9 are 1.5 times as large; four blocks: 0.9 times.)
 *
 * The number of blocks is odd * 2^e, and block r + odd * q has r = hash mod odd and q the low e bits of another hash.
 * Nothing else depends on that number, so the blocks of any divisor of it are sums of these.
 *
 * A batch does not go to a block for every item. It takes notes, one for each half, adds up those of equal items on the
 * way, sorts them by block and then opens each block once. */
#ifndef LEGO_SRC_DENSE_H
#define LEGO_SRC_DENSE_H

#include "hash.h"
#include "kernels.h"

struct dense {
    uint32_t blocks;
    struct divisor odd;
    uint32_t mask;       /* 2^e - 1 */
    int64_t total;       /* N */
    struct block *block; /* on a cache line */
    const struct block_kernels *kernels;
    const struct decode_kernels *decoder;
};

enum { DENSE_LINE = 64 };

/* Bytes of memory for so many blocks: what the caller allocates may start anywhere in a line. */
static inline uint64_t dense_bytes(uint32_t blocks)
{
    return ((uint64_t)blocks + 1) * sizeof(struct block);
}

/* The numbers of so many blocks, without the blocks. */
void dense_place(struct dense *dense, uint32_t blocks);

/* Empty blocks in dense_bytes() of memory. */
void dense_init(struct dense *dense, uint32_t blocks, void *bytes);
void dense_clear(struct dense *dense);

/* Where half an item lives: half 0 has rows 0 and 2, half 1 rows 1 and 3. */
struct half {
    uint32_t block;
    uint32_t column[2]; /* before any modulus */
};

static inline uint32_t dense_index(const struct dense *dense, uint64_t hash)
{
    return divisor_mod(dense->odd, (uint32_t)(hash >> 32)) + dense->odd.d * ((uint32_t)hash & dense->mask);
}

static inline struct half dense_half(const struct dense *dense, struct hash h, unsigned half)
{
    return (struct half){dense_index(dense, hash_row_bits(h, BLOCK_ROWS + half)),
                         {(uint32_t)(hash_row_bits(h, half) >> 32), (uint32_t)(hash_row_bits(h, half + 2) >> 32)}};
}

static inline void dense_add_half(struct dense *dense, const struct half *half, unsigned which, int64_t count)
{
    const unsigned row[2] = {which, which + 2};
    dense->kernels->add(&dense->block[half->block], row, half->column, count);
}

/* Reads an item's cells; returns in how many rows it has one: 2 to 4. columns: how many cells there are in the row of a
 * value, in its block. */
unsigned dense_read(const struct dense *dense, struct hash hash, int64_t value[BLOCK_ROWS], uint32_t columns[BLOCK_ROWS]);

/* Has the blocks of an item fetched, for a dense_read() or an addition that comes soon. */
static inline void dense_prefetch(const struct dense *dense, struct hash hash)
{
    for (unsigned which = 0; which < 2; which++)
        __builtin_prefetch(&dense->block[dense_index(dense, hash_row_bits(hash, BLOCK_ROWS + which))]);
}

/* Which block of `into` takes block i of `from`, whose blocks are a multiple of its. */
static inline uint32_t dense_folded(const struct dense *into, const struct dense *from, uint32_t i)
{
    uint32_t q = divisor_div(from->odd, i), r = i - q * from->odd.d;
    return divisor_mod(into->odd, r) + into->odd.d * (q & into->mask);
}

/* Adds all of `from`, whose blocks are a multiple of those of `into`, times sign. */
void dense_add_all(struct dense *into, const struct dense *from, int sign);

/* Whether a cell anywhere is negative, or has been since its block was packed. */
bool dense_signed(const struct dense *dense);

/* ---- notes ------------------------------------------------------------------------------------------------------- */

enum { NOTE_BUCKETS = 256, NOTE_SLOTS = 1 << 14 };

/* An item seen lately, and what there is to be added. */
struct slot {
    struct hash item; /* its hash, or whatever else tells items apart */
    int32_t count;
    uint32_t credit; /* rises when the item comes again, falls when another one wants the slot, which it gets at 0 */
};

/* An item comes to its slot. Returns whether there is something to take notes of now, and what: that item, or the one that
 * had the slot. Which of these it is can not be foreseen, so there is no branch on it. |count| <= NOTE_MOST. wide: whether
 * item.hi means anything. */
static inline bool slot_pass(struct slot *slot, struct hash item, bool wide, int32_t count, struct slot *out)
{
    struct slot was = *slot;
    bool is_same = ((was.item.lo ^ item.lo) | (wide ? was.item.hi ^ item.hi : 0)) == 0;
    int32_t same = -(int32_t)is_same, stays = same | -(int32_t)(was.credit > 0), turned = stays & ~same;
    uint64_t stay = (uint64_t)(int64_t)stays, turn = (uint64_t)(int64_t)turned;
    int32_t sum = (was.count & stays) + (count & ~turned);
    slot->item.lo = (was.item.lo & stay) | (item.lo & ~stay);
    out->item.lo = (item.lo & turn) | (was.item.lo & ~turn);
    if (wide) {
        slot->item.hi = (was.item.hi & stay) | (item.hi & ~stay);
        out->item.hi = (item.hi & turn) | (was.item.hi & ~turn);
    }
    slot->count = sum;
    slot->credit = (was.credit & (uint32_t)stays) + 1 - 2 * (uint32_t)(turned & 1);
    out->count = (count & turned) | (was.count & ~turned);
    if (sum > NOTE_MOST || sum < -NOTE_MOST) { /* it is the same, and has had enough */
        slot->count = count;
        return true;
    }
    return !is_same & (out->count != 0);
}

/* The notes that one thread takes. They are counted by bucket: by the highest bits of their block. */
struct notes {
    uint64_t *note;
    uint32_t n;
    unsigned bucket_shift;
    uint32_t in_bucket[NOTE_BUCKETS];
};

void notes_start(struct notes *notes, const struct dense *dense, uint64_t *note);

/* Both halves of an item. */
static inline void notes_take(struct notes *notes, const struct dense *dense, struct hash hash, int32_t count)
{
    for (unsigned which = 0; which < 2; which++) {
        struct half half = dense_half(dense, hash, which);
        notes->note[notes->n++] = note_of(half.block, which, half.column, count);
        notes->in_bucket[half.block >> notes->bucket_shift]++;
    }
}

/* Puts this thread's notes to their buckets' places in `sorted`; all have finished taking them. */
void notes_sort(const struct notes all[], unsigned members, unsigned index, uint64_t sorted[]);

/* Adds the notes of the buckets that this thread has; all have sorted theirs. spare has the size of sorted. */
void notes_apply(struct dense *dense, const struct notes all[], unsigned members, unsigned index, uint64_t sorted[],
                 uint64_t spare[]);

#endif
