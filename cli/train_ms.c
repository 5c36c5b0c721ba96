/* legosketch train --preset ms: see train_ms.h. There are no checkpoints yet: a run that is stopped leaves its log and
 * nothing else.
 *
 * SPDX-License-Identifier: MIT */
#include "train_ms.h"

#include "output.h"
#include "progress.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOG_LINES = 500, SAID_LINES = 10 };

typedef struct watching {
    const struct ms_recipe *recipe;
    FILE *log;
    bool quiet;
    uint64_t summed; /* steps in `sum` */
    struct ms_losses sum;
    double start;
    char remark[96];
} watching;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Means since the last line: into the log, behind the progress bar, and ten times a run on standard error if that is
 * not a terminal. */
static void write_line(watching *w, uint64_t step)
{
    double n = (double)w->summed, rate = (double)step / (now() - w->start);
    uint64_t tenth = w->recipe->tasks / SAID_LINES;
    if (w->log != NULL) {
        fprintf(w->log, "{\"step\":%" PRIu64 ",\"loss\":%.6g,\"mse\":%.6g,\"are\":%.6g,\"aae\":%.6g", step,
                w->sum.total / n, w->sum.mse / n, w->sum.are / n, w->sum.aae / n);
        fprintf(w->log, ",\"tasks_per_second\":%.4g}\n", rate);
        fflush(w->log);
    }
    snprintf(w->remark, sizeof w->remark, "  loss %.4g  AAE %.3f  ARE %.3f", w->sum.total / n, w->sum.aae / n,
             w->sum.are / n);
    if (!isatty(STDERR_FILENO) && !w->quiet && tenth > 0 && step % tenth == 0)
        say("task %" PRIu64 " of %" PRIu64 "%s  %.3g tasks/s", step, w->recipe->tasks, w->remark, rate);
    w->sum = (struct ms_losses){0};
    w->summed = 0;
}

static bool do_steps(struct ms_session *session, watching *w)
{
    const uint64_t tasks = w->recipe->tasks, every = tasks > LOG_LINES ? tasks / LOG_LINES : 1;
    for (uint64_t step = 1; step <= tasks; step++) {
        struct ms_losses losses;
        if (!ms_step(session, &losses)) {
            say("the loss or the gradient of task %" PRIu64 " is not finite: nothing was written", step);
            return false;
        }
        w->sum.total += losses.total;
        w->sum.mse += losses.mse;
        w->sum.are += losses.are;
        w->sum.aae += losses.aae;
        w->summed++;
        if (step % every == 0 || step == tasks)
            write_line(w, step);
        progress_update(step, step);
    }
    return true;
}

static FILE *open_log(const char *path, const struct ms_recipe *r, const char *by)
{
    FILE *log = fopen(path, "w");
    if (log == NULL)
        say("%s: cannot be written", path);
    else
        fprintf(log, "{\"version\":\"%s\",\"preset\":\"ms\",\"seed\":%" PRIu64 ",\"tasks\":%" PRIu64 ",\"rate\":%g"
                     ",\"backend\":\"%s\"}\n", LEGO_VERSION, r->seed, r->tasks, r->rate, by);
    return log;
}

static lego_status save(const void *what, lego_write write, void *context)
{
    static unsigned char bytes[MS_FILE];
    ms_export(what, bytes);
    return write(context, bytes, sizeof bytes) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

bool train_ms(const struct ms_recipe *recipe, unsigned threads, const char *output, const char *log, bool quiet)
{
    if (!output_check(output))
        return false;
    struct ms_session *session = ms_open(recipe, threads, NULL);
    if (session == NULL) {
        say_no_memory();
        return false;
    }
    watching w = {.recipe = recipe, .quiet = quiet, .start = now()};
    bool ok = log == NULL || (w.log = open_log(log, recipe, ms_describe(session))) != NULL;
    if (ok) {
        progress_begin("train", recipe->tasks, quiet);
        progress_describe("tasks", w.remark);
        ok = do_steps(session, &w);
        progress_end();
    }
    if (w.log != NULL && fclose(w.log) != 0) {
        say("%s: could not be written", log);
        ok = false;
    }
    ok = ok && output_file(output, save, ms_session_state(session));
    ms_close(session);
    return ok;
}
