/* ms_checkpoint: bytes <-> runs, as ms_checkpoint.h lays them out. */
#include "ms_checkpoint.h"

#include "sealed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct seal seal = {{'L', 'E', 'G', 'O', 'T', 'R', 'M', 'S'}, 1, MS_PARAMETERS, MS_CHECKPOINT_SIZE,
                                 "is not a checkpoint of 'legosketch train --preset ms'"};

static void run_fields(struct cursor *c, struct ms_run *run)
{
    struct ms_recipe *r = &run->recipe;
    struct ms_state *s = &run->state;
    uint64_t *longs[] = {&r->seed, &r->tasks};
    uint32_t *counts[] = {&r->batch, &r->n_min, &r->n_max, &r->log_scale};
    double *reals[] = {&r->alpha_min, &r->alpha_max, &r->scale_min, &r->scale_max, &r->rate,
                       &r->rate_end};
    for (size_t i = 0; i < 2; i++) cursor_field(c, longs[i], sizeof *longs[i]);
    for (size_t i = 0; i < 4; i++) cursor_field(c, counts[i], sizeof *counts[i]);
    for (size_t i = 0; i < 6; i++) cursor_field(c, reals[i], sizeof *reals[i]);
    cursor_field(c, &s->step, sizeof s->step);
    cursor_field(c, &run->summed, sizeof run->summed);
    cursor_field(c, &run->sums, sizeof run->sums);
    cursor_field(c, s->parameters, sizeof s->parameters);
    cursor_field(c, s->first, sizeof s->first);
    cursor_field(c, s->second, sizeof s->second);
    cursor_field(c, s->mean, sizeof s->mean);
    cursor_field(c, s->variance, sizeof s->variance);
}

void ms_checkpoint_write(const struct ms_run *run, unsigned char bytes[MS_CHECKPOINT_SIZE])
{
    /* Writing changes nothing of the run; a copy would be 630 KB of stack. */
    struct cursor cursor = {bytes + SEALED_HEAD, true};
    run_fields(&cursor, (struct ms_run *)(uintptr_t)run);
    sealed_close(&seal, bytes);
}

static bool all_finite(const struct ms_state *s)
{
    for (int i = 0; i < MS_PARAMETERS; i++)
        if (!isfinite(s->parameters[i]) || !isfinite(s->first[i]) || !isfinite(s->second[i])) return false;
    for (int i = 0; i < MS_NORMED; i++)
        if (!isfinite(s->mean[i]) || !isfinite(s->variance[i])) return false;
    return true;
}

static const char *read_fields(const unsigned char *bytes, struct ms_run *found)
{
    struct cursor cursor = {(unsigned char *)(uintptr_t)bytes + SEALED_HEAD, false}; /* which reads only */
    run_fields(&cursor, found);
    return ms_recipe_problem(&found->recipe) || found->state.step > ms_recipe_steps(&found->recipe) ||
                   found->summed > found->state.step || !all_finite(&found->state)
               ? "has the right checksum and impossible content"
               : NULL;
}

const char *ms_checkpoint_read(const unsigned char *bytes, size_t size, struct ms_run *run)
{
    const char *problem = sealed_problem(&seal, bytes, size);
    if (problem) return problem;
    struct ms_run *found = malloc(sizeof *found);
    if (!found) return "does not fit into memory";
    problem = read_fields(bytes, found);
    if (!problem) *run = *found;
    free(found);
    return problem;
}

bool ms_checkpoint_difference(const struct ms_recipe *made, const struct ms_recipe *asked, char *text, size_t size)
{
    if (made->seed != asked->seed)
        snprintf(text, size, "--seed %" PRIu64 ", not %" PRIu64, made->seed, asked->seed);
    else if (made->tasks != asked->tasks)
        snprintf(text, size, "--tasks %" PRIu64 ", not %" PRIu64, made->tasks, asked->tasks);
    else if (made->batch != asked->batch)
        snprintf(text, size, "--batch %" PRIu32 ", not %" PRIu32, made->batch, asked->batch);
    else if (made->rate != asked->rate)
        snprintf(text, size, "--rate %g, not %g", made->rate, asked->rate);
    else if (made->rate_end != asked->rate_end)
        snprintf(text, size, "--rate-end %g, not %g", made->rate_end, asked->rate_end);
    else if (made->n_min != asked->n_min || made->n_max != asked->n_max || made->log_scale != asked->log_scale ||
             made->alpha_min != asked->alpha_min || made->alpha_max != asked->alpha_max ||
             made->scale_min != asked->scale_min || made->scale_max != asked->scale_max)
        snprintf(text, size, "another --scale-max");
    else
        return false;
    return true;
}
