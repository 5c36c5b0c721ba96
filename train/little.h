/* little: numbers between this machine's order of bytes and that of files, which is little-endian on every machine. */
#pragma once

#include <stddef.h>

/* n numbers of `width` bytes, 1 to 8 and a power of two, either way. */
static inline void little(void *to, const void *from, size_t width, size_t n)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    size_t flip = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : width - 1; /* b ^ flip is b, or counts from the end */
    for (size_t i = 0; i < n * width; i += width)
        for (size_t b = 0; b < width; b++) t[i + b] = f[i + (b ^ flip)];
}
