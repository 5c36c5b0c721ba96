/* session.cu: the CUDA backend: sessions, and what a step does once the gradient is there. */
#include <new>
#include <stdio.h>

#include "session.cuh"

extern "C" {
#include "adam.h"
}

namespace
{

/* ---- the update -------------------------------------------------------------------------------------------------- */

constexpr int THREADS = 256;

/* One block: the norm of the gradient, whether the step counts, and its losses. */
__global__ void __launch_bounds__(1024) judge(learnt s)
{
    __shared__ double warp_sums[32];
    double square = 0;
    for (uint32_t p = threadIdx.x; p < s.count; p += 1024) square += s.gradient[p] * s.gradient[p];
    square = warp_sum(square);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = square;
    __syncthreads();
    if (threadIdx.x != 0) return;
    square = 0;
    for (double x : warp_sums) square += x;
    *s.clip = adam_clip(square, recipe_clip(&s.recipe));
    if (!isfinite(square) || !isfinite(s.losses[0])) *s.broken = 1;
    for (uint32_t i = 0; i < s.losses_count; i++) s.history[*s.step % HISTORY * s.losses_count + i] = s.losses[i];
}

/* A thread a parameter. */
__global__ void __launch_bounds__(THREADS) move(learnt s)
{
    const uint32_t p = blockIdx.x * THREADS + threadIdx.x;
    if (p < s.count && !*s.broken)
        adam_move(adam_at(&s.recipe, *s.step), recipe_rate(&s.recipe, p), *s.clip * s.gradient[p], &s.parameters[p],
                  &s.first[p], &s.second[p]);
}

__global__ void __launch_bounds__(THREADS) finish(learnt s)
{
    const uint32_t p = blockIdx.x * THREADS + threadIdx.x;
    if (*s.broken) return;
    if (p < s.count) s.average[p] = adam_average(recipe_average(&s.recipe), s.average[p], s.parameters[p]);
    if (p == 0) ++*s.step;
}

void enqueue_step(session *t)
{
    const learnt &s = t->common();
    const uint32_t blocks = (s.count + THREADS - 1) / THREADS;
    t->enqueue_gradient();
    judge<<<1, 1024, 0, t->stream>>>(s);
    move<<<blocks, THREADS, 0, t->stream>>>(s);
    t->enqueue_constrain();
    finish<<<blocks, THREADS, 0, t->stream>>>(s);
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

bool put(void *to, const void *from, size_t size)
{
    return cudaMemcpy(to, from, size, cudaMemcpyHostToDevice) == cudaSuccess;
}

bool get(void *to, const void *from, size_t size)
{
    return cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost) == cudaSuccess;
}

void take_common(session *t)
{
    learnt &s = t->common();
    t->take(&s.step, 1);
    t->take(&s.broken, 1);
    t->take(&s.parameters, s.count);
    t->take(&s.first, s.count);
    t->take(&s.second, s.count);
    t->take(&s.average, s.count);
    t->take(&s.statistics, NET_STATISTICS);
    t->take(&s.gradient, s.count);
    t->take(&s.clip, 1);
    t->take(&s.losses, NET_LOSSES);
    t->take(&s.history, (size_t)HISTORY * s.losses_count);
}

void capture(session *t)
{
    cudaGraph_t graph;
    if (!t->must(cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeGlobal))) return;
    enqueue_step(t);
    if (!t->must(cudaStreamEndCapture(t->stream, &graph))) return;
    t->must(cudaGraphInstantiate(&t->graph, graph, 0));
    cudaGraphDestroy(graph);
}

void prepare(session *t)
{
    cudaDeviceProp card;
    int number;
    if (!t->must(cudaGetDevice(&number)) || !t->must(cudaGetDeviceProperties(&card, number))) return;
    snprintf(t->description, sizeof t->description, "cuda, %s", card.name);
    take_common(t);
    t->prepare(card);
    if (t->must(cudaStreamCreate(&t->stream))) capture(t);
}

/* An array of the state, to the GPU or back. */
bool copy(bool load, void *there, void *here, size_t size)
{
    return load ? put(there, here, size) : get(here, there, size);
}

bool copy_state(const learnt &s, bool load, struct state *state)
{
    const size_t floats = s.count * sizeof(float);
    return copy(load, s.parameters, state->parameters, floats) && copy(load, s.first, state->first, floats) &&
           copy(load, s.second, state->second, floats) && copy(load, s.average, state->average, floats) &&
           copy(load, s.statistics, state->statistics, sizeof state->statistics) &&
           copy(load, s.step, &state->step, sizeof state->step);
}

