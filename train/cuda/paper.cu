/* paper.cu: the gradient of a step of the paper's networks on a GPU. The same mathematics as paper_task.c, laid out for a machine that would rather
 * compute than remember: nothing but the bricks and a few sums goes to memory, items are drawn again in every pass.
 *
 *     draw     8 tasks                                   1 thread a task
 *     store    items -> bricks                           1 thread an item, 64-bit integer atomics: any order, one sum
 *     scan     bricks -> s(n), s(alpha), implicit        1 block a row of a brick, 1 thread a cell
 *     errors   items -> f', f'' -> sums of errors        1 thread an item; here and in query not those of scouts
 *     loss     sums -> losses, and what a unit of each error is worth
 *     query    items -> gradients of the decoder and V   1 thread an item forward and back; then, layer by layer, the
 *                                                        block multiplies its 128 items' inputs and deltas
 *     rescan   bricks -> gradients of the scan
 *     sum                                                partial gradients in a fixed order */
#include <new>

#include "query.cuh"

namespace
{

/* A warp a parameter: lanes take every 32nd partial gradient, then a tree. */
__global__ void sum(device s)
{
    int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (p >= LOSS_AT) return;
    double total = 0;
    if (p < TABLE) {
        for (int i = lane; i < s.blocks; i += 32)
            total += (double)s.partial_table[(size_t)i * TABLE + p] / *s.table_scale;
    } else if (p < DEC_AT) {
        if (!s.recipe.no_scan)
            for (int i = lane; i < TASKS * ROWS * QUARTERS; i += 32)
                total += s.partial_scan[(size_t)i * SCAN_SIZE + p - SCAN_AT];
    } else {
        for (int i = lane; i < s.blocks; i += 32) total += s.partial_dec[(size_t)i * DEC_SIZE + p - DEC_AT];
    }
    total = warp_sum(total);
    if (lane == 0) s.gradient[p] = (float)total;
}

/* Brings V back to where it may be. */
__global__ void clamp_table(device s)
{
    float &v = s.parameters[threadIdx.x];
    v = fminf(fmaxf(v, 0.001f), 1.0f);
}

struct paper : session {
    device s;

    learnt &common() override
    {
        return s;
    }

    void prepare(const cudaDeviceProp &card) override
    {
        int resident = 1;
        ask(query, QUERY_SHARED);
        ask(rescan, RESCAN_SHARED);
        must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, query, ITEMS, QUERY_SHARED));
        s.blocks = card.multiProcessorCount * resident; /* the sums of a gradient, so its last bits, depend on it */
        const size_t tiles = (size_t)TASKS * ((s.recipe.n_max + ITEMS - 1) / ITEMS);
        take(&s.tasks, TASKS);
        take(&s.bricks, TASKS * ROWS * COLUMNS);
        take(&s.mass, TASKS);
        take(&s.scans, TASKS * ROWS);
        take(&s.tile_sums, 6 * tiles);
        take(&s.tile_implicit, 4 * tiles);
        take(&s.worth, 3 * TASKS);
        take(&s.doff, 2 * TASKS);
        take(&s.table_scale, 1);
        take(&s.partial_dec, (size_t)DEC_SIZE * s.blocks);
        take(&s.partial_table, (size_t)TABLE * s.blocks);
        take(&s.partial_scan, (size_t)SCAN_SIZE * TASKS * ROWS * QUARTERS);
    }

    void enqueue_gradient() override
    {
        cudaMemsetAsync(s.bricks, 0, sizeof(uint64_t) * TASKS * ROWS * COLUMNS, stream);
        draw<<<1, TASKS, 0, stream>>>(s);
        store<<<s.blocks * 4, ITEMS, 0, stream>>>(s);
        if (!s.recipe.no_scan) scan<<<TASKS * ROWS, ITEMS, 0, stream>>>(s);
        errors<<<s.blocks * 2, ITEMS, 0, stream>>>(s);
        loss<<<1, TASKS * 32, 0, stream>>>(s);
        query<<<s.blocks, ITEMS, QUERY_SHARED, stream>>>(s);
        if (!s.recipe.no_scan) rescan<<<TASKS * ROWS * QUARTERS, ITEMS, RESCAN_SHARED, stream>>>(s);
        sum<<<(LOSS_AT * 32 + 255) / 256, 256, 0, stream>>>(s);
    }

    void enqueue_constrain() override
    {
        clamp_table<<<1, TABLE, 0, stream>>>(s);
    }
};

} // namespace

session *paper_session()
{
    return new (std::nothrow) paper();
}
