/* slow_block: the comment over src/block/block.h once more, a bit at a time and with nothing of src/block's kernels:
 * how long a code is, which bits it has, and whether bits from anywhere are one. The tests of blocks compare with it.
 * */
#pragma once

#include "block/content.h"
#include "support_draw.h"

enum {
    SLOW_HEAD = 40,
    SLOW_ROOM = 2048 - 40,
    SLOW_G = 32,
    SLOW_SHARE = 50,
    SLOW_LAST = 94,
    SLOW_CAP = 95,
    SLOW_END = 120
};

static const unsigned slow_digit[] = {1, 1, 1, 2, 4, 8, 16, 31};

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Bits that a key keeps in a list. */
static inline unsigned slow_length(unsigned step, unsigned whole, uint64_t key)
{
    unsigned less = 0;
    if (step == 0) return whole;
    for (unsigned s = 1; s < step; s++) less += (s - 1) % 4 == key >> 62; /* quarter 0 gives up its bit first */
    return 24 - less;
}

static inline uint64_t slow_cut(unsigned step, unsigned whole, uint64_t key)
{
    unsigned off = 64 - slow_length(step, whole, key);
    return key >> off << off;
}

/* A row as it is folded: the cell of each of its first ones. */
struct slow_row {
    unsigned cells, half, start, cell[512];
};

static inline struct slow_row slow_start(unsigned cells)
{
    struct slow_row row = {cells, cells / 2, cells, {0}};
    for (unsigned i = 0; i < cells; i++) row.cell[i] = i;
    return row;
}

/* Folds the last quarter of the upper half that is still there onto the lower half. */
static inline void slow_fold(struct slow_row *row)
{
    row->cells -= row->half / 4;
    for (unsigned i = 0; i < row->start; i++)
        if (row->cell[i] >= row->cells) row->cell[i] -= row->half;
    if (row->cells == row->half) row->half /= 2;
}

/* Both rows of a step, or the one of a cap (then row[1].cells is 0). */
static inline void slow_rows(unsigned step, struct slow_row row[2])
{
    row[0] = slow_start(512);
    row[1] = slow_start(step >= SLOW_CAP ? 0 : 256);
    if (step >= SLOW_CAP)
        for (unsigned s = SLOW_CAP; s < step; s++) slow_fold(&row[0]);
    else
        for (unsigned s = SLOW_SHARE; s < step; s++) slow_fold(&row[(s - SLOW_SHARE) / 4 % 2]);
}

/* The cell of a key when its row was not folded yet. */
static inline unsigned slow_first(unsigned step, unsigned row, uint64_t key)
{
    uint32_t print = (uint32_t)(key >> 40);
    if (step >= SLOW_CAP) return (print * UINT32_C(0xc2b2ae35)) >> 23;
    return row ? ((print >> 12) * UINT32_C(0x85ebca6b)) >> 24 : ((print >> 12) * UINT32_C(0x9e3779b1)) >> 23;
}

/* ---- content ----------------------------------------------------------------------------------------------------- */

struct slow_items {
    unsigned n;
    uint64_t key[2048];
    int64_t count[2048];
};

/* Entry by entry, in order, by plain insertion. */
static inline void slow_list(const struct slow_items *items, unsigned step, unsigned whole, struct content *content)
{
    *content = (struct content){.step = step};
    for (unsigned i = 0; i < items->n; i++) {
        uint64_t key = slow_cut(step, whole, items->key[i]);
        unsigned k = content->n;
        while (k > 0 && content->key[k - 1] > key) k--;
        if (k > 0 && content->key[k - 1] == key) {
            content->value[k - 1] += items->count[i];
            continue;
        }
        assert_true(content->n < CONTENT_MOST);
        for (unsigned m = content->n++; m > k; m--) {
            content->key[m] = content->key[m - 1];
            content->value[m] = content->value[m - 1];
        }
        content->key[k] = key;
        content->value[k] = items->count[i];
    }
    unsigned n = 0;
    for (unsigned i = 0; i < content->n; i++) {
        if (content->value[i] == 0) continue;
        content->key[n] = content->key[i];
        content->value[n++] = content->value[i];
    }
    content->n = n;
}

/* What items come to at a step. */
static inline void slow_content(const struct slow_items *items, unsigned step, unsigned whole, struct content *content)
{
    struct slow_row row[2];
    if (step < SLOW_SHARE) {
        slow_list(items, step, whole, content);
        return;
    }
    slow_rows(step, row);
    *content = (struct content){.step = step, .n = row[0].cells + row[1].cells};
    for (unsigned i = 0; i < items->n; i++) {
        content->value[row[0].cell[slow_first(step, 0, items->key[i])]] += items->count[i];
        if (row[1].cells)
            content->value[row[0].cells + row[1].cell[slow_first(step, 1, items->key[i])]] += items->count[i];
    }
}

