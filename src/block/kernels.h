/* kernels: what is compiled more than once, for CPUs with more or fewer instructions; the only choice made at run time.
 *
 * The body is kernels_block.h: blocks read and written a level at a time. On x86-64 it is compiled plainly and for
 * x86-64-v3, which has instructions to gather and to spread bits (pext, pdep) and to count them. For x86-64-v4 it also
 * reads eight blocks at a time (kernels_gather.h), or the two of one item (kernels_item.h). And kernels_decode.h: the
 * network that decodes, for many items at once, in vectors of each width. All give the same bits. */
#pragma once

#include <stddef.h>

#include "block/block.h"
#include "core/hash.h"

enum {
    DECODE_MOST = 64, /* items at once */
    DECODE_READS = 14,
    DECODE_HIDDEN = 40,
    DECODE_MIXED = 24, /* of compact.h */
    DECODE_HIDDEN_ROOM = 48,
    DECODE_MIXED_ROOM = 32 /* the same in whole vectors */
};

/* Hashes of items. */
struct hashes {
    uint64_t lo[DECODE_MOST], hi[DECODE_MOST];
};

/* Where half an item lives: half 0 has rows 0 and 2, half 1 rows 1 and 3. There are odd.d (mask + 1) blocks. */
struct half {
    uint32_t block;
    uint32_t column[2]; /* before any modulus */
};

static inline uint32_t index_of_block(uint64_t hash, struct divisor odd, uint32_t mask)
{
    return divisor_mod(odd, (uint32_t)(hash >> 32)) + odd.d * ((uint32_t)hash & mask);
}

static inline struct half half_of(struct hash h, unsigned half, struct divisor odd, uint32_t mask)
{
    return (struct half){index_of_block(hash_row_bits(h, BLOCK_ROWS + half), odd, mask),
                         {(uint32_t)(hash_row_bits(h, half) >> 32), (uint32_t)(hash_row_bits(h, half + 2) >> 32)}};
}

/* Items as read_items() leaves them. decode() sorts the keys. */
struct decode_items {
    int64_t key[BLOCK_ROWS][DECODE_MOST]; /* 4 times an item's read i, plus i; INT64_MAX if there is none */
    uint32_t widths[DECODE_MOST];         /* bits 4 i and up: log2 of the columns of that read's row, or 0 */
    uint8_t step[2][DECODE_MOST];         /* of its blocks */
};

/* Where their reads are: of each half the block, and the columns of its rows before any modulus. */
struct decode_places {
    uint32_t block[2][DECODE_MOST], column[2][2][DECODE_MOST];
};

struct block_kernels {
    const char *name;
    bool (*supported)(void);

    int64_t (*get)(const struct block *block, unsigned cell);

    /* Adds to the cells that two column hashes have in two rows; the block may go further down the ladder meanwhile. */
    void (*add)(struct block *block, const unsigned row[2], const uint32_t hash[2], int64_t count);

    /* Adds all of `from`, times sign: 1 or -1. */
    void (*add_all)(struct block *into, const struct block *from, int sign);

    /* All cells, in the order of the rows; returns their number. */
    unsigned (*unpack)(const struct block *block, int64_t value[BLOCK_CELLS]);

    /* The block of this content: of all ways to code it the one with the fewest bits, and of those the least g. So
     * equal content at an equal step gives equal bytes. (A block that was added to may have another g.) */
    struct block (*canonical)(const struct block *block);

    /* Whether bytes from outside are a canonical block; then they can be unpacked. */
    bool (*valid)(const struct block *block);

    /* Adds BLOCK_CELLS values, the cells of step 0; they are folded on the way. */
    void (*add_values)(struct block *block, int64_t value[]);

    /* The canonical block of values as unpack() gives them at a step, at that step or the first later one at which they
     * fit. The values are folded on the way. */
    void (*pack)(struct block *block, int64_t value[], unsigned step);

    /* Hashes of n keys, at most DECODE_MOST, as hash_u64(); and where the halves of n hashes are, as half_of(). */
    void (*hash_keys)(const uint64_t key[], unsigned n, uint64_t seed, struct hashes *hashes);
    void (*place)(const struct hashes *hashes, unsigned n, struct divisor odd, uint32_t mask,
                  struct decode_places *places);

    /* Reads the cells of a half, and how many cells their rows have; returns in how many rows there is one. */
    unsigned (*read)(const struct block *block, unsigned which, const uint32_t hash[2], int64_t value[2],
                     uint32_t columns[2]);

    /* Reads the cells of n items, at most DECODE_MOST. */
    void (*read_items)(const struct block block[], const struct decode_places *place, unsigned n,
                       struct decode_items *items);

    /* Adds notes, n >= 1, all of them of this block, each once, or as often as `count` says. Nothing is said about the
     * order, and a sum that is too large for the step only between two of them is not seen. */
    void (*add_notes)(struct block *block, const uint32_t note[], const int32_t count[], size_t n);
};

/* Best first; those that do not run on this CPU say so. NULL ends the list. */
extern const struct block_kernels *const block_kernels_all[];

/* The first of them that is supported. */
const struct block_kernels *block_kernels_best(void);

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

/* The weights of the decoder, [in][out], without the inputs that all items of a sketch share. */
struct decode_weights {
    float reads[DECODE_READS][DECODE_HIDDEN_ROOM];
    float mix[DECODE_HIDDEN][DECODE_MIXED_ROOM], mix_bias[DECODE_MIXED_ROOM];
    float answer[DECODE_MIXED_ROOM], answer_bias;
};

/* What all items share: the first layer's bias with what the stream's shape adds to it; what values are multiplied with
 * before they are seen; and so multiplied, the mean mass of a block. */
struct decode_stream {
    const float *bias; /* [DECODE_HIDDEN_ROOM] */
    float scale, mean;
};

struct decode_kernels {
    const char *name;
    bool (*supported)(void);

    /* h of n items, 1 to DECODE_MOST. */
    void (*decode)(const struct decode_weights *weights, const struct decode_stream *stream, struct decode_items *items,
                   unsigned n, float h[DECODE_MOST]);
};

extern const struct decode_kernels *const decode_kernels_all[];
const struct decode_kernels *decode_kernels_best(void);

/* ---- notes ------------------------------------------------------------------------------------------------------- */

/* A note: half an item, in 4 bytes.
 *
 *     bit 0     6 bits: the column in row 2 or 3, before any modulus
 *     bit 6     7 bits: the column in row 0 or 1
 *     bit 13    1 bit:  which half
 *     bit 14   18 bits: the block, counted from one that is agreed on */
enum { NOTE_BLOCK_AT = 14, NOTE_BLOCKS = 1 << (32 - NOTE_BLOCK_AT) };

static inline uint32_t note_of(uint32_t block, unsigned which, uint32_t column0, uint32_t column1)
{
    return block << NOTE_BLOCK_AT | which << 13 | (column0 & 127) << 6 | (column1 & 63);
}

static inline uint32_t note_block(uint32_t note)
{
    return note >> NOTE_BLOCK_AT;
}

static inline unsigned note_which(uint32_t note)
{
    return note >> 13 & 1;
}

/* The column in the first or the second of the half's rows. */
static inline uint32_t note_column(uint32_t note, unsigned i)
{
    return i == 0 ? note >> 6 & 127 : note & 63;
}
