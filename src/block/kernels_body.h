/* The body of the kernels of kernels.h, compiled for each kind of CPU. */
#pragma once

#include <string.h>

#include "block/kernels.h"
#include "block/kernels_hash.h"
#include "block/kernels_read.h"

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void body_open(const struct block *block, unsigned whole, struct content *content)
{
    const unsigned signs = block_signs(block), step = block_step(block);
    const struct list list = list_of(block, whole, 0);
    const struct levels levels = counts_of(block, &list);
    uint64_t code[LEVELS_ROOM];
    content->step = step;
    content->n = list.n;
    content->g = levels.g;
    content->signs = signs;
    content->loss = (struct loss){0};
    content->looked = false;
    content->entered = 0;
    if (list.n > 0) {
        keys_decode(block, &list, content->key);
        levels_decode(block, &levels, code);
    }
    if (signs == SIGNS_ABOVE)
        for (unsigned i = 0; i < many_some(list.n); i++) content->value[i] = (int64_t)(code[i] + 1);
    else
        for (unsigned i = 0; i < list.n; i++) content->value[i] = from_code(code[i], signs);
    if (!step_keeps(step)) return;
    content->bits = block_used(block) - keys_size(list.n, step_print(step, whole));
    keep_decode(block, code, content);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* How a content is coded: its integers, and how many bits all of it takes, without a tail. */
struct plan {
    uint64_t code[LEVELS_ROOM];
    unsigned g, counts, signs;
};

static void plan_codes(const struct content *content, struct plan *plan)
{
    for (unsigned i = 0; i < content->n; i++) plan->code[i] = to_code(content->value[i], plan->signs);
    memset(plan->code + content->n, 0, (many_words(content->n) * MANY - content->n) * sizeof *plan->code);
}

/* The best way for a list; the own one of a content that keeps. */
static void plan_counts(const struct content *content, struct plan *plan)
{
    if (step_keeps(content->step)) {
        plan->signs = content->signs;
        plan->g = content->g;
        plan->counts = content->bits;
        plan_codes(content, plan);
        return;
    }
    int64_t below = 0, above = 0; /* below 0 if something is */
    for (unsigned i = 0; i < content->n; i++) {
        below |= content->value[i];
        above |= (int64_t) - (uint64_t)(content->value[i] > 0);
    }
    plan->signs = below >= 0 ? SIGNS_ABOVE : above < 0 ? SIGNS_BOTH : SIGNS_BELOW;
    plan_codes(content, plan);
    plan->counts = levels_best(plan->code, content->n, &plan->g);
}

static inline uint64_t head_of(unsigned used, unsigned step, unsigned entries, unsigned g, unsigned signs,
                               struct tail_widths w)
{
    return used | (uint64_t)step << 11 | (uint64_t)entries << 15 | (uint64_t)g << 24 | (uint64_t)signs << 29 |
           (uint64_t)w.press << 31 | (uint64_t)w.lost << 35 | (uint64_t)w.below << 39;
}

/* Writes it, if it fits. */
static bool write_plan(struct block *block, unsigned whole, const struct content *content, const struct plan *plan)
{
    const unsigned step = content->step, n = content->n, print = step_print(step, whole);
    const struct tail_widths w = step_keeps(step) ? keep_widths(&content->loss) : (struct tail_widths){0};
    const unsigned used = keys_size(n, print) + plan->counts;
    if (used + tail_bits(step, w) > BLOCK_ROOM) return false;
    struct draft draft = {{0}};
    if (n > 0) {
        struct levels levels = {keys_encode(&draft, print, content->key, n), n, plan->g};
        unsigned end = levels_encode(&draft, &levels, plan->code);
        if (step_keeps(step)) longer_encode(&draft, end, plan->code, content);
    }
    if (step_keeps(step)) tail_encode(&draft, w, plan->code, content);
    draft.word[0] |= head_of(used, step, n, plan->g, plan->signs, w);
    memcpy(block, draft.word, sizeof *block);
    return true;
}

static bool body_close(struct block *block, unsigned whole, const struct content *content)
{
    struct plan plan;
    if (content->n > BLOCK_ENTRIES) return false;
    plan_counts(content, &plan);
    return write_plan(block, whole, content, &plan);
}

static void body_settle(struct block *block, unsigned whole, struct content *content)
{
    while (!body_close(block, whole, content))
        if (content->step + 1 < STEP_KEEP) content_lower(content, content->step + 1, whole);
        else keep_start(content);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* In place, if there is room with the present g, and what is there and what is added have one sign. `count` is without
 * it. */
static __attribute__((noinline)) bool add_to_list(struct block *block, unsigned whole, uint64_t key, uint64_t count)
{
    struct list list = list_of(block, whole, key);
    struct entry_at entry = find_entry(block, &list, key);
    struct levels levels = counts_of(block, &list);
    if (entry.there) {
        struct rise rise;
        if (rise_low(block, &levels, entry.index, count)) return true;
        rise_plan(block, &levels, entry.index, count, &rise);
        if (block_used(block) + rise.extra > BLOCK_ROOM) return false;
        rise_apply(block, &levels, &rise);
        return true;
    }
    unsigned bits = 1 + list.r + 1 + levels.g + digit_bits((count - 1) >> levels.g);
    if (list.n + 1 > 1u << list.q || block_used(block) + bits > BLOCK_ROOM) return false;
    pass_entries(block, &list, key, &entry);
    insert_entry(block, &list, &entry, key, count - 1);
    return true;
}

static bool add_in_place(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    if (count == 0 || block_used(block) == 0) return false;
    if (block_keeps(block)) return add_to_kept(block, whole, key, count);
    if (block_signs(block) != (count > 0 ? SIGNS_ABOVE : SIGNS_BELOW)) return false;
    return add_to_list(block, whole, key, count > 0 ? (uint64_t)count : -(uint64_t)count);
}

static unsigned body_add_some(struct block *block, unsigned whole, const uint64_t key[], const int64_t count[],
                              unsigned n)
{
    unsigned i = 0;
    while (i < n && add_in_place(block, whole, key[i], count[i])) i++;
    return i;
}

static void open_and_add(const struct block *block, unsigned whole, uint64_t key, int64_t count,
                         struct content *content)
{
    body_open(block, whole, content);
    if (step_keeps(content->step)) keep_add(content, key, count);
    else content_add(content, whole, key, count);
}

/* These have large contents, which a few bits moved do without. */
static __attribute__((noinline)) bool add_anew(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    struct content content;
    open_and_add(block, whole, key, count, &content);
    return body_close(block, whole, &content);
}

static __attribute__((noinline)) unsigned add_anew_on(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    struct content content;
    open_and_add(block, whole, key, count, &content);
    body_settle(block, whole, &content);
    return content.entered;
}

static bool body_add(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    return add_in_place(block, whole, key, count) || add_anew(block, whole, key, count);
}

static unsigned body_add_on(struct block *block, unsigned whole, uint64_t key, int64_t count)
{
    return add_in_place(block, whole, key, count) ? 0 : add_anew_on(block, whole, key, count);
}

/* ---- bytes from outside ------------------------------------------------------------------------------------------ */

/* The lengths that the code names stay within the bits in use, so that it can be opened: quotients, remainders, counts
 * and the longer bits of the heavy. */
static bool lengths_within(const struct block *block, unsigned whole)
{
    const unsigned n = block_entries(block), q = quotient_bits(n), g = block_g(block),
                   print = step_print(block_step(block), whole);
    const unsigned end = BLOCK_HEAD + block_used(block);
    if (n == 0) return block_used(block) == 0;
    if (n > BLOCK_ENTRIES || BLOCK_HEAD + keys_size(n, print) > end) return false;
    if (count_ones(block, BLOCK_HEAD, n + (1u << q)) != n) return false;
    unsigned at = BLOCK_HEAD + keys_size(n, print), longer = 0;
    for (unsigned l = 0, some = n, more; some > 0; l++, some = more) {
        if (l > LEVELS - (g == BLOCK_G_MAX)) return false; /* 64 bits have no digit there */
        const unsigned length = some * (1 + (l ? width[l] : g));
        if (at + length > end) return false;
        if (block_keeps(block) && l == heavy_level(block_step(block))) longer = some * longer_width(print);
        more = count_ones(block, at, some);
        at += length;
    }
    return at + longer == end;
}

/* Of a list, what close() leaves to the caller; of a content that keeps, what its signs and its order say. */
static bool entries_possible(const struct content *content)
{
    const bool keeps = step_keeps(content->step);
    for (unsigned i = 0; i < content->n; i++) {
        const int64_t value = content->value[i];
        if (value == 0 && !(keeps && i < BLOCK_SAMPLE)) return false;
        if (keeps && content->signs != SIGNS_BOTH && (value > 0) != (content->signs == SIGNS_ABOVE)) return false;
        if (i == 0 || content->key[i] > content->key[i - 1]) continue;
        if (!keeps || content->key[i] < content->key[i - 1] || content->known[i] <= content->known[i - 1]) return false;
    }
    return true;
}

static bool body_valid(const struct block *block, unsigned whole, struct content *content)
{
    struct block again;
    const unsigned step = block_step(block);
    if (step > STEP_LAST || block_signs(block) > SIGNS_BELOW) return false;
    if (block_used(block) + tail_bits(step, block_widths(block)) > BLOCK_ROOM) return false;
    if (!lengths_within(block, whole)) return false;
    body_open(block, whole, content);
    return entries_possible(content) && (!step_keeps(step) || keep_valid(content)) &&
           body_close(&again, whole, content) && memcmp(&again, block, sizeof again) == 0;
}

#ifdef KERNELS /* and not only looked at, by tests/check_layers.sh */

static bool body_supported(void)
{
    return SUPPORTED;
}

const struct block_kernels KERNELS = {KERNELS_NAME, body_supported, body_read,     body_read_many,
                                      body_add,     body_add_on,    body_add_some, body_open,
                                      body_close,   body_settle,    body_valid,    hash_words};

#endif