/* 0: nothing is negative; 2: nothing is positive, but something negative; 1: there are both. */
static inline unsigned slow_signs(const struct content *content)
{
    bool below = false, above = false;
    for (unsigned i = 0; i < content->n; i++) {
        below = below || content->value[i] < 0;
        above = above || content->value[i] > 0;
    }
    return !below ? 0 : above ? 1 : 2;
}

/* Integer i of what the levels code. */
static inline uint64_t slow_code(const struct content *content, unsigned i, unsigned signs)
{
    int64_t c = content->value[i];
    uint64_t v = (uint64_t)c;
    if (signs == 1) v = c >= 0 ? 2 * (uint64_t)c : 2 * (uint64_t)(-(c + 1)) + 1;
    if (signs == 2) v = c < 0 ? (uint64_t)(-(c + 1)) + 1 : 0;
    return v - (content->step < SLOW_SHARE);
}

/* ---- how long ---------------------------------------------------------------------------------------------------- */

static inline unsigned slow_levels(const struct content *content, unsigned g)
{
    unsigned length = content->n * (1 + g);
    unsigned signs = slow_signs(content);
    for (unsigned i = 0; i < content->n; i++) {
        uint64_t t = slow_code(content, i, signs) >> g;
        for (unsigned l = 0; t > 0; t = (t - 1) >> slow_digit[l++]) length += 1 + slow_digit[l];
    }
    return length;
}

static inline unsigned slow_quotient(unsigned entries)
{
    unsigned q = 2;
    while (1u << q < entries) q++;
    return q;
}

static inline unsigned slow_keys(const struct content *content, unsigned whole)
{
    if (content->step >= SLOW_SHARE || content->n == 0) return 0;
    unsigned q = slow_quotient(content->n), length = 1u << q;
    for (unsigned i = 0; i < content->n; i++) length += 1 + slow_length(content->step, whole, content->key[i]) - q;
    return length;
}

/* Of all g the fewest bits, and the least g that has them. */
static inline unsigned slow_size(const struct content *content, unsigned whole, unsigned *g)
{
    unsigned least = slow_levels(content, 0);
    *g = 0;
    for (unsigned order = 1; order < SLOW_G; order++) {
        unsigned length = slow_levels(content, order);
        if (length < least) least = length, *g = order;
    }
    return least + slow_keys(content, whole);
}

static inline bool slow_fits(const struct content *content, unsigned whole)
{
    unsigned g;
    return (content->step >= SLOW_SHARE || content->n <= 511) && slow_size(content, whole, &g) <= SLOW_ROOM;
}

/* ---- which bits -------------------------------------------------------------------------------------------------- */

struct slow_bits {
    struct block block;
    unsigned at, end;
    bool past; /* more was asked for than there is */
};

static inline void slow_put(struct slow_bits *bits, uint64_t x, unsigned n)
{
    assert_true(bits->at + n <= 2048);
    for (unsigned i = 0; i < n; i++, bits->at++) bits->block.word[bits->at / 64] |= (x >> i & 1) << bits->at % 64;
}

static inline void slow_put_keys(struct slow_bits *bits, const struct content *content, unsigned whole)
{
    unsigned q = slow_quotient(content->n), i = 0;
    for (uint64_t quotient = 0; quotient >> q == 0; quotient++) {
        for (; i < content->n && content->key[i] >> (64 - q) == quotient; i++) slow_put(bits, 1, 1);
        slow_put(bits, 0, 1);
    }
    for (i = 0; i < content->n; i++) {
        unsigned length = slow_length(content->step, whole, content->key[i]);
        slow_put(bits, content->key[i] >> (64 - length), length - q); /* the lowest of its bits */
    }
}

static inline void slow_put_levels(struct slow_bits *bits, const struct content *content, unsigned g)
{
    static uint64_t t[BLOCK_CELLS];
    unsigned n = content->n;
    unsigned signs = slow_signs(content);
    for (unsigned i = 0; i < n; i++) t[i] = slow_code(content, i, signs) >> g;
    for (unsigned i = 0; i < n; i++) slow_put(bits, t[i] > 0, 1);
    for (unsigned i = 0; i < n; i++) slow_put(bits, slow_code(content, i, signs), g);
    for (unsigned l = 0; n > 0; l++) {
        unsigned on = 0;
        for (unsigned i = 0; i < n; i++)
            if (t[i] > 0) t[on++] = t[i] - 1;
        n = on;
        for (unsigned i = 0; i < n; i++) slow_put(bits, t[i] >> slow_digit[l] > 0, 1);
        for (unsigned i = 0; i < n; i++) slow_put(bits, t[i], slow_digit[l]), t[i] >>= slow_digit[l];
    }
}

