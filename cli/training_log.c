/* See training_log.h.
 *
 * SPDX-License-Identifier: MIT */
#include "training_log.h"

#include "say.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void end_line(training_log *log)
{
    if (fflush(log->file) == 0) return;
    say("cannot write %s: %s; the run goes on without it", log->path, strerror(errno != 0 ? errno : EIO));
    log->failed = true;
}

/* What is trained, how, and by what. */
static void write_recipe(FILE *file, const struct recipe *recipe, const char *name, const char *backend)
{
    fprintf(file, "{\"version\":\"%s\",\"net\":\"%s\",\"name\":\"%s\"", LEGO_VERSION, net_of(recipe)->name, name);
    for (const struct recipe_field *f = recipe_fields; f < recipe_fields + RECIPE_FIELDS; f++) {
        uint64_t bits = recipe_bits(recipe, f);
        double real;
        memcpy(&real, &bits, sizeof real);
        if ((f->nets >> recipe->net & 1) == 0) continue;
        if (f->kind == FIELD_REAL) fprintf(file, ",\"%s\":%g", f->name, real);
        else if (f->kind == FIELD_FLAG) fprintf(file, ",\"%s\":%s", f->name, bits != 0 ? "true" : "false");
        else fprintf(file, ",\"%s\":%" PRIu64, f->name, bits);
    }
    fprintf(file, ",\"backend\":\"%s\"}\n", backend);
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

bool training_log_open(training_log *log, const struct run *run, bool resume, const char *name, const char *backend)
{
    if (log->path == NULL) return true;
    log->file = resume ? fopen(log->path, "r+") : NULL;
    if (log->file == NULL && (!resume || errno == ENOENT)) log->file = fopen(log->path, "w");
    if (log->file == NULL || (resume && !cut(log->file, run->state.step))) {
        say("cannot write %s: %s", log->path, strerror(errno));
        return false;
    }
    if (run->state.step == 0) write_recipe(log->file, &run->recipe, name, backend);
    else fprintf(log->file, "{\"resumed\":%" PRIu64 ",\"backend\":\"%s\"}\n", run->state.step, backend);
    end_line(log);
    return true;
}

void training_log_line(training_log *log, const struct run *run, uint64_t step, double tasks_per_second)
{
    const struct net *net = net_of(&run->recipe);
    if (log->file == NULL || log->failed) return;
    fprintf(log->file, "{\"step\":%" PRIu64 ",\"tasks\":%" PRIu64, step, recipe_tasks(&run->recipe, step));
    for (uint32_t i = 0; i < net->losses; i++)
        fprintf(log->file, ",\"%s\":%.9g", net->loss_names[i], run->sums[i] / (double)run->summed);
    fprintf(log->file, ",\"tasks_per_second\":%.4g}\n", tasks_per_second);
    end_line(log);
}

bool training_log_close(training_log *log)
{
    if (log->file == NULL) return true;
    if (fclose(log->file) != 0) log->failed = true;
    if (log->failed) say("%s is not whole", log->path);
    return !log->failed;
}
