/* make_checkpoint: runs of training at their first step, as files. */
#include "binary.h"
#include "checkpoint.h"

#include <string.h>

size_t make(uint8_t *bytes, size_t most, uint32_t random)
{
    static struct run run;
    static unsigned char file[CHECKPOINT_MOST];
    bool paper = drawn(&random, 4) > 0;
    run.recipe =
        (struct recipe){.net = paper ? NET_PAPER : NET_MS, .seed = random, .tasks = 8 + 8 * drawn(&random, 100)};
    run.recipe.batch = paper ? 8 : 1 + drawn(&random, 8);
    run.recipe.rate = run.recipe.rate_table = 0.001;
    run.recipe.n_min = 2;
    run.recipe.n_max = 2 + drawn(&random, 1000);
    run.recipe.alpha_max = run.recipe.scale_min = run.recipe.scale_max = 1;
    CHECK(recipe_problem(&run.recipe) == NULL);
    state_start(&run.recipe, &run.state);
    run.state.step = run.summed = drawn(&random, (uint32_t)recipe_steps(&run.recipe) + 1);
    size_t size = checkpoint_write(&run, file);
    if (size > most) return 0;
    memcpy(bytes, file, size);
    return size;
}
