/* See resume.h.
 *
 * SPDX-License-Identifier: MIT */
#include "resume.h"

#include "say.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

bool resume_read(const char *path, unsigned char *bytes, size_t most, size_t *size)
{
    FILE *file = fopen(path, "rb");
    *size = file != NULL ? fread(bytes, 1, most, file) : 0;
    bool readable = file != NULL && !ferror(file);
    int error = errno;
    if (file != NULL)
        fclose(file);
    if (!readable)
        say("cannot read %s: %s", path, strerror(error));
    return readable;
}

void resume_refuse(const char *path, const char *difference)
{
    say("%s was made %s%s: give the same options to go on with it", path,
        strncmp(difference, "with", 4) == 0 ? "" : "with ", difference);
}

/* Cuts off what the checkpoint does not count: lines of later steps, and one that is not whole. */
static bool cut_log(FILE *log, uint64_t step)
{
    char line[1024];
    long end = 0;
    uint64_t at;
    while (fgets(line, sizeof line, log) != NULL) {
        if (strchr(line, '\n') == NULL || (sscanf(line, "{\"step\":%" SCNu64, &at) == 1 && at > step))
            break;
        end = ftell(log);
    }
    return end >= 0 && fseek(log, end, SEEK_SET) == 0 && ftruncate(fileno(log), end) == 0;
}

FILE *resume_log(const char *path, bool resume, uint64_t step)
{
    FILE *log = resume ? fopen(path, "r+") : NULL;
    if (log == NULL && (!resume || errno == ENOENT))
        log = fopen(path, "w");
    if (log != NULL && (!resume || cut_log(log, step)))
        return log;
    say("cannot write %s: %s", path, strerror(errno));
    if (log != NULL)
        fclose(log);
    return NULL;
}
