/* ms_task: drawing the tasks of a step. */
#pragma once

#include "ms_device.cuh"

namespace
{

/* One thread a task; those that a last step has not have no items. */
__global__ void draw(device s)
{
    __shared__ uint32_t tiles[TASKS];
    const int b = threadIdx.x, count = (int)recipe_batch(&s.recipe, *s.step);
    drawn t = {};
    if (b < count) {
        static_cast<ms_task &>(t) = ms_task_draw(&s.recipe, *s.step * s.recipe.batch + b);
        t.top = ms_task_top(&t);
        t.tiles = groups(t.n, ITEMS);
    }
    tiles[b] = t.tiles;
    __syncthreads();
    for (int i = 0; i < b; i++) {
        t.first_tile += tiles[i];
        t.first_memory += groups(tiles[i], MEMORY_TILES);
        t.first_weights += groups(tiles[i], WEIGHT_TILES);
    }
    s.tasks[b] = t;
    s.of_task[b].total = 0;
    if (b == 0) *s.tasks_now = count;
}

} // namespace