bool cuda_load(session *t, const struct state *state)
{
    int whole = 0;
    if (!copy_state(t->common(), true, const_cast<struct state *>(state)) ||
        !put(t->common().broken, &whole, sizeof whole))
        return false;
    t->enqueue_derived();
    return cudaStreamSynchronize(t->stream) == cudaSuccess;
}

bool cuda_save(session *t, struct state *state)
{
    return copy_state(t->common(), false, state);
}

void cuda_close(session *t)
{
    delete t;
}

session *cuda_open(const struct recipe *recipe, unsigned threads, char error[BACKEND_ERROR])
{
    (void)threads;
    const char *problem = recipe_problem(recipe);
    session *t = problem ? NULL : recipe->net == NET_MS ? ms_session() : paper_session();
    struct state *start = t ? new (std::nothrow) struct state : NULL;
    snprintf(error, BACKEND_ERROR, "%s", problem ? problem : "there is not enough memory");
    if (start) {
        t->common().recipe = *recipe;
        t->common().count = net_of(recipe)->parameters;
        t->common().losses_count = net_of(recipe)->losses;
        state_start(recipe, start);
        prepare(t);
        if (t->failure == cudaSuccess && cuda_load(t, start)) {
            delete start;
            return t;
        }
        t->must(cudaGetLastError());
        snprintf(error, BACKEND_ERROR, "the GPU: %s", cudaGetErrorString(t->failure));
    }
    delete start;
    delete t;
    return NULL;
}

const char *cuda_describe(const session *t)
{
    return t->description;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

enum backend_result cuda_gradient(session *t, uint64_t step, double gradient[], double losses[])
{
    const learnt &s = t->common();
    uint64_t now;
    if (!get(&now, s.step, sizeof now) || !put(s.step, &step, sizeof step)) return BACKEND_FAILED;
    t->enqueue_gradient();
    if (cudaStreamSynchronize(t->stream) != cudaSuccess || !get(gradient, s.gradient, sizeof(double) * s.count) ||
        !get(losses, s.losses, sizeof(double) * s.losses_count) || !put(s.step, &now, sizeof now))
        return BACKEND_FAILED;
    bool finite = isfinite(losses[0]);
    for (uint32_t i = 0; i < s.count; i++) finite = finite && isfinite(gradient[i]);
    return finite ? BACKEND_DONE : BACKEND_NOT_FINITE;
}

/* Losses of `count` steps, at most HISTORY, from `first` on. */
bool fetch_losses(const learnt &s, uint64_t first, uint32_t count, double losses[])
{
    const size_t each = s.losses_count;
    uint32_t slot = (uint32_t)(first % HISTORY), before = HISTORY - slot < count ? HISTORY - slot : count;
    return get(losses, s.history + slot * each, sizeof(double) * each * before) &&
           get(losses + before * each, s.history, sizeof(double) * each * (count - before));
}

enum backend_result cuda_steps(session *t, uint32_t count, double losses[], uint32_t *done)
{
    const learnt &s = t->common();
    for (*done = 0; *done < count;) {
        uint32_t part = count - *done < HISTORY ? count - *done : HISTORY;
        uint64_t first, after;
        int broken;
        if (!get(&first, s.step, sizeof first)) return BACKEND_FAILED;
        for (uint32_t i = 0; i < part; i++)
            if (cudaGraphLaunch(t->graph, t->stream) != cudaSuccess) return BACKEND_FAILED;
        if (cudaStreamSynchronize(t->stream) != cudaSuccess || !get(&after, s.step, sizeof after) ||
            !get(&broken, s.broken, sizeof broken))
            return BACKEND_FAILED;
        uint32_t real = (uint32_t)(after - first);
        if (!fetch_losses(s, first, real + (broken != 0), losses + *done * s.losses_count)) return BACKEND_FAILED;
        *done += real;
        if (broken) return BACKEND_NOT_FINITE;
    }
    return BACKEND_DONE;
}

} // namespace

session::~session()
{
    if (graph) cudaGraphExecDestroy(graph);
    if (stream) cudaStreamDestroy(stream);
    for (int i = 0; i < taken; i++) cudaFree(memory[i]);
}

extern "C" const struct backend backend_cuda = {"cuda",    cuda_open, cuda_close,    cuda_describe,
                                                cuda_load, cuda_save, cuda_gradient, cuda_steps};
