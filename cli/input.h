/* The bytes of a file or of standard input, block by block. Files named .gz, .xz or .zst are decompressed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct archive;

typedef struct input {
    const char *name; /* for messages */
    int file;
    struct archive *archive; /* NULL if the file is read as it is */
    unsigned char *buffer;   /* NULL if it is not */
    bool ended;              /* the archive has nothing more */
    uint64_t done;           /* bytes read of the file, which are not those given out if it is compressed */
} input;

/* "-" is standard input. Each of these says what went wrong before it returns false. */
bool input_open(input *self, const char *path);
bool input_next(input *self, const unsigned char **block, size_t *size); /* size 0 at the end */
void input_close(input *self);

/* Checks that every file is there, before hours are spent on the first; adds up their sizes, 0 if one has none. */
bool input_measure(char *const *paths, int count, uint64_t *bytes);

#endif
