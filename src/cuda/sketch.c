/* sketch: lego_cuda_sketch_*. What is on the device, when it changes, and how items get there. */
#include "legosketch_cuda.h"

#include "core/parallel.h"
#include "cuda/prepare.h"
#include "cuda/sketch_kernels.h"

enum {
    CHUNK = 1 << 19, /* items that go over at once: long enough to keep the device busy, short enough to overlap */
    ROOM = sizeof(uint64_t) + sizeof(int64_t) + sizeof(lego_estimate), /* bytes that one of them can take */
    LANES = 2
};

/* One of the ways to the device: while the one carries, the device works on what came by the other. */
struct lane {
    cudaStream_t stream;
    unsigned char *pinned, *device; /* each CHUNK * ROOM bytes, or NULL while nothing had to be carried */
};

struct lego_cuda_sketch {
    const lego_model *model;
    lego_allocator allocator;
    uint64_t seed, mass;
    unsigned threads;   /* that copy to and from pinned memory */
    struct dense dense; /* how many blocks, and N, without blocks */
    struct cuda_blocks blocks;
    struct decoder *decoder;
    struct cuda_sums *sums;
    bool is_shown; /* what questions look at, blocks.shown and decoder, is of the content as it is */
    bool is_broken;
    struct lane lane[LANES];
    union { /* the first blocks as they are shown, for the scan */
        int32_t narrow[COMPACT_SCANNED][BLOCK_CELLS];
        int64_t wide[COMPACT_SCANNED][BLOCK_CELLS];
    } first;
};

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool done(cudaError_t error)
{
    return error == cudaSuccess;
}

