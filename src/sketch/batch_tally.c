/* batch_tally: where a batch has many items for each block, it is counted first: each thread adds its share to flat
 * blocks of its own (flat.h), plain integers, of which each block then gets its sum at once. So a dense block is
 * unpacked and packed once a batch, instead of being opened for every few items, and no two threads ever write to the
 * same memory.
 *
 * Nothing is deleted on the way to a dense block: it ends where its content asks for, however that came. */
#include "sketch/batch.h"

#include <string.h>

enum { PER_BLOCK = 32,          /* items a block, from which on it pays: 320 cells are set to 0, added up and packed */
       TALLY_MOST = 1 << 26 };  /* bytes of all tallies, beyond which their cache misses cost more than it saves */

struct tallying {
    const struct batch *batch;
    struct flat tally[THREADS_MAX];
    unsigned char *bytes;
    size_t size; /* of a tally */
};

bool batch_tally_fits(const struct batch *batch)
{
    const lego_sketch *sketch = batch->sketch;
    uint64_t sum = batch->counts ? 0 : batch->n;
    if (batch->n / PER_BLOCK < sketch->dense.blocks || batch->n > INT32_MAX) return false;
    if (sketch->threads * flat_bytes(sketch->dense.blocks, FLAT_NARROW) > TALLY_MOST) return false;
    for (size_t i = 0; batch->counts && i < batch->n; i++) {
        if (batch->counts[i] < 0 || batch->counts[i] > INT32_MAX) return false;
        sum += (uint64_t)batch->counts[i];
    }
    return sum <= INT32_MAX && (is_flat(sketch) || !dense_signed(&sketch->dense));
}

/* Sums of all tallies of a block; false if there is nothing. */
static bool sum_tallies(const struct tallying *job, unsigned members, uint32_t block, int64_t sum[BLOCK_CELLS])
{
    const size_t first = (size_t)block * BLOCK_CELLS;
    int64_t any = 0;
    memset(sum, 0, BLOCK_CELLS * sizeof *sum);
    for (unsigned t = 0; t < members; t++) {
        const int32_t *cell = (const int32_t *)job->tally[t].cells + first;
        for (unsigned i = 0; i < BLOCK_CELLS; i++) sum[i] += cell[i];
    }
    for (unsigned i = 0; i < BLOCK_CELLS; i++) any |= sum[i];
    return any != 0;
}

static void tally_work(void *context, struct team *team, unsigned index, unsigned members)
{
    struct tallying *job = context;
    const struct batch *batch = job->batch;
    lego_sketch *sketch = batch->sketch;
    struct flat *mine = &job->tally[index];
    size_t end = batch->n * (index + 1) / members;
    flat_init(mine, sketch->dense.blocks, FLAT_NARROW, job->bytes + index * job->size);
    batch_add_flat(batch, batch->n * index / members, end, mine);
    parallel_wait(team);
    const uint64_t blocks = sketch->dense.blocks;
    for (uint64_t i = blocks * index / members; i < blocks * (index + 1) / members; i++) {
        int64_t sum[BLOCK_CELLS];
        if (!sum_tallies(job, members, (uint32_t)i, sum)) continue;
        if (is_flat(sketch)) flat_add_values(&sketch->flat, (uint32_t)i, sum, 0, 1);
        else sketch->dense.kernels->add_values(&sketch->dense.block[i], sum);
    }
}

bool batch_tally(const struct batch *batch)
{
    const lego_sketch *sketch = batch->sketch;
    lego_allocator *a = &batch->sketch->allocator;
    struct tallying job = {.batch = batch, .size = (size_t)flat_bytes(sketch->dense.blocks, FLAT_NARROW)};
    job.bytes = a->alloc(a->context, sketch->threads * job.size);
    if (!job.bytes) return false;
    parallel_run(sketch->threads, tally_work, &job);
    a->free(a->context, job.bytes, sketch->threads * job.size);
    return true;
}
