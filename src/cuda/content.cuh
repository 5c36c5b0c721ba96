/* content: what a block holds, unpacked, in memory that a warp shares: opened, added to, brought to a later step, and
 * written as a block again. It does what src/block/content.c and the open, settle and close of kernels_body.h do, where
 * the comments are; tests hold the bytes against theirs. */
#pragma once

#include "cuda/warp.cuh"

/* The most entries of a list that fits a block are 299: these have 12 bits, of which 9 are the quotient, and take 5
 * bits or more each beside 512. */
enum { HELD_LIST = 300, HELD_ENTRIES = BLOCK_CELLS / 2, HELD_MORE = HELD_ENTRIES - HELD_LIST };

struct held_room {
    uint64_t half[2][BLOCK_CELLS]; /* keys, then values; or cells */
    uint64_t word[BLOCK_WORDS + 1];
};

/* The same for all threads of the warp. */
struct held {
    struct held_room *room;
    unsigned which; /* half is in use */
    unsigned whole, step, n;
};

DEVICE uint64_t *held_keys(const struct held &h)
{
    return h.room->half[h.which];
}

DEVICE int64_t *held_values(const struct held &h)
{
    return (int64_t *)h.room->half[h.which] + (step_lists(h.step) ? HELD_ENTRIES : 0);
}

DEVICE uint64_t ones_below(unsigned i)
{
    return (UINT64_C(1) << i) - 1;
}

/* ---- from a block ------------------------------------------------------------------------------------------------ */

/* The ones of the quotients, then what is below them. */
DEVICE void open_keys(const struct held &h, const struct block *block, const struct list &list)
{
    uint64_t *key = held_keys(h);
    const unsigned q = list.q, end = list.n + (1u << q);
    for (unsigned at = 0, index = 0; at < end; at += 64) {
        unsigned some = end - at < 64 ? end - at : 64;
        uint64_t bits = get_bits(block, BLOCK_HEAD + at, some);
        warp_each(some, [&](unsigned i) {
            unsigned k = index + ones(bits & ones_below(i));
            if (bits >> i & 1) key[k] = (uint64_t)(at + i - k) << (64 - q);
        });
        index += ones(bits);
    }
    warp_each(list.n, [&](unsigned i) {
        unsigned bits = list.r - (i < list.shorter);
        key[i] |= get_bits(block, remainder_at(&list, i), bits) << (64 - q - bits);
    });
}

/* Where each level begins, how many are on it, and how many of these came before. */
struct level_places {
    unsigned start[LEVELS + 1], count[LEVELS + 1], before[LEVELS + 1];
};

/* 64 integers, level by level. */
DEVICE void open_some(const struct block *block, const struct levels &levels, struct level_places &p, unsigned first,
                      uint64_t *v)
{
    const unsigned g = levels.g, some = levels.n - first < 64 ? levels.n - first : 64;
    uint64_t map = get_bits(block, levels.at + first, some);
    warp_each(some, [&](unsigned i) { v[i] = get_bits(block, levels.at + levels.n + (first + i) * g, g); });
    unsigned shift = g;
#pragma unroll
    for (unsigned l = 1; l <= LEVELS; l++) {
        if (map == 0) break;
        const unsigned w = width[l];
        uint64_t more = warp_mask(64, [&](unsigned i) {
            if (!(map >> i & 1)) return false;
            unsigned rank = p.before[l] + ones(map & ones_below(i));
            v[i] += (1 + get_bits(block, p.start[l] + p.count[l] + rank * w, w)) << shift;
            return get_bit(block, p.start[l] + rank);
        });
        p.before[l] += ones(map);
        map = more;
        shift += w;
    }
}

DEVICE void open_values(const struct held &h, const struct block *block, const struct levels &levels)
{
    const unsigned signs = block_signs(block), lists = step_lists(h.step);
    int64_t *value = held_values(h);
    struct level_places p;
    unsigned n = levels.n, at = levels.at, w = levels.g;
#pragma unroll
    for (unsigned l = 1; l <= LEVELS; l++) {
        unsigned more = count_ones(block, at, n);
        p.start[l] = at += n * (1 + w);
        p.count[l] = n = more;
        p.before[l] = 0;
        w = width[l];
    }
    for (unsigned first = 0; first < levels.n; first += 64)
        open_some(block, levels, p, first, (uint64_t *)value + first);
    warp_each(levels.n, [&](unsigned i) { value[i] = from_code((uint64_t)value[i] + lists, signs); });
}

