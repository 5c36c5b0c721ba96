/* hash: item -> 128 hash bits -> where its cells are and which weights it has.
 *
 * One hash of the item gives lo and hi: XXH3, or where the seed is secret SipHash-1-3. The brick comes from the high
 * half of hi; row k gets its own 64 bits by one multiplication, x_k = A_k (lo + k hi), of which the high half picks the
 * column and 16 bits below it the weight. Two different items that share their cell in some rows do so in another row
 * only by chance, since the A_k are unrelated. Bricks and columns are the hash modulo their number, and nothing else
 * depends on that number: this is what lets bricks and columns fold. docs/format.md has the same in a table. */
#pragma once

#include <stdbool.h>

#include "core/sizes.h"
#include "legosketch.h"

__extension__ typedef unsigned __int128 lego_u128;

/* x mod d and x / d by multiplication (Lemire, Kaser, Kurz 2019: exact for all 32-bit x and d). */
struct divisor {
    uint64_t magic;
    uint32_t d;
};

static inline struct divisor divisor_of(uint32_t d)
{
    return (struct divisor){UINT64_MAX / d + 1, d}; /* for d = 1 the magic wraps to 0: x mod 1 = 0 comes out right */
}

static inline uint32_t divisor_mod(struct divisor v, uint32_t x)
{
    return (uint32_t)((lego_u128)(v.magic * x) * v.d >> 64);
}

static inline uint32_t divisor_div(struct divisor v, uint32_t x)
{
    return v.d == 1 ? x : (uint32_t)((lego_u128)v.magic * x >> 64);
}

struct hash {
    uint64_t lo, hi;
};

/* What items are hashed with: a public seed, which is XXH3's, or a secret one, which is the key of SipHash. The second
 * half of that is never 0, and of a public seed it is. */
struct seed {
    uint64_t number, key;
};

static inline struct seed seed_of(uint64_t number)
{
    return (struct seed){number, 0};
}

static inline bool seed_is_secret(struct seed seed)
{
    return seed.key != 0;
}

static inline bool seed_equal(struct seed a, struct seed b)
{
    return a.number == b.number && a.key == b.key;
}

/* The seed that options ask for; false if they ask for none that there is. */
bool seed_wanted(const lego_options *options, struct seed *seed);

/* What may be seen of it: its number, or the fingerprint of a secret one. */
uint64_t seed_shown(struct seed seed);

struct hash hash_bytes(const void *item, size_t size, struct seed seed);
struct hash hash_u64(uint64_t item, struct seed seed);

/* SipHash has 64 bits. Blocks know 62 of them: these are the highest of lo, and behind them the highest of hi. */
static inline struct hash hash_of_sip(uint64_t sip)
{
    return (struct hash){sip, sip << 38 | sip >> 26};
}

/* Of n items, each from its offset on to the next. */
void hash_texts(const unsigned char *bytes, const uint64_t offsets[], size_t n, struct seed seed, struct hash hash[]);

/* Where an item of many begins. NULL has no such place: all items there are empty. */
static inline const unsigned char *item_at(const void *bytes, uint64_t offset)
{
    return bytes ? (const unsigned char *)bytes + offset : NULL;
}

static inline struct hash items_hash(const lego_items *items, size_t i, struct seed seed)
{
    if (items->integers) return hash_u64(items->integers[i], seed);
    const uint64_t *offset = items->offsets + i;
    return hash_bytes(item_at(items->bytes, offset[0]), (size_t)(offset[1] - offset[0]), seed);
}

/* The way that 8 bytes go through XXH3, for kernels that hash many keys at once: x ^ flip, times prime, the 128 bits
 * mixed, their halves times low and high. kernels_hash.h has it in full. With a secret seed they go through SipHash
 * instead. */
struct hash_way {
    uint64_t flip, prime, low, high;
    struct seed seed;
};
struct hash_way hash_short_way(struct seed seed);

/* Where an item lives, before any modulus: brick mod K is its brick, column[k] mod C its column in row k. */
struct place {
    uint32_t brick;
    uint32_t column[ROWS_MAX];
    uint32_t index[ROWS_MAX]; /* into the model's table V */
};

/* SplitMix64 from state 0, output k + 1, made odd so that the multiplication loses nothing. One more than rows: the
 * last is for lego_group(), whose bits must be of no row, brick or bucket. */
static const uint64_t hash_row[ROWS_MAX + 1] = {
    UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f5), UINT64_C(0x06c45d188009454f),
    UINT64_C(0xf88bb8a8724c81ed), UINT64_C(0x1b39896a51a8749b), UINT64_C(0x53cb9f0c747ea2eb),
    UINT64_C(0x2c829abe1f4532e1), UINT64_C(0xc584133ac916ab3d), UINT64_C(0x3ee5789041c98ac3)};

static inline uint32_t hash_brick(struct hash h)
{
    return (uint32_t)(h.hi >> 32);
}

/* 64 bits of a row's own. */
static inline uint64_t hash_row_bits(struct hash h, unsigned k)
{
    return hash_row[k] * (h.lo + k * h.hi);
}

static inline void hash_place(struct hash h, uint32_t rows, uint32_t table, struct place *place)
{
    place->brick = hash_brick(h);
    for (uint32_t k = 0; k < rows; k++) {
        uint64_t x = hash_row_bits(h, k);
        place->column[k] = (uint32_t)(x >> 32);
        place->index[k] = (((uint32_t)x >> 16) * table) >> 16;
    }
}
