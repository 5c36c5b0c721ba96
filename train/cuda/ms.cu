/* ms_train.cu: the meta-sketch's training step on a GPU. The same stages as train/ms_net.h, a kernel each, over all
 * tiles of 64 items of all tasks of the step; between them sums over the tiles of each task, in a fixed order, so the
 * same seed gives the same weights, bit for bit.
 *
 *     draw                                        tasks
 *     embed_0 | embed_1 | embed_2 | refine_1      |: sums of batch norm (norm_settle)
 *     address, store, store_sum                   items -> memory
 *     read, widen, narrow, head                   items -> answers -> errors, and back through the last two layers
 *     widen, narrow, read, store, store_sum       the same back to the gradient of memory
 *     address | refine_1 | embed_2 | embed_1 | embed_0      back (norm_settle_backward)
 *     weights, weights_sum                        products over items: the gradients of all layers, by task
 *     clip, adam, finish
 *
 *     ms_device.cuh   what there is on the GPU         ms_product.cuh   the two kinds of products
 *     ms_task.cuh     draw                             ms_norm.cuh      batch norm
 *     ms_embed.cuh    embedding, address, and back     ms_query.cuh     reads, decoder, errors, and back
 *     ms_sum.cuh      memory, weights                  ms_update.cuh    clipping, Adam */
#include <stdio.h>
#include <stdlib.h>

#include "memory.cuh"
#include "ms_embed.cuh"
#include "ms_query.cuh"
#include "ms_sum.cuh"
#include "ms_update.cuh"
#include "steps.cuh"

struct ms_session {
    device s;
    cudaStream_t stream;
    cudaGraphExec_t graph; /* a whole step */
    void *memory;
    char description[300];
};

