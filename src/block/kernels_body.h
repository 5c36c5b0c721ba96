/* The body of the kernels of kernels.h, compiled for each kind of CPU. */
#pragma once

#include <string.h>

#include "block/content.h"
#include "block/kernels.h"
#include "block/kernels_hash.h"
#include "block/kernels_read.h"

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void body_open(const struct block *block, unsigned whole, struct content *content)
{
    const unsigned signs = block_signs(block);
    bool lists = step_lists(block_step(block));
    uint64_t code[BLOCK_CELLS];
    struct levels levels = lists ? (struct levels){0} : cells_of(block);
    content->step = block_step(block);
    if (lists) {
        struct list list = list_of(block, whole, 0);
        levels = counts_of(block, &list);
        if (list.n > 0) keys_decode(block, &list, content->key);
    }
    content->n = levels.n;
    if (levels.n > 0) levels_decode(block, &levels, code);
    if (signs == SIGNS_ABOVE)
        for (unsigned i = 0; i < many_some(levels.n); i++) content->value[i] = (int64_t)(code[i] + lists);
    else
        for (unsigned i = 0; i < levels.n; i++) content->value[i] = from_code(code[i] + lists, signs);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* How a content is coded: its integers, the best g, and how many bits all of it takes. */
struct plan {
    uint64_t code[BLOCK_CELLS];
    unsigned g, counts, keys, shorter, signs;
};

static void plan_counts(const struct content *content, struct plan *plan)
{
    int64_t below = 0, above = 0; /* below 0 if something is */
    bool lists = step_lists(content->step);
    for (unsigned i = 0; i < content->n; i++) {
        below |= content->value[i];
        above |= (int64_t) - (uint64_t)(content->value[i] > 0);
    }
    plan->signs = below >= 0 ? SIGNS_ABOVE : above < 0 ? SIGNS_BOTH : SIGNS_BELOW;
    for (unsigned i = 0; i < content->n; i++) plan->code[i] = to_code(content->value[i], plan->signs) - lists;
    memset(plan->code + content->n, 0, (many_words(content->n) * MANY - content->n) * sizeof *plan->code);
    plan->counts = levels_best(plan->code, content->n, &plan->g);
}

/* How many keys are in the quarters before this one. Where the half is that has them could not be foreseen. */
static unsigned keys_before(const struct content *content, unsigned quarter)
{
    if (quarter == 0 || content->n == 0) return 0;
    unsigned low = 0, n = content->n;
    for (unsigned half; n > 1; n -= half) {
        half = n / 2;
        low += half & -(unsigned)(content->key[low + half - 1] >> 62 < quarter);
    }
    return low + (content->key[low] >> 62 < quarter);
}

static void plan_keys(const struct content *content, unsigned whole, struct plan *plan)
{
    plan->keys = 0;
    if (!step_lists(content->step) || content->n == 0) return;
    plan->shorter = keys_before(content, step_quarters(content->step));
    plan->keys = keys_size(content->n, plan->shorter, step_print(content->step, whole));
}

static inline uint64_t head_of(unsigned used, unsigned step, unsigned entries, unsigned g, unsigned signs)
{
    return used | (uint64_t)step << 11 | (uint64_t)entries << 18 | (uint64_t)g << 27 | (uint64_t)signs << 32;
}

static void write_plan(struct block *block, unsigned whole, const struct content *content, const struct plan *plan)
{
    unsigned at = BLOCK_HEAD, entries = step_lists(content->step) ? content->n : 0;
    struct draft draft = {{0}};
    if (entries > 0) at = keys_encode(&draft, step_print(content->step, whole), plan->shorter, content->key, entries);
    struct levels levels = {at, content->n, plan->g};
    levels_encode(&draft, &levels, plan->code);
    draft.word[0] |= head_of(plan->keys + plan->counts, content->step, entries, plan->g, plan->signs);
    memcpy(block, draft.word, sizeof *block);
}

static bool too_many(const struct content *content)
{
    return step_lists(content->step) && content->n > BLOCK_ENTRIES;
}

static bool body_close(struct block *block, unsigned whole, const struct content *content)
{
    struct plan plan;
    if (too_many(content)) return false;
    plan_counts(content, &plan);
    plan_keys(content, whole, &plan);
    if (plan.keys + plan.counts > BLOCK_ROOM) return false;
    write_plan(block, whole, content, &plan);
    return true;
}

/* The least difference, bit by bit, of two neighbours. */
static uint64_t least_differ(const uint64_t key[], unsigned n)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 1; i < n; i++) {
        uint64_t differ = key[i] ^ key[i - 1];
        least = differ < least ? differ : least;
    }
    return least;
}

