/* The training loop; see training.h. */
#include "training.h"

#include "output.h"
#include "progress.h"
#include "say.h"
#include "stopping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LOG_LINES = 1000, /* of a whole run */
    SAID_LINES = 10,  /* on standard error, where that is not a terminal */
    CHUNK_MOST = 1024 /* steps that a backend is asked for at once ... */
};
#define CHUNK_SECONDS 0.2 /* ... if they take no longer than this */

typedef struct training {
    const struct backend *backend;
    struct session *session;
    const struct net *net;
    const training_files *files;
    struct run *run;
    FILE *log;
    bool log_failed;        /* which was said, */
    bool checkpoint_failed; /* as was this, of the latest */
    uint64_t steps;         /* of the whole run */
    uint64_t first;         /* the step it started with, this time */
    double start;           /* when that was */
    char remark[96];        /* for the progress bar */
    double losses[CHUNK_MOST * NET_LOSSES];
} training;

/* ---- the model and checkpoints ---------------------------------------------------------------------------------- */

static lego_status save_model(const void *what, lego_write write, void *context)
{
    const training *t = what;
    return t->net->save(&t->run->recipe, &t->run->state, t->files->name, write, context);
}

static lego_status save_checkpoint(const void *what, lego_write write, void *context)
{
    static unsigned char bytes[CHECKPOINT_MOST];
    return write(context, bytes, checkpoint_write(what, bytes)) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

bool training_read(const char *path, struct run *run)
{
    static unsigned char bytes[CHECKPOINT_MOST + 1];
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    bool readable = file != NULL && !ferror(file);
    int error = errno;
    if (file != NULL) fclose(file);
    const char *problem = readable ? checkpoint_read(bytes, size, run) : NULL;
    if (!readable) say("cannot read %s: %s", path, strerror(error));
    else if (problem != NULL) say("%s %s", path, problem);
    return readable && problem == NULL;
}

bool training_load(const char *path, struct run *run)
{
    static struct run found;
    char difference[100];
    if (!training_read(path, &found)) return false;
    if (recipe_difference(&found.recipe, &run->recipe, difference, sizeof difference)) {
        say("%s was made %s: give the same options to go on with it", path, difference);
        return false;
    }
    *run = found;
    return true;
}

/* The state of the backend into the run. */
static bool take_state(training *t)
{
    if (t->backend->save(t->session, &t->run->state)) return true;
    say("the backend does not give its state back");
    return false;
}

static bool write_checkpoint(training *t)
{
    bool ok =
        take_state(t) && (t->files->checkpoint == NULL || output_file(t->files->checkpoint, save_checkpoint, t->run));
    t->checkpoint_failed = !ok;
    return ok;
}

/* ---- the log: a JSON object a line, first the recipe, then means of losses --------------------------------------- */

/* A line is written before the checkpoint that counts it, and a run that goes on cuts off what its checkpoint does not
 * count, so nothing is lost. */
static void end_line(training *t)
{
    if (fflush(t->log) == 0) return;
    say("cannot write %s: %s; the run goes on without it", t->files->log, strerror(errno != 0 ? errno : EIO));
    t->log_failed = true;
}

/* What is trained, how, and by what. */
static void write_recipe(training *t, const char *by)
{
    const struct recipe *recipe = &t->run->recipe;
    fprintf(t->log, "{\"version\":\"%s\",\"net\":\"%s\",\"name\":\"%s\"", LEGO_VERSION, t->net->name, t->files->name);
    for (const struct recipe_field *f = recipe_fields; f < recipe_fields + RECIPE_FIELDS; f++) {
        char value[RECIPE_TEXT];
        recipe_text(recipe, f, value);
        if (f->nets >> recipe->net & 1) fprintf(t->log, ",\"%s\":%s", f->name, value);
    }
    fprintf(t->log, ",\"backend\":\"%s\"}\n", by);
}

/* Cuts off lines of later steps, and one that is not whole. */
static bool cut(FILE *file, uint64_t step)
{
    char line[1024];
    long end = 0;
    uint64_t at;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strchr(line, '\n') == NULL || (sscanf(line, "{\"step\":%" SCNu64, &at) == 1 && at > step)) break;
        end = ftell(file);
    }
    return end >= 0 && fseek(file, end, SEEK_SET) == 0 && ftruncate(fileno(file), end) == 0;
}

/* Afresh, or going on after the run's steps; false, and it was said, if that does not work. */
static bool open_log(training *t)
{
    const char *by = t->backend->describe(t->session);
    bool resume = t->files->resume;
    if (t->files->log == NULL) return true;
    t->log = resume ? fopen(t->files->log, "r+") : NULL;
    if (t->log == NULL && (!resume || errno == ENOENT)) t->log = fopen(t->files->log, "w");
    if (t->log == NULL || (resume && !cut(t->log, t->first))) {
        say("cannot write %s: %s", t->files->log, strerror(errno));
        return false;
    }
    if (t->first == 0) write_recipe(t, by);
    else fprintf(t->log, "{\"resumed\":%" PRIu64 ",\"backend\":\"%s\"}\n", t->first, by);
    end_line(t);
    return true;
}

static void log_line(training *t, uint64_t step, double tasks_per_second)
{
    if (t->log == NULL || t->log_failed) return;
    fprintf(t->log, "{\"step\":%" PRIu64 ",\"tasks\":%" PRIu64, step, recipe_tasks(&t->run->recipe, step));
    for (uint32_t i = 0; i < t->net->losses; i++)
        fprintf(t->log, ",\"%s\":%.9g", t->net->loss_names[i], t->run->sums[i] / (double)t->run->summed);
    fprintf(t->log, ",\"tasks_per_second\":%.4g}\n", tasks_per_second);
    end_line(t);
}