/* The block of a content that fits, with a g that need not be the best. */
static inline struct block slow_block(const struct content *content, unsigned whole, unsigned g)
{
    struct slow_bits bits = {.at = SLOW_HEAD};
    bool list = content->step < SLOW_SHARE;
    if (list && content->n > 0) slow_put_keys(&bits, content, whole);
    slow_put_levels(&bits, content, g);
    unsigned used = bits.at - SLOW_HEAD;
    assert_int_equal(used, slow_levels(content, g) + slow_keys(content, whole));
    bits.at = 0;
    slow_put(&bits, used, 11);
    slow_put(&bits, content->step, 7);
    slow_put(&bits, list ? content->n : 0, 9);
    slow_put(&bits, g, 5);
    slow_put(&bits, slow_signs(content), 2);
    return bits.block;
}

static inline struct block slow_canonical(const struct content *content, unsigned whole)
{
    unsigned g;
    slow_size(content, whole, &g);
    return slow_block(content, whole, g);
}

/* ---- bits from anywhere ------------------------------------------------------------------------------------------ */

static inline uint64_t slow_take(struct slow_bits *bits, unsigned n)
{
    uint64_t x = 0;
    if (bits->at + n > bits->end) bits->past = true;
    for (unsigned i = 0; i < n && !bits->past; i++, bits->at++)
        x |= (bits->block.word[bits->at / 64] >> bits->at % 64 & 1) << i;
    return x;
}

static inline void slow_take_keys(struct slow_bits *bits, unsigned whole, struct content *content)
{
    unsigned q = slow_quotient(content->n), n = 0;
    for (uint64_t quotient = 0; quotient >> q == 0 && !bits->past; quotient++)
        while (slow_take(bits, 1) && !bits->past) {
            if (n < content->n) content->key[n] = quotient << (64 - q);
            n++;
        }
    if (n != content->n) bits->past = true;
    for (unsigned i = 0; i < content->n && !bits->past; i++) {
        unsigned length = slow_length(content->step, whole, content->key[i]);
        content->key[i] |= slow_take(bits, length - q) << (64 - length);
        if (i > 0 && content->key[i] <= content->key[i - 1]) bits->past = true;
    }
}

/* A number that is too large for 64 bits is one that was asked for in vain, too. */
static inline void slow_take_levels(struct slow_bits *bits, unsigned g, unsigned signs, struct content *content)
{
    static lego_u128 v[BLOCK_CELLS];
    static unsigned open[BLOCK_CELLS];
    unsigned n = 0, shift = g;
    for (unsigned i = 0; i < content->n; i++)
        if (slow_take(bits, 1)) open[n++] = i;
    for (unsigned i = 0; i < content->n; i++) v[i] = slow_take(bits, g);
    for (unsigned l = 0; n > 0 && !bits->past; shift += slow_digit[l++]) {
        static bool goes_on[BLOCK_CELLS];
        unsigned on = 0;
        if (l == 8) bits->past = true;
        if (l == 8) return;
        for (unsigned i = 0; i < n; i++) goes_on[i] = slow_take(bits, 1);
        for (unsigned i = 0; i < n; i++) v[open[i]] += (lego_u128)(slow_take(bits, slow_digit[l]) + 1) << shift;
        for (unsigned i = 0; i < n; i++)
            if (goes_on[i]) open[on++] = open[i];
        n = on;
    }
    for (unsigned i = 0; i < content->n && !bits->past; i++) {
        lego_u128 code = v[i] + (content->step < SLOW_SHARE);
        static const uint64_t most[3] = {INT64_MAX, UINT64_MAX, UINT64_C(1) << 63};
        if (signs > 2 || code > most[signs]) bits->past = true;
        uint64_t c = (uint64_t)code;
        content->value[i] = (int64_t)c;
        if (signs == 1) content->value[i] = c % 2 ? -(int64_t)(c / 2) - 1 : (int64_t)(c / 2);
        if (signs == 2) content->value[i] = c > 0 ? -(int64_t)(c - 1) - 1 : 0;
    }
}

/* Whether these bits are the canonical block of any content, and which. */
static inline bool slow_valid(const struct block *block, unsigned whole, struct content *content)
{
    struct slow_bits bits = {*block, 0, 2048, false};
    unsigned used = (unsigned)slow_take(&bits, 11), step = (unsigned)slow_take(&bits, 7);
    unsigned entries = (unsigned)slow_take(&bits, 9), g = (unsigned)slow_take(&bits, 5);
    unsigned signs = (unsigned)slow_take(&bits, 2);
    struct slow_row row[2];
    if (step >= SLOW_END || used > SLOW_ROOM) return false;
    bits.at = SLOW_HEAD;
    bits.end = SLOW_HEAD + used;
    *content = (struct content){.step = step, .n = entries};
    if (step < SLOW_SHARE && entries > 0) slow_take_keys(&bits, whole, content);
    if (step >= SLOW_SHARE) {
        slow_rows(step, row);
        content->n = row[0].cells + row[1].cells;
    }
    if (!bits.past) slow_take_levels(&bits, g, signs, content);
    if (bits.past) return false;
    struct block again = slow_canonical(content, whole);
    return memcmp(&again, block, sizeof again) == 0;
}
