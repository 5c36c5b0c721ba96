/* slow_block: the comment over src/block/block.h once more, a bit at a time and with nothing of src/block's kernels:
 * how long a code is, which bits it has, and whether bits from anywhere are one. The tests of blocks compare with it.
 * What becomes of a block that keeps is src/block/keep.c's alone. */
#pragma once

#include "block/content.h"
#include "support_draw.h"

enum {
    SLOW_HEAD = 40,
    SLOW_ROOM = 2048 - 40,
    SLOW_G = 32,
    SLOW_KEEP = 6,
    SLOW_FLOOR = 9,
    SLOW_LAST = 10,
    SLOW_ENTRIES = 191
};

static const unsigned slow_digit[] = {1, 1, 1, 2, 4, 8, 16, 31};

/* ---- content ----------------------------------------------------------------------------------------------------- */

/* Bits that all keys of a step have. */
static inline unsigned slow_print(unsigned step, unsigned whole)
{
    return step == 0 ? whole : step < SLOW_FLOOR ? 25 - step : 16;
}

/* Bits of a field of the heavy, and of one of the sample. */
static inline unsigned slow_field(unsigned step)
{
    return 23 - slow_print(step, 0);
}

static inline unsigned slow_sample(unsigned step)
{
    return step < SLOW_LAST ? 21 - slow_print(step, 0) : 0;
}

static inline uint64_t slow_cut(uint64_t key, unsigned length)
{
    return key & UINT64_MAX << (64 - length);
}

struct slow_items {
    unsigned n;
    uint64_t key[2048];
    int64_t count[2048];
};

