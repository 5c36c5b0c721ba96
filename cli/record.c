/* Results of the lab as files; see record.h.
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"

#include "legosketch.h"
#include "output.h"
#include "say.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static char *command_line; /* NULL: nobody noted it, or there was no memory */

/* A word as a shell wants it: bare if it has no special character, else in single quotes. */
static char *append_quoted(char *at, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        strcpy(at, word);
        return at + strlen(word);
    }
    *at++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *word;
        }
    }
    *at++ = '\'';
    return at;
}

void record_command(int argc, char **argv)
{
    size_t size = 1;
    for (int i = 0; i < argc; i++) size += 4 * strlen(argv[i]) + 3;
    free(command_line);
    command_line = malloc(size);
    char *at = command_line;
    for (int i = 0; at != NULL && i < argc; i++) {
        if (i > 0) *at++ = ' ';
        at = append_quoted(at, argv[i]);
    }
    if (at != NULL) *at = '\0';
}

double record_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- where and when --------------------------------------------------------------------------------------------- */

/* The value behind "model name" in /proc/cpuinfo; "" where there is none. */
static void cpu_name(char *text, size_t size)
{
    text[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && text[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            colon[1 + strcspn(colon + 1, "\n")] = '\0';
            snprintf(text, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
        }
    }
    if (file != NULL) fclose(file);
}

static json_line describe_machine(void)
{
    json_line machine = json_begin();
    char cpu[200], os[400] = "";
    cpu_name(cpu, sizeof cpu);
    struct utsname name;
    if (uname(&name) == 0) snprintf(os, sizeof os, "%s %s %s", name.sysname, name.release, name.machine);
    json_text(&machine, "cpu", cpu[0] != '\0' ? cpu : NULL);
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    json_i64(&machine, "cores", cores);
    json_i64(&machine, "memory", pages > 0 && page > 0 ? (int64_t)pages * page : 0);
    json_text(&machine, "system", os);
    return machine;
}

static void add_child(json_line *parent, const char *name, cJSON *child, bool ok)
{
    if (!ok || child == NULL || !cJSON_AddItemToObject(parent->object, name, child)) {
        cJSON_Delete(child);
        parent->ok = false;
    }
}

record record_begin(const char *experiment, const char *title, const char *figure, uint64_t seed, uint32_t seeds)
{
    record self = {.top = json_begin(), .start = record_clock()};
    char date[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_text(&self.top, "experiment", experiment);
    json_text(&self.top, "title", title);
    json_text(&self.top, "figure", figure);
    json_text(&self.top, "command", command_line);
    json_text(&self.top, "version", LEGO_VERSION);
    json_text(&self.top, "commit", record_commit[0] != '\0' ? record_commit : NULL);
    json_text(&self.top, "date", date);
    json_line machine = describe_machine();
    add_child(&self.top, "machine", machine.object, machine.ok);
    json_u64(&self.top, "seed", seed);
    json_u64(&self.top, "seeds", seeds);
    self.rows = cJSON_CreateArray();
    self.failures = cJSON_CreateArray();
    self.ok = self.rows != NULL && self.failures != NULL;
    return self;
}

json_line record_row(record *self)
{
    (void)self;
    return json_begin();
}

void record_add(record *self, json_line *row)
{
    if (!self->ok || !row->ok || !cJSON_AddItemToArray(self->rows, row->object)) {
        cJSON_Delete(row->object);
        self->ok = false;
    }
    row->object = NULL;
}

int record_rows(const record *self)
{
    return cJSON_GetArraySize(self->rows);
}

void record_failure(record *self, const char *what)
{
    cJSON *text = cJSON_CreateString(what);
    if (!self->ok || text == NULL || !cJSON_AddItemToArray(self->failures, text)) {
        cJSON_Delete(text);
        self->ok = false;
    }
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static lego_status save_text(const void *text, lego_write write, void *context)
{
    return write(context, text, strlen(text)) == 0 && write(context, "\n", 1) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

/* The top with copies of rows and failures, which stay with the record. */
static char *as_text(const record *self)
{
    json_line whole = {cJSON_Duplicate(self->top.object, true), self->top.ok && self->ok};
    whole.ok = whole.ok && whole.object != NULL;
    json_real(&whole, "seconds", record_clock() - self->start);
    add_child(&whole, "failures", cJSON_Duplicate(self->failures, true), true);
    add_child(&whole, "rows", cJSON_Duplicate(self->rows, true), true);
    char *text = whole.ok ? cJSON_Print(whole.object) : NULL;
    cJSON_Delete(whole.object);
    return text;
}

bool record_write_file(const record *self, const char *path, bool quiet)
{
    char *text = as_text(self);
    if (text == NULL) {
        say_no_memory();
        return false;
    }
    bool ok = output_file(path, save_text, text);
    cJSON_free(text);
    if (ok && !quiet) say("wrote %s: %d rows in %.1f s", path, record_rows(self), record_clock() - self->start);
    return ok;
}

bool record_write(const record *self, const char *folder, bool quiet)
{
    char path[PATH_MAX];
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(self->top.object, "experiment"));
    if (name == NULL) {
        say_no_memory();
        return false;
    }
    int length = snprintf(path, sizeof path, "%s/%s.json", folder, name);
    if (length <= 0 || (size_t)length >= sizeof path) {
        say("the name of the folder %s is too long", folder);
        return false;
    }
    return record_write_file(self, path, quiet);
}

void record_free(record *self)
{
    cJSON_Delete(self->top.object);
    cJSON_Delete(self->rows);
    cJSON_Delete(self->failures);
    *self = (record){.ok = false};
}
