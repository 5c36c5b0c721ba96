/* legosketch train --score: see train_score.h.
 *
 * Steps with a learning rate of 0 are a measurement: the backend computes the errors of tasks and leaves the parameters. The
 * tasks come from another seed than those of the training.
 *
 * SPDX-License-Identifier: MIT */
#include "train_score.h"

#include "say.h"
#include "training.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Items of a brick: 100,000 in budgets of 3300, 1900, 1200, 600, 300 and 200 KB, bricks of 100 KB. */
static const uint32_t loads[] = {3000, 5300, 8300, 16700, 33300, 50000};

enum { STEPS = 40 }; /* 320 tasks a load */

static bool score_load(const struct backend *backend, unsigned threads, const struct run *run, uint32_t load)
{
    static struct losses losses[STEPS];
    struct recipe recipe = run->recipe;
    recipe.seed = ~run->recipe.seed;
    recipe.tasks = STEPS * TRAIN_BATCH;
    recipe.n_min = recipe.n_max = load;
    recipe.scouts = 0;
    recipe.rate = recipe.rate_table = 0;
    struct state state;
    state_start(&recipe, &state);
    memcpy(state.parameters, run->state.average, sizeof state.parameters);
    char error[BACKEND_ERROR] = "";
    uint32_t done = 0;
    struct session *session = backend->open(&recipe, threads, error);
    bool ok = session != NULL && backend->load(session, &state) &&
              backend->steps(session, STEPS, losses, &done) == BACKEND_DONE;
    if (!ok)
        say("cannot score on the backend %s: %s", backend->name, session != NULL ? backend->describe(session) : error);
    if (session != NULL)
        backend->close(session);
    double sum[4] = {0};
    for (uint32_t i = 0; i < done; i++) {
        sum[0] += losses[i].guide[0] / STEPS;
        sum[1] += losses[i].error[0] / STEPS;
        sum[2] += losses[i].guide[1] / STEPS;
        sum[3] += losses[i].error[1] / STEPS;
    }
    if (ok)
        printf("%8" PRIu32 " %12.4f %12.4f %12.4f %12.4f\n", load, sum[0], sum[1], sum[2], sum[3]);
    return ok;
}

bool train_score(const struct backend *backend, unsigned threads, const char *checkpoint)
{
    static struct run run;
    if (!training_read(checkpoint, &run))
        return false;
    printf("%8s %12s %12s %12s %12s\n", "items", "AAE rule", "networks", "ARE rule", "networks");
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        if (!score_load(backend, threads, &run, loads[i]))
            return false;
    return true;
}
