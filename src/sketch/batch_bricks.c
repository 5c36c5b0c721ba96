/* batch_bricks: each thread owns those bricks whose number it gets modulo the size of the team, so that no cell has two
 * writers. The spill is one for all bricks: what overflows a cell is noted, and added by one thread at the end of a
 * chunk. Sums do not care: the result is the same, and folds happen when the content asks for them, as with one
 * thread. */
#include "sketch/batch.h"

enum { CHUNK = 1 << 15 }; /* items between two waits: their notes below take 2.6 MB */

struct chunk {
    struct hash hash[CHUNK];
    unsigned char owner[CHUNK];   /* which thread has the item's brick */
    unsigned char is_late[CHUNK]; /* bit k: row k left something for the spill, namely */
    int64_t late[CHUNK][LEGO_ROWS_MAX];
};

struct adding {
    const struct batch *batch;
    struct chunk *chunk;
};

/* Hashes this thread's share of the chunk. */
static void hash_share(const struct adding *job, unsigned index, unsigned members, size_t start, size_t size)
{
    const lego_sketch *sketch = job->batch->sketch;
    for (size_t i = size * index / members; i < size * (index + 1) / members; i++) {
        struct hash hash = item_hash(job->batch->items, start + i, sketch->seed);
        job->chunk->hash[i] = hash;
        job->chunk->owner[i] = (unsigned char)(brick_of(&sketch->memory, hash_brick(hash)).number % members);
    }
}

/* Adds the items of the chunk that are in this thread's bricks. */
static void add_own(const struct adding *job, unsigned index, size_t start, size_t size)
{
    lego_sketch *sketch = job->batch->sketch;
    const lego_model *model = sketch->model;
    struct chunk *chunk = job->chunk;
    for (size_t i = 0; i < size; i++) {
        if (chunk->owner[i] != index) continue;
        struct place place;
        uint32_t weight[LEGO_ROWS_MAX];
        hash_place(chunk->hash[i], model->rows, model->table_size, &place);
        embed_weights(model, place.index, weight);
        chunk->is_late[i] =
            memory_add_low(&sketch->memory, &place, weight, batch_count(job->batch, start + i), chunk->late[i]);
    }
}

static void add_late(const struct adding *job, size_t size)
{
    lego_sketch *sketch = job->batch->sketch;
    const lego_model *model = sketch->model;
    for (size_t i = 0; i < size; i++) {
        if (!job->chunk->is_late[i]) continue;
        struct place place;
        hash_place(job->chunk->hash[i], model->rows, model->table_size, &place);
        for (uint32_t k = 0; k < model->rows; k++)
            if (job->chunk->is_late[i] >> k & 1)
                memory_add_value(&sketch->memory, k, place.brick, place.column[k], job->chunk->late[i][k]);
    }
}

static void add_work(void *context, struct team *team, unsigned index, unsigned members)
{
    const struct adding *job = context;
    const size_t n = job->batch->n;
    for (size_t start = 0; start < n; start += CHUNK) {
        size_t size = n - start < CHUNK ? n - start : CHUNK;
        hash_share(job, index, members, start, size);
        parallel_wait(team);
        add_own(job, index, start, size);
        parallel_wait(team);
        if (index == 0) add_late(job, size);
        parallel_wait(team);
    }
}

bool batch_bricks(const struct batch *batch)
{
    lego_allocator *a = &batch->sketch->allocator;
    struct adding job = {batch, a->alloc(a->context, sizeof *job.chunk)};
    if (!job.chunk) return false;
    parallel_run(batch->sketch->threads, add_work, &job);
    a->free(a->context, job.chunk, sizeof *job.chunk);
    return true;
}
