/* Reading files through read(2), and through decompress.h what is compressed; see input.h. */
#include "input.h"

#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

static bool read_file(void *context, unsigned char *buffer, size_t size, size_t *got)
{
    input *self = context;
    ssize_t count;
    do count = read(self->file, buffer, size);
    while (count < 0 && errno == EINTR);
    if (count < 0) return say_unreadable(self->name, strerror(errno));
    *got = (size_t)count;
    self->done += *got;
    return true;
}

bool input_open(input *self, const char *path)
{
    *self = (input){.name = is_stdin(path) ? "stdin" : path};
    self->file = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (self->file < 0) return say_unreadable(self->name, strerror(errno));
    const compression *kind = is_stdin(path) ? NULL : compression_of(path);
    bool ok;
    if (kind != NULL) {
        self->unpacked = decompress_open(kind, self->name, read_file, self);
        ok = self->unpacked != NULL;
    } else {
        self->buffer = malloc(BLOCK);
        ok = self->buffer != NULL || say_unreadable(self->name, strerror(ENOMEM));
    }
    if (!ok) input_close(self);
    return ok;
}

bool input_next(input *self, const unsigned char **block, size_t *size)
{
    if (self->unpacked != NULL) return decompress_next(self->unpacked, block, size);
    *block = self->buffer;
    return read_file(self, self->buffer, BLOCK, size);
}

void input_close(input *self)
{
    decompress_close(self->unpacked);
    free(self->buffer);
    if (self->file > STDIN_FILENO) close(self->file);
    *self = (input){.file = -1};
}

bool input_measure(char *const *paths, int count, uint64_t *bytes)
{
    uint64_t sum = 0;
    bool known = true;
    for (int i = 0; i < count; i++) {
        struct stat status;
        if ((is_stdin(paths[i]) ? fstat(STDIN_FILENO, &status) : stat(paths[i], &status)) != 0)
            return say_unreadable(paths[i], strerror(errno));
        known = known && S_ISREG(status.st_mode);
        sum += (uint64_t)status.st_size;
    }
    *bytes = known ? sum : 0;
    return true;
}
