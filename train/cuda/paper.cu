/* train.cu: the training step on a GPU. The same mathematics as train/cpu.c, laid out for a machine that would rather
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
 *     sum, update                                        partial gradients in a fixed order, clipping, Adam
 *
 * Every sum has a fixed order or is of integers, so the same seed gives the same weights, bit for bit. */
#include <stdio.h>
#include <stdlib.h>

#include "memory.cuh"
#include "query.cuh"
#include "scan.cuh"
#include "steps.cuh"
#include "task.cuh"
#include "update.cuh"

struct session {
    device s;
    cudaStream_t stream;
    cudaGraphExec_t graph; /* a whole step: one call instead of eleven */
    void *memory;
    char description[300];
};

namespace {

/* Everything up to the gradient. */
void enqueue_gradient(session *t)
{
    device &s = t->s;
    cudaMemsetAsync(s.bricks, 0, sizeof(uint64_t) * TASKS * ROWS * COLUMNS, t->stream);
    draw<<<1, TASKS, 0, t->stream>>>(s);
    store<<<s.blocks * 4, ITEMS, 0, t->stream>>>(s);
    if (!s.recipe.no_scan) scan<<<TASKS * ROWS, ITEMS, 0, t->stream>>>(s);
    errors<<<s.blocks * 2, ITEMS, 0, t->stream>>>(s);
    loss<<<1, TASKS * 32, 0, t->stream>>>(s);
    query<<<s.blocks, ITEMS, QUERY_SHARED, t->stream>>>(s);
    if (!s.recipe.no_scan) rescan<<<TASKS * ROWS * QUARTERS, ITEMS, RESCAN_SHARED, t->stream>>>(s);
    sum<<<(LOSS_AT * 32 + 255) / 256, 256, 0, t->stream>>>(s);
}

cudaError_t take_memory(session *t)
{
    device &s = t->s;
    size_t tiles = (size_t)TASKS * ((s.recipe.n_max + ITEMS - 1) / ITEMS), floats = sizeof(float) * PARAMETERS;
    const part parts[] = {{(void **)&s.parameters, floats},
                          {(void **)&s.first, floats},
                          {(void **)&s.second, floats},
                          {(void **)&s.average, floats},
                          {(void **)&s.gradient, floats},
                          {(void **)&s.tasks, sizeof(drawn) * TASKS},
                          {(void **)&s.bricks, sizeof(uint64_t) * TASKS * ROWS * COLUMNS},
                          {(void **)&s.mass, sizeof(uint64_t) * TASKS},
                          {(void **)&s.scans, sizeof(scanned) * TASKS * ROWS},
                          {(void **)&s.tile_sums, sizeof(double) * 6 * tiles},
                          {(void **)&s.tile_implicit, sizeof(float) * 4 * tiles},
                          {(void **)&s.worth, sizeof(float) * 3 * TASKS},
                          {(void **)&s.table_scale, sizeof(double)},
                          {(void **)&s.partial_dec, sizeof(float) * DEC_SIZE * s.blocks},
                          {(void **)&s.partial_table, sizeof(long long) * TABLE * s.blocks},
                          {(void **)&s.partial_scan, sizeof(float) * SCAN_SIZE * TASKS * ROWS * QUARTERS},
                          {(void **)&s.losses, sizeof(struct losses)},
                          {(void **)&s.history, sizeof(struct losses) * HISTORY},
                          {(void **)&s.step, sizeof(uint64_t)},
                          {(void **)&s.broken, sizeof(int)}};
    return allocate(parts, &t->memory);
}

cudaError_t capture(session *t)
{
    cudaGraph_t graph;
    cudaError_t error = cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeGlobal);
    if (error != cudaSuccess) return error;
    enqueue_gradient(t);
    update<<<1, 1024, 0, t->stream>>>(t->s);
    error = cudaStreamEndCapture(t->stream, &graph);
    if (error != cudaSuccess) return error;
    error = cudaGraphInstantiate(&t->graph, graph, 0);
    cudaGraphDestroy(graph);
    return error;
}

