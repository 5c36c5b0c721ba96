/* notes: see notes.h for how they are kept. */
#include "sketch/notes.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static unsigned bucket_shift(const struct dense *dense)
{
    unsigned shift = 0;
    while ((dense->blocks - 1) >> shift >= NOTE_BUCKETS) shift++;
    return shift;
}

bool notes_pay(const struct dense *dense, uint64_t items)
{
    return UINT64_C(1) << bucket_shift(dense) <= NOTE_SPAN && 2 * items >= dense->blocks;
}

void notes_start(struct notes *notes, const struct dense *dense)
{
    notes->used = NOTE_LINES;
    notes->bucket_shift = bucket_shift(dense);
    memset(notes->words, 0, sizeof notes->words);
    memset(notes->at, 0, sizeof notes->at);
}

/* A line that will not be read soon: it need not be fetched to be written, nor push other things out of the caches. */
static inline void write_far(uint32_t *to, const uint32_t line[NOTE_LINE])
{
#ifdef __SSE2__
    for (unsigned i = 0; i < NOTE_LINE; i += 4)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_load_si128((const __m128i *)(const void *)(line + i)));
#else
    memcpy(to, line, NOTE_LINE * sizeof *to);
#endif
}

void notes_end(const struct notes *notes)
{
#ifdef __SSE2__
    if (notes->far) _mm_sfence();
#else
    (void)notes;
#endif
}

/* Moves the line of a bucket, which is full, to its chunks. */
static void move_line(struct notes *notes, uint32_t bucket)
{
    uint32_t at = notes->at[bucket];
    if (at % NOTE_CHUNK == 0) {
        uint32_t chunk = notes->used++;
        notes->before[chunk] = at;
        at = chunk * NOTE_CHUNK;
    }
    const uint32_t *line = notes->pool + bucket * NOTE_LINE;
    if (notes->far) write_far(notes->pool + at, line);
    else memcpy(notes->pool + at, line, NOTE_LINE * sizeof *line);
    notes->at[bucket] = at + NOTE_LINE;
}

/* counted is a constant where this is called. */
static inline void take(struct notes *notes, const struct decode_places *places, const int32_t count[], unsigned n,
                        bool counted)
{
    const uint32_t in_bucket = (UINT32_C(1) << notes->bucket_shift) - 1;
    for (unsigned which = 0; which < 2; which++) {
        const uint32_t *block = places->block[which];
        uint32_t note[DECODE_MOST];
        for (unsigned i = 0; i < n; i++)
            note[i] = note_of(block[i] & in_bucket, which, places->column[which][0][i], places->column[which][1][i]);
        for (unsigned i = 0; i < n; i++) {
            uint32_t bucket = block[i] >> notes->bucket_shift, words = notes->words[bucket];
            uint32_t *word = notes->pool + bucket * NOTE_LINE + words % NOTE_LINE;
            word[0] = note[i];
            if (counted) word[1] = (uint32_t)count[i];
            words += 1 + counted;
            notes->words[bucket] = words;
            if (words % NOTE_LINE == 0) move_line(notes, bucket);
        }
    }
}

void notes_take(struct notes *notes, const struct decode_places *places, const int32_t count[], unsigned n)
{
    if (notes->counted) take(notes, places, count, n, true);
    else take(notes, places, NULL, n, false);
}

/* Goes through the lines of a bucket, of all threads. Words first .. end - 1 are those of a chunk. */
struct walk {
    const struct notes *notes; /* of the first of the threads that are left */
    unsigned members, bucket;  /* how many these are */
    uint32_t next;             /* in the pool of the thread before them */
    const uint32_t *first, *end;
};

static bool walk_on(struct walk *walk)
{
    while (walk->next == 0) {
        if (walk->members == 0) return false;
        walk->members--;
        const struct notes *next = walk->notes++;
        walk->next = next->at[walk->bucket];
        walk->first = next->pool + walk->bucket * NOTE_LINE;
        walk->end = walk->first + next->words[walk->bucket] % NOTE_LINE;
        if (walk->first < walk->end) return true;
    }
    const struct notes *notes = walk->notes - 1;
    uint32_t chunk = (walk->next - 1) / NOTE_CHUNK;
    walk->first = notes->pool + (size_t)chunk * NOTE_CHUNK;
    walk->end = notes->pool + walk->next;
    walk->next = notes->before[chunk];
    if (walk->next > 0) {
        const uint32_t *ahead = notes->pool + (size_t)((walk->next - 1) / NOTE_CHUNK) * NOTE_CHUNK;
        for (unsigned i = 0; i < NOTE_CHUNK; i += NOTE_LINE) __builtin_prefetch(ahead + i);
    }
    return true;
}

/* ---- to dense blocks --------------------------------------------------------------------------------------------- */

/* Adds notes of a bucket of `span` blocks from `block` on, after sorting them by block: as many as fit the scratch. */
static void add_sorted(struct walk *walk, struct block *block, uint32_t span, const struct dense *dense, bool counted,
                       struct note_scratch *sorted)
{
    const unsigned size = 1 + counted;
    struct walk again = *walk;
    size_t n = 0;
    memset(sorted->in_block, 0, span * sizeof *sorted->in_block);
    for (; n + NOTE_CHUNK <= NOTE_SCRATCH && walk_on(walk); n += (size_t)(walk->end - walk->first) / size)
        for (const uint32_t *note = walk->first; note < walk->end; note += size) sorted->in_block[note_block(*note)]++;
    for (uint32_t b = 0, start = 0; b < span; start += sorted->in_block[b++]) sorted->at[b] = start;
    for (; n > 0 && walk_on(&again); n -= (size_t)(again.end - again.first) / size)
        for (const uint32_t *note = again.first; note < again.end; note += size) {
            uint32_t to = sorted->at[note_block(*note)]++;
            sorted->note[to] = *note;
            if (counted) sorted->count[to] = (int32_t)note[1];
        }
    for (uint32_t b = 0, from = 0; b < span; from += sorted->in_block[b++])
        if (sorted->in_block[b] > 0)
            dense->kernels->add_notes(&block[b], sorted->note + from, counted ? sorted->count + from : NULL,
                                      sorted->in_block[b]);
}

void notes_to_dense(const struct notes all[], unsigned members, unsigned index, struct dense *dense,
                    struct note_scratch *scratch)
{
    const uint32_t span = UINT32_C(1) << all->bucket_shift;
    const unsigned buckets = ((dense->blocks - 1) >> all->bucket_shift) + 1;
    for (unsigned bucket = index; bucket < buckets; bucket += members)
        for (struct walk walk = {all, members, bucket, 0, NULL, NULL}; walk.next > 0 || walk.members > 0;)
            add_sorted(&walk, dense->block + (size_t)bucket * span, span, dense, all->counted, scratch);
}