/* False if the log is not whole, which is said. */
static bool close_log(training *t)
{
    if (t->log == NULL) return true;
    if (fclose(t->log) != 0) t->log_failed = true;
    if (t->log_failed) say("%s is not whole", t->files->log);
    return !t->log_failed;
}

/* ---- what is shown ---------------------------------------------------------------------------------------------- */

/* The sum of a loss since the last line; 0 if the net has none of that name. */
static double sum_of(const training *t, const char *name)
{
    for (uint32_t i = 0; i < t->net->losses; i++)
        if (strcmp(t->net->loss_names[i], name) == 0) return t->run->sums[i];
    return 0;
}

/* Means since the last line of the log: behind the progress bar, and ten times a run on standard error if that is not a
 * terminal. */
static void show(training *t, uint64_t step, double rate)
{
    bool ruled = sum_of(t, "rule_aae") > 0;
    double n = (double)t->run->summed, tenth = (double)(t->steps / SAID_LINES);
    snprintf(t->remark, sizeof t->remark, "  loss %.4g  AAE %.3f  ARE %.3f%s", t->run->sums[0] / n,
             sum_of(t, "aae") / (ruled ? sum_of(t, "rule_aae") : n),
             sum_of(t, "are") / (ruled ? sum_of(t, "rule_are") : n), ruled ? " of the rule's" : "");
    progress_describe("tasks", t->remark);
    if (isatty(STDERR_FILENO) || t->files->quiet || tenth == 0 || step % (t->steps / SAID_LINES) != 0) return;
    double left = (double)(t->run->recipe.tasks - recipe_tasks(&t->run->recipe, step)) / rate;
    say("step %" PRIu64 " of %" PRIu64 "%s  %.3g tasks/s  %d:%02d left", step, t->steps, t->remark, rate,
        (int)(left / 60), (int)left % 60);
}

/* ---- the loop --------------------------------------------------------------------------------------------------- */

static void add_losses(training *t, uint32_t steps)
{
    for (uint32_t step = 0; step < steps; step++)
        for (uint32_t i = 0; i < t->net->losses; i++) t->run->sums[i] += t->losses[step * t->net->losses + i];
    t->run->summed += steps;
}

/* Means since the last line: into the log and on the screen. */
static void write_line(training *t, uint64_t step, uint64_t tasks)
{
    double rate = (double)tasks / (progress_clock() - t->start);
    log_line(t, step, rate);
    show(t, step, rate);
    t->run->summed = 0;
    memset(t->run->sums, 0, sizeof t->run->sums);
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
    if (t->files->checkpoint == NULL)
        say("stopped after step %" PRIu64 "; nothing is kept, since there is no --checkpoint", step);
    else if (write_checkpoint(t))
        say("stopped after step %" PRIu64 " of %" PRIu64 "; the same command with --resume goes on from %s", step,
            t->steps, t->files->checkpoint);
    return false;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool loop(training *t)
{
    const struct recipe *recipe = &t->run->recipe;
    uint64_t step = t->first, chunk = 1, every = t->files->every;
    uint64_t line = t->steps > LOG_LINES ? t->steps / LOG_LINES : 1;
    while (step < t->steps) {
        uint64_t until = least(t->steps, least((step / line + 1) * line, (step / every + 1) * every));
        uint32_t done, count = (uint32_t)least(chunk, until - step);
        double began = progress_clock();
        enum backend_result result = t->backend->steps(t->session, count, t->losses, &done);
        if (result != BACKEND_DONE) return fail_steps(t, result, step + done);
        chunk = progress_clock() - began < CHUNK_SECONDS / 2 ? least(2 * chunk, CHUNK_MOST) : (chunk + 1) / 2;
        add_losses(t, done);
        step += done;
        uint64_t tasks = recipe_tasks(recipe, step) - recipe_tasks(recipe, t->first);
        progress_update(tasks, tasks);
        if (step % line == 0 || step == t->steps) write_line(t, step, tasks);
        if (stopping_asked() && step < t->steps) return stop_here(t, step);
        if (step % every == 0 || step == t->steps) write_checkpoint(t); /* one that fails is said; the next may not */
    }
    return true;
}

static bool run_loop(training *t)
{
    stopping_begin();
    progress_begin("train", t->run->recipe.tasks - recipe_tasks(&t->run->recipe, t->first), t->files->quiet);
    progress_describe("tasks", "");
    t->start = progress_clock();
    bool ok = loop(t);
    progress_end();
    stopping_end();
    return ok;
}

static bool write_model(training *t)
{
    if (!take_state(t) || !output_file(t->files->output, save_model, t)) return false;
    const char *checkpoint = t->files->checkpoint;
    if (t->files->keep_checkpoint)
        return !t->checkpoint_failed; /* the model is there, but not all that was asked for */
    if (checkpoint == NULL || unlink(checkpoint) == 0 || errno == ENOENT) return true;
    return say("%s is in place, but %s cannot be removed: %s", t->files->output, checkpoint, strerror(errno));
}

bool training_run(const struct backend *backend, unsigned threads, struct run *run, const training_files *files)
{
    static training t;
    char error[BACKEND_ERROR] = "";
    t = (training){.backend = backend,
                   .net = net_of(&run->recipe),
                   .files = files,
                   .run = run,
                   .steps = recipe_steps(&run->recipe),
                   .first = run->state.step};
    t.session = backend->open(&run->recipe, threads, error);
    if (t.session == NULL) {
        say("cannot train on the backend %s: %s", backend->name, error);
        return false;
    }
    bool ok =
        (!files->resume || backend->load(t.session, &run->state)) && open_log(&t) && run_loop(&t) && write_model(&t);
    ok = close_log(&t) && ok;
    backend->close(t.session);
    return ok;
}
