/* What a block that keeps has more than a list: the longer bits behind its counts, and the tail at its end. What an
 * item changes most often is changed in place, as keep.c would. Part of the body that kernels_body.h is. */
#pragma once

#include "block/keep.h"
#include "block/kernels_list.h"

/* ---- longer prints ----------------------------------------------------------------------------------------------- */

/* So many bits of a print beyond the p-th, which stand in a field below a one. A field of 0 is no block's. */
static inline unsigned field_bits(uint64_t field)
{
    return 63 - (unsigned)__builtin_clzll(field | 1);
}

static inline uint64_t field_of(uint64_t key, unsigned known, unsigned print)
{
    const unsigned more = known - print;
    return UINT64_C(1) << more | lowest(key >> (64 - known), more);
}

/* Of a key whose other bits are 0: with those of a field. */
static inline uint64_t with_field(uint64_t key, uint64_t field, unsigned print)
{
    const unsigned more = field_bits(field);
    return key | lowest(field, more) << (64 - print - more);
}

/* ---- the tail ---------------------------------------------------------------------------------------------------- */

/* Where its fields are, and how wide. */
struct tail {
    unsigned left, nursed, press, lost, below, sample, hand;
    unsigned short_bits, lost_bits, sample_bits; /* press has 2 more than the short ones, left and nursed */
    bool minus;
};

enum { HAND_BITS = 8 };

static inline struct tail tail_of(unsigned step, struct tail_widths w)
{
    const unsigned start = BLOCK_BITS - tail_bits(step, w), one = 4 * w.press + 1, lost = 4 * w.lost + 2;
    return (struct tail){.left = start,
                         .nursed = start + one,
                         .press = start + 2 * one,
                         .lost = start + 3 * one + 2,
                         .below = start + 3 * one + 2 + lost,
                         .sample = start + 3 * one + 2 + lost * (1 + w.below),
                         .hand = BLOCK_BITS - HAND_BITS,
                         .short_bits = one,
                         .lost_bits = lost,
                         .sample_bits = sample_bits(step),
                         .minus = w.below};
}

static inline void get_loss(const struct block *block, const struct tail *tail, struct loss *loss)
{
    loss->left = get_bits(block, tail->left, tail->short_bits);
    loss->nursed = get_bits(block, tail->nursed, tail->short_bits);
    loss->press = get_bits(block, tail->press, tail->short_bits + 2);
    loss->plus = get_bits(block, tail->lost, tail->lost_bits);
    loss->minus = tail->minus ? get_bits(block, tail->below, tail->lost_bits) : 0;
}

/* What is behind the counts and in the tail, to a content whose keys have been decoded. */
static void keep_decode(const struct block *block, const uint64_t code[], struct content *content)
{
    const struct tail tail = tail_of(content->step, block_widths(block));
    const unsigned print = step_print(content->step, 0), bits = longer_width(print);
    unsigned at = levels_end(block);
    get_loss(block, &tail, &content->loss);
    content->loss.wide = (uint8_t)block_widths(block).press;
    content->loss.hand = (uint8_t)get_bits(block, tail.hand, HAND_BITS);
    memset(content->known, (int)print, content->n);
    for (unsigned i = 0; i < BLOCK_SAMPLE && i < content->n; i++) {
        uint64_t field = get_bits(block, tail.sample + i * tail.sample_bits, tail.sample_bits);
        content->key[i] = with_field(content->key[i], field, print);
        content->known[i] = (uint8_t)(print + field_bits(field));
    }
    for (unsigned i = content->n; i-- > 0;) {
        if (code[i] >> content->g < reach[heavy_level(content->step)]) continue;
        uint64_t field = get_bits(block, at -= bits, bits);
        content->key[i] = with_field(content->key[i], field, print);
        content->known[i] = (uint8_t)(print + field_bits(field));
    }
}

static void longer_encode(struct draft *draft, unsigned at, const uint64_t code[], const struct content *content)
{
    const unsigned print = step_print(content->step, 0), bits = longer_width(print);
    for (unsigned i = 0; i < content->n; i++) {
        if (code[i] >> content->g < reach[heavy_level(content->step)]) continue;
        draft_bits(draft, at, field_of(content->key[i], content->known[i], print));
        at += bits;
    }
}

static void tail_encode(struct draft *draft, struct tail_widths w, const uint64_t code[], const struct content *content)
{
    const struct tail tail = tail_of(content->step, w);
    const struct loss *loss = &content->loss;
    const unsigned print = step_print(content->step, 0);
    draft_bits(draft, tail.left, loss->left);
    draft_bits(draft, tail.nursed, loss->nursed);
    draft_bits(draft, tail.press, loss->press);
    draft_bits(draft, tail.lost, loss->plus);
    if (tail.minus) draft_bits(draft, tail.below, loss->minus);
    for (unsigned i = 0; i < BLOCK_SAMPLE && tail.sample_bits > 0; i++) {
        bool longer = i < content->n && code[i] >> content->g < reach[heavy_level(content->step)];
        draft_bits(draft, tail.sample + i * tail.sample_bits,
                   longer ? field_of(content->key[i], content->known[i], print) : 1);
    }
    draft_bits(draft, tail.hand, loss->hand);
}

/* ---- one entry --------------------------------------------------------------------------------------------------- */

/* The entry that an item is counted in, of those that have its print: the one that agrees in all it knows, and knows
 * most. */
struct kept {
    unsigned index, field; /* of an entry that is heavy or of the sample: its longer bits begin there, ... */
    unsigned field_bits;   /* ... and are so many, or 0 */
    unsigned known;
    uint64_t code, alike; /* of all that have the print: the sum of their counts */
    bool there, heavy;
};

