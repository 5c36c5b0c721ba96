/* Reading files, plain through read(2) and compressed through libarchive; see input.h.
 *
 * SPDX-License-Identifier: MIT */
#include "input.h"

#include "say.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

typedef struct compression {
    const char *suffix;
    const char *name;
    int (*support)(struct archive *);
    int code;
} compression;

static const compression compressions[] = {
    {".gz", "gzip", archive_read_support_filter_gzip, ARCHIVE_FILTER_GZIP},
    {".xz", "xz", archive_read_support_filter_xz, ARCHIVE_FILTER_XZ},
    {".zst", "zstd", archive_read_support_filter_zstd, ARCHIVE_FILTER_ZSTD},
};

static const compression *compression_of(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++) {
        size_t size = strlen(compressions[i].suffix);
        if (length > size && strcmp(path + length - size, compressions[i].suffix) == 0)
            return &compressions[i];
    }
    return NULL;
}

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

static bool fail(const input *self, const char *what)
{
    say("cannot read %s: %s", self->name, what);
    return false;
}

/* libarchive's words for a file that was cut or damaged are about its insides, so they come second. */
static bool archive_fail(const input *self)
{
    const char *what = archive_error_string(self->archive);
    int error = archive_errno(self->archive);
    if (error > 0 && error != EILSEQ) /* which it uses for a bad format */
        return fail(self, strerror(error));
    say("cannot read %s: it ends too early or is damaged%s%s", self->name, what != NULL ? ": " : "",
        what != NULL ? what : "");
    return false;
}

static bool open_archive(input *self, const compression *kind)
{
    self->archive = archive_read_new();
    if (self->archive == NULL)
        return fail(self, strerror(ENOMEM));
    if (kind->support(self->archive) != ARCHIVE_OK || archive_read_support_format_raw(self->archive) != ARCHIVE_OK ||
        archive_read_support_format_empty(self->archive) != ARCHIVE_OK ||
        archive_read_open_fd(self->archive, self->file, BLOCK) != ARCHIVE_OK)
        return archive_fail(self);
    struct archive_entry *entry;
    int result = archive_read_next_header(self->archive, &entry);
    if (result != ARCHIVE_OK && result != ARCHIVE_EOF)
        return archive_fail(self);
    self->ended = result == ARCHIVE_EOF;
    /* libarchive hands on what it does not recognise, and items made of it would be nonsense */
    if (archive_filter_code(self->archive, 0) != kind->code) {
        say("cannot read %s: it is named %s but is not %s data", self->name, kind->suffix, kind->name);
        return false;
    }
    return true;
}

bool input_open(input *self, const char *path)
{
    *self = (input){.name = is_stdin(path) ? "stdin" : path};
    self->file = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (self->file < 0)
        return fail(self, strerror(errno));
    const compression *kind = is_stdin(path) ? NULL : compression_of(path);
    bool ok;
    if (kind != NULL) {
        ok = open_archive(self, kind);
    } else {
        self->buffer = malloc(BLOCK);
        ok = self->buffer != NULL || fail(self, strerror(ENOMEM));
    }
    if (!ok)
        input_close(self);
    return ok;
}

static bool next_of_archive(input *self, const unsigned char **block, size_t *size)
{
    *size = 0;
    while (!self->ended && *size == 0) { /* a block may be empty before the end */
        const void *bytes = NULL;
        la_int64_t offset;
        int result = archive_read_data_block(self->archive, &bytes, size, &offset);
        if (result != ARCHIVE_OK && result != ARCHIVE_EOF)
            return archive_fail(self);
        self->ended = result == ARCHIVE_EOF;
        *size = self->ended ? 0 : *size;
        *block = bytes;
    }
    self->done = (uint64_t)archive_filter_bytes(self->archive, -1);
    return true;
}

bool input_next(input *self, const unsigned char **block, size_t *size)
{
    if (self->archive != NULL)
        return next_of_archive(self, block, size);
    ssize_t got;
    do
        got = read(self->file, self->buffer, BLOCK);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail(self, strerror(errno));
    *block = self->buffer;
    *size = (size_t)got;
    self->done += (uint64_t)got;
    return true;
}

void input_close(input *self)
{
    if (self->archive != NULL)
        archive_read_free(self->archive);
    free(self->buffer);
    if (self->file > STDIN_FILENO)
        close(self->file);
    *self = (input){.file = -1};
}

bool input_measure(char *const *paths, int count, uint64_t *bytes)
{
    uint64_t sum = 0;
    bool known = true;
    for (int i = 0; i < count; i++) {
        struct stat status;
        if ((is_stdin(paths[i]) ? fstat(STDIN_FILENO, &status) : stat(paths[i], &status)) != 0) {
            say("cannot read %s: %s", is_stdin(paths[i]) ? "stdin" : paths[i], strerror(errno));
            return false;
        }
        known = known && S_ISREG(status.st_mode);
        sum += (uint64_t)status.st_size;
    }
    *bytes = known ? sum : 0;
    return true;
}