/* Of a function of CUDA's that allocates. */
static lego_status allocated(cudaError_t error)
{
    if (done(error)) return LEGO_OK;
    cudaGetLastError(); /* or who asks next is told of it */
    return error == cudaErrorMemoryAllocation ? LEGO_ERR_MEMORY : LEGO_ERR_DEVICE;
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

/* Empty blocks of so many bits. */
static lego_status allocate_blocks(uint32_t n, uint64_t seed, bool is_wide, struct dense *dense,
                                   struct cuda_blocks *blocks)
{
    dense_place(dense, n);
    *blocks = (struct cuda_blocks){.blocks = n, .is_wide = is_wide};
    prepare_places(dense, seed, &blocks->places);
    size_t cells = (size_t)n * BLOCK_CELLS * (is_wide ? sizeof(int64_t) : sizeof(int32_t)), size = 2 * (cells + n);
    lego_status status = allocated(cudaMalloc(&blocks->cells, size));
    if (status != LEGO_OK) return status;
    blocks->shown = (unsigned char *)blocks->cells + cells;
    blocks->step = (uint8_t *)blocks->cells + 2 * cells;
    blocks->packed = blocks->step + n;
    return done(cudaMemset(blocks->cells, 0, size)) ? LEGO_OK : LEGO_ERR_DEVICE;
}

static lego_status allocate_rest(lego_cuda_sketch *s)
{
    lego_status status = allocated(cudaMalloc((void **)&s->decoder, sizeof *s->decoder));
    if (status == LEGO_OK) status = allocated(cudaMalloc((void **)&s->sums, KERNEL_SUMS * sizeof *s->sums));
    for (unsigned i = 0; i < LANES && status == LEGO_OK; i++) status = allocated(cudaStreamCreate(&s->lane[i].stream));
    return status;
}

/* Blocks go over as plain integers, STRETCH of them at a time. */
enum { STRETCH = 1024 };

struct stretch {
    uint8_t step[STRETCH];
    union {
        int32_t narrow[STRETCH][BLOCK_CELLS];
        int64_t wide[STRETCH][BLOCK_CELLS];
    } cells;
};

/* Copies n blocks from `first` on, one way or the other. */
static bool copy_stretch(const struct cuda_blocks *blocks, struct stretch *stretch, uint32_t first, uint32_t n,
                         enum cudaMemcpyKind way)
{
    size_t size = blocks->is_wide ? sizeof *stretch->cells.wide : sizeof *stretch->cells.narrow;
    unsigned char *cells = (unsigned char *)blocks->cells + first * size;
    bool is_up = way == cudaMemcpyHostToDevice;
    void *here = &stretch->cells, *step = stretch->step;
    return done(cudaMemcpy(is_up ? cells : here, is_up ? here : cells, n * size, way)) &&
           done(cudaMemcpy(is_up ? blocks->step + first : step, is_up ? step : blocks->step + first, n, way));
}

static void unpack(const struct dense *dense, uint32_t block, bool is_wide, struct stretch *stretch, uint32_t i)
{
    int64_t value[BLOCK_CELLS] = {0};
    unsigned cells = dense->kernels->unpack(&dense->block[block], value);
    stretch->step[i] = (uint8_t)block_step(&dense->block[block]);
    for (unsigned c = 0; c < BLOCK_CELLS; c++) {
        int64_t v = c < cells ? value[c] : 0;
        if (is_wide) stretch->cells.wide[i][c] = v;
        else stretch->cells.narrow[i][c] = (int32_t)v;
    }
}

static void pack(const struct dense *dense, uint32_t block, bool is_wide, const struct stretch *stretch, uint32_t i)
{
    int64_t value[BLOCK_CELLS];
    for (unsigned c = 0; c < BLOCK_CELLS; c++)
        value[c] = is_wide ? stretch->cells.wide[i][c] : stretch->cells.narrow[i][c];
    dense->kernels->pack(&dense->block[block], value, stretch->step[i]);
}

/* All blocks, one way or the other. */
static lego_status carry_blocks(struct dense *dense, struct cuda_blocks *blocks, struct stretch *stretch,
                                enum cudaMemcpyKind way)
{
    bool fine = true, is_up = way == cudaMemcpyHostToDevice;
    for (uint32_t first = 0, n; fine && first < dense->blocks; first += n) {
        n = dense->blocks - first < STRETCH ? dense->blocks - first : STRETCH;
        for (uint32_t i = 0; is_up && i < n; i++) {
            unpack(dense, first + i, blocks->is_wide, stretch, i);
            blocks->is_coarse |= stretch->step[i] > 0;
        }
        fine = copy_stretch(blocks, stretch, first, n, way);
        for (uint32_t i = 0; fine && !is_up && i < n; i++) pack(dense, first + i, blocks->is_wide, stretch, i);
    }
    return fine ? LEGO_OK : LEGO_ERR_DEVICE;
}

lego_status lego_cuda_sketch_upload(const lego_sketch *sketch, lego_cuda_sketch **device)
{
    if (!has_blocks(sketch->model)) return LEGO_ERR_MODEL;
    if (has_top(sketch)) return LEGO_ERR_TOP;
    const lego_allocator *a = &sketch->allocator;
    struct stretch *stretch = a->alloc(a->context, sizeof *stretch);
    lego_cuda_sketch *made = stretch ? a->alloc(a->context, sizeof *made) : NULL;
    lego_status status = LEGO_ERR_MEMORY;
    if (made) {
        *made = (lego_cuda_sketch){.model = sketch->model,
                                   .allocator = *a,
                                   .seed = sketch->seed,
                                   .mass = sketch->mass,
                                   .threads = sketch->threads};
        bool is_wide = sketch->mass > INT32_MAX;
        status = allocate_blocks(sketch->dense.blocks, made->seed, is_wide, &made->dense, &made->blocks);
        if (status == LEGO_OK) status = allocate_rest(made);
        struct dense from = sketch->dense;
        made->dense.total = from.total;
        if (status == LEGO_OK) status = carry_blocks(&from, &made->blocks, stretch, cudaMemcpyHostToDevice);
        if (status == LEGO_OK) *device = made;
        else lego_cuda_sketch_destroy(made);
    }
    if (stretch) a->free(a->context, stretch, sizeof *stretch);
    return status;
}

lego_status lego_cuda_sketch_download(const lego_cuda_sketch *s, lego_sketch **sketch)
{
    if (!is_usable(s)) return LEGO_ERR_DEVICE;
    const lego_allocator *a = &s->allocator;
    struct shape shape = {.blocks = s->dense.blocks};
    lego_sketch *made = NULL;
    struct stretch *stretch = a->alloc(a->context, sizeof *stretch);
    lego_status status = stretch ? sketch_make(s->model, s->seed, &shape, a, &made) : LEGO_ERR_MEMORY;
    if (status == LEGO_OK) {
        struct cuda_blocks blocks = s->blocks;
        made->mass = s->mass;
        made->dense.total = s->dense.total;
        status = carry_blocks(&made->dense, &blocks, stretch, cudaMemcpyDeviceToHost);
    }
    if (stretch) a->free(a->context, stretch, sizeof *stretch);
    if (status == LEGO_OK) *sketch = made;
    else lego_destroy(made);
    return status;
}

void lego_cuda_sketch_destroy(lego_cuda_sketch *s)
{
    if (!s) return;
    for (unsigned i = 0; i < LANES; i++) {
        cudaFreeHost(s->lane[i].pinned);
        cudaFree(s->lane[i].device);
        if (s->lane[i].stream) cudaStreamDestroy(s->lane[i].stream);
    }
    cudaFree(s->blocks.cells);
    cudaFree(s->decoder);
    cudaFree(s->sums);
    s->allocator.free(s->allocator.context, s, sizeof *s);
}

/* ---- merge and fold ---------------------------------------------------------------------------------------------- */

/* Replaces the blocks by so many, to which they fold, with the same content. */
static lego_status reshape(lego_cuda_sketch *s, uint32_t n, bool is_wide)
{
    struct dense dense;
    struct cuda_blocks made;
    lego_status status = allocate_blocks(n, s->seed, is_wide, &dense, &made);
    if (status == LEGO_OK) {
        kernel_combine(&made, &s->blocks, 1, s->lane[0].stream);
        status = finish(s);
    }
    if (status != LEGO_OK) {
        cudaFree(made.cells);
        return status;
    }
    dense.total = s->dense.total;
    made.is_coarse = s->blocks.is_coarse;
    cudaFree(s->blocks.cells);
    s->dense = dense;
    s->blocks = made;
    s->is_shown = false;
    return LEGO_OK;
}

static bool is_too_narrow(const lego_cuda_sketch *s, uint64_t mass)
{
    return mass > INT32_MAX && !s->blocks.is_wide;
}

static lego_status combine(lego_cuda_sketch *into, const lego_cuda_sketch *from, int sign)
{
    if (!is_usable(into) || !is_usable(from)) return LEGO_ERR_DEVICE;
    if (into->model->fingerprint != from->model->fingerprint) return LEGO_ERR_MODEL;
    if (into->seed != from->seed) return LEGO_ERR_SEED;
    if (from->mass > (uint64_t)INT64_MAX - into->mass) return LEGO_ERR_RANGE;
    uint32_t a = into->dense.blocks, b = from->dense.blocks, common = a < b ? a : b;
    if (a % common != 0 || b % common != 0) return LEGO_ERR_SHAPE;
    bool is_wide = into->blocks.is_wide || is_too_narrow(into, into->mass + from->mass);
    if (common != into->dense.blocks || is_wide != into->blocks.is_wide) {
        lego_status status = reshape(into, common, is_wide);
        if (status != LEGO_OK) return status;
    }
    into->mass += from->mass;
    into->dense.total += sign * from->dense.total;
    into->blocks.is_coarse |= from->blocks.is_coarse;
    into->is_shown = false;
    kernel_combine(&into->blocks, &from->blocks, sign, into->lane[0].stream);
    return finish(into);
}

lego_status lego_cuda_sketch_merge(lego_cuda_sketch *into, const lego_cuda_sketch *from)
{
    return combine(into, from, 1);
}

lego_status lego_cuda_sketch_subtract(lego_cuda_sketch *into, const lego_cuda_sketch *from)
{
    return combine(into, from, -1);
}

lego_status lego_cuda_sketch_fold(lego_cuda_sketch *s, uint32_t blocks)
{
    if (!is_usable(s)) return LEGO_ERR_DEVICE;
    if (blocks == 0 || s->dense.blocks % blocks != 0) return LEGO_ERR_SHAPE;
    return blocks == s->dense.blocks ? LEGO_OK : reshape(s, blocks, s->blocks.is_wide);
}

/* ---- items on their way ------------------------------------------------------------------------------------------ */

enum where { ON_DEVICE, PINNED, ORDINARY };

static enum where where_is(const void *p)
{
    struct cudaPointerAttributes attributes;
    if (!done(cudaPointerGetAttributes(&attributes, p))) return ORDINARY;
    if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged) return ON_DEVICE;
    return attributes.type == cudaMemoryTypeHost ? PINNED : ORDINARY;
}

