/* checkpoint: bytes <-> runs, as checkpoint.h lays them out, and runs -> models. */
#include "checkpoint.h"

#include "parameters.h"
#include "sealed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOSS_NUMBERS = 1 + TRAIN_LOSSES + 3 + 3 };

static const struct seal seal = {{'L', 'E', 'G', 'O', 'T', 'R', 'A', 'I'}, 3, TRAIN_PARAMETERS, CHECKPOINT_SIZE,
                                 "is not a checkpoint of 'legosketch train'"};

_Static_assert(sizeof(struct losses) == LOSS_NUMBERS * sizeof(double), "losses are doubles and nothing else");

/* ---- one pass over the fields, in either direction -------------------------------------------------------------- */

static void recipe_fields(struct cursor *c, struct recipe *r)
{
    uint64_t *longs[] = {&r->seed, &r->tasks};
    uint32_t *counts[] = {&r->n_min, &r->n_max, &r->scouts, &r->scout_n_min};
    float *reals[] = {&r->alpha_min, &r->alpha_max, &r->scale_min, &r->scale_max, &r->scout_alpha_max, &r->rate,
                      &r->rate_table};
    uint32_t *flags[] = {&r->from_rule, &r->fixed_table, &r->no_norm, &r->no_scan, &r->plain_loss};
    for (size_t i = 0; i < 2; i++) cursor_field(c, longs[i], sizeof *longs[i]);
    for (size_t i = 0; i < 4; i++) cursor_field(c, counts[i], sizeof *counts[i]);
    for (size_t i = 0; i < 7; i++) cursor_field(c, reals[i], sizeof *reals[i]);
    for (size_t i = 0; i < 5; i++) cursor_field(c, flags[i], sizeof *flags[i]);
}

static void run_fields(struct cursor *c, struct run *run)
{
    recipe_fields(c, &run->recipe);
    cursor_field(c, &run->state.step, sizeof run->state.step);
    cursor_field(c, &run->summed, sizeof run->summed);
    cursor_field(c, &run->sums, sizeof run->sums);
    cursor_field(c, run->state.parameters, sizeof run->state.parameters);
    cursor_field(c, run->state.first, sizeof run->state.first);
    cursor_field(c, run->state.second, sizeof run->state.second);
    cursor_field(c, run->state.average, sizeof run->state.average);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

void checkpoint_write(const struct run *run, unsigned char bytes[CHECKPOINT_SIZE])
{
    struct run copy = *run;
    struct cursor cursor = {bytes + SEALED_HEAD, true};
    run_fields(&cursor, &copy);
    sealed_close(&seal, bytes);
}

static bool all_finite(const struct state *state)
{
    for (int i = 0; i < TRAIN_PARAMETERS; i++)
        if (!isfinite(state->parameters[i]) || !isfinite(state->first[i]) || !isfinite(state->second[i]) ||
            !isfinite(state->average[i]))
            return false;
    return true;
}

const char *checkpoint_read(const unsigned char *bytes, size_t size, struct run *run)
{
    unsigned char copy[CHECKPOINT_SIZE];
    const char *problem = sealed_problem(&seal, bytes, size);
    if (problem) return problem;
    memcpy(copy, bytes, sizeof copy);
    struct run found;
    struct cursor cursor = {copy + SEALED_HEAD, false};
    run_fields(&cursor, &found);
    if (recipe_problem(&found.recipe) || found.state.step > recipe_steps(&found.recipe) ||
        found.summed > found.state.step || !all_finite(&found.state))
        return "has the right checksum and impossible content";
    *run = found;
    return NULL;
}

/* ---- recipes that differ ---------------------------------------------------------------------------------------- */

bool checkpoint_difference(const struct recipe *made, const struct recipe *asked, char *text, size_t size)
{
    const struct {
        const char *option;
        uint32_t made, asked;
    } flags[] = {{"--from-rule", made->from_rule, asked->from_rule},
                 {"--fixed-v", made->fixed_table, asked->fixed_table},
                 {"--no-normalisation", made->no_norm, asked->no_norm},
                 {"--no-scan", made->no_scan, asked->no_scan},
                 {"--plain-loss", made->plain_loss, asked->plain_loss}};
    if (made->seed != asked->seed) {
        snprintf(text, size, "--seed %" PRIu64 ", not %" PRIu64, made->seed, asked->seed);
        return true;
    }
    if (made->tasks != asked->tasks) {
        snprintf(text, size, "--tasks %" PRIu64 ", not %" PRIu64, made->tasks, asked->tasks);
        return true;
    }
    if (made->scouts != asked->scouts) {
        snprintf(text, size, "--scouts %" PRIu32 ", not %" PRIu32, made->scouts, asked->scouts);
        return true;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].made != flags[i].asked) {
            snprintf(text, size, "%s %s", flags[i].made ? "with" : "without", flags[i].option);
            return true;
        }
    if (made->n_min != asked->n_min || made->n_max != asked->n_max || made->alpha_min != asked->alpha_min ||
        made->alpha_max != asked->alpha_max || made->scale_min != asked->scale_min ||
        made->scale_max != asked->scale_max || made->scout_n_min != asked->scout_n_min ||
        made->scout_alpha_max != asked->scout_alpha_max || made->rate != asked->rate ||
        made->rate_table != asked->rate_table) {
        snprintf(text, size, "another --preset, --n-min, --alpha-max, --scout-alpha, --rate or --rate-v");
        return true;
    }
    return false;
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

lego_status train_export(const struct recipe *recipe, const float parameters[TRAIN_PARAMETERS], const char *name,
                         lego_write write, void *context)
{
    struct lego_model model = {.kind = MODEL_PAPER,
                               .rows = TRAIN_ROWS,
                               .columns = TRAIN_COLUMNS,
                               .quantum = 1024,
                               .table_size = TRAIN_TABLE,
                               .distinct_min = 10000,
                               .skew_max = 1};
    float weights[AT_LOSS - AT_SCAN_CELL_0];
    memcpy(weights, parameters + AT_SCAN_CELL_0, sizeof weights);
    if (recipe->no_scan) { /* the last layers give 0, and s(n) = 0 is above the limit */
        memset(weights + (AT_SCAN_IMPLICIT_2 - AT_SCAN_CELL_0), 0, (IN_SCAN_IMPLICIT_2 + 1) * OUT_SCAN_IMPLICIT_2 * 4);
        memset(weights + (AT_SCAN_SKEW_3 - AT_SCAN_CELL_0), 0, (IN_SCAN_SKEW_3 + 1) * OUT_SCAN_SKEW_3 * 4);
        memset(weights + (AT_SCAN_DISTINCT_3 - AT_SCAN_CELL_0), 0, (IN_SCAN_DISTINCT_3 + 1) * OUT_SCAN_DISTINCT_3 * 4);
        model.distinct_min = -1;
    }
    if (strlen(name) >= sizeof model.name) return LEGO_ERR_ARGUMENT;
    memcpy(model.name, name, strlen(name));
    memcpy(model.table, parameters, TRAIN_TABLE * sizeof *parameters);
    model.weights = weights;
    return lego_model_save(&model, write, context);
}