/* The block is not in the half that is in use. */
DEVICE void held_open(struct held &h, const struct block *block)
{
    h.step = block_step(block);
    struct levels levels = {0, 0, 0};
    if (!step_lists(h.step)) levels = cells_of(block);
    else if (block_entries(block) > 0) {
        struct list list = list_of(block, h.whole, 0);
        levels = counts_of(block, &list);
        open_keys(h, block, list);
    }
    h.n = levels.n;
    if (levels.n > 0) open_values(h, block, levels);
}

/* ---- to a later step --------------------------------------------------------------------------------------------- */

DEVICE uint64_t held_cut(const struct held &h, uint64_t key)
{
    return key_cut(key, step_length(h.step, h.whole, key));
}

/* Entries of equal keys, which are neighbours, become one, in the other half; what cancels out is not there. */
DEVICE void held_unite(struct held &h)
{
    const uint64_t *key = held_keys(h);
    int64_t *value = held_values(h);
    const unsigned n = h.n;
    unsigned kept = 0;
    h.which ^= 1;
    uint64_t *to = held_keys(h);
    int64_t *sums = held_values(h);
    for (unsigned first = 0; first < n; first += 64) {
        unsigned some = n - first < 64 ? n - first : 64;
        uint64_t keep = warp_mask(some, [&](unsigned k) {
            unsigned i = first + k;
            if (i > 0 && key[i - 1] == key[i]) return false;
            for (unsigned next = i + 1; next < n && key[next] == key[i]; next++) value[i] += value[next];
            return value[i] != 0;
        });
        warp_each(some, [&](unsigned k) {
            unsigned at = kept + ones(keep & ones_below(k));
            if (!(keep >> k & 1)) return;
            to[at] = key[first + k];
            sums[at] = value[first + k];
        });
        kept += ones(keep);
    }
    h.n = kept;
}

/* Empty cells of a step, in the other half. */
DEVICE void held_clear(struct held &h, unsigned step)
{
    h.which ^= 1;
    h.step = step;
    h.n = step_cells(step);
    int64_t *value = held_values(h);
    warp_each(h.n, [&](unsigned i) { value[i] = 0; });
}

/* Adds an item to cells. */
DEVICE void cells_add(unsigned step, int64_t *value, uint64_t key, int64_t count)
{
    add_into(&value[step_cell(step, 0, key)], count);
    if (step < STEP_CAP) add_into(&value[step_cell(step, 1, key)], count);
}

DEVICE unsigned cell_folded(struct row row, unsigned cell)
{
    cell &= row.from - 1;
    return cell < row.cells ? cell : cell - row.from / 2;
}

DEVICE void held_lower(struct held &h, unsigned step)
{
    uint64_t *key = held_keys(h);
    const int64_t *value = held_values(h);
    const unsigned n = h.n, before = h.step;
    if (step_lists(step)) {
        h.step = step;
        warp_each(n, [&](unsigned i) { key[i] = held_cut(h, key[i]); });
        held_unite(h);
        return;
    }
    held_clear(h, step);
    int64_t *to = held_values(h);
    if (step_lists(before)) {
        warp_each(n, [&](unsigned i) { cells_add(step, to, key[i], value[i]); });
        return;
    }
    const unsigned first = step_row(before, 0).cells;
    const struct row row[2] = {step_row(step, 0), step_row(step, 1)};
    warp_each(n, [&](unsigned i) {
        add_into(&to[i < first ? cell_folded(row[0], i) : row[0].cells + cell_folded(row[1], i - first)], value[i]);
    });
}

/* ---- to a block -------------------------------------------------------------------------------------------------- */

/* How a content is coded. */
struct held_plan {
    unsigned g, signs, counts, keys, shorter;
};