/* What is done with items: they are added, or estimated if there are estimates. */
struct job {
    const uint64_t *items;
    const int64_t *counts;
    lego_estimate *estimates;
    size_t n;
    enum where items_at, counts_at, estimates_at;
};

static void start(lego_cuda_sketch *s, const uint64_t *items, const int64_t *counts, size_t n, lego_estimate *estimates,
                  cudaStream_t stream)
{
    if (estimates) kernel_estimate(&s->blocks, s->decoder, items, n, estimates, stream);
    else kernel_add(&s->blocks, items, counts, n, stream);
}

static lego_status allocate_lanes(lego_cuda_sketch *s)
{
    lego_status status = LEGO_OK;
    for (unsigned i = 0; i < LANES && status == LEGO_OK; i++) {
        struct lane *lane = &s->lane[i];
        if (!lane->pinned) status = allocated(cudaMallocHost((void **)&lane->pinned, CHUNK * ROOM));
        if (!lane->device && status == LEGO_OK) status = allocated(cudaMalloc((void **)&lane->device, CHUNK * ROOM));
    }
    return status;
}

enum { ITEMS_AT = 0, COUNTS_AT = CHUNK * sizeof(uint64_t), ESTIMATES_AT = COUNTS_AT + CHUNK * sizeof(int64_t) };

