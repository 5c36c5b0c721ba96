/* Decompression of gzip, xz and zstd, block by block. Every checksum that a file has is verified.
 *
 * A file is one or more members (xz calls them streams, zstd frames), each compressed by itself. What they hold follows
 * one another, as it does for zcat and its kin. */
#ifndef CLI_DECOMPRESS_H
#define CLI_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct compression compression;
typedef struct decompressor decompressor;

/* Where the compressed bytes come from: up to size of them, 0 at the end only. False if reading failed; it said so. */
typedef bool decompress_read(void *context, unsigned char *buffer, size_t size, size_t *got);

/* What a file of that name must be; NULL if it is read as it is. */
const compression *compression_of(const char *path);

/* The name is for messages. Each of these says what went wrong before it returns NULL or false. */
decompressor *decompress_open(const compression *kind, const char *name, decompress_read *read, void *context);
bool decompress_next(decompressor *self, const unsigned char **block, size_t *size); /* size 0 at the end */
void decompress_close(decompressor *self);                                           /* NULL is fine */

#endif
