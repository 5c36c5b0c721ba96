/* The bytes of a file or of standard input, block by block. What begins like gzip, xz, zstd or bzip2 is decompressed,
 * whatever its name, and every checksum that it has is verified.
 *
 * Such a file is one or more members (xz calls them streams, zstd frames), each compressed by itself. What they hold
 * follows one another, as it does for zcat and its kin. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct input input;

/* "-" is standard input. Bytes read of the file, which are not those given out if it is compressed, are added to *done.
 * Each of these says what went wrong before it returns false. */
bool input_open(input **opened, const char *path, uint64_t *done);
bool input_next(input *self, const unsigned char **block, size_t *size); /* size 0 at the end */
void input_close(input *self);

const char *input_name(const input *self); /* for messages */

/* The length of a path without an ending that stands for a compression. */
size_t input_stem(const char *path);

/* Checks that every file is there and none is the output, before hours are spent on the first; adds up their sizes, 0
 * if one has none. output is a path, "-" for standard output. */
bool input_measure(char *const *paths, int count, const char *output, uint64_t *bytes);
