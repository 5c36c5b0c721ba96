/* merge: what a batch adds up to, sorted by blocks and keys, goes into the blocks of a cap, and into the cap. */
#pragma once

#include "cuda/content.cuh"
#include "cuda/kernels.h"

/* What is added: words in rising order, each once, a block's number above a whole key; and their counts. */
struct additions {
    const uint64_t *word;
    const int64_t *count;
};

DEVICE uint64_t word_of(const struct device_blocks &blocks, struct hash hash)
{
    struct spot spot = spot_of(blocks.blocks, hash);
    return (uint64_t)spot.block << blocks.whole | spot.key >> (64 - blocks.whole);
}

/* The first entry of a list whose key is above; the first addition of m whose key is not below. */
DEVICE unsigned entries_up_to(const struct held &h, uint64_t key)
{
    unsigned low = 0, high = h.n;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (held_keys(h)[middle] <= key) low = middle + 1;
        else high = middle;
    }
    return low;
}

DEVICE unsigned additions_below(const struct held &h, const struct additions &a, unsigned m, uint64_t key)
{
    unsigned low = 0, high = m;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (held_cut(h, a.word[middle] << (64 - h.whole)) < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Adds m additions, at most HELD_MORE, to a list. */
DEVICE void join_list(struct held &h, const struct additions &a, unsigned m)
{
    const uint64_t *key = held_keys(h);
    const int64_t *value = held_values(h);
    const struct held from = h;
    h.which ^= 1;
    uint64_t *keys = held_keys(h);
    int64_t *values = held_values(h);
    WARP_EACH(i, from.n)
    {
        unsigned at = i + additions_below(from, a, m, key[i]);
        keys[at] = key[i];
        values[at] = value[i];
    }
    WARP_EACH(i, m)
    {
        uint64_t cut = held_cut(from, a.word[i] << (64 - h.whole));
        unsigned at = i + entries_up_to(from, cut);
        keys[at] = cut;
        values[at] = a.count[i];
    }
    warp_wait();
    h.n += m;
    held_unite(h);
}

/* The cells that a cap gets, all 512 of its first step, of which a group of warps has one. */
DEVICE void add_to_row(int64_t *row, uint64_t key, int64_t count)
{
    add_into(&row[step_cell(STEP_CAP, 0, key)], count);
}

/* Adds m additions to a block. Those to a cap that counts go to the row, too; to one that does not, from when on bits
 * of prints are given up: then with all that the list has. Whether there is a cap to be made. */
DEVICE bool merge_block(struct held &h, struct block *block, struct additions a, unsigned m, bool counts, int64_t *row)
{
    struct held_plan plan;
    bool made = false;
    uint64_t *word = h.room->word;
    warp_each(BLOCK_WORDS, [&](unsigned i) { word[i] = block->word[i]; });
    held_open(h, (const struct block *)word);
    for (unsigned done = 0, some; done < m; done += some) {
        const bool lists = step_lists(h.step);
        some = lists && m - done > HELD_MORE ? HELD_MORE : m - done;
        const struct additions piece = {a.word + done, a.count + done};
        if (counts || made)
            warp_each(some, [&](unsigned i) { add_to_row(row, piece.word[i] << (64 - h.whole), piece.count[i]); });
        if (lists) {
            join_list(h, piece, some);
        } else {
            int64_t *value = held_values(h);
            const unsigned step = h.step;
            warp_each(some,
                      [&](unsigned i) { cells_add(step, value, piece.word[i] << (64 - h.whole), piece.count[i]); });
        }
        held_settle(h, plan, [&] {
            if (counts || made) return;
            const uint64_t *key = held_keys(h);
            const int64_t *value = held_values(h);
            warp_each(h.n, [&](unsigned i) { add_to_row(row, key[i], value[i]); });
            made = true;
        });
    }
    held_write(h, plan, block);
    return made;
}

/* What a block that has all bits of its prints has for a cap. */
DEVICE void list_to_row(struct held &h, const struct block *block, int64_t *row)
{
    uint64_t *word = h.room->word;
    if (block_step(block) > STEP_LIST) return;
    warp_each(BLOCK_WORDS, [&](unsigned i) { word[i] = block->word[i]; });
    held_open(h, (const struct block *)word);
    const uint64_t *key = held_keys(h);
    const int64_t *value = held_values(h);
    warp_each(h.n, [&](unsigned i) { add_to_row(row, key[i], value[i]); });
}

/* Adds the row to a cap. */
DEVICE void merge_cap(struct held &h, struct block *cap, const int64_t *row)
{
    struct held_plan plan;
    uint64_t *word = h.room->word;
    warp_each(BLOCK_WORDS, [&](unsigned i) { word[i] = cap->word[i]; });
    if (cap_counts((const struct block *)word)) held_open(h, (const struct block *)word);
    else held_clear(h, STEP_CAP);
    int64_t *value = held_values(h);
    const struct row cells = step_row(h.step, 0);
    warp_each(step_cells(STEP_CAP), [&](unsigned i) { add_into(&value[cell_folded(cells, i)], row[i]); });
    held_settle(h, plan, [] {});
    held_write(h, plan, cap);
}

/* ---- a cap and its blocks ---------------------------------------------------------------------------------------- */

struct group_room {
    int64_t row[512];
    unsigned made;
    struct held_room held[GROUP_WARPS];
};

/* Adds what the blocks of a cap get, each block by one of the warps, and then the cap. first: where the additions to
 * each block begin. */
DEVICE void merge_group(const struct device_blocks &blocks, struct additions a, const uint32_t *first, uint32_t cap,
                        struct group_room *room, unsigned warp)
{
    const uint32_t start = cap * BLOCKS_A_CAP, end = cap + 1 == blocks.caps ? blocks.blocks : start + BLOCKS_A_CAP;
    struct block *caps = &blocks.block[blocks.blocks + cap];
    const bool counts = cap_counts(caps);
    struct held h = {&room->held[warp], 0, blocks.whole, 0, 0};
    if (first[start] == first[end]) return;
    GROUP_EACH(i, 512) room->row[i] = 0;
    GROUP_EACH(i, 1) room->made = 0;
    group_wait();
    for (uint32_t b = start + warp; b < end; b += GROUP_WARPS) {
        const uint32_t from = first[b], m = first[b + 1] - from;
        if (m == 0) continue;
        bool made = merge_block(h, &blocks.block[b], {a.word + from, a.count + from}, m, counts, room->row);
        if (made) room->made = 1;
    }
    group_wait();
    const bool made = room->made;
    if (!counts && !made) return;
    for (uint32_t b = start + warp; made && b < end; b += GROUP_WARPS) list_to_row(h, &blocks.block[b], room->row);
    group_wait();
    if (warp == 0) merge_cap(h, caps, room->row);
}
