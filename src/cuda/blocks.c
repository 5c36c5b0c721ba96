/* blocks: see blocks.h. */
#include "cuda/blocks.h"

#include <stdlib.h>

#include "cuda/kernels.h"
#include "cuda/status.h"
#include "sketch/answer.h"

struct cuda_blocks {
    struct device_blocks device;
    void *room; /* of additions */
    size_t room_size;
    struct questions *questions;
    bool is_ready; /* they are of the content as it is */
};

static size_t bytes_of(const struct device_blocks *device)
{
    return ((size_t)device->blocks + device->caps) * sizeof(struct block);
}

lego_status cuda_blocks_upload(const struct blocks *host, struct cuda_blocks **result)
{
    struct cuda_blocks *made = calloc(1, sizeof *made);
    if (!made) return LEGO_ERR_MEMORY;
    made->device = (struct device_blocks){
        .blocks = host->blocks, .caps = blocks_caps(host->blocks, host->most), .whole = host->whole};
    const size_t size = bytes_of(&made->device);
    lego_status status = cuda_status(cudaMalloc((void **)&made->device.block, size));
    if (status == LEGO_OK) status = cuda_status(cudaMalloc((void **)&made->questions, sizeof *made->questions));
    if (status == LEGO_OK)
        status = cuda_status(cudaMemcpy(made->device.block, host->block, size, cudaMemcpyHostToDevice));
    if (status == LEGO_OK) *result = made;
    else cuda_blocks_free(made);
    return status;
}

void cuda_blocks_free(struct cuda_blocks *b)
{
    if (!b) return;
    cudaFree(b->questions);
    cudaFree(b->room);
    cudaFree(b->device.block);
    free(b);
}

lego_status cuda_blocks_download(const struct cuda_blocks *b, struct blocks *host)
{
    return cuda_status(cudaMemcpy(host->block, b->device.block, bytes_of(&b->device), cudaMemcpyDeviceToHost));
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static lego_status make_room(struct cuda_blocks *b, size_t n, bool counted)
{
    size_t size = kernel_add_bytes(&b->device, n, counted);
    if (size <= b->room_size) return LEGO_OK;
    cudaFree(b->room); /* which waits until nobody uses it */
    b->room = NULL;
    b->room_size = 0;
    lego_status status = cuda_status(cudaMalloc(&b->room, size));
    if (status == LEGO_OK) b->room_size = size;
    return status;
}

lego_status cuda_blocks_add(struct cuda_blocks *b, struct seed seed, const uint64_t *keys, const int64_t *counts,
                            size_t n, cudaStream_t stream)
{
    lego_status status = make_room(b, n < CUDA_BLOCKS_AT_ONCE ? n : CUDA_BLOCKS_AT_ONCE, counts != NULL);
    if (status != LEGO_OK) return status;
    b->is_ready = false;
    b->device.way = hash_short_way(seed);
    for (size_t first = 0, some; first < n && status == LEGO_OK; first += some) {
        some = n - first < CUDA_BLOCKS_AT_ONCE ? n - first : CUDA_BLOCKS_AT_ONCE;
        cudaError_t error = kernel_add(&b->device, keys + first, counts ? counts + first : NULL, some, b->room, stream);
        if (error != cudaSuccess) status = LEGO_ERR_DEVICE;
    }
    return status;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* The first blocks, all that learn() looks at, and their caps: as those of a sketch that has no more. */
enum { SEEN = LEARN_AMONG + 2 * BLOCKS_A_CAP };

struct learning {
    struct questions questions;
    max_align_t room[LEARN_BYTES / sizeof(max_align_t)];
    struct block block[SEEN + SEEN / BLOCKS_A_CAP];
};

/* Of all readings that there can be. */
static void make_slack(struct questions *q, const struct blocks *blocks)
{
    for (unsigned bits = 0; bits <= BLOCK_PRINT; bits++)
        for (unsigned cap = 0; cap < LIST_CAPS; cap++) {
            struct reading list = {.step = STEP_LIST, .values = cap ? 2 : 1, .width = {UINT32_C(1) << bits, 1}};
            if (cap) list.width[1] = UINT32_C(1) << (cap - 1 + LEARN_NARROWEST);
            q->slack_listed[list_widths(&list)] = slack_of(blocks, &list);
        }
    for (unsigned i = 0; i < WIDTH_TRIPLES; i++) {
        struct reading shares = {.step = STEP_SHARE, .values = 3};
        for (unsigned k = 0, rest = i; k < 3; k++, rest /= LEARN_WIDTHS)
            shares.width[k] = UINT32_C(1) << (rest % LEARN_WIDTHS + LEARN_NARROWEST);
        q->slack_shared[width_triple(&shares)] = slack_of(blocks, &shares);
    }
}

static lego_status learn_blocks(struct cuda_blocks *b, int64_t total, struct learning *learning, cudaStream_t stream)
{
    const struct device_blocks *d = &b->device;
    const uint32_t n = d->blocks < SEEN ? d->blocks : SEEN, caps = blocks_caps(n, n);
    struct blocks seen = {.block = learning->block,
                          .blocks = n,
                          .most = n,
                          .whole = d->whole,
                          .total = total,
                          .kernels = block_kernels_best()};
    cudaMemcpyAsync(learning->block, d->block, n * sizeof(struct block), cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(learning->block + n, d->block + d->blocks, caps * sizeof(struct block), cudaMemcpyDeviceToHost,
                    stream);
    if (cudaStreamSynchronize(stream) != cudaSuccess) return LEGO_ERR_DEVICE;
    learn(&seen, &learning->questions.learnt, learning->room);
    seen.blocks = d->blocks;
    make_slack(&learning->questions, &seen);
    cudaMemcpyAsync(b->questions, &learning->questions, sizeof learning->questions, cudaMemcpyHostToDevice, stream);
    return cudaStreamSynchronize(stream) == cudaSuccess ? LEGO_OK : LEGO_ERR_DEVICE;
}

static lego_status prepare(struct cuda_blocks *b, int64_t total, cudaStream_t stream)
{
    if (b->is_ready) return LEGO_OK;
    struct learning *learning = malloc(sizeof *learning);
    if (!learning) return LEGO_ERR_MEMORY;
    lego_status status = learn_blocks(b, total, learning, stream);
    free(learning);
    b->is_ready = status == LEGO_OK;
    return status;
}

lego_status cuda_blocks_query(struct cuda_blocks *b, struct seed seed, int64_t total, const lego_asking *asking,
                              const uint64_t *keys, size_t n, lego_estimate *estimates, cudaStream_t stream)
{
    const struct asked_as as = asked_as_of(asking);
    lego_status status = prepare(b, total, stream);
    if (status != LEGO_OK) return status;
    b->device.way = hash_short_way(seed);
    kernel_query(&b->device, b->questions, &as, keys, n, estimates, stream);
    return LEGO_OK;
}
