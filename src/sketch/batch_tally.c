/* batch_tally: where a batch has many items for each block, it is counted first: each thread adds its share to a tally of
 * its own, the cells of step 0 of every block as plain integers of 32 bits, of which each block then gets its sum at
 * once. So a block is unpacked and packed once a batch, instead of being opened for every few items, and no two threads
 * ever write to the same memory.
 *
 * Nothing is deleted on the way to a block: it ends where its content asks for, however that came. */
#include "sketch/batch.h"

#include <string.h>

enum {
    PER_BLOCK = 32,       /* items a block, from which on it pays: 320 cells are set to 0, added up and packed */
    TALLY_MOST = 1 << 26, /* bytes of all tallies, beyond which their cache misses cost more than it saves */
    NEAR = 1 << 21
}; /* bytes of a tally, up to which it is near enough not to be fetched ahead */

struct tallying {
    const struct batch *batch;
    unsigned char *bytes; /* a tally for each thread */
    size_t size;          /* of a tally, in bytes: whole cache lines */
};

static size_t tally_size(const lego_sketch *sketch)
{
    return (size_t)sketch->dense.blocks * BLOCK_CELLS * sizeof(int32_t);
}

bool batch_tally_fits(const struct batch *batch)
{
    const lego_sketch *sketch = batch->sketch;
    const lego_items *items = batch->items;
    uint64_t sum = items->counts ? 0 : items->n;
    if (items->n / PER_BLOCK < sketch->dense.blocks || items->n > INT32_MAX) return false;
    if (sketch->threads * tally_size(sketch) > TALLY_MOST) return false;
    for (size_t i = 0; items->counts && i < items->n; i++) {
        if (items->counts[i] < 0 || items->counts[i] > INT32_MAX) return false;
        sum += (uint64_t)items->counts[i];
    }
    return sum <= INT32_MAX && !dense_signed(&sketch->dense);
}

static int32_t *tally_of(const struct tallying *job, unsigned index)
{
    return (int32_t *)(void *)(job->bytes + index * job->size);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* Items whose cells are on their way, while those before them are added. */
struct ahead {
    struct decode_places places;
    int64_t counts[DECODE_MOST];
    unsigned n;
};

static inline size_t cell_of(const struct decode_places *places, unsigned k, unsigned i)
{
    return (size_t)places->block[k % 2][i] * BLOCK_CELLS + block_place(0, k, places->column[k % 2][k / 2][i]);
}

static void fetch(const int32_t *tally, const struct ahead *now)
{
    for (unsigned k = 0; k < BLOCK_ROWS; k++)
        for (unsigned i = 0; i < now->n; i++) __builtin_prefetch(tally + cell_of(&now->places, k, i), 1);
}

static void count(int32_t *tally, const struct ahead *before)
{
    for (unsigned i = 0; i < before->n; i++)
        for (unsigned k = 0; k < BLOCK_ROWS; k++) tally[cell_of(&before->places, k, i)] += (int32_t)before->counts[i];
}

/* Items first .. end - 1 into a tally. */
static void count_items(const struct tallying *job, size_t first, size_t end, int32_t *tally)
{
    const struct batch *batch = job->batch;
    uint32_t times[HOT_SLOTS];
    struct reader reader = {.batch = batch, .next = first, .end = end, .times = times};
    struct ahead ahead[2];
    struct half half[2];
    ahead[1].n = 0;
    if (batch->hot) memset(times, 0, sizeof times);
    for (unsigned turn = 0, more = 1; more; turn ^= 1) {
        more = ahead[turn].n = reader_next(&reader, &ahead[turn].places, ahead[turn].counts);
        if (job->size > NEAR) fetch(tally, &ahead[turn]);
        count(tally, &ahead[turn ^ 1]);
    }
    for (unsigned slot = 0; batch_next_hot(batch, times, &slot, half); slot++)
        for (unsigned k = 0; k < BLOCK_ROWS; k++)
            tally[(size_t)half[k % 2].block * BLOCK_CELLS + block_place(0, k, half[k % 2].column[k / 2])] +=
                (int32_t)times[slot];
}

/* ---- adding up --------------------------------------------------------------------------------------------------- */

/* Sums of all tallies of a block; false if there is nothing. */
static bool sum_tallies(const struct tallying *job, unsigned members, uint32_t block, int64_t sum[BLOCK_CELLS])
{
    const size_t first = (size_t)block * BLOCK_CELLS;
    int64_t any = 0;
    memset(sum, 0, BLOCK_CELLS * sizeof *sum);
    for (unsigned t = 0; t < members; t++) {
        const int32_t *cell = tally_of(job, t) + first;
        for (unsigned i = 0; i < BLOCK_CELLS; i++) sum[i] += cell[i];
    }
    for (unsigned i = 0; i < BLOCK_CELLS; i++) any |= sum[i];
    return any != 0;
}

static void tally_work(void *context, struct team *team, unsigned index, unsigned members)
{
    struct tallying *job = context;
    struct dense *dense = &job->batch->sketch->dense;
    const uint64_t n = job->batch->items->n, blocks = dense->blocks;
    memset(tally_of(job, index), 0, job->size);
    count_items(job, n * index / members, n * (index + 1) / members, tally_of(job, index));
    parallel_wait(team);
    for (uint64_t i = blocks * index / members; i < blocks * (index + 1) / members; i++) {
        int64_t sum[BLOCK_CELLS];
        if (sum_tallies(job, members, (uint32_t)i, sum)) dense->kernels->add_values(&dense->block[i], sum);
    }
}

bool batch_tally(const struct batch *batch)
{
    lego_sketch *sketch = batch->sketch;
    lego_allocator *a = &sketch->allocator;
    struct tallying job = {.batch = batch, .size = tally_size(sketch)};
    const size_t size = sketch->threads * job.size + DENSE_LINE;
    unsigned char *bytes = a->alloc(a->context, size);
    if (!bytes) return false;
    job.bytes = bytes + (DENSE_LINE - (uintptr_t)bytes % DENSE_LINE) % DENSE_LINE;
    parallel_run(sketch->threads, tally_work, &job);
    a->free(a->context, bytes, size);
    return true;
}
