/* legosketch train --score: see train_score.h.
 *
 * Steps with a learning rate of 0 are a measurement: the backend computes the errors of tasks and leaves the
 * parameters. The tasks come from another seed than those of the training. */
#include "train_score.h"

#include "say.h"
#include "training.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const uint32_t score_loads[SCORE_LOADS] = {3000, 5300, 8300, 16700, 33300, 50000};

bool train_score_load(const struct backend *backend, unsigned threads, const struct run *run, uint32_t load,
                      uint32_t steps, double alpha, score *result)
{
    static struct losses losses[SCORE_STEPS];
    static struct state state;
    steps = steps < SCORE_STEPS ? steps : SCORE_STEPS;
    struct recipe recipe = run->recipe;
    if (recipe.net != NET_PAPER) {
        say("only networks of the paper have a score, and these are of the net %s", net_of(&recipe)->name);
        return false;
    }
    recipe.seed = ~run->recipe.seed;
    recipe.tasks = (uint64_t)steps * TRAIN_BATCH;
    recipe.n_min = recipe.n_max = load;
    if (alpha >= 0) {
        recipe.alpha_min = recipe.alpha_max = (double)(float)alpha;
        recipe.scale_min = recipe.scale_max = 1;
    }
    recipe.scouts = 0;
    recipe.rate = recipe.rate_table = 0;
    state_start(&recipe, &state);
    memcpy(state.parameters, run->state.average, sizeof state.parameters);
    char error[BACKEND_ERROR] = "";
    uint32_t done = 0;
    struct session *session = backend->open(&recipe, threads, error);
    bool ok = session != NULL && backend->load(session, &state) &&
              backend->steps(session, steps, &losses[0].total, &done) == BACKEND_DONE;
    if (!ok)
        say("cannot score on the backend %s: %s", backend->name, session != NULL ? backend->describe(session) : error);
    if (session != NULL) backend->close(session);
    score sum = {0};
    for (uint32_t i = 0; i < done; i++) {
        sum.rule_aae += losses[i].guide[0] / steps;
        sum.aae += losses[i].error[0] / steps;
        sum.rule_are += losses[i].guide[1] / steps;
        sum.are += losses[i].error[1] / steps;
    }
    *result = sum;
    return ok;
}

bool train_score(const struct backend *backend, unsigned threads, const char *checkpoint)
{
    static struct run run;
    if (!training_read(checkpoint, &run)) return false;
    printf("%8s %12s %12s %12s %12s\n", "items", "AAE rule", "networks", "ARE rule", "networks");
    for (size_t i = 0; i < SCORE_LOADS; i++) {
        score mean;
        if (!train_score_load(backend, threads, &run, score_loads[i], SCORE_STEPS, -1, &mean)) return false;
        printf("%8" PRIu32 " %12.4f %12.4f %12.4f %12.4f\n", score_loads[i], mean.rule_aae, mean.aae, mean.rule_are,
               mean.are);
    }
    return true;
}
