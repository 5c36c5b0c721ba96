/* notes: see notes.h for how they are kept. */
#include "notes.h"

#include <string.h>

void notes_start(struct notes *notes, const struct dense *dense, uint64_t *pool, uint32_t chunks)
{
    notes->pool = pool;
    notes->chunks = chunks;
    notes->used = 1; /* index 0 means nothing */
    notes->bucket_shift = 0;
    while ((dense->blocks - 1) >> notes->bucket_shift >= NOTE_BUCKETS) notes->bucket_shift++;
    memset(notes->at, 0, sizeof notes->at);
}

void notes_take(struct notes *notes, const struct decode_places *places, const int32_t count[], unsigned n)
{
    for (unsigned which = 0; which < 2; which++) {
        uint64_t note[DECODE_MOST];
        for (unsigned i = 0; i < n; i++) {
            const uint32_t column[2] = {places->column[which][0][i], places->column[which][1][i]};
            note[i] = note_of(places->block[which][i], which, column, count[i]);
        }
        for (unsigned i = 0; i < n; i++) {
            uint32_t *at = &notes->at[places->block[which][i] >> notes->bucket_shift];
            if (*at % NOTE_CHUNK == 0) {
                uint32_t chunk = notes->used++ * NOTE_CHUNK;
                notes->pool[chunk] = *at;
                *at = chunk + 1;
            }
            notes->pool[(*at)++] = note[i];
        }
    }
}

/* Goes through the chunks of a bucket, of all threads. Notes first .. end - 1 are those of one. */
struct walk {
    const struct notes *notes; /* of the first of the threads that are left */
    unsigned members, bucket;  /* how many these are */
    uint32_t next;             /* in the pool of the thread before them */
    const uint64_t *first, *end;
};

static struct walk walk_bucket(const struct notes all[], unsigned members, unsigned bucket)
{
    return (struct walk){.notes = all, .members = members, .bucket = bucket};
}

static bool walk_on(struct walk *walk)
{
    while (walk->next == 0) {
        if (walk->members == 0) return false;
        walk->members--;
        walk->next = walk->notes++->at[walk->bucket];
    }
    const uint64_t *chunk = walk->notes[-1].pool + (walk->next - 1) / NOTE_CHUNK * NOTE_CHUNK;
    walk->first = chunk + 1;
    walk->end = walk->notes[-1].pool + walk->next;
    walk->next = (uint32_t)*chunk;
    return true;
}

/* ---- to dense blocks --------------------------------------------------------------------------------------------- */

enum { SPAN_MOST = 4096,   /* blocks of a bucket whose notes are sorted by them, */
       BLOCKS_A_NOTE = 4 }; /* if there are not many blocks without any */

/* Adds notes of a bucket of `span` blocks from `block` on, after sorting them by block: as many as fit the scratch. */
static void add_sorted(struct walk *walk, struct block *block, unsigned span, const struct dense *dense,
                       uint64_t sorted[NOTE_SCRATCH])
{
    uint32_t in_block[SPAN_MOST], at[SPAN_MOST], start = 0;
    struct walk again = *walk;
    size_t n = 0;
    memset(in_block, 0, span * sizeof *in_block);
    for (; n + NOTE_CHUNK <= NOTE_SCRATCH && walk_on(walk); n += (size_t)(walk->end - walk->first))
        for (const uint64_t *note = walk->first; note < walk->end; note++) in_block[note_block(*note) & (span - 1)]++;
    for (unsigned b = 0; b < span; b++) {
        at[b] = start;
        start += in_block[b];
    }
    for (; n > 0 && walk_on(&again); n -= (size_t)(again.end - again.first))
        for (const uint64_t *note = again.first; note < again.end; note++)
            sorted[at[note_block(*note) & (span - 1)]++] = *note;
    for (unsigned b = 0; b < span; sorted += in_block[b++])
        if (in_block[b] > 0) dense->kernels->add_notes(&block[b], sorted, in_block[b]);
}

/* The same where a block has hardly more than one note: as they come. */
static void add_unsorted(struct walk *walk, const struct dense *dense)
{
    while (walk_on(walk)) {
        for (const uint64_t *note = walk->first; note < walk->end; note++)
            __builtin_prefetch(&dense->block[note_block(*note)], 1);
        for (const uint64_t *note = walk->first; note < walk->end; note++)
            dense->kernels->add_notes(&dense->block[note_block(*note)], note, 1);
    }
}

static unsigned count_buckets(const struct notes *notes, const struct dense *dense)
{
    return ((dense->blocks - 1) >> notes->bucket_shift) + 1;
}

void notes_to_dense(const struct notes all[], unsigned members, unsigned index, struct dense *dense,
                    uint64_t scratch[NOTE_SCRATCH])
{
    const unsigned span = 1u << all->bucket_shift, buckets = count_buckets(all, dense);
    uint64_t notes = 0; /* about */
    for (unsigned t = 0; t < members; t++) notes += (uint64_t)all[t].used * NOTE_CHUNK;
    const bool sorted = span <= SPAN_MOST && notes * BLOCKS_A_NOTE >= dense->blocks;
    for (unsigned bucket = index; bucket < buckets; bucket += members) {
        struct walk walk = walk_bucket(all, members, bucket);
        if (!sorted) add_unsorted(&walk, dense);
        else while (walk.next != 0 || walk.members > 0)
            add_sorted(&walk, dense->block + (size_t)bucket * span, span, dense, scratch);
    }
}

/* ---- to flat blocks ---------------------------------------------------------------------------------------------- */

/* A thread has neighbours, so that hardly a line of the memory has two owners. */
void notes_to_flat(const struct notes all[], unsigned members, unsigned index, struct flat *flat)
{
    const unsigned buckets = count_buckets(all, &flat->dense);
    for (unsigned bucket = buckets * index / members; bucket < buckets * (index + 1) / members; bucket++)
        for (struct walk walk = walk_bucket(all, members, bucket); walk_on(&walk);)
            flat_add_notes(flat, walk.first, (size_t)(walk.end - walk.first));
}