/* A thread's share of a copy. */
static void copy(void *to, const void *from, size_t size, unsigned index, unsigned members)
{
    size_t first = size * index / members, end = size * (index + 1) / members;
    memcpy((unsigned char *)to + first, (const unsigned char *)from + first, end - first);
}

/* Where a chunk of an array is on the device, and on its way there if it is not: the lane has room for it at `at`, and
 * in its pinned memory what was not pinned itself. Failures are seen by finish(). */
static const void *carry(struct lane *lane, enum where where, const void *array, size_t at, size_t size)
{
    if (where == ON_DEVICE) return array;
    if (where == ORDINARY) array = lane->pinned + at;
    cudaMemcpyAsync(lane->device + at, array, size, cudaMemcpyHostToDevice, lane->stream);
    return lane->device + at;
}

static void start_chunk(lego_cuda_sketch *s, struct lane *lane, const struct job *job, size_t first, size_t n)
{
    const uint64_t *items = carry(lane, job->items_at, job->items + first, ITEMS_AT, n * sizeof *items);
    const int64_t *counts = NULL;
    if (job->counts) counts = carry(lane, job->counts_at, job->counts + first, COUNTS_AT, n * sizeof *counts);
    if (!job->estimates || job->estimates_at == ON_DEVICE) {
        start(s, items, counts, n, job->estimates ? job->estimates + first : NULL, lane->stream);
        return;
    }
    void *made = lane->device + ESTIMATES_AT, *to = lane->pinned + ESTIMATES_AT;
    if (job->estimates_at == PINNED) to = job->estimates + first;
    start(s, items, NULL, n, made, lane->stream);
    cudaMemcpyAsync(to, made, n * sizeof *job->estimates, cudaMemcpyDeviceToHost, lane->stream);
}