namespace {

void settle(ms_session *t, norm norm)
{
    norm_settle<<<dim3(groups(norm.features, SETTLED), TASKS), SETTLED * 32, 0, t->stream>>>(t->s, norm);
}

void settle_backward(ms_session *t, norm norm)
{
    norm_settle_backward<<<dim3(groups(norm.features, SETTLED), TASKS), SETTLED * 32, 0, t->stream>>>(t->s, norm);
}

template <bool BACKWARD>
void enqueue_memory(ms_session *t)
{
    store<BACKWARD><<<dim3(t->s.most_memory, DEPTH), MEMORY_THREADS, 0, t->stream>>>(t->s);
    store_sum<BACKWARD><<<dim3(groups(CELLS, SUM_THREADS), TASKS), SUM_THREADS, 0, t->stream>>>(t->s);
}

/* Everything up to the gradients. */
void enqueue_gradients(ms_session *t)
{
    const device &s = t->s;
    const dim3 halves(s.most_tiles, 2);
    draw<<<1, TASKS, 0, t->stream>>>(s);
    embed_0_forward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    settle(t, NORM_EMBED_0);
    embed_1_forward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    settle(t, NORM_EMBED_1);
    embed_2_forward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    settle(t, NORM_REFINE_0);
    refine_1_forward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    settle(t, NORM_REFINE_1);
    address_forward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    enqueue_memory<false>(t);

    read_forward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    widen<false><<<halves, WIDE_THREADS, WIDE_SHARED, t->stream>>>(s);
    narrow<false><<<s.most_tiles, NARROW_THREADS, 0, t->stream>>>(s);
    head<<<s.most_tiles, NARROW_THREADS, sizeof(head_room), t->stream>>>(s);
    loss_settle<<<1, TASKS * 32, 0, t->stream>>>(s);
    widen<true><<<halves, WIDE_THREADS, WIDE_SHARED, t->stream>>>(s);
    narrow<true><<<s.most_tiles, NARROW_THREADS, 0, t->stream>>>(s);
    read_backward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    enqueue_memory<true>(t);

    address_backward<<<s.most_tiles, SMALL, sizeof(address_room), t->stream>>>(s);
    settle_backward(t, NORM_REFINE_1);
    refine_1_backward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    settle_backward(t, NORM_REFINE_0);
    embed_2_backward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    settle_backward(t, NORM_EMBED_1);
    embed_1_backward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    settle_backward(t, NORM_EMBED_0);
    embed_0_backward<<<s.most_tiles, SMALL, 0, t->stream>>>(s);
    weights<<<dim3(s.most_weights, WEIGHT_JOBS), WEIGHT_THREADS, WEIGHT_SHARED, t->stream>>>(s);
    weights_sum<<<dim3(SUM_BLOCKS, TASKS), SUM_THREADS, 0, t->stream>>>(s);
}

void enqueue_update(ms_session *t)
{
    clip<<<1, TASKS * 32, 0, t->stream>>>(t->s);
    adam<<<SUM_BLOCKS, SUM_THREADS, 0, t->stream>>>(t->s);
    finish<<<1, 256, 0, t->stream>>>(t->s);
}
static_assert(MS_NORMED <= 256 && DEPTH * SLOTS <= 256, "finish() has a thread for each");

cudaError_t take_memory(ms_session *t)
{
    device &s = t->s;
    uint32_t tiles = groups(s.recipe.n_max, ITEMS);
    s.most_tiles = (int)(s.recipe.batch * tiles);
    s.most_memory = (int)(s.recipe.batch * groups(tiles, MEMORY_TILES));
    s.most_weights = (int)(s.recipe.batch * groups(tiles, WEIGHT_TILES));
    const size_t floats = sizeof(float) * PARAMETERS;
    const part parts[] = {{(void **)&s.step, sizeof(uint64_t)},
                          {(void **)&s.broken, sizeof(int)},
                          {(void **)&s.count, sizeof(int)},
                          {(void **)&s.rate, sizeof(double)},
                          {(void **)&s.parameters, floats},
                          {(void **)&s.first, floats},
                          {(void **)&s.second, floats},
                          {(void **)&s.transposed, floats},
                          {(void **)&s.mean, sizeof(double) * MS_NORMED},
                          {(void **)&s.variance, sizeof(double) * MS_NORMED},
                          {(void **)&s.tasks, sizeof(drawn) * TASKS},
                          {(void **)&s.of_task, sizeof(shared) * TASKS},
                          {(void **)&s.tiles, sizeof(items) * s.most_tiles},
                          {(void **)&s.tile_sums, sizeof(sums) * s.most_tiles},
                          {(void **)&s.partial_memory, sizeof(float) * CELLS * s.most_memory},
                          {(void **)&s.partial_weights, floats * s.most_weights},
                          {(void **)&s.gradients, floats * TASKS},
                          {(void **)&s.squares, sizeof(double) * SUM_BLOCKS * TASKS},
                          {(void **)&s.clip, sizeof(double) * TASKS},
                          {(void **)&s.history, sizeof(struct ms_losses) * HISTORY}};
    return allocate(parts, &t->memory);
}

/* More shared memory than kernels may have unasked. */
template <class Kernel>
cudaError_t ask(Kernel kernel, size_t size)
{
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)size);
}

cudaError_t capture(ms_session *t)
{
    cudaGraph_t graph;
    cudaError_t error = cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeGlobal);
    if (error != cudaSuccess) return error;
    enqueue_gradients(t);
    enqueue_update(t);
    error = cudaStreamEndCapture(t->stream, &graph);
    if (error != cudaSuccess) return error;
    error = cudaGraphInstantiate(&t->graph, graph, 0);
    cudaGraphDestroy(graph);
    return error;
}

cudaError_t prepare(ms_session *t)
{
    cudaDeviceProp card;
    int number;
    cudaError_t error = cudaGetDevice(&number);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&card, number);
    if (error == cudaSuccess) error = ask(widen<false>, WIDE_SHARED);
    if (error == cudaSuccess) error = ask(widen<true>, WIDE_SHARED);
    if (error == cudaSuccess) error = ask(head, sizeof(head_room));
    if (error == cudaSuccess) error = ask(address_backward, sizeof(address_room));
    if (error == cudaSuccess) error = ask(weights, WEIGHT_SHARED);
    if (error == cudaSuccess) error = take_memory(t);
    if (error == cudaSuccess) error = cudaStreamCreate(&t->stream);
    if (error != cudaSuccess) return error;
    snprintf(t->description, sizeof t->description, "cuda, %s", card.name);
    return capture(t);
}

