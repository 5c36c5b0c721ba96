/* legosketch train --score: see train_score.h.
 *
 * Steps with a learning rate of 0 are a measurement: the backend computes the errors of tasks and leaves the
 * parameters. The tasks come from another seed than those of the training. */
#include "train_score.h"

#include "checkpoint.h"
#include "paper.h"
#include "say.h"
#include "training.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Items of a brick: 100,000 in budgets of 3300, 1900, 1200, 600, 300 and 200 KB, bricks of 100 KB. */
static const uint32_t loads[] = {3000, 5300, 8300, 16700, 33300, 50000};
enum { LOADS = sizeof loads / sizeof *loads, STEPS = 40 }; /* 320 tasks a load */

/* Mean errors over tasks of one load. */
typedef struct score {
    double rule_aae, aae, rule_are, are;
} score;

/* Says what goes wrong. */
static bool score_load(const struct backend *backend, unsigned threads, const struct run *run, uint32_t load,
                       score *result)
{
    static struct losses losses[STEPS];
    static struct state state;
    struct recipe recipe = run->recipe;
    if (recipe.net != NET_PAPER) {
        say("only networks of the paper have a score, and these are of the net %s", net_of(&recipe)->name);
        return false;
    }
    recipe.seed = ~run->recipe.seed;
    recipe.tasks = (uint64_t)STEPS * TRAIN_BATCH;
    recipe.n_min = recipe.n_max = load;
    recipe.scouts = 0;
    recipe.rate = recipe.rate_table = 0;
    state_start(&recipe, &state);
    memcpy(state.parameters, run->state.average, sizeof state.parameters);
    char error[BACKEND_ERROR] = "";
    uint32_t done = 0;
    struct session *session = backend->open(&recipe, threads, error);
    bool ok = session != NULL && backend->load(session, &state) &&
              backend->steps(session, STEPS, &losses[0].total, &done) == BACKEND_DONE;
    if (!ok)
        say("cannot score on the backend %s: %s", backend->name, session != NULL ? backend->describe(session) : error);
    if (session != NULL) backend->close(session);
    score sum = {0};
    for (uint32_t i = 0; i < done; i++) {
        sum.rule_aae += losses[i].guide[0] / STEPS;
        sum.aae += losses[i].error[0] / STEPS;
        sum.rule_are += losses[i].guide[1] / STEPS;
        sum.are += losses[i].error[1] / STEPS;
    }
    *result = sum;
    return ok;
}

bool train_score(const struct backend *backend, unsigned threads, const char *checkpoint)
{
    static struct run run;
    if (!training_read(checkpoint, &run)) return false;
    printf("%8s %12s %12s %12s %12s\n", "items", "AAE rule", "networks", "ARE rule", "networks");
    for (size_t i = 0; i < LOADS; i++) {
        score mean;
        if (!score_load(backend, threads, &run, loads[i], &mean)) return false;
        printf("%8" PRIu32 " %12.4f %12.4f %12.4f %12.4f\n", loads[i], mean.rule_aae, mean.aae, mean.rule_are,
               mean.are);
    }
    return true;
}