/* Items on their way: this is what each of the threads does with them. The first alone speaks with the device; all copy
 * to and from pinned memory, which is slower than the way from there. */
struct trip {
    lego_cuda_sketch *s;
    const struct job *job;
    bool is_fine;
};

static void travel(void *context, struct team *team, unsigned index, unsigned members)
{
    struct trip *trip = context;
    const struct job *job = trip->job;
    struct lane *lane = trip->s->lane;
    for (size_t first = 0, turn = 0; first < job->n + LANES * CHUNK; first += CHUNK, turn = (turn + 1) % LANES) {
        if (index == 0) trip->is_fine &= done(cudaStreamSynchronize(lane[turn].stream));
        parallel_wait(team);
        if (!trip->is_fine) return;
        if (job->estimates && job->estimates_at == ORDINARY && first >= LANES * CHUNK) { /* what came back by it */
            size_t before = first - LANES * CHUNK, n = job->n - before < CHUNK ? job->n - before : CHUNK;
            copy(job->estimates + before, lane[turn].pinned + ESTIMATES_AT, n * sizeof *job->estimates, index, members);
        }
        size_t n = first >= job->n ? 0 : job->n - first < CHUNK ? job->n - first : CHUNK;
        if (n > 0 && job->items_at == ORDINARY)
            copy(lane[turn].pinned + ITEMS_AT, job->items + first, n * sizeof *job->items, index, members);
        if (n > 0 && job->counts && job->counts_at == ORDINARY)
            copy(lane[turn].pinned + COUNTS_AT, job->counts + first, n * sizeof *job->counts, index, members);
        parallel_wait(team);
        if (index == 0 && n > 0) start_chunk(trip->s, &lane[turn], job, first, n);
    }
}

/* Whether there are items that have to go over. */
static bool is_elsewhere(const struct job *job)
{
    return job->items_at != ON_DEVICE || (job->counts && job->counts_at != ON_DEVICE) ||
           (job->estimates && job->estimates_at != ON_DEVICE);
}