cudaError_t prepare(session *t)
{
    cudaDeviceProp card;
    int number, resident;
    cudaError_t error = cudaGetDevice(&number);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&card, number);
    if (error == cudaSuccess) error = cudaFuncSetAttribute(query, cudaFuncAttributeMaxDynamicSharedMemorySize, QUERY_SHARED);
    if (error == cudaSuccess) error = cudaFuncSetAttribute(rescan, cudaFuncAttributeMaxDynamicSharedMemorySize, RESCAN_SHARED);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, query, ITEMS, QUERY_SHARED);
    if (error != cudaSuccess) return error;
    t->s.blocks = card.multiProcessorCount * resident; /* the sums of a gradient, so its last bits, depend on it */
    snprintf(t->description, sizeof t->description, "cuda, %s", card.name);
    error = take_memory(t);
    if (error == cudaSuccess) error = cudaStreamCreate(&t->stream);
    return error == cudaSuccess ? capture(t) : error;
}

void cuda_close(session *t)
{
    if (!t) return;
    if (t->graph) cudaGraphExecDestroy(t->graph);
    if (t->stream) cudaStreamDestroy(t->stream);
    cudaFree(t->memory);
    free(t);
}

bool cuda_load(session *t, const struct state *state)
{
    const device &s = t->s;
    int whole = 0;
    return put(s.parameters, state->parameters, sizeof state->parameters) &&
           put(s.first, state->first, sizeof state->first) && put(s.second, state->second, sizeof state->second) &&
           put(s.average, state->average, sizeof state->average) && put(s.step, &state->step, sizeof state->step) &&
           put(s.broken, &whole, sizeof whole);
}

bool cuda_save(session *t, struct state *state)
{
    const device &s = t->s;
    return get(state->parameters, s.parameters, sizeof state->parameters) &&
           get(state->first, s.first, sizeof state->first) && get(state->second, s.second, sizeof state->second) &&
           get(state->average, s.average, sizeof state->average) && get(&state->step, s.step, sizeof state->step);
}

session *cuda_open(const struct recipe *recipe, unsigned threads, char error[BACKEND_ERROR])
{
    (void)threads;
    const char *problem = recipe_problem(recipe);
    session *t = problem ? NULL : static_cast<session *>(calloc(1, sizeof(session)));
    if (!t) {
        snprintf(error, BACKEND_ERROR, "%s", problem ? problem : "there is not enough memory");
        return NULL;
    }
    t->s.recipe = *recipe;
    t->s.steps = recipe_steps(recipe);
    t->s.average_rate = adam_average(recipe);
    cudaError_t failure = prepare(t);
    struct state *start = static_cast<struct state *>(malloc(sizeof *start));
    if (start) state_start(recipe, start);
    bool loaded = failure == cudaSuccess && start && cuda_load(t, start);
    free(start);
    if (loaded) return t;
    snprintf(error, BACKEND_ERROR, "the GPU: %s", cudaGetErrorString(failure != cudaSuccess ? failure : cudaGetLastError()));
    cuda_close(t);
    return NULL;
}

const char *cuda_describe(const session *t)
{
    return t->description;
}

enum backend_result cuda_gradient(session *t, uint64_t step, float gradient[TRAIN_PARAMETERS], struct losses *losses)
{
    uint64_t now;
    if (!get(&now, t->s.step, sizeof now) || !put(t->s.step, &step, sizeof step)) return BACKEND_FAILED;
    enqueue_gradient(t);
    if (cudaStreamSynchronize(t->stream) != cudaSuccess ||
        !get(gradient, t->s.gradient, sizeof(float) * PARAMETERS) || !get(losses, t->s.losses, sizeof *losses) ||
        !put(t->s.step, &now, sizeof now))
        return BACKEND_FAILED;
    bool finite = isfinite(losses->total);
    for (int i = 0; i < PARAMETERS; i++) finite = finite && isfinite(gradient[i]);
    return finite ? BACKEND_DONE : BACKEND_NOT_FINITE;
}

enum backend_result cuda_steps(session *t, uint32_t count, struct losses losses[], uint32_t *done)
{
    return run_steps<HISTORY>(t, count, losses, done);
}

} // namespace

extern "C" const struct backend backend_cuda = {"cuda",    cuda_open, cuda_close,    cuda_describe,
                                                cuda_load, cuda_save, cuda_gradient, cuda_steps};
