/* Text that grows; see text.h. */
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for `more` bytes and the zero. */
static bool reserve(text *to, size_t more)
{
    if (to->failed || more >= (size_t)-1 / 4 - to->size) return !(to->failed = true);
    if (to->size + more < to->capacity) return true;
    size_t capacity = 2 * (to->size + more) + 256;
    char *bytes = realloc(to->bytes, capacity);
    if (bytes == NULL) return !(to->failed = true);
    to->bytes = bytes;
    to->capacity = capacity;
    return true;
}

char *text_room(text *to, size_t size)
{
    return reserve(to, size) ? to->bytes + to->size : NULL;
}

void text_bytes(text *to, const char *bytes, size_t size)
{
    if (!reserve(to, size)) return;
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    to->bytes[to->size] = '\0';
}

void text_print(text *to, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, values);
    if (length < 0) to->failed = true;
    if (length >= 0 && reserve(to, (size_t)length)) {
        vsnprintf(to->bytes + to->size, (size_t)length + 1, format, again);
        to->size += (size_t)length;
    }
    va_end(again);
    va_end(values);
}

void text_escaped(text *to, const char *from)
{
    if (from == NULL) from = "\u2013";
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (; *from != '\0'; from++) {
        const char *found = strchr(special, *from);
        if (found != NULL) text_print(to, "%s", entities[found - special]);
        else text_bytes(to, from, 1);
    }
}

int text_read(text *to, int file, size_t most)
{
    enum { BLOCK = 1 << 16 };
    while (to->size < most) {
        if (!reserve(to, BLOCK)) return ENOMEM;
        ssize_t got = read(file, to->bytes + to->size, BLOCK);
        if (got == 0) break;
        if (got < 0 && errno != EINTR) return errno;
        to->size += got > 0 ? (size_t)got : 0;
        to->bytes[to->size] = '\0';
    }
    return 0;
}

void text_free(text *to)
{
    free(to->bytes);
    *to = (text){.bytes = NULL};
}