DEVICE uint64_t held_code(const struct held &h, unsigned signs, unsigned i)
{
    return to_code(held_values(h)[i], signs) - step_lists(h.step);
}

/* The least g of those that take the fewest bits. Four are looked at together, in 16 bits each. */
DEVICE void plan_values(const struct held &h, struct held_plan &plan)
{
    const int64_t *value = held_values(h);
    unsigned which = warp_or(h.n, [&](unsigned i) { return value[i] < 0 ? 1u : value[i] > 0 ? 2u : 0u; });
    plan.signs = !(which & 1) ? SIGNS_ABOVE : which & 2 ? SIGNS_BOTH : SIGNS_BELOW;
    plan.counts = UINT32_MAX;
    plan.g = 0;
    for (unsigned g = 0; g <= BLOCK_G_MAX && h.n * (1 + g) < plan.counts; g += 4) {
        unsigned low = 0, high = 0;
        WARP_EACH(i, h.n)
        {
            uint64_t t = held_code(h, plan.signs, i) >> g;
            low += digit_bits(t) | digit_bits(t >> 1) << 16;
            high += digit_bits(t >> 2) | digit_bits(t >> 3) << 16;
        }
        low = warp_total(low);
        high = warp_total(high);
        const unsigned size[4] = {low & 65535, low >> 16, high & 65535, high >> 16};
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            unsigned bits = h.n * (1 + g + k) + size[k];
            if (bits < plan.counts) plan.g = g + k;
            if (bits < plan.counts) plan.counts = bits;
        }
    }
}

DEVICE unsigned held_before(const struct held &h, unsigned quarter)
{
    const uint64_t *key = held_keys(h);
    unsigned low = 0, high = quarter ? h.n : 0;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (key[middle] >> 62 < quarter) low = middle + 1;
        else high = middle;
    }
    return low;
}

DEVICE void plan_list(const struct held &h, struct held_plan &plan)
{
    plan.keys = plan.shorter = 0;
    if (!step_lists(h.step) || h.n == 0) return;
    plan.shorter = held_before(h, step_quarters(h.step));
    plan.keys = keys_size(h.n, plan.shorter, step_print(h.step, h.whole));
}

/* The first step at which the entries fit, or two of them become one. */
DEVICE unsigned next_step(const struct held &h, const struct held_plan &plan)
{
    if (!step_lists(h.step)) return h.step + 1;
    const uint64_t *key = held_keys(h);
    unsigned common[4], step = h.step;
#pragma unroll
    for (unsigned quarter = 0; quarter < 4; quarter++)
        common[quarter] = warp_max(h.n, [&](unsigned i) {
            bool both = i > 0 && key[i] >> 62 == quarter && key[i - 1] >> 62 == quarter;
            return both ? (unsigned)__builtin_clzll(key[i] ^ key[i - 1]) : 0u;
        });
    while (++step < STEP_SHARE) {
        unsigned print = step_print(step, h.whole), quarters = step_quarters(step);
#pragma unroll
        for (unsigned quarter = 0; quarter < 4; quarter++)
            if (common[quarter] >= print - (quarter < quarters)) return step;
        if (keys_size(h.n, held_before(h, quarters), print) + plan.counts <= BLOCK_ROOM) break;
    }
    return step;
}

/* Writes up to 64 bits over zeros, while others write beside them. */
DEVICE void write_bits(uint64_t *word, unsigned at, uint64_t x)
{
    uint32_t *half = (uint32_t *)word + at / 32;
    uint64_t low = x << at % 32, high = x >> 1 >> (63 - at % 32);
    if ((uint32_t)low) or_into(half, (uint32_t)low);
    if (low >> 32) or_into(half + 1, (uint32_t)(low >> 32));
    if (high) or_into(half + 2, (uint32_t)high);
}