void cuda_close(ms_session *t)
{
    if (!t) return;
    if (t->graph) cudaGraphExecDestroy(t->graph);
    if (t->stream) cudaStreamDestroy(t->stream);
    cudaFree(t->memory);
    free(t);
}

bool cuda_load(ms_session *t, const struct ms_state *state)
{
    const device &s = t->s;
    int whole = 0;
    if (!put(s.parameters, state->parameters, sizeof state->parameters) ||
        !put(s.first, state->first, sizeof state->first) || !put(s.second, state->second, sizeof state->second) ||
        !put(s.mean, state->mean, sizeof state->mean) || !put(s.variance, state->variance, sizeof state->variance) ||
        !put(s.step, &state->step, sizeof state->step) || !put(s.broken, &whole, sizeof whole))
        return false;
    transpose_all<<<SUM_BLOCKS, SUM_THREADS, 0, t->stream>>>(s);
    return cudaStreamSynchronize(t->stream) == cudaSuccess;
}

bool cuda_save(ms_session *t, struct ms_state *state)
{
    const device &s = t->s;
    return get(state->parameters, s.parameters, sizeof state->parameters) &&
           get(state->first, s.first, sizeof state->first) && get(state->second, s.second, sizeof state->second) &&
           get(state->mean, s.mean, sizeof state->mean) && get(state->variance, s.variance, sizeof state->variance) &&
           get(&state->step, s.step, sizeof state->step);
}

ms_session *cuda_open(const struct ms_recipe *recipe, unsigned threads, char error[BACKEND_ERROR])
{
    (void)threads;
    const char *problem = ms_recipe_problem(recipe);
    ms_session *t = problem ? NULL : static_cast<ms_session *>(calloc(1, sizeof(ms_session)));
    struct ms_state *state = t ? static_cast<struct ms_state *>(malloc(sizeof *state)) : NULL;
    if (!state) {
        snprintf(error, BACKEND_ERROR, "%s", problem ? problem : "there is not enough memory");
        free(t);
        return NULL;
    }
    t->s.recipe = *recipe;
    ms_state_start(recipe, state);
    cudaError_t failed = prepare(t);
    if (failed == cudaSuccess && !cuda_load(t, state)) failed = cudaErrorUnknown;
    free(state);
    if (failed == cudaSuccess) return t;
    snprintf(error, BACKEND_ERROR, "%s", cudaGetErrorString(failed));
    cuda_close(t);
    return NULL;
}

const char *cuda_describe(const ms_session *t)
{
    return t->description;
}

enum backend_result cuda_task(ms_session *t, uint64_t step, uint32_t place, struct ms_found *found)
{
    const device &s = t->s;
    uint64_t before;
    if (!get(&before, s.step, sizeof before) || !put(s.step, &step, sizeof step)) return BACKEND_FAILED;
    enqueue_gradients(t);
    if (cudaGetLastError() != cudaSuccess || cudaStreamSynchronize(t->stream) != cudaSuccess ||
        !put(s.step, &before, sizeof before))
        return BACKEND_FAILED;
    const shared *of_task = s.of_task + place;
    return get(found->gradient, s.gradients + (size_t)place * PARAMETERS, sizeof found->gradient) &&
                   get(found->mean, of_task->mean, sizeof found->mean) &&
                   get(found->variance, of_task->variance, sizeof found->variance) &&
                   get(found->memory, of_task->memory, sizeof found->memory) &&
                   get(&found->losses, &of_task->losses, sizeof found->losses)
               ? BACKEND_DONE
               : BACKEND_FAILED;
}

enum backend_result cuda_steps(ms_session *t, uint32_t count, struct ms_losses losses[], uint32_t *done)
{
    return run_steps<HISTORY>(t, count, losses, done);
}

} // namespace

extern "C" const struct ms_backend ms_backend_cuda = {"cuda",    cuda_open, cuda_close, cuda_describe,
                                                      cuda_load, cuda_save, cuda_task,  cuda_steps};
