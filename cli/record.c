/* Results of the lab as files; see record.h. */
#include "record.h"

#include "legosketch.h"
#include "output.h"
#include "progress.h"
#include "say.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static text command_line;

/* A word as a shell wants it: bare if it has no special character, else in single quotes. */
static void append_quoted(text *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    bool bare = word[0] != '\0' && word[strspn(word, plain)] == '\0';
    text_print(to, bare ? "" : "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'') text_print(to, "'\\''");
        else text_bytes(to, word, 1);
    }
    text_print(to, bare ? "" : "'");
}

void record_command(int argc, char **argv)
{
    text_free(&command_line);
    for (int i = 0; i < argc; i++) {
        text_print(&command_line, i > 0 ? " " : "");
        append_quoted(&command_line, argv[i]);
    }
}

/* ---- where and when --------------------------------------------------------------------------------------------- */

/* The value behind "model name" in /proc/cpuinfo; "" where there is none. */
static void cpu_name(char *name, size_t size)
{
    name[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && name[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            colon[1 + strcspn(colon + 1, "\n")] = '\0';
            snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
        }
    }
    if (file != NULL) fclose(file);
}

static void add_machine(json_line *to)
{
    cJSON *object = cJSON_AddObjectToObject(to->object, "machine");
    json_line machine = {object, object != NULL};
    char cpu[200], os[400] = "";
    cpu_name(cpu, sizeof cpu);
    struct utsname name;
    if (uname(&name) == 0) snprintf(os, sizeof os, "%s %s %s", name.sysname, name.release, name.machine);
    json_text(&machine, "cpu", cpu[0] != '\0' ? cpu : NULL);
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    json_i64(&machine, "cores", cores);
    json_i64(&machine, "memory", pages > 0 && page > 0 ? (int64_t)pages * page : 0);
    json_text(&machine, "system", os);
    to->ok = to->ok && machine.ok;
}

record record_begin(const char *experiment, const char *title, const char *figure, uint64_t seed, uint32_t seeds)
{
    record self = {.top = json_begin(), .start = progress_clock()};
    char date[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_text(&self.top, "experiment", experiment);
    json_text(&self.top, "title", title);
    json_text(&self.top, "figure", figure);
    json_text(&self.top, "command", command_line.failed ? NULL : command_line.bytes);
    json_text(&self.top, "version", LEGO_VERSION);
    json_text(&self.top, "commit", record_commit[0] != '\0' ? record_commit : NULL);
    json_text(&self.top, "date", date);
    add_machine(&self.top);
    json_u64(&self.top, "seed", seed);
    json_u64(&self.top, "seeds", seeds);
    self.seconds = cJSON_AddNumberToObject(self.top.object, "seconds", 0);
    self.failures = cJSON_AddArrayToObject(self.top.object, "failures");
    self.rows = cJSON_AddArrayToObject(self.top.object, "rows");
    self.top.ok = self.top.ok && self.seconds != NULL && self.failures != NULL && self.rows != NULL;
    return self;
}

static void append(record *self, cJSON *array, cJSON *item, bool ok)
{
    if (self->top.ok && ok && cJSON_AddItemToArray(array, item)) return;
    cJSON_Delete(item);
    self->top.ok = false;
}

void record_add(record *self, json_line *row)
{
    append(self, self->rows, row->object, row->ok);
    row->object = NULL;
}

void record_failure(record *self, const char *what)
{
    append(self, self->failures, cJSON_CreateString(what), true);
}

int record_rows(const record *self)
{
    return cJSON_GetArraySize(self->rows);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static lego_status save_json(const void *json, lego_write write, void *context)
{
    return write(context, json, strlen(json)) == 0 && write(context, "\n", 1) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

bool record_write_file(const record *self, const char *path, bool quiet)
{
    if (self->top.ok) cJSON_SetNumberValue(self->seconds, progress_clock() - self->start);
    char *json = self->top.ok ? cJSON_Print(self->top.object) : NULL;
    if (json == NULL) return say_no_memory();
    bool ok = output_file(path, save_json, json);
    cJSON_free(json);
    if (ok && !quiet) say("wrote %s: %d rows in %.1f s", path, record_rows(self), progress_clock() - self->start);
    return ok;
}

void record_free(record *self)
{
    cJSON_Delete(self->top.object);
    *self = (record){.start = 0};
}
