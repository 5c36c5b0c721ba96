/* sketch: lego_cuda_*. What is on the device, and how items get there.
 *
 * The room cuda is what liblegosketch_cuda has more than liblegosketch: sketch (the public functions), bricks and its
 * kernels (the paper's sketch on a GPU), and counts (what is added up before bricks take it). */
#include "legosketch_cuda.h"

#include <string.h>

#include "core/parallel.h"
#include "cuda/bricks.h"
#include "cuda/counts.h"
#include "cuda/status.h"
#include "sketch/sketch.h"

enum { LANES = 2, ITEMS_AT_ONCE = 1 << 24, QUESTIONS_AT_ONCE = 1 << 20 };

/* One of the ways to the device: while the one carries, the device works on what came by the other. */
struct lane {
    cudaStream_t stream;
    unsigned char *pinned, *device;
    size_t pinned_size, device_size;
};

struct lego_cuda_sketch {
    const lego_model *model;
    lego_allocator allocator;
    struct seed seed;
    uint64_t mass;
    struct shape shape;
    lego_kind items;
    unsigned threads; /* that copy to and from pinned memory */
    struct cuda_bricks *bricks;
    uint64_t *sums;    /* [COUNTS_PARTS] */
    cudaEvent_t added; /* additions come one after the other, whichever lane they came by */
    struct lane lane[LANES];
    bool is_broken;
};

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool done(cudaError_t error)
{
    return error == cudaSuccess;
}

/* Whether there is anything to be had of it; and what others left undone is not taken for a failure of ours. */
static bool is_usable(const lego_cuda_sketch *s)
{
    cudaGetLastError();
    return !s->is_broken;
}

/* All that was started is done, or it has failed and nothing is known of the content. */
static lego_status finish(lego_cuda_sketch *s)
{
    bool fine = done(cudaGetLastError());
    for (unsigned i = 0; i < LANES; i++) fine &= done(cudaStreamSynchronize(s->lane[i].stream));
    s->is_broken |= !fine;
    return fine ? LEGO_OK : LEGO_ERR_DEVICE;
}

static lego_status upload(const lego_sketch *sketch, lego_cuda_sketch *made)
{
    lego_status status = cuda_status(cudaMalloc((void **)&made->sums, COUNTS_PARTS * sizeof *made->sums));
    for (unsigned i = 0; i < LANES && status == LEGO_OK; i++)
        status = cuda_status(cudaStreamCreate(&made->lane[i].stream));
    if (status == LEGO_OK) status = cuda_status(cudaEventCreateWithFlags(&made->added, cudaEventDisableTiming));
    return status == LEGO_OK ? cuda_bricks_upload(&sketch->bricks, &made->bricks) : status;
}

lego_status lego_cuda_upload(const lego_sketch *sketch, lego_cuda_sketch **device)
{
    if (sketch->model->kind != MODEL_PAPER) return LEGO_ERR_MODEL; /* neither blocks nor an ablation have kernels */
    if (has_top(sketch)) return LEGO_ERR_TOP;
    const lego_allocator *a = &sketch->allocator;
    lego_cuda_sketch *made = a->alloc(a->context, sizeof *made);
    if (!made) return LEGO_ERR_MEMORY;
    *made = (lego_cuda_sketch){.model = sketch->model,
                               .allocator = *a,
                               .seed = sketch->seed,
                               .mass = sketch->mass,
                               .shape = sketch_shape(sketch),
                               .items = sketch->items,
                               .threads = sketch->threads};
    lego_status status = upload(sketch, made);
    if (status == LEGO_OK) *device = made;
    else lego_cuda_destroy(made);
    return status;
}

lego_status lego_cuda_download(const lego_cuda_sketch *s, lego_sketch **sketch)
{
    if (!is_usable(s)) return LEGO_ERR_DEVICE;
    lego_sketch *made = NULL;
    lego_status status = sketch_make(s->model, s->seed, &s->shape, s->shape.blocks, 0, &s->allocator, &made);
    if (status != LEGO_OK) return status;
    made->mass = s->mass;
    made->items = s->items;
    status = cuda_bricks_download(s->bricks, &made->bricks);
    if (status == LEGO_OK) *sketch = made;
    else lego_destroy(made);
    return status;
}

void lego_cuda_destroy(lego_cuda_sketch *s)
{
    if (!s) return;
    cuda_bricks_free(s->bricks);
    for (unsigned i = 0; i < LANES; i++) {
        cudaFreeHost(s->lane[i].pinned);
        cudaFree(s->lane[i].device);
        if (s->lane[i].stream) cudaStreamDestroy(s->lane[i].stream);
    }
    if (s->added) cudaEventDestroy(s->added);
    cudaFree(s->sums);
    s->allocator.free(s->allocator.context, s, sizeof *s);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

enum where { ON_DEVICE, PINNED, ORDINARY };

/* Items, counts or estimates; NULL if there are none. */
struct array {
    void *at;
    size_t size; /* of one */
    enum where where;
    size_t offset; /* in the memory of a lane, of one item: what is before it there */
};

static struct array array_of(const void *at, size_t size)
{
    struct array array = {(void *)(uintptr_t)at, size, ORDINARY, 0};
    struct cudaPointerAttributes attributes;
    if (!at || !done(cudaPointerGetAttributes(&attributes, at))) return array;
    if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged) array.where = ON_DEVICE;
    else if (attributes.type == cudaMemoryTypeHost) array.where = PINNED;
    return array;
}