/* Of each quarter's keys: how many there are before, and the most leading bits that two have in common. */
struct quarters {
    unsigned before[5], common[4];
};

static struct quarters find_quarters(const struct content *content)
{
    struct quarters found;
    for (unsigned i = 0; i < 4; i++) found.before[i] = keys_before(content, i);
    found.before[4] = content->n;
    for (unsigned i = 0; i < 4; i++) {
        unsigned start = found.before[i], n = found.before[i + 1] - start;
        found.common[i] = (unsigned)__builtin_clzll(least_differ(content->key + start, n));
    }
    return found;
}

/* The first step at which the entries of a list that does not fit do, or two of them become one. */
static unsigned next_list(const struct content *content, unsigned whole, const struct plan *plan)
{
    const struct quarters found = find_quarters(content);
    unsigned step = content->step, n = content->n;
    while (++step < STEP_SHARE) {
        unsigned print = step_print(step, whole), quarters = step_quarters(step);
        for (unsigned quarter = 0; quarter < 4; quarter++)
            if (found.common[quarter] >= print - (quarter < quarters)) return step;
        if (!too_many(content) && keys_size(n, found.before[quarters], print) + plan->counts <= BLOCK_ROOM) return step;
    }
    return step;
}

static void body_settle(struct block *block, unsigned whole, struct content *content)
{
    struct plan plan;
    unsigned planned = UINT32_MAX; /* for how many entries */
    for (;;) {
        bool lists = step_lists(content->step);
        if (!too_many(content)) {
            if (!lists || planned != content->n) plan_counts(content, &plan);
            planned = content->n;
            plan_keys(content, whole, &plan);
            if (plan.keys + plan.counts <= BLOCK_ROOM) break;
        }
        content_lower(content, lists ? next_list(content, whole, &plan) : content->step + 1, whole);
    }
    write_plan(block, whole, content, &plan);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static inline bool has_room(const struct block *block, unsigned bits)
{
    return block_used(block) + bits <= BLOCK_ROOM;
}

/* In place, if there is room with the present g, and what is there and what is added have one sign. `count` is without
 * it. */
static __attribute__((noinline)) bool add_to_list(struct block *block, unsigned whole, uint64_t key, uint64_t count)
{
    struct list list = list_of(block, whole, key);
    struct entry entry = find_entry(block, &list, key);
    struct levels levels = counts_of(block, &list);
    if (entry.there) {
        struct rise rise;
        if (rise_low(block, &levels, entry.index, count)) return true;
        rise_plan(block, &levels, entry.index, count, &rise);
        if (!has_room(block, rise.extra)) return false;
        rise_apply(block, &levels, &rise);
        return true;
    }
    unsigned bits = 1 + step_length(list.step, whole, key) - list.q + 1 + levels.g;
    if (list.n + 1 > 1u << list.q || !has_room(block, bits + digit_bits((count - 1) >> levels.g))) return false;
    pass_entries(block, &list, key, &entry);
    insert_entry(block, &list, &entry, key, count - 1);
    return true;
}

static __attribute__((noinline)) bool add_to_cells(struct block *block, uint64_t key, uint64_t count)
{
    const unsigned step = block_step(block);
    const bool two = step < STEP_CAP;
    struct levels levels = cells_of(block);
    struct rise first, second;
    if (!two && rise_low(block, &levels, step_cell(step, 0, key), count)) return true;
    second.extra = 0;
    rise_plan(block, &levels, step_cell(step, 0, key), count, &first);
    if (two) rise_plan(block, &levels, step_cell(step, 1, key), count, &second);
    if (!has_room(block, first.extra + second.extra)) return false;
    rise_apply(block, &levels, &first);
    if (two && first.left > 0) rise_plan(block, &levels, step_cell(step, 1, key), count, &second); /* it has moved */
    if (two) rise_apply(block, &levels, &second);
    return true;
}

static bool add_in_place(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    if (count == 0 || block_signs(block) != (count > 0 ? SIGNS_ABOVE : SIGNS_BELOW) || block_used(block) == 0)
        return false;
    uint64_t size = count > 0 ? (uint64_t)count : -(uint64_t)count;
    return step_lists(block_step(block)) ? add_to_list(block, whole, key, size) : add_to_cells(block, key, size);
}

static unsigned body_add_some(struct block *block, unsigned whole, const uint64_t key[], const int64_t count[],
                              unsigned n)
{
    unsigned i = 0;
    while (i < n && add_in_place(block, whole, key[i], count[i])) i++;
    return i;
}

/* These have large contents, which a few bits moved do without. */
static __attribute__((noinline)) bool add_anew(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    struct content content;
    body_open(block, whole, &content);
    content_add(&content, whole, key, count);
    return body_close(block, whole, &content);
}

static __attribute__((noinline)) void add_anew_on(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    struct content content;
    body_open(block, whole, &content);
    content_add(&content, whole, key, count);
    body_settle(block, whole, &content);
}

static bool body_add(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    return add_in_place(block, whole, key, count) || add_anew(block, whole, key, count);
}

static void body_add_on(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    if (!add_in_place(block, whole, key, count)) add_anew_on(block, whole, key, count);
}

static void body_add_both(struct block *block, struct block *cap, unsigned whole, uint64_t key, int64_t count)
{
    body_add_on(block, whole, key, count);
    body_add_on(cap, whole, key, count);
}

/* ---- bytes from outside ------------------------------------------------------------------------------------------ */

/* The lengths that the code names stay within the bits in use, so that it can be opened. */
static bool levels_within(const struct block *block, struct levels levels)
{
    unsigned end = BLOCK_HEAD + block_used(block), n = levels.n, at = levels.at, w = levels.g;
    for (unsigned l = 0; n > 0; w = width[l]) {
        if (at + n * (1 + w) > end) return false;
        unsigned more = count_ones(block, at, n);
        at += n * (1 + w);
        n = more;
        if (++l > LEVELS - (levels.g == BLOCK_G_MAX)) return n == 0; /* 64 bits have no digit there */
    }
    return at == end;
}

static bool list_within(const struct block *block, unsigned whole)
{
    unsigned n = block_entries(block), q = quotient_bits(n), end = BLOCK_HEAD + block_used(block);
    if (n == 0) return block_used(block) == 0;
    unsigned quotients = n + (1u << q);
    if (BLOCK_HEAD + quotients > end || count_ones(block, BLOCK_HEAD, quotients) != n) return false;
    struct list list = list_of(block, whole, 0);
    struct levels levels = counts_of(block, &list);
    return levels.at <= end && levels_within(block, levels);
}

static bool content_possible(const struct content *content)
{
    for (unsigned i = 0; step_lists(content->step) && i < content->n; i++)
        if (content->value[i] == 0 || (i > 0 && content->key[i] <= content->key[i - 1])) return false;
    return true;
}

static bool body_valid(const struct block *block, unsigned whole, struct content *content)
{
    struct block again;
    unsigned step = block_step(block), used = block_used(block);
    if (block->word[0] >> 34 & 63 || block_signs(block) > SIGNS_BELOW || step > STEP_CAP_LAST || used > BLOCK_ROOM)
        return false;
    if (step_lists(step) ? !list_within(block, whole) : !levels_within(block, cells_of(block))) return false;
    body_open(block, whole, content);
    return content_possible(content) && body_close(&again, whole, content) && memcmp(&again, block, sizeof again) == 0;
}

#ifdef KERNELS /* and not only looked at, by tests/check_layers.sh */

static bool body_supported(void)
{
    return SUPPORTED;
}

const struct block_kernels KERNELS = {KERNELS_NAME, body_supported, body_read,     body_read_many, body_add,
                                      body_add_on,  body_add_both,  body_add_some, body_open,      body_close,
                                      body_settle,  body_valid,     hash_words};

#endif