static inline __attribute__((always_inline)) struct kept find_kept(const struct block *block, const struct list *list,
                                                                   const struct levels *levels, uint64_t key,
                                                                   struct entry_at entry, struct way *way)
{
    const unsigned print = step_print(list->step, 0), bits = longer_width(print), end = levels_end(block);
    const unsigned heavy = heavy_level(list->step);
    const uint64_t remainder = remainder_of(list, key);
    struct kept found = {.there = false};
    if (!entry.there) return found;
    do {
        struct kept one = {.index = entry.index, .known = print, .there = true};
        one.code = levels_get(block, levels, entry.index, way);
        one.heavy = way->depth >= heavy;
        if (one.heavy) {
            one.field = end - (way->count[heavy] - way->rank[heavy]) * bits;
            one.field_bits = bits;
        } else if (entry.index < BLOCK_SAMPLE) {
            one.field_bits = sample_bits(list->step);
            one.field = BLOCK_BITS - HAND_BITS - (BLOCK_SAMPLE - entry.index) * one.field_bits;
        }
        found.alike += (uint64_t)from_code(one.code, block_signs(block));
        one.alike = found.alike;
        uint64_t field = one.field_bits ? get_bits(block, one.field, one.field_bits) : 1;
        one.known += field_bits(field);
        const bool agrees = field == field_of(key, one.known, print);
        if (agrees && (!found.there || one.known > found.known)) found = one;
        entry.index++;
        entry.at++;
    } while (get_bit(block, entry.at) && get_bits(block, remainder_at(list, entry.index), list->r) == remainder);
    if (found.there && found.index != way->rank[0]) levels_get(block, levels, found.index, way);
    return found;
}

/* ---- adding in place --------------------------------------------------------------------------------------------- */

/* So that bits before it can be moved up: the words of a tail, which become 0. */
enum { TAIL_WORDS = 7 };

static inline void lift_tail(struct block *block, unsigned start, uint64_t tail[TAIL_WORDS])
{
    unsigned first = start / 64;
    for (unsigned i = first; i < BLOCK_WORDS; i++) {
        uint64_t mask = i == first ? UINT64_MAX << start % 64 : UINT64_MAX;
        tail[i - first] = block->word[i] & mask;
        block->word[i] &= ~mask;
    }
}

static inline void lay_tail(struct block *block, unsigned start, const uint64_t tail[TAIL_WORDS])
{
    for (unsigned i = start / 64; i < BLOCK_WORDS; i++) block->word[i] |= tail[i - start / 64];
}

/* An entry whose count grows, if it knows the same bits of its print then. */
static inline bool grow_kept(struct block *block, const struct levels *levels, const struct kept *kept, struct way *way,
                             int64_t count)
{
    const unsigned signs = block_signs(block), step = block_step(block), tail = tail_bits(step, block_widths(block));
    const unsigned most = kept->heavy ? PRINT_HEAVY : kept->index < BLOCK_SAMPLE ? PRINT_SAME : step_print(step, 0);
    const int64_t value = from_code(kept->code, signs);
    if (value == 0 || (value < 0) != (count < 0) || kept->known != most) return false;
    const uint64_t code = to_code(value + count, signs), room = BLOCK_ROOM - tail - block_used(block);
    if (!kept->heavy && code >> levels->g >= reach[heavy_level(step)]) return false;
    uint64_t words[TAIL_WORDS];
    if (rise_low(block, levels, kept->index, code - kept->code)) return true;
    lift_tail(block, BLOCK_BITS - tail, words);
    const bool raised = levels_raise(block, levels, way, kept->code, code, (unsigned)room);
    lay_tail(block, BLOCK_BITS - tail, words);
    return raised;
}

/* A newcomer that weighs less than `left`, if the tail keeps its widths. */
static inline bool press_kept(struct block *block, const struct list *list, struct entry_at entry, uint64_t key,
                              int64_t count)
{
    const struct tail tail = tail_of(list->step, block_widths(block));
    const uint64_t size = count < 0 ? -(uint64_t)count : (uint64_t)count;
    struct loss loss;
    get_loss(block, &tail, &loss);
    if (size >= loss.left) return false;
    if (count < 0 && size <= loss.plus) return false; /* it comes off */
    if (entry.index < BLOCK_SAMPLE) pass_entries(block, list, key, &entry);
    if (entry.index < BLOCK_SAMPLE) return false;
    *(count < 0 ? &loss.minus : &loss.plus) += size;
    const struct tail_widths before = block_widths(block), now = keep_widths(&loss);
    if (now.lost != before.lost || now.below != before.below) return false;
    put_bits(block, tail.left, tail.short_bits, loss.left - size);
    put_bits(block, tail.nursed, tail.short_bits, loss.nursed + size);
    put_bits(block, tail.press, tail.short_bits + 2, loss.press + size);
    put_bits(block, count < 0 ? tail.below : tail.lost, tail.lost_bits, count < 0 ? loss.minus : loss.plus);
    return true;
}

static __attribute__((noinline)) bool add_to_kept(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    const struct list list = list_of(block, whole, key);
    const struct entry_at entry = find_entry(block, &list, key);
    if (count == 0 || list.n == 0) return count == 0;
    if (!entry.there) return press_kept(block, &list, entry, key, count);
    const struct levels levels = counts_of(block, &list);
    struct way way;
    const struct kept kept = find_kept(block, &list, &levels, key, entry, &way);
    return kept.there ? grow_kept(block, &levels, &kept, &way, count) : press_kept(block, &list, entry, key, count);
}
