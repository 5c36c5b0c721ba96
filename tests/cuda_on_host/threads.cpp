/* The threads of a GPU, on the CPU: one block after the other, in a block one warp after the other, in a warp one thread
 * after the other, each until it waits for others. Every other block takes them from the last to the first. Nothing
 * happens at the same time, so a kernel that forgets to wait is found out where that shows in one of these orders; one
 * whose threads wait at different places ends the process. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <ucontext.h>

#include "cuda_runtime.h"

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace
{

enum wait { FOR_WARP, FOR_BLOCK, AT_END };
constexpr unsigned WARP = 32;
constexpr size_t STACK = 1 << 17;

struct fiber {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(STACK);
    wait waits;
    bool vote;
};

std::vector<fiber> fibers;
ucontext_t scheduler;
unsigned votes; /* of the warp that runs */
bool backwards; /* in this block */
void (*run_body)(void *);
void *run_context;

void wait_for(wait what, bool vote)
{
    fiber &self = fibers[threadIdx.x];
    self.waits = what;
    self.vote = vote;
    swapcontext(&self.context, &scheduler);
}

void begin()
{
    run_body(run_context);
    wait_for(AT_END, false);
}

void check(bool fine, const char *what)
{
    if (fine) return;
    std::fprintf(stderr, "cuda_on_host: %s\n", what);
    std::abort();
}

/* Until its threads wait for other warps, or have ended. */
wait run_warp(unsigned first)
{
    for (votes = 0;;) {
        unsigned next = 0;
        for (unsigned i = 0; i < WARP; i++) {
            unsigned lane = backwards ? WARP - 1 - i : i;
            fiber &one = fibers[first + lane];
            threadIdx.x = first + lane;
            swapcontext(&scheduler, &one.context);
            next |= unsigned(one.vote) << lane;
        }
        for (unsigned lane = 1; lane < WARP; lane++)
            check(fibers[first].waits == fibers[first + lane].waits, "threads of a warp wait for different things");
        votes = next;
        if (fibers[first].waits != FOR_WARP) return fibers[first].waits;
    }
}

void prepare(fiber &one)
{
    getcontext(&one.context);
    one.context.uc_stack.ss_sp = one.stack.data();
    one.context.uc_stack.ss_size = STACK;
    makecontext(&one.context, begin, 0);
}

void run_block(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) prepare(fibers[i]);
    backwards = !backwards;
    for (wait all = FOR_BLOCK; all != AT_END;) {
        all = run_warp(backwards ? threads - WARP : 0);
        for (unsigned i = WARP; i < threads; i += WARP)
            check(run_warp(backwards ? threads - WARP - i : i) == all, "warps of a block wait for different things");
    }
}

} // namespace

unsigned warp_votes(bool vote)
{
    wait_for(FOR_WARP, vote);
    return votes;
}

void __syncthreads()
{
    wait_for(FOR_BLOCK, false);
}

void run_threads(unsigned blocks, unsigned threads, void (*body)(void *), void *context)
{
    check(blocks > 0 && threads > 0 && threads % WARP == 0 && threads <= 1024, "a kernel is started that can not be");
    if (fibers.size() < threads) fibers = std::vector<fiber>(threads);
    gridDim = blocks, blockDim = threads;
    run_body = body, run_context = context;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) run_block(threads);
}
