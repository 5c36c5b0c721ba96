/* steps: a run of training steps, each a launch of the session's graph, and the losses that they leave in a ring on the
 * GPU. For both trainers: a session has a graph and a stream, and in s the next step, whether one was broken, and the
 * history, [HISTORY] losses by step modulo that. */
#ifndef LEGO_CUDA_STEPS_CUH
#define LEGO_CUDA_STEPS_CUH

#include "memory.cuh"

extern "C" {
#include "backend.h"
}

namespace {

/* Losses of `count` steps, at most HISTORY, from `first` on. */
template <uint32_t HISTORY, class Session, class Losses>
bool fetch_losses(const Session *t, uint64_t first, uint32_t count, Losses losses[])
{
    uint32_t slot = (uint32_t)(first % HISTORY), before = HISTORY - slot < count ? HISTORY - slot : count;
    return get(losses, t->s.history + slot, sizeof *losses * before) &&
           get(losses + before, t->s.history, sizeof *losses * (count - before));
}

/* As backend.h says of steps. */
template <uint32_t HISTORY, class Session, class Losses>
enum backend_result run_steps(Session *t, uint32_t count, Losses losses[], uint32_t *done)
{
    for (*done = 0; *done < count;) {
        uint32_t part = count - *done < HISTORY ? count - *done : HISTORY;
        uint64_t first, after;
        int broken;
        if (!get(&first, t->s.step, sizeof first)) return BACKEND_FAILED;
        for (uint32_t i = 0; i < part; i++)
            if (cudaGraphLaunch(t->graph, t->stream) != cudaSuccess) return BACKEND_FAILED;
        if (cudaStreamSynchronize(t->stream) != cudaSuccess || !get(&after, t->s.step, sizeof after) ||
            !get(&broken, t->s.broken, sizeof broken))
            return BACKEND_FAILED;
        uint32_t real = (uint32_t)(after - first);
        if (!fetch_losses<HISTORY>(t, first, real + (broken != 0), losses + *done)) return BACKEND_FAILED;
        *done += real;
        if (broken) return BACKEND_NOT_FINITE;
    }
    return BACKEND_DONE;
}

} // namespace

#endif
