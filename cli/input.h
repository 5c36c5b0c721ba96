/* The bytes of a file or of standard input, block by block. Files named .gz, .xz or .zst are decompressed. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "decompress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct input {
    const char *name; /* for messages */
    int file;
    decompressor *unpacked; /* NULL if the file is read as it is */
    unsigned char *buffer;  /* NULL if it is not */
    uint64_t done;          /* bytes read of the file, which are not those given out if it is compressed */
} input;

/* "-" is standard input. Once open, an input is not moved in memory. Each of these says what went wrong before it
 * returns false. */
bool input_open(input *self, const char *path);
bool input_next(input *self, const unsigned char **block, size_t *size); /* size 0 at the end */
void input_close(input *self);

/* Checks that every file is there, before hours are spent on the first; adds up their sizes, 0 if one has none. */
bool input_measure(char *const *paths, int count, uint64_t *bytes);

#endif