/* What is done with items: they are added, or asked for. */
enum { ITEMS, COUNTS, ESTIMATES, ARRAYS };
struct job {
    struct array array[ARRAYS];
    size_t n, piece; /* items that go over at once */
    bool asks;
};

static bool is_on_way(const struct array *array)
{
    return array->at && array->where != ON_DEVICE;
}

/* Memory of the lanes for what has to go over, and where it is in there. */
static lego_status make_lanes(lego_cuda_sketch *s, struct job *job)
{
    size_t device = 0;
    bool ordinary = false;
    for (unsigned k = 0; k < ARRAYS; k++) {
        if (!is_on_way(&job->array[k])) continue;
        job->array[k].offset = device;
        device += job->array[k].size;
        ordinary |= job->array[k].where == ORDINARY;
    }
    if (device == 0) job->piece = job->n;
    device *= job->piece < job->n ? job->piece : job->n;
    lego_status status = LEGO_OK;
    for (unsigned i = 0; i < LANES && device > 0 && status == LEGO_OK; i++) {
        struct lane *lane = &s->lane[i];
        if (lane->device_size < device) {
            cudaFree(lane->device);
            lane->device = NULL;
            lane->device_size = 0;
            status = cuda_status(cudaMalloc((void **)&lane->device, device));
            if (status == LEGO_OK) lane->device_size = device;
        }
        if (status == LEGO_OK && ordinary && lane->pinned_size < device) {
            cudaFreeHost(lane->pinned);
            lane->pinned = NULL;
            lane->pinned_size = 0;
            status = cuda_status(cudaMallocHost((void **)&lane->pinned, device));
            if (status == LEGO_OK) lane->pinned_size = device;
        }
    }
    return status;
}

/* ---- on their way ------------------------------------------------------------------------------------------------ */

struct copy {
    unsigned char *to;
    const unsigned char *from;
    size_t size;
};

/* A thread's share. */
static void copy_part(void *context, struct team *team, unsigned index, unsigned members)
{
    (void)team;
    const struct copy *copy = context;
    size_t first = copy->size / members * index, end = index + 1 == members ? copy->size : first + copy->size / members;
    memcpy(copy->to + first, copy->from + first, end - first);
}

enum { ALONE = 1 << 20 }; /* bytes, fewer than which are copied before a thread has started */

static void copy(const lego_cuda_sketch *s, void *to, const void *from, size_t size)
{
    struct copy job = {to, from, size};
    parallel_run(size < ALONE ? 1 : s->threads, copy_part, &job);
}

/* Where n of an array, from `first` on, are in some memory of a lane. */
static unsigned char *place(const struct array *array, unsigned char *memory, size_t n)
{
    return memory + array->offset * n;
}

static unsigned char *from_first(const struct array *array, size_t first)
{
    return array->at ? (unsigned char *)array->at + first * array->size : NULL;
}

/* Where n of them are on the device, and on their way there. Failures are seen by finish(). */
static void *carry(const lego_cuda_sketch *s, const struct lane *lane, const struct array *array, size_t first,
                   size_t n)
{
    unsigned char *from = from_first(array, first);
    if (!is_on_way(array)) return from;
    if (array->where == ORDINARY) {
        copy(s, place(array, lane->pinned, n), from, n * array->size);
        from = place(array, lane->pinned, n);
    }
    cudaMemcpyAsync(place(array, lane->device, n), from, n * array->size, cudaMemcpyHostToDevice, lane->stream);
    return place(array, lane->device, n);
}

static lego_status add(lego_cuda_sketch *s, const uint64_t *items, const int64_t *counts, size_t n, cudaStream_t stream)
{
    cudaStreamWaitEvent(stream, s->added, 0);
    lego_status status = cuda_bricks_add(s->bricks, s->seed, items, counts, n, stream);
    cudaEventRecord(s->added, stream);
    return status;
}

/* Answers, on their way back if they are not to stay. */
static lego_status ask(lego_cuda_sketch *s, const struct lane *lane, const struct job *job, const uint64_t *items,
                       size_t first, size_t n)
{
    const struct array *array = &job->array[ESTIMATES];
    unsigned char *to = from_first(array, first), *made = to;
    if (is_on_way(array)) made = place(array, lane->device, n);
    lego_status status = cuda_bricks_query(s->bricks, s->seed, items, n, (lego_estimate *)(void *)made, lane->stream);
    if (array->where == ORDINARY) to = place(array, lane->pinned, n);
    if (made != to) cudaMemcpyAsync(to, made, n * array->size, cudaMemcpyDeviceToHost, lane->stream);
    return status;
}