/* Returns where the values begin. */
DEVICE unsigned write_keys(const struct held &h, const struct held_plan &plan)
{
    const uint64_t *key = held_keys(h);
    uint64_t *word = h.room->word;
    const unsigned n = h.n, q = quotient_bits(n), start = BLOCK_HEAD + n + (1u << q);
    const unsigned r = step_print(h.step, h.whole) - q, shorter = plan.shorter;
    warp_each(n, [&](unsigned i) {
        unsigned bits = r - (i < shorter);
        write_bits(word, BLOCK_HEAD + i + (unsigned)(key[i] >> (64 - q)), 1);
        write_bits(word, start + i * r - (i < shorter ? i : shorter), key[i] << q >> (64 - bits));
    });
    return BLOCK_HEAD + plan.keys;
}

/* Digits of 64 integers on level l, whose codes are t, and which of them go on. */
DEVICE uint64_t write_level(uint64_t *word, unsigned l, unsigned start, unsigned digits, uint64_t here,
                            const struct held &h, const struct held_plan &plan, unsigned first)
{
    const unsigned w = width[l];
    return warp_mask(64, [&](unsigned i) {
        if (!(here >> i & 1)) return false;
        unsigned rank = ones(here & ones_below(i));
        uint64_t t = held_code(h, plan.signs, first + i) >> plan.g;
        bool more = l < LEVELS && t >= reach[l + 1];
        write_bits(word, digits + rank * w, lowest((t - reach[l]) >> after[l], w));
        if (more) write_bits(word, start + rank, 1);
        return more;
    });
}

/* How many integers reach each level is counted first, so that 64 of them can go through all levels at once. */
DEVICE void write_values(const struct held &h, const struct held_plan &plan, unsigned at)
{
    uint64_t *word = h.room->word;
    const unsigned n = h.n, g = plan.g;
    struct level_places p;
    unsigned begin = at + n * (1 + g);
#pragma unroll
    for (unsigned l = 1; l <= LEVELS; l++) {
        unsigned more = l > 1 && p.count[l - 1] == 0
                            ? 0
                            : warp_sum(n, [&](unsigned i) { return held_code(h, plan.signs, i) >> g >= reach[l]; });
        p.start[l] = begin;
        p.count[l] = more;
        p.before[l] = 0;
        begin += more * (1 + width[l]);
    }
    for (unsigned first = 0; first < n; first += 64) {
        unsigned some = n - first < 64 ? n - first : 64;
        uint64_t map = warp_mask(some, [&](unsigned i) {
            uint64_t v = held_code(h, plan.signs, first + i);
            if (g) write_bits(word, at + n + (first + i) * g, lowest(v, g));
            return v >> g > 0;
        });
        if (warp_lane() == 0) write_bits(word, at + first, map);
#pragma unroll
        for (unsigned l = 1; l <= LEVELS; l++) {
            if (map == 0) break;
            unsigned rank = p.before[l], digits = p.start[l] + p.count[l] + rank * width[l];
            p.before[l] += ones(map);
            map = write_level(word, l, p.start[l] + rank, digits, map, h, plan, first);
        }
    }
}

/* Brings the content to the first step at which it fits, and says how. crossing() is called before bits of prints are
 * given up. */
template <class F> DEVICE void held_settle(struct held &h, struct held_plan &plan, F crossing)
{
    unsigned planned = UINT32_MAX;
    for (;;) {
        if (!step_lists(h.step) || planned != h.n) plan_values(h, plan);
        planned = h.n;
        plan_list(h, plan);
        if (plan.keys + plan.counts <= BLOCK_ROOM) return;
        unsigned step = next_step(h, plan);
        if (h.step <= STEP_LIST && step > STEP_LIST) crossing();
        held_lower(h, step);
    }
}

DEVICE void held_write(const struct held &h, const struct held_plan &plan, struct block *block)
{
    uint64_t *word = h.room->word;
    unsigned at = BLOCK_HEAD, entries = step_lists(h.step) ? h.n : 0;
    warp_each(BLOCK_WORDS + 1, [&](unsigned i) { word[i] = 0; });
    if (entries > 0) at = write_keys(h, plan);
    if (h.n > 0) write_values(h, plan, at);
    uint64_t head = head_of(plan.keys + plan.counts, h.step, entries, plan.g, plan.signs);
    warp_wait();
    warp_each(BLOCK_WORDS, [&](unsigned i) { block->word[i] = word[i] | (i == 0 ? head : 0); });
}
