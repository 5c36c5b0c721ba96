/* The training loop; see training.h, and resume.h for the order in which files are written.
 *
 * SPDX-License-Identifier: MIT */
#include "training.h"

#include "output.h"
#include "progress.h"
#include "resume.h"
#include "say.h"
#include "stopping.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LOG_LINES = 1000,   /* of a whole run */
    SAID_LINES = 10,    /* on standard error, where that is not a terminal */
    CHUNK_MOST = 1024,  /* steps that a backend is asked for at once ... */
};
#define CHUNK_SECONDS 0.2 /* ... if they take no longer than this */

typedef struct training {
    const struct backend *backend;
    struct session *session;
    const training_files *files;
    struct run *run;
    FILE *log;
    bool log_failed;
    uint64_t first;       /* the step it started with, this time */
    double start;         /* when that was */
    char remark[96];      /* for the progress bar */
    struct losses losses[CHUNK_MOST];
} training;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- the model and checkpoints ---------------------------------------------------------------------------------- */

typedef struct export {
    const struct run *run;
    const char *name;
} export;

static lego_status save_model(const void *what, lego_write write, void *context)
{
    const export *it = what;
    return train_export(&it->run->recipe, it->run->state.average, it->name, write, context);
}

static lego_status save_checkpoint(const void *what, lego_write write, void *context)
{
    static unsigned char bytes[CHECKPOINT_SIZE];
    checkpoint_write(what, bytes);
    return write(context, bytes, sizeof bytes) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

bool training_read(const char *path, struct run *run)
{
    static unsigned char bytes[CHECKPOINT_SIZE + 1];
    size_t size;
    if (!resume_read(path, bytes, sizeof bytes, &size))
        return false;
    const char *problem = checkpoint_read(bytes, size, run);
    if (problem != NULL)
        say("%s %s", path, problem);
    return problem == NULL;
}

bool training_load(const char *path, struct run *run)
{
    static struct run found;
    if (!training_read(path, &found))
        return false;
    char difference[100];
    if (checkpoint_difference(&found.recipe, &run->recipe, difference, sizeof difference)) {
        resume_refuse(path, difference);
        return false;
    }
    *run = found;
    return true;
}

/* The state of the backend into a checkpoint. */
static bool write_checkpoint(training *t)
{
    if (!t->backend->save(t->session, &t->run->state)) {
        say("the backend does not give its state back");
        return false;
    }
    return t->files->checkpoint == NULL || output_file(t->files->checkpoint, save_checkpoint, t->run);
}

/* ---- the log ---------------------------------------------------------------------------------------------------- */

static void fail_log(training *t)
{
    say("cannot write %s: %s; the run goes on without it", t->files->log, strerror(errno != 0 ? errno : EIO));
    t->log_failed = true;
}

static void end_line(training *t)
{
    if (fflush(t->log) != 0)
        fail_log(t);
}

static const char *json_bool(uint32_t flag)
{
    return flag ? "true" : "false";
}

/* The first line: what is trained, how, and by what. */
static void log_recipe(training *t)
{
    const struct recipe *r = &t->run->recipe;
    fprintf(t->log, "{\"version\":\"%s\",\"name\":\"%s\",\"seed\":%" PRIu64 ",\"tasks\":%" PRIu64 ",\"batch\":%d",
            LEGO_VERSION, t->files->name, r->seed, r->tasks, TRAIN_BATCH);
    fprintf(t->log, ",\"n_min\":%" PRIu32 ",\"n_max\":%" PRIu32 ",\"alpha_min\":%g,\"alpha_max\":%g", r->n_min,
            r->n_max, (double)r->alpha_min, (double)r->alpha_max);
    fprintf(t->log, ",\"scale_min\":%g,\"scale_max\":%g,\"rate\":%g,\"rate_v\":%g", (double)r->scale_min,
            (double)r->scale_max, (double)r->rate, (double)r->rate_table);
    fprintf(t->log, ",\"scouts\":%" PRIu32, r->scouts);
    if (r->scouts > 0)
        fprintf(t->log, ",\"scout_n_min\":%" PRIu32 ",\"scout_alpha_max\":%g", r->scout_n_min,
                (double)r->scout_alpha_max);
    fprintf(t->log, ",\"from_rule\":%s", json_bool(r->from_rule));
    fprintf(t->log, ",\"fixed_v\":%s,\"no_normalisation\":%s,\"no_scan\":%s,\"plain_loss\":%s,\"backend\":\"%s\"}\n",
            json_bool(r->fixed_table), json_bool(r->no_norm), json_bool(r->no_scan), json_bool(r->plain_loss),
            t->backend->describe(t->session));
}

static bool open_log(training *t)
{
    const struct run *run = t->run;
    if (t->files->log == NULL)
        return true;
    t->log = resume_log(t->files->log, t->files->resume, run->state.step);
    if (t->log == NULL)
        return false;
    if (run->state.step == 0)
        log_recipe(t);
    else
        fprintf(t->log, "{\"resumed\":%" PRIu64 ",\"backend\":\"%s\"}\n", run->state.step,
                t->backend->describe(t->session));
    end_line(t);
    return true;
}

/* A line of means since the last one. */
static void log_line(training *t, uint64_t step, double rate)
{
    if (t->log == NULL || t->log_failed)
        return;
    const struct losses *s = &t->run->sums;
    double n = (double)t->run->summed;
    fprintf(t->log, "{\"step\":%" PRIu64 ",\"tasks\":%" PRIu64 ",\"loss\":%.9g", step, step * TRAIN_BATCH,
            s->total / n);
    static const char *const metrics[] = {"aae", "are", "mse", "skew", "distinct"};
    for (int i = 0; i < TRAIN_LOSSES; i++)
        fprintf(t->log, ",\"loss_%s\":%.9g", metrics[i], s->metric[i] / n);
    for (int i = 0; i < 3; i++)
        fprintf(t->log, ",\"%s\":%.9g,\"rule_%s\":%.9g", metrics[i], s->error[i] / n, metrics[i], s->guide[i] / n);
    fprintf(t->log, ",\"tasks_per_second\":%.4g}\n", rate);
    end_line(t);
}

/* ---- what is shown ---------------------------------------------------------------------------------------------- */

static void describe(training *t, char *text, size_t size)
{
    const struct losses *s = &t->run->sums;
    snprintf(text, size, "loss %.4g  AAE %.3f  ARE %.3f of the rule's", s->total / (double)t->run->summed,
             s->error[0] / s->guide[0], s->error[1] / s->guide[1]);
}

static void show(training *t, uint64_t step, double rate)
{
    uint64_t steps = recipe_steps(&t->run->recipe), tenth = steps / SAID_LINES;
    describe(t, t->remark + 2, sizeof t->remark - 2);
    memset(t->remark, ' ', 2);
    progress_describe("tasks", t->remark);
    if (isatty(STDERR_FILENO) || t->files->quiet || tenth == 0 || step % tenth != 0)
        return;
    double left = (double)((steps - step) * TRAIN_BATCH) / rate;
    say("step %" PRIu64 " of %" PRIu64 "  %s  %.3g tasks/s  %d:%02d left", step, steps, t->remark + 2, rate,
        (int)(left / 60), (int)left % 60);
}

/* ---- the loop --------------------------------------------------------------------------------------------------- */

static void add_losses(struct run *run, const struct losses *losses, uint32_t n)
{
    for (uint32_t step = 0; step < n; step++, run->summed++) {
        run->sums.total += losses[step].total;
        for (int i = 0; i < TRAIN_LOSSES; i++)
            run->sums.metric[i] += losses[step].metric[i];
        for (int i = 0; i < 3; i++) {
            run->sums.error[i] += losses[step].error[i];
            run->sums.guide[i] += losses[step].guide[i];
        }
    }
}

/* Why a chunk of steps was the last; always false. */
static bool fail_steps(const training *t, enum backend_result result, uint64_t step)
{
    if (result == BACKEND_NOT_FINITE)
        say("the loss or the gradient of step %" PRIu64 " is not finite, so the run ends here", step);
    else
        say("the backend %s failed after step %" PRIu64 ": %s", t->backend->name, step,
            t->backend->describe(t->session));
    if (t->files->checkpoint != NULL && access(t->files->checkpoint, F_OK) == 0)
        say("%s keeps the last good state", t->files->checkpoint);
    return false;
}

/* After a signal; always false. */
static bool stop_here(training *t, uint64_t step)
{
    progress_hide();
    if (t->files->checkpoint == NULL) {
        say("stopped after step %" PRIu64 "; nothing is kept, since there is no --checkpoint", step);
        return false;
    }
    if (write_checkpoint(t))
        say("stopped after step %" PRIu64 " of %" PRIu64 "; the same command with --resume goes on from %s", step,
            recipe_steps(&t->run->recipe), t->files->checkpoint);
    return false;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How far the next chunk may go: to a line of the log, to a checkpoint, to the end. */
static uint64_t next_stop(uint64_t step, uint64_t steps, uint64_t log_every, uint64_t checkpoint_every)
{
    uint64_t stop_at = least(steps, (step / log_every + 1) * log_every);
    return least(stop_at, (step / checkpoint_every + 1) * checkpoint_every);
}

static bool loop(training *t)
{
    struct run *run = t->run;
    uint64_t steps = recipe_steps(&run->recipe), step = run->state.step, chunk = 1;
    uint64_t log_every = steps > LOG_LINES ? steps / LOG_LINES : 1;
    while (step < steps) {
        uint64_t until = next_stop(step, steps, log_every, t->files->every);
        uint32_t done, count = (uint32_t)least(chunk, until - step);
        double began = now();
        enum backend_result result = t->backend->steps(t->session, count, t->losses, &done);
        if (result != BACKEND_DONE)
            return fail_steps(t, result, step + done);
        double took = now() - began, rate = (double)((step + done - t->first) * TRAIN_BATCH) / (now() - t->start);
        chunk = took < CHUNK_SECONDS / 2 ? least(2 * chunk, CHUNK_MOST) : (chunk + 1) / 2;
        add_losses(run, t->losses, done);
        step += done;
        progress_update((step - t->first) * TRAIN_BATCH, (step - t->first) * TRAIN_BATCH);
        if (step % log_every == 0 || step == steps) {
            log_line(t, step, rate);
            show(t, step, rate);
            run->summed = 0;
            run->sums = (struct losses){0};
        }
        if (stopping_asked() && step < steps)
            return stop_here(t, step);
        if (step % t->files->every == 0 || step == steps)
            write_checkpoint(t); /* one that fails is said; the next may not */
    }
    return true;
}

static bool finish(training *t)
{
    export model = {t->run, t->files->name};
    if (!t->backend->save(t->session, &t->run->state) || !output_file(t->files->output, save_model, &model))
        return false;
    if (t->files->checkpoint != NULL && !t->files->keep_checkpoint)
        unlink(t->files->checkpoint);
    if (t->run->recipe.no_norm)
        say("%s was trained without normalisation, which the library always does: only the log tells how good it is",
            t->files->output);
    if (t->log != NULL && t->log_failed)
        say("%s is not whole", t->files->log);
    return !t->log_failed;
}

bool training_run(const struct backend *backend, unsigned threads, struct run *run, const training_files *files)
{
    static training t;
    char error[BACKEND_ERROR] = "";
    t = (training){.backend = backend, .files = files, .run = run, .first = run->state.step};
    t.session = backend->open(&run->recipe, threads, error);
    if (t.session == NULL) {
        say("cannot train on the backend %s: %s", backend->name, error);
        return false;
    }
    bool ok = true;
    if (files->resume)
        ok = backend->load(t.session, &run->state);
    ok = ok && open_log(&t);
    if (ok) {
        stopping_begin();
        progress_begin("train", recipe_steps(&run->recipe) * TRAIN_BATCH - t.first * TRAIN_BATCH, files->quiet);
        progress_describe("tasks", "");
        t.start = now();
        ok = loop(&t);
        progress_end();
        stopping_end();
        ok = ok && finish(&t);
    }
    if (t.log != NULL && fclose(t.log) != 0)
        ok = false;
    backend->close(t.session);
    return ok;
}