static lego_status start_piece(lego_cuda_sketch *s, const struct lane *lane, const struct job *job, size_t first,
                               size_t n)
{
    const uint64_t *items = carry(s, lane, &job->array[ITEMS], first, n);
    const int64_t *counts = carry(s, lane, &job->array[COUNTS], first, n);
    return job->asks ? ask(s, lane, job, items, first, n) : add(s, items, counts, n, lane->stream);
}

/* What came back by a lane with the piece that began here. */
static void end_piece(const lego_cuda_sketch *s, const struct lane *lane, const struct job *job, size_t first)
{
    const struct array *array = &job->array[ESTIMATES];
    size_t n = job->n - first < job->piece ? job->n - first : job->piece;
    if (array->at && array->where == ORDINARY)
        copy(s, from_first(array, first), place(array, lane->pinned, n), n * array->size);
}

/* Only the first piece can find no memory: the others are no larger. */
static lego_status run(lego_cuda_sketch *s, const struct job *job)
{
    lego_status status = LEGO_OK;
    size_t first = 0, turn = 0, last = (job->n + job->piece - 1) / job->piece;
    for (size_t i = 0; i < last + LANES && status == LEGO_OK; i++, first += job->piece, turn = (turn + 1) % LANES) {
        struct lane *lane = &s->lane[turn];
        if (!done(cudaStreamSynchronize(lane->stream))) break; /* which finish() will see */
        if (i >= LANES) end_piece(s, lane, job, first - LANES * job->piece);
        if (i >= last) continue;
        status = start_piece(s, lane, job, first, job->n - first < job->piece ? job->n - first : job->piece);
    }
    s->is_broken |= status == LEGO_ERR_DEVICE;
    lego_status end = finish(s);
    return end == LEGO_OK ? status : end;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static uint64_t sum_of(uint64_t a, uint64_t b) /* at most 2^62 + 2^63 */
{
    return a + b < COUNTS_MOST ? a + b : COUNTS_MOST;
}

/* The sum of |count| over the job's items, wherever the counts are; at most COUNTS_MOST. */
static lego_status sum_counts(lego_cuda_sketch *s, const struct job *job, uint64_t *sum)
{
    const struct array *array = &job->array[COUNTS];
    const int64_t *counts = array->at;
    *sum = 0;
    if (!counts) {
        *sum = sum_of(job->n, 0);
    } else if (array->where == ON_DEVICE) {
        uint64_t part[COUNTS_PARTS];
        device_sum(counts, job->n, s->sums, s->lane[0].stream);
        cudaMemcpyAsync(part, s->sums, sizeof part, cudaMemcpyDeviceToHost, s->lane[0].stream);
        if (finish(s) != LEGO_OK) return LEGO_ERR_DEVICE;
        for (unsigned i = 0; i < COUNTS_PARTS; i++) *sum = sum_of(*sum, part[i]);
    } else {
        for (size_t i = 0; i < job->n; i++)
            *sum = sum_of(*sum, counts[i] < 0 ? -(uint64_t)counts[i] : (uint64_t)counts[i]);
    }
    return LEGO_OK;
}

lego_status lego_cuda_add_u64s(lego_cuda_sketch *s, const uint64_t *items, const int64_t *counts, size_t n)
{
    if (!is_usable(s)) return LEGO_ERR_DEVICE;
    if (n == 0) return LEGO_OK;
    struct job job = {{array_of(items, sizeof *items), array_of(counts, sizeof *counts)}, n, ITEMS_AT_ONCE, false};
    uint64_t sum;
    lego_status status = make_lanes(s, &job);
    if (status == LEGO_OK) status = sum_counts(s, &job, &sum);
    if (status != LEGO_OK) return status;
    if (sum > ((uint64_t)INT64_MAX - s->mass) / s->model->quantum) return LEGO_ERR_RANGE;
    status = run(s, &job);
    if (status != LEGO_OK) return status;
    s->mass += sum * s->model->quantum;
    if (sum > 0) s->items |= LEGO_ITEMS_INTEGERS;
    return LEGO_OK;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

lego_status lego_cuda_query_u64s(lego_cuda_sketch *s, const uint64_t *items, size_t n, const lego_asking *asking,
                                 lego_estimate *estimates)
{
    const lego_asking plain = LEGO_ASKING_INIT, *how = asking ? asking : &plain;
    if (!is_usable(s)) return LEGO_ERR_DEVICE;
    bool valid = how->absent >= 0 && how->absent < 1;
    if (!valid) return LEGO_ERR_ARGUMENT; /* also what is not a number */
    if (how->absent != 0) return LEGO_ERR_MODEL;
    if (n == 0) return LEGO_OK;
    struct job job = {
        .array = {[ITEMS] = array_of(items, sizeof *items), [ESTIMATES] = array_of(estimates, sizeof *estimates)},
        .n = n,
        .piece = QUESTIONS_AT_ONCE,
        .asks = true};
    lego_status status = make_lanes(s, &job);
    return status == LEGO_OK ? run(s, &job) : status;
}