/* What items come to in a list of a step: entry by entry, in order, by plain insertion. */
static inline void slow_content(const struct slow_items *items, unsigned step, unsigned whole, struct content *content)
{
    *content = (struct content){.step = step};
    for (unsigned i = 0; i < items->n; i++) {
        uint64_t key = slow_cut(items->key[i], slow_print(step, whole));
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

/* 0: no count is below 0; 2: none is above 0, but one is below; 1: there are both. A content that keeps tells. */
static inline unsigned slow_signs(const struct content *content)
{
    bool below = false, above = false;
    if (content->step >= SLOW_KEEP) return content->signs;
    for (unsigned i = 0; i < content->n; i++) {
        below = below || content->value[i] < 0;
        above = above || content->value[i] > 0;
    }
    return !below ? 0 : above ? 1 : 2;
}

/* Integer i of what the levels code. */
static inline uint64_t slow_code(const struct content *content, unsigned i)
{
    int64_t c = content->value[i];
    switch (slow_signs(content)) {
    case 0: return (uint64_t)c - 1;
    case 1: return c >= 0 ? 2 * (uint64_t)c : 2 * (uint64_t)(-(c + 1)) + 1;
    default: return (uint64_t)(-(c + 1));
    }
}

/* The level of an integer's last digit. */
static inline unsigned slow_depth(uint64_t v, unsigned g)
{
    unsigned l = 0;
    for (uint64_t t = v >> g; t > 0; t = (t - 1) >> slow_digit[l++]) assert_true(l < 8);
    return l;
}

static inline bool slow_heavy(const struct content *content, unsigned i, unsigned g)
{
    return content->step == SLOW_LAST || slow_depth(slow_code(content, i), g) >= 4;
}

/* ---- how long ---------------------------------------------------------------------------------------------------- */

static inline unsigned slow_levels(const struct content *content, unsigned g)
{
    unsigned length = content->n * (1 + g);
    for (unsigned i = 0; i < content->n; i++)
        for (unsigned l = slow_depth(slow_code(content, i), g); l-- > 0;) length += 1 + slow_digit[l];
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
    if (content->n == 0) return 0;
    unsigned q = slow_quotient(content->n);
    return (1u << q) + content->n * (1 + slow_print(content->step, whole) - q);
}

static inline unsigned slow_longer(const struct content *content, unsigned g)
{
    unsigned length = 0;
    for (unsigned i = 0; content->step >= SLOW_KEEP && i < content->n; i++)
        if (slow_heavy(content, i, g)) length += slow_field(content->step);
    return length;
}

/* The code of the widths of what was lost: the least that does. */
static inline unsigned slow_lost(const struct loss *loss)
{
    unsigned b = 0;
    while (loss->plus >> (4 * b + 2) || loss->minus >> (4 * b + 2)) b++;
    return b;
}

static inline unsigned slow_tail(const struct content *content)
{
    const struct loss *loss = &content->loss;
    unsigned lost = 4 * slow_lost(loss) + 2;
    if (content->step < SLOW_KEEP) return 0;
    return 2 * (4u * loss->wide + 1) + 4u * loss->wide + 3 + lost + (loss->minus ? lost : 0) +
           4 * slow_sample(content->step) + 8;
}

/* Of all g the fewest bits, and the least g that has them; a content that keeps has its g. */
static inline unsigned slow_size(const struct content *content, unsigned whole, unsigned *g)
{
    bool keeps = content->step >= SLOW_KEEP;
    *g = keeps ? content->g : 0;
    unsigned least = slow_levels(content, *g);
    for (unsigned order = 1; order < SLOW_G && !keeps; order++) {
        unsigned length = slow_levels(content, order);
        if (length < least) least = length, *g = order;
    }
    return slow_keys(content, whole) + least + slow_longer(content, *g) + slow_tail(content);
}

static inline bool slow_fits(const struct content *content, unsigned whole)
{
    unsigned g;
    return content->n <= SLOW_ENTRIES && slow_size(content, whole, &g) <= SLOW_ROOM;
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
    unsigned q = slow_quotient(content->n), print = slow_print(content->step, whole), i = 0;
    for (uint64_t quotient = 0; quotient >> q == 0; quotient++) {
        for (; i < content->n && content->key[i] >> (64 - q) == quotient; i++) slow_put(bits, 1, 1);
        slow_put(bits, 0, 1);
    }
    for (i = 0; i < content->n; i++) slow_put(bits, content->key[i] >> (64 - print), print - q); /* the lowest */
}

static inline void slow_put_levels(struct slow_bits *bits, const struct content *content, unsigned g)
{
    static uint64_t t[CONTENT_MOST];
    unsigned n = content->n;
    for (unsigned i = 0; i < n; i++) t[i] = slow_code(content, i) >> g;
    for (unsigned i = 0; i < n; i++) slow_put(bits, t[i] > 0, 1);
    for (unsigned i = 0; i < n; i++) slow_put(bits, slow_code(content, i), g);
    for (unsigned l = 0; n > 0; l++) {
        unsigned on = 0;
        for (unsigned i = 0; i < n; i++)
            if (t[i] > 0) t[on++] = t[i] - 1;
        n = on;
        for (unsigned i = 0; i < n; i++) slow_put(bits, t[i] >> slow_digit[l] > 0, 1);
        for (unsigned i = 0; i < n; i++) slow_put(bits, t[i], slow_digit[l]), t[i] >>= slow_digit[l];
    }
}

/* What an entry knows beyond p bits: bit by bit, then a one, then zeros. */
static inline void slow_put_longer(struct slow_bits *bits, const struct content *content, unsigned i, unsigned room)
{
    unsigned print = slow_print(content->step, 0), known = content->known[i];
    unsigned end = bits->at + room;
    for (unsigned bit = known; bit-- > print;) slow_put(bits, content->key[i] >> (63 - bit), 1);
    slow_put(bits, 1, 1);
    assert_true(bits->at <= end);
    bits->at = end;
}

static inline void slow_put_tail(struct slow_bits *bits, const struct content *content)
{
    const struct loss *loss = &content->loss;
    unsigned a = loss->wide, lost = 4 * slow_lost(loss) + 2, sample = slow_sample(content->step);
    assert_true(bits->at + slow_tail(content) <= 2048);
    assert_false(loss->left >> (4 * a + 1) || loss->nursed >> (4 * a + 1) || loss->press >> (4 * a + 3));
    bits->at = 2048 - slow_tail(content);
    slow_put(bits, loss->left, 4 * a + 1);
    slow_put(bits, loss->nursed, 4 * a + 1);
    slow_put(bits, loss->press, 4 * a + 3);
    slow_put(bits, loss->plus, lost);
    if (loss->minus) slow_put(bits, loss->minus, lost);
    for (unsigned i = 0; i < 4; i++) {
        bool longer = i < content->n && !slow_heavy(content, i, content->g);
        if (longer) slow_put_longer(bits, content, i, sample);
        else slow_put(bits, sample > 0, sample);
    }
    slow_put(bits, loss->hand, 8);
    assert_int_equal(bits->at, 2048);
}

/* The block of a content that fits, with a g that need not be the best. */
static inline struct block slow_block(const struct content *content, unsigned whole, unsigned g)
{
    struct slow_bits bits = {.at = SLOW_HEAD};
    bool keeps = content->step >= SLOW_KEEP;
    if (content->n > 0) slow_put_keys(&bits, content, whole);
    slow_put_levels(&bits, content, g);
    for (unsigned i = 0; keeps && i < content->n; i++)
        if (slow_heavy(content, i, g)) slow_put_longer(&bits, content, i, slow_field(content->step));
        else assert_true(content->known[i] == slow_print(content->step, 0) || i < 4);
    unsigned used = bits.at - SLOW_HEAD;
    assert_int_equal(used, slow_keys(content, whole) + slow_levels(content, g) + slow_longer(content, g));
    if (keeps) slow_put_tail(&bits, content);
    bits.at = 0;
    slow_put(&bits, used, 11);
    slow_put(&bits, content->step, 4);
    slow_put(&bits, content->n, 9);
    slow_put(&bits, g, 5);
    slow_put(&bits, slow_signs(content), 2);
    if (!keeps) return bits.block;
    slow_put(&bits, content->loss.wide, 4);
    slow_put(&bits, slow_lost(&content->loss), 4);
    slow_put(&bits, content->loss.minus > 0, 1);
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
    unsigned q = slow_quotient(content->n), length = slow_print(content->step, whole), n = 0;
    for (uint64_t quotient = 0; quotient >> q == 0 && !bits->past; quotient++)
        while (slow_take(bits, 1) && !bits->past) {
            if (n < content->n) content->key[n] = quotient << (64 - q);
            n++;
        }
    if (n != content->n) bits->past = true;
    for (unsigned i = 0; i < content->n && !bits->past; i++)
        content->key[i] |= slow_take(bits, length - q) << (64 - length);
}

/* A number that is too large for 64 bits is one that was asked for in vain, too. */
static inline void slow_take_levels(struct slow_bits *bits, unsigned g, unsigned signs, struct content *content)
{
    static lego_u128 v[CONTENT_MOST];
    static unsigned open[CONTENT_MOST];
    unsigned n = 0, shift = g;
    for (unsigned i = 0; i < content->n; i++)
        if (slow_take(bits, 1)) open[n++] = i;
    for (unsigned i = 0; i < content->n; i++) v[i] = slow_take(bits, g);
    for (unsigned l = 0; n > 0 && !bits->past; shift += slow_digit[l++]) {
        static bool goes_on[CONTENT_MOST];
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
        static const uint64_t most[3] = {INT64_MAX - 1, UINT64_MAX, INT64_MAX};
        if (signs > 2 || v[i] > most[signs]) bits->past = true;
        uint64_t c = (uint64_t)v[i];
        if (signs == 0) content->value[i] = (int64_t)(c + 1);
        if (signs == 1) content->value[i] = c % 2 ? -(int64_t)(c / 2) - 1 : (int64_t)(c / 2);
        if (signs == 2) content->value[i] = -(int64_t)c - 1;
    }
}

/* The bits of a field below its highest one are those of a print behind the p-th. */
static inline void slow_take_longer(struct slow_bits *bits, struct content *content, unsigned i, unsigned room)
{
    unsigned print = slow_print(content->step, 0), more = room;
    uint64_t field = slow_take(bits, room);
    if (field == 0) bits->past = true;
    while (more > 0 && field >> more == 0) more--;
    content->known[i] = (uint8_t)(print + more);
    content->key[i] |= (field & ~(UINT64_MAX << more)) << (64 - print - more);
}

static inline void slow_take_tail(struct slow_bits *bits, unsigned a, unsigned b, bool below, struct content *content)
{
    unsigned sample = slow_sample(content->step);
    unsigned length = 3 * (4 * a + 1) + 2 + (4 * b + 2) * (1u + below) + 4 * sample + 8;
    if (bits->at + length > 2048) bits->past = true;
    if (bits->past) return;
    bits->at = 2048 - length;
    bits->end = 2048;
    content->loss.wide = (uint8_t)a;
    content->loss.left = slow_take(bits, 4 * a + 1);
    content->loss.nursed = slow_take(bits, 4 * a + 1);
    content->loss.press = slow_take(bits, 4 * a + 3);
    content->loss.plus = slow_take(bits, 4 * b + 2);
    if (below) content->loss.minus = slow_take(bits, 4 * b + 2);
    for (unsigned i = 0; i < 4; i++)
        if (i < content->n && !slow_heavy(content, i, content->g)) slow_take_longer(bits, content, i, sample);
        else slow_take(bits, sample);
    content->loss.hand = (uint8_t)slow_take(bits, 8);
}

/* What one look tells of the sums: nobody has been let go but at the last two steps, and who is pressed has not
 * fallen. */
static inline bool slow_loss(const struct content *content)
{
    const struct loss *loss = &content->loss;
    bool goes = content->step >= SLOW_FLOOR, some = goes && content->n > 4;
    uint64_t smallest = UINT64_MAX;
    for (unsigned i = 4; i < content->n; i++) {
        int64_t c = content->value[i];
        uint64_t size = c < 0 ? (uint64_t)(-(c + 1)) + 1 : (uint64_t)c;
        if (size < smallest) smallest = size;
    }
    if (!goes && (loss->plus || loss->minus || loss->hand)) return false;
    if (!some) return !loss->left && !loss->nursed && !loss->press && !loss->wide;
    if (loss->nursed >= smallest || loss->left > smallest - loss->nursed) return false;
    return (lego_u128)loss->press + loss->left <= (lego_u128)1 << (4 * loss->wide + 3);
}

/* Whether these bits are the canonical block of any content, and which. */
static inline bool slow_valid(const struct block *block, unsigned whole, struct content *content)
{
    struct slow_bits bits = {*block, 0, 2048, false};
    unsigned used = (unsigned)slow_take(&bits, 11), step = (unsigned)slow_take(&bits, 4);
    unsigned entries = (unsigned)slow_take(&bits, 9), g = (unsigned)slow_take(&bits, 5);
    unsigned signs = (unsigned)slow_take(&bits, 2), a = (unsigned)slow_take(&bits, 4);
    unsigned b = (unsigned)slow_take(&bits, 4);
    bool below = slow_take(&bits, 1), keeps = step >= SLOW_KEEP;
    if (step > SLOW_LAST || used > SLOW_ROOM || entries > SLOW_ENTRIES || signs > 2) return false;
    bits.end = SLOW_HEAD + used;
    *content = (struct content){.step = step, .n = entries, .g = g, .signs = signs};
    if (entries > 0) slow_take_keys(&bits, whole, content);
    if (!bits.past) slow_take_levels(&bits, g, signs, content);
    content->bits = used - slow_keys(content, whole);
    for (unsigned i = 0; i < entries && keeps && !bits.past; i++) {
        content->known[i] = (uint8_t)slow_print(step, 0);
        if (slow_heavy(content, i, g)) slow_take_longer(&bits, content, i, slow_field(step));
    }
    if (keeps && !bits.past) slow_take_tail(&bits, a, b, below, content);
    if (bits.past || (keeps && !slow_loss(content))) return false;
    for (unsigned i = 0; i < entries; i++) {
        if (content->value[i] == 0 && !(keeps && i < 4)) return false;
        if (i == 0 || content->key[i] > content->key[i - 1]) continue;
        if (!keeps || content->key[i] < content->key[i - 1] || content->known[i] <= content->known[i - 1]) return false;
    }
    if (!slow_fits(content, whole)) return false;
    struct block again = slow_canonical(content, whole);
    return memcmp(&again, block, sizeof again) == 0;
}
