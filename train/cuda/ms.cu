/* ms.cu: the gradient of a step of the meta-sketch on a GPU. The same stages as ms_net.h, a kernel each, over all tiles
 * of 64 items of all tasks of the step; between them sums over the tiles of each task, in a fixed order.
 *
 *     draw                                        tasks
 *     embed_0 | embed_1 | embed_2 | refine_1      |: sums of batch norm (norm_settle)
 *     address, store, store_sum                   items -> memory
 *     read, widen, narrow, head                   items -> answers -> errors, and back through the last two layers
 *     widen, narrow, read, store, store_sum       the same back to the gradient of memory
 *     address | refine_1 | embed_2 | embed_1 | embed_0      back (norm_settle_backward)
 *     weights, weights_sum                        products over items: the gradients of all layers, by task
 *     clip, mean_gradient                         each task clipped, and their mean
 *
 *     ms_device.cuh   what there is on the GPU         ms_product.cuh   the two kinds of products
 *     ms_task.cuh     draw                             ms_norm.cuh      batch norm
 *     ms_embed.cuh    embedding, address, and back     ms_query.cuh     reads, decoder, errors, and back
 *     ms_sum.cuh      memory, weights                  ms_update.cuh    clipping, after Adam */
#include <new>

#include "ms_embed.cuh"
#include "ms_query.cuh"
#include "ms_sum.cuh"
#include "ms_update.cuh"

namespace
{

struct ms : session {
    device s;

    learnt &common() override
    {
        return s;
    }

    void prepare(const cudaDeviceProp &) override
    {
        const uint32_t tiles = groups(s.recipe.n_max, ITEMS);
        s.most_tiles = (int)(s.recipe.batch * tiles);
        s.most_memory = (int)(s.recipe.batch * groups(tiles, MEMORY_TILES));
        s.most_weights = (int)(s.recipe.batch * groups(tiles, WEIGHT_TILES));
        ask(widen<false>, WIDE_SHARED);
        ask(widen<true>, WIDE_SHARED);
        ask(head, sizeof(head_room));
        ask(address_backward, sizeof(address_room));
        ask(weights, WEIGHT_SHARED);
        take(&s.tasks_now, 1);
        take(&s.transposed, PARAMETERS);
        take(&s.tasks, TASKS);
        take(&s.of_task, TASKS);
        take(&s.tiles, s.most_tiles);
        take(&s.tile_sums, s.most_tiles);
        take(&s.partial_memory, (size_t)CELLS * s.most_memory);
        take(&s.partial_weights, (size_t)PARAMETERS * s.most_weights);
        take(&s.gradients, (size_t)PARAMETERS * TASKS);
        take(&s.squares, SUM_BLOCKS * TASKS);
        take(&s.task_clip, TASKS);
    }

    void settle(norm norm)
    {
        norm_settle<<<dim3(groups(norm.features, SETTLED), TASKS), SETTLED * 32, 0, stream>>>(s, norm);
    }

    void settle_backward(norm norm)
    {
        norm_settle_backward<<<dim3(groups(norm.features, SETTLED), TASKS), SETTLED * 32, 0, stream>>>(s, norm);
    }

    template <bool BACKWARD> void enqueue_memory()
    {
        store<BACKWARD><<<dim3(s.most_memory, DEPTH), MEMORY_THREADS, 0, stream>>>(s);
        store_sum<BACKWARD><<<dim3(groups(CELLS, SUM_THREADS), TASKS), SUM_THREADS, 0, stream>>>(s);
    }

    void enqueue_gradient() override
    {
        const dim3 halves(s.most_tiles, 2);
        draw<<<1, TASKS, 0, stream>>>(s);
        embed_0_forward<<<s.most_tiles, SMALL, 0, stream>>>(s);
        settle(NORM_EMBED_0);
        between_forward<64, 43><<<s.most_tiles, SMALL, 0, stream>>>(s, NORM_EMBED_0, NORM_EMBED_1, MS_AT_EMBED_1);
        settle(NORM_EMBED_1);
        embed_2_forward<<<s.most_tiles, SMALL, 0, stream>>>(s);
        settle(NORM_REFINE_0);
        between_forward<32, 18><<<s.most_tiles, SMALL, 0, stream>>>(s, NORM_REFINE_0, NORM_REFINE_1, MS_AT_REFINE_1);
        settle(NORM_REFINE_1);
        address_forward<<<s.most_tiles, SMALL, 0, stream>>>(s);
        enqueue_memory<false>();

        read_forward<<<s.most_tiles, SMALL, 0, stream>>>(s);
        widen<false><<<halves, WIDE_THREADS, WIDE_SHARED, stream>>>(s);
        narrow<false><<<s.most_tiles, NARROW_THREADS, 0, stream>>>(s);
        head<<<s.most_tiles, NARROW_THREADS, sizeof(head_room), stream>>>(s);
        loss_settle<<<1, TASKS * 32, 0, stream>>>(s);
        widen<true><<<halves, WIDE_THREADS, WIDE_SHARED, stream>>>(s);
        narrow<true><<<s.most_tiles, NARROW_THREADS, 0, stream>>>(s);
        read_backward<<<s.most_tiles, SMALL, 0, stream>>>(s);
        enqueue_memory<true>();

        address_backward<<<s.most_tiles, SMALL, sizeof(address_room), stream>>>(s);
        settle_backward(NORM_REFINE_1);
        between_backward<32, 18><<<s.most_tiles, SMALL, 0, stream>>>(s, NORM_REFINE_0, NORM_REFINE_1, MS_AT_REFINE_1);
        settle_backward(NORM_REFINE_0);
        embed_2_backward<<<s.most_tiles, SMALL, 0, stream>>>(s);
        settle_backward(NORM_EMBED_1);
        between_backward<64, 43><<<s.most_tiles, SMALL, 0, stream>>>(s, NORM_EMBED_0, NORM_EMBED_1, MS_AT_EMBED_1);
        settle_backward(NORM_EMBED_0);
        embed_0_backward<<<s.most_tiles, SMALL, 0, stream>>>(s);
        weights<<<dim3(s.most_weights, WEIGHT_JOBS), WEIGHT_THREADS, WEIGHT_SHARED, stream>>>(s);
        weights_sum<<<dim3(SUM_BLOCKS, TASKS), SUM_THREADS, 0, stream>>>(s);
        clip<<<1, TASKS * 32, 0, stream>>>(s);
        mean_gradient<<<SUM_BLOCKS, SUM_THREADS, 0, stream>>>(s);
    }

    void enqueue_constrain() override
    {
        normalise<<<1, 128, 0, stream>>>(s);
        follow<<<1, 160, 0, stream>>>(s);
        enqueue_derived();
    }

    void enqueue_derived() override
    {
        transpose_all<<<SUM_BLOCKS, SUM_THREADS, 0, stream>>>(s);
    }
};
static_assert(DEPTH * SLOTS <= 128 && MS_NORMED <= 160, "normalise() and follow() have a thread for each");

} // namespace

session *ms_session()
{
    return new (std::nothrow) ms();
}
