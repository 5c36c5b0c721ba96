/* legosketch train --preset ms: see train_ms.h, and resume.h for the order in which files are written.
 *
 * SPDX-License-Identifier: MIT */
#include "train_ms.h"

#include "output.h"
#include "progress.h"
#include "resume.h"
#include "say.h"
#include "stopping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LOG_LINES = 500,  /* of a whole run */
    SAID_LINES = 10,  /* on standard error, where that is not a terminal */
    CHUNK_MOST = 1024 /* steps that a backend is asked for at once ... */
};
#define CHUNK_SECONDS 0.2 /* ... if they take no longer than this */

typedef struct watching {
    const struct ms_backend *backend;
    struct ms_session *session;
    const training_files *files;
    struct ms_run *run;
    FILE *log;
    uint64_t first; /* the step it started with, this time */
    double start;   /* when that was */
    char remark[96];
    struct ms_losses losses[CHUNK_MOST];
} watching;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Tasks of the first so many steps. */
static uint64_t tasks_of(const watching *w, uint64_t steps)
{
    return least(steps * w->run->recipe.batch, w->run->recipe.tasks);
}

/* ---- the model and checkpoints ---------------------------------------------------------------------------------- */

static lego_status save_model(const void *what, lego_write write, void *context)
{
    static unsigned char bytes[MS_FILE];
    const struct ms_run *run = what;
    ms_export(&run->recipe, &run->state, bytes);
    return write(context, bytes, sizeof bytes) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

static lego_status save_checkpoint(const void *what, lego_write write, void *context)
{
    static unsigned char bytes[MS_CHECKPOINT_SIZE];
    ms_checkpoint_write(what, bytes);
    return write(context, bytes, sizeof bytes) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

bool train_ms_load(const char *path, struct ms_run *run)
{
    static unsigned char bytes[MS_CHECKPOINT_SIZE + 1];
    static struct ms_run found;
    char difference[100];
    size_t size;
    if (!resume_read(path, bytes, sizeof bytes, &size))
        return false;
    const char *problem = ms_checkpoint_read(bytes, size, &found);
    if (problem != NULL) {
        say("%s %s", path, problem);
        return false;
    }
    if (ms_checkpoint_difference(&found.recipe, &run->recipe, difference, sizeof difference)) {
        resume_refuse(path, difference);
        return false;
    }
    *run = found;
    return true;
}

/* The state of the backend into the run, and into a checkpoint. */
static bool write_checkpoint(watching *w)
{
    if (!w->backend->save(w->session, &w->run->state)) {
        say("the backend does not give its state back");
        return false;
    }
    return w->files->checkpoint == NULL || output_file(w->files->checkpoint, save_checkpoint, w->run);
}

/* ---- the log, and what is shown --------------------------------------------------------------------------------- */

static bool open_log(watching *w)
{
    const struct ms_recipe *r = &w->run->recipe;
    const char *by = w->backend->describe(w->session);
    if (w->files->log == NULL)
        return true;
    w->log = resume_log(w->files->log, w->files->resume, w->first);
    if (w->log == NULL)
        return false;
    if (w->first > 0)
        fprintf(w->log, "{\"resumed\":%" PRIu64 ",\"backend\":\"%s\"}\n", w->first, by);
    else
        fprintf(w->log,
                "{\"version\":\"%s\",\"preset\":\"ms\",\"seed\":%" PRIu64 ",\"tasks\":%" PRIu64 ",\"batch\":%" PRIu32
                ",\"scale_max\":%g,\"log_scale\":%s,\"rate\":%g,\"rate_end\":%g,\"backend\":\"%s\"}\n",
                LEGO_VERSION, r->seed, r->tasks, r->batch, r->scale_max, r->log_scale ? "true" : "false", r->rate,
                r->rate_end, by);
    return fflush(w->log) == 0;
}

/* Means since the last line: into the log, behind the progress bar, and ten times a run on standard error if that is
 * not a terminal. */
static void write_line(watching *w, uint64_t step)
{
    const struct ms_losses *s = &w->run->sums;
    const uint64_t steps = ms_recipe_steps(&w->run->recipe), tenth = steps / SAID_LINES;
    double n = (double)w->run->summed, rate = (double)(tasks_of(w, step) - tasks_of(w, w->first)) / (now() - w->start);
    if (w->log != NULL) {
        fprintf(w->log, "{\"step\":%" PRIu64 ",\"tasks\":%" PRIu64 ",\"loss\":%.9g,\"mse\":%.9g,\"are\":%.9g", step,
                tasks_of(w, step), s->total / n, s->mse / n, s->are / n);
        fprintf(w->log, ",\"aae\":%.9g,\"tasks_per_second\":%.4g}\n", s->aae / n, rate);
        fflush(w->log); /* what fails is found when it is closed */
    }
    snprintf(w->remark, sizeof w->remark, "  loss %.4g  AAE %.3f  ARE %.3f", s->total / n, s->aae / n, s->are / n);
    progress_describe("tasks", w->remark);
    if (!isatty(STDERR_FILENO) && !w->files->quiet && tenth > 0 && step % tenth == 0)
        say("task %" PRIu64 " of %" PRIu64 "%s  %.3g tasks/s", tasks_of(w, step), w->run->recipe.tasks, w->remark,
            rate);
    w->run->sums = (struct ms_losses){0};
    w->run->summed = 0;
}

/* ---- the loop --------------------------------------------------------------------------------------------------- */

static void add_losses(struct ms_run *run, const struct ms_losses *losses, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, run->summed++) {
        run->sums.total += losses[i].total;
        run->sums.mse += losses[i].mse;
        run->sums.are += losses[i].are;
        run->sums.aae += losses[i].aae;
    }
}

/* Why a chunk of steps was the last; always false. */
static bool fail_steps(const watching *w, enum backend_result result, uint64_t step)
{
    if (result == BACKEND_NOT_FINITE)
        say("the loss or the gradient of step %" PRIu64 " is not finite, so the run ends here", step);
    else
        say("the backend %s failed after step %" PRIu64, w->backend->name, step);
    if (w->files->checkpoint != NULL && access(w->files->checkpoint, F_OK) == 0)
        say("%s keeps the last good state", w->files->checkpoint);
    return false;
}

/* After a signal; always false. */
static bool stop_here(watching *w, uint64_t step)
{
    progress_hide();
    if (w->files->checkpoint == NULL)
        say("stopped after step %" PRIu64 "; nothing is kept, since there is no --checkpoint", step);
    else if (write_checkpoint(w))
        say("stopped after step %" PRIu64 " of %" PRIu64 "; the same command with --resume goes on from %s", step,
            ms_recipe_steps(&w->run->recipe), w->files->checkpoint);
    return false;
}

static bool loop(watching *w)
{
    struct ms_run *run = w->run;
    const uint64_t steps = ms_recipe_steps(&run->recipe), line = steps > LOG_LINES ? steps / LOG_LINES : 1;
    uint64_t step = w->first, chunk = 1;
    while (step < steps) {
        uint64_t until = least(least(steps, (step / line + 1) * line), (step / w->files->every + 1) * w->files->every);
        uint32_t done, count = (uint32_t)least(chunk, until - step);
        double began = now();
        enum backend_result result = w->backend->steps(w->session, count, w->losses, &done);
        if (result != BACKEND_DONE)
            return fail_steps(w, result, step + done);
        chunk = now() - began < CHUNK_SECONDS / 2 ? least(2 * chunk, CHUNK_MOST) : (chunk + 1) / 2;
        add_losses(run, w->losses, done);
        step += done;
        progress_update(tasks_of(w, step) - tasks_of(w, w->first), tasks_of(w, step) - tasks_of(w, w->first));
        if (step % line == 0 || step == steps)
            write_line(w, step);
        if (stopping_asked() && step < steps)
            return stop_here(w, step);
        if (step % w->files->every == 0 || step == steps)
            write_checkpoint(w); /* one that fails is said; the next may not */
    }
    return true;
}

static bool run_loop(watching *w)
{
    stopping_begin();
    progress_begin("train", w->run->recipe.tasks - tasks_of(w, w->first), w->files->quiet);
    progress_describe("tasks", "");
    w->start = now();
    bool ok = loop(w);
    progress_end();
    stopping_end();
    ok = ok && w->backend->save(w->session, &w->run->state) && output_file(w->files->output, save_model, w->run);
    if (ok && w->files->checkpoint != NULL && !w->files->keep_checkpoint)
        unlink(w->files->checkpoint);
    return ok;
}

bool train_ms(const struct ms_backend *backend, unsigned threads, struct ms_run *run, const training_files *files)
{
    static watching w;
    char error[BACKEND_ERROR] = "";
    w = (watching){.backend = backend, .files = files, .run = run, .first = run->state.step};
    w.session = backend->open(&run->recipe, threads, error);
    if (w.session == NULL) {
        say("cannot train on the backend %s: %s", backend->name, error);
        return false;
    }
    bool ok = (!files->resume || backend->load(w.session, &run->state)) && open_log(&w) && run_loop(&w);
    if (w.log != NULL && (ferror(w.log) | fclose(w.log)) != 0) {
        say("%s: could not be written", files->log);
        ok = false;
    }
    backend->close(w.session);
    return ok;
}
