/* ms_device: what the meta-sketch has on the GPU. */
#pragma once

#include "session.cuh"

extern "C" {
#include "loss.h"
#include "ms_train.h"
}

namespace
{

constexpr int ITEMS = 64, TASKS = MS_BATCH, DEPTH = MS_DEPTH, SLOTS = MS_SLOTS, EMBED = MS_EMBED, REFINED = MS_REFINED,
              CELLS = DEPTH * SLOTS * EMBED, PARAMETERS = MS_PARAMETERS;
/* Tiles whose products are added up before they go to memory: few for the memory of a task, which all wait for, many
 * for the 52,000 weights. */
constexpr int MEMORY_TILES = 2, WEIGHT_TILES = 8, SUM_THREADS = 256,
              SUM_BLOCKS = (PARAMETERS + SUM_THREADS - 1) / SUM_THREADS;
constexpr float LEAKY = 0.01f;

/* Of a tile of 64 items, [feature][item]; the last tile of a task is padded with items of frequency 0. Names are those
 * of train/ms_net.h; all that a stage makes is kept for the products of the weights' gradients. */
typedef float row[ITEMS];
struct items {
    row f, x[MS_BITS];
    row u0[64], h0[64], u1[43], h1[43], z[EMBED], fz[EMBED], v0[32], r0[32], v1[18], r1[18], q[REFINED];
    row a[DEPTH * SLOTS], square[DEPTH]; /* address; sum of its squares */
    row in[MS_IN], e[MS_HIDDEN], g[MS_IN], k[MS_HALF];
    row danswer, dk[MS_HALF], dg[MS_IN], de[MS_HIDDEN], din[MS_IN];
    row dread[DEPTH * EMBED], da[DEPTH * SLOTS], dz[EMBED], dq[REFINED];
    row dv1[18], dv0[32], du1[43], du0[64]; /* of what batch norm gives, then of what it gets */
};

/* Sums over a tile, as train/ms_net.h has them. */
struct sums {
    double one[MS_NORMED], two[MS_NORMED], mse, are, aae;
};

struct drawn : ms_task {
    uint32_t tiles, first_tile;           /* tiles are numbered through all tasks, and so are, for the two */
    uint32_t first_memory, first_weights; /* kinds of sums, groups of a task's tiles */
    double top;                           /* f = 1 + round(top rank^-alpha) */
};

/* Of a task, what all its items share. */
struct shared {
    double mean[MS_NORMED], rest[MS_NORMED], variance[MS_NORMED]; /* rest: 1 / sqrt(variance + epsilon) */
    float scale[MS_NORMED], shift[MS_NORMED];                     /* forward: y = act(scale u + shift) */
    float by[MS_NORMED], slope[MS_NORMED], less[MS_NORMED];       /* backward: du = by dy - slope u - less */
    double total;                                                 /* N, a sum of integers: any order gives it */
    float memory[CELLS], dmemory[CELLS];
    struct ms_losses losses;
};

struct device : learnt {
    int most_tiles, most_memory, most_weights; /* of all tasks together: what there is room for */
    int *tasks_now;                            /* tasks of this step */
    float *transposed;                         /* parameters with W as [in][out], A as [2][50][5] */
    drawn *tasks;                              /* [task] */
    shared *of_task;                           /* [task] */
    items *tiles;                              /* [tile] */
    sums *tile_sums;                           /* [tile] */
    float *partial_memory;                     /* [group][CELLS] */
    float *partial_weights;                    /* [group][PARAMETERS] */
    float *gradients;                          /* [task][PARAMETERS] */
    double *squares;                           /* [task][SUM_BLOCKS]: partial sums of the gradient's squares */
    double *task_clip;                         /* [task] */
};

/* ---- where a block is ------------------------------------------------------------------------------------------- */

struct place {
    int task;
    uint32_t first, count; /* items of the tile */
    items *t;
    sums *tile_sums;
    shared *of_task;
};

/* False for blocks beyond the last tile. */
__device__ bool find_tile(const device &s, uint32_t tile, place &p)
{
    const drawn &last = s.tasks[TASKS - 1];
    if (tile >= last.first_tile + last.tiles) return false;
    int b = 0;
    for (int i = 1; i < TASKS; i++)
        if (s.tasks[i].n > 0 && tile >= s.tasks[i].first_tile) b = i;
    const drawn &task = s.tasks[b];
    p.task = b;
    p.first = (tile - task.first_tile) * ITEMS;
    p.count = min(task.n - p.first, (uint32_t)ITEMS);
    p.t = s.tiles + tile;
    p.tile_sums = s.tile_sums + tile;
    p.of_task = s.of_task + b;
    return true;
}

__host__ __device__ constexpr uint32_t groups(uint32_t tiles, int each)
{
    return (tiles + each - 1) / each;
}

} // namespace
