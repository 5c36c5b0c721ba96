/* dense: see dense.h for where an item's blocks are. */
#include "dense.h"

#include <string.h>

void dense_place(struct dense *dense, uint32_t blocks)
{
    uint32_t even = blocks & -blocks;
    *dense = (struct dense){.blocks = blocks,
                            .odd = divisor_of(blocks / even),
                            .mask = even - 1,
                            .kernels = block_kernels_best(),
                            .decoder = decode_kernels_best()};
}

void dense_init(struct dense *dense, uint32_t blocks, void *bytes)
{
    uintptr_t at = ((uintptr_t)bytes + DENSE_LINE - 1) / DENSE_LINE * DENSE_LINE;
    dense_place(dense, blocks);
    dense->block = (struct block *)(void *)((unsigned char *)bytes + (at - (uintptr_t)bytes));
    dense_clear(dense);
}

void dense_clear(struct dense *dense)
{
    memset(dense->block, 0, dense->blocks * sizeof *dense->block);
    dense->total = 0;
}

unsigned dense_read(const struct dense *dense, struct hash hash, int64_t value[BLOCK_ROWS], uint32_t columns[BLOCK_ROWS])
{
    unsigned n = 0;
    for (unsigned which = 0; which < 2; which++) {
        struct half half = dense_half(dense, hash, which);
        n += dense->kernels->read(&dense->block[half.block], which, half.column, value + n, columns + n);
    }
    return n;
}

void dense_add_all(struct dense *into, const struct dense *from, int sign)
{
    for (uint32_t i = 0; i < from->blocks; i++)
        into->kernels->add_all(&into->block[dense_folded(into, from, i)], &from->block[i], sign);
    into->total += sign * from->total;
}

bool dense_signed(const struct dense *dense)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < dense->blocks; i++) any |= dense->block[i].word[7];
    return any >> 63;
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

void notes_start(struct notes *notes, const struct dense *dense, uint64_t *note)
{
    *notes = (struct notes){.note = note};
    while ((dense->blocks - 1) >> notes->bucket_shift >= NOTE_BUCKETS) notes->bucket_shift++;
}

void notes_sort(const struct notes all[], unsigned members, unsigned index, uint64_t sorted[])
{
    uint32_t at[NOTE_BUCKETS], start = 0;
    for (unsigned b = 0; b < NOTE_BUCKETS; b++)
        for (unsigned t = 0; t < members; t++) {
            if (t == index) at[b] = start;
            start += all[t].in_bucket[b];
        }
    const struct notes *mine = &all[index];
    for (uint32_t i = 0; i < mine->n; i++) sorted[at[note_block(mine->note[i]) >> mine->bucket_shift]++] = mine->note[i];
}

enum { SPAN_MOST = 2048 }; /* blocks of a bucket that is sorted by them; with more there are few notes of each */

/* Adds the notes of a bucket of `span` blocks from `block` on, after sorting them by block. */
static void apply_sorted(struct dense *dense, struct block *block, unsigned span, const uint64_t note[], uint32_t n,
                         uint64_t sorted[])
{
    uint32_t in_block[SPAN_MOST] = {0}, at[SPAN_MOST], start = 0;
    for (uint32_t i = 0; i < n; i++) in_block[note_block(note[i]) & (span - 1)]++;
    for (unsigned b = 0; b < span; b++) {
        at[b] = start;
        start += in_block[b];
    }
    for (uint32_t i = 0; i < n; i++) sorted[at[note_block(note[i]) & (span - 1)]++] = note[i];
    for (unsigned b = 0; b < span; sorted += in_block[b++])
        if (in_block[b] > 0) dense->kernels->add_notes(&block[b], sorted, in_block[b]);
}

/* The same where a block has hardly more than one note: as they come. */
static void apply_unsorted(struct dense *dense, const uint64_t note[], uint32_t n)
{
    enum { AHEAD = 16 };
    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD < n) __builtin_prefetch(&dense->block[note_block(note[i + AHEAD])], 1);
        dense->kernels->add_notes(&dense->block[note_block(note[i])], note + i, 1);
    }
}

void notes_apply(struct dense *dense, const struct notes all[], unsigned members, unsigned index, uint64_t sorted[],
                 uint64_t spare[])
{
    uint32_t start = 0;
    unsigned span = 1u << all->bucket_shift;
    for (unsigned b = 0; b < NOTE_BUCKETS; b++) {
        uint32_t n = 0;
        for (unsigned t = 0; t < members; t++) n += all[t].in_bucket[b];
        if (b % members == index) {
            if (span > SPAN_MOST) apply_unsorted(dense, sorted + start, n);
            else apply_sorted(dense, dense->block + (size_t)b * span, span, sorted + start, n, spare + start);
        }
        start += n;
    }
}