static lego_status run(lego_cuda_sketch *s, const struct job *job)
{
    if (!is_elsewhere(job)) {
        start(s, job->items, job->counts, job->n, job->estimates, s->lane[0].stream);
        return finish(s);
    }
    struct trip trip = {s, job, true};
    parallel_run(job->n < CHUNK / 4 ? 1 : s->threads, travel, &trip); /* fewer are copied before a thread has started */
    s->is_broken |= !trip.is_fine;
    return finish(s) == LEGO_OK && trip.is_fine ? LEGO_OK : LEGO_ERR_DEVICE;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Of the job's counts, wherever they are. */
static lego_status sum_counts(lego_cuda_sketch *s, const struct job *job, struct cuda_sums *sums)
{
    *sums = (struct cuda_sums){0, 0};
    if (!job->counts) {
        sums_add(sums, job->n, job->n);
    } else if (job->counts_at == ON_DEVICE) {
        struct cuda_sums part[KERNEL_SUMS];
        kernel_sum(job->counts, job->n, s->sums, s->lane[0].stream);
        cudaMemcpyAsync(part, s->sums, sizeof part, cudaMemcpyDeviceToHost, s->lane[0].stream);
        if (finish(s) != LEGO_OK) return LEGO_ERR_DEVICE;
        for (unsigned i = 0; i < KERNEL_SUMS; i++) sums_add(sums, part[i].magnitude, part[i].total);
    } else {
        for (size_t i = 0; i < job->n; i++) sums_add_count(sums, job->counts[i]);
    }
    return LEGO_OK;
}

/* As sketch_take_counts(). */
static lego_status take_counts(lego_cuda_sketch *s, const struct cuda_sums *sums)
{
    uint64_t quantum = s->model->quantum, left = (uint64_t)INT64_MAX - s->mass;
    if (sums->magnitude > left / quantum) return LEGO_ERR_RANGE;
    uint64_t mass = s->mass + sums->magnitude * quantum;
    lego_status status = is_too_narrow(s, mass) ? reshape(s, s->dense.blocks, true) : LEGO_OK;
    if (status == LEGO_OK) s->mass = mass;
    return status;
}

lego_status lego_cuda_sketch_add_u64s(lego_cuda_sketch *s, const uint64_t *items, const int64_t *counts, size_t n)
{
    if (!is_usable(s)) return LEGO_ERR_DEVICE;
    if (n == 0) return LEGO_OK;
    struct job job = {.items = items, .counts = counts, .n = n, .items_at = where_is(items)};
    struct cuda_sums sums;
    if (counts) job.counts_at = where_is(counts);
    lego_status status = is_elsewhere(&job) ? allocate_lanes(s) : LEGO_OK;
    if (status == LEGO_OK) status = sum_counts(s, &job, &sums);
    if (status == LEGO_OK) status = take_counts(s, &sums);
    if (status != LEGO_OK) return status;
    s->dense.total += (int64_t)sums.total;
    s->is_shown = false;
    return run(s, &job);
}

/* ---- estimates --------------------------------------------------------------------------------------------------- */

/* The first blocks, packed on the CPU. */
static lego_status fetch_blocks(lego_cuda_sketch *s, struct block block[COMPACT_SCANNED])
{
    uint8_t packed[COMPACT_SCANNED];
    uint32_t n = s->dense.blocks < COMPACT_SCANNED ? s->dense.blocks : COMPACT_SCANNED;
    bool is_wide = s->blocks.is_wide;
    size_t size = n * (is_wide ? sizeof *s->first.wide : sizeof *s->first.narrow);
    cudaMemcpyAsync(&s->first, s->blocks.shown, size, cudaMemcpyDeviceToHost, s->lane[0].stream);
    cudaMemcpyAsync(packed, s->blocks.packed, n, cudaMemcpyDeviceToHost, s->lane[0].stream);
    lego_status status = finish(s);
    for (uint32_t i = 0; i < n && status == LEGO_OK; i++) {
        int64_t value[BLOCK_CELLS];
        for (unsigned c = 0; c < BLOCK_CELLS; c++) value[c] = is_wide ? s->first.wide[i][c] : s->first.narrow[i][c];
        s->dense.kernels->pack(&block[i], value, packed[i]);
    }
    return status;
}

static lego_status show(lego_cuda_sketch *s)
{
    struct block block[COMPACT_SCANNED];
    struct decoder decoder;
    kernel_show(&s->blocks, s->lane[0].stream);
    lego_status status = fetch_blocks(s, block);
    if (status != LEGO_OK) return status;
    prepare_decoder(s->model, &s->dense, block, &decoder);
    cudaMemcpyAsync(s->decoder, &decoder, sizeof decoder, cudaMemcpyHostToDevice, s->lane[0].stream);
    status = finish(s);
    s->is_shown = status == LEGO_OK;
    return status;
}

lego_status lego_cuda_sketch_estimate_u64s(lego_cuda_sketch *s, const uint64_t *items, size_t n,
                                           lego_estimate *estimates)
{
    if (!is_usable(s)) return LEGO_ERR_DEVICE;
    if (n == 0) return LEGO_OK;
    struct job job = {.items = items, .estimates = estimates, .n = n};
    job.items_at = where_is(items);
    job.estimates_at = where_is(estimates);
    lego_status status = is_elsewhere(&job) ? allocate_lanes(s) : LEGO_OK;
    if (status == LEGO_OK && !s->is_shown) status = show(s);
    return status == LEGO_OK ? run(s, &job) : status;
}
