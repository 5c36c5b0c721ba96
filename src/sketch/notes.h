/* notes: what a batch has to add to blocks, one note for each half of an item (kernels.h), kept by bucket: neighbouring
 * blocks, which fit the cache, have one. So memory is gone through once, in order, however items come.
 *
 * A note is written to a cache line of its bucket; lines that are full go to chunks of 16 lines, past the caches if
 * there will be many of them. A bucket is that line and a chain of chunks, the last one first. */
#pragma once

#include "block/dense.h"

enum {
    NOTE_BUCKETS = 1024, /* whose lines take 64 KB: the cache next to a core has room for them */
    NOTE_LINE = 16,      /* words */
    NOTE_CHUNK = 256,
    NOTE_SPAN = 1 << 16,   /* blocks of a bucket at most; so there may be 2^26 */
    NOTE_WINDOW = 1 << 17, /* items of which notes are taken together in any case */
    NOTE_SCRATCH = 2 * NOTE_WINDOW + NOTE_CHUNK
}; /* notes of a bucket that are added together in any case */

_Static_assert((int)NOTE_SPAN <= (int)NOTE_BLOCKS, "a note has room for the block of a bucket");

/* Of one thread. */
struct notes {
    uint32_t *pool;   /* on a cache line: the lines of the buckets, which take the first chunks, and the others */
    uint32_t *before; /* of each chunk: where the chunk before it in its bucket ends, or 0 */
    uint32_t chunks, used;
    unsigned bucket_shift;        /* blocks of a bucket: 2^bucket_shift */
    bool counted;                 /* a note is two words, the second one its count; else each is of one */
    bool far;                     /* chunks are not written through the caches */
    uint32_t words[NOTE_BUCKETS]; /* in a bucket */
    uint32_t at[NOTE_BUCKETS];    /* where its last chunk ends, or 0 */
};

enum { NOTE_LINES = NOTE_BUCKETS * NOTE_LINE / NOTE_CHUNK }; /* chunks that are lines of buckets */

/* Chunks for so many words, however they are spread: a bucket has one that is not full, once it has filled a line. */
static inline uint64_t notes_chunks(uint64_t words)
{
    uint64_t lines = words / NOTE_LINE;
    return NOTE_LINES + words / NOTE_CHUNK + (lines < NOTE_BUCKETS ? lines : NOTE_BUCKETS);
}

/* Empty; pool, before, chunks, counted and far are given. */
void notes_start(struct notes *notes, const struct dense *dense);

/* Whether there is room for both halves of n items, whatever these are. */
static inline bool notes_fit(const struct notes *notes, unsigned n)
{
    return notes->chunks - notes->used >= 2 * n;
}

/* Both halves of n items; they fit. */
void notes_take(struct notes *notes, const struct decode_places *places, const int32_t count[], unsigned n);

/* Has all of them written: to be called before another thread reads any. */
void notes_end(const struct notes *notes);

/* Whether it pays to take notes of so many items together: there is one for every block, and blocks can be told
 * apart. */
bool notes_pay(const struct dense *dense, uint64_t items);

/* Notes of a bucket, sorted by block. */
struct note_scratch {
    uint32_t note[NOTE_SCRATCH];
    int32_t count[NOTE_SCRATCH];
    uint32_t in_block[NOTE_SPAN], at[NOTE_SPAN]; /* notes of a block, and where the next one goes */
};

/* Adds the notes that all threads have taken, those of the buckets that thread `index` owns. Each has a scratch. */
void notes_to_dense(const struct notes all[], unsigned members, unsigned index, struct dense *dense,
                    struct note_scratch *scratch);
