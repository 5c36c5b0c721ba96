/* fuzz_checkpoint: any bytes either are a checkpoint of training, and then the run has exactly these bytes and a
 * possible recipe, or they are refused and the run is as it was. */
#include "binary.h"
#include "checkpoint.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct run run, before;
    static unsigned char again[CHECKPOINT_MOST];
    before.summed = run.summed = 17;
    if (checkpoint_read(bytes, size, &run) != NULL) {
        CHECK(memcmp(&run, &before, sizeof run) == 0);
        return 0;
    }
    CHECK(recipe_problem(&run.recipe) == NULL);
    CHECK(checkpoint_write(&run, again) == size && memcmp(again, bytes, size) == 0);
    run = before;
    return 0;
}
