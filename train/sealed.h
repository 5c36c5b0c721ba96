/* sealed: what all checkpoints have around their fields.
 *
 * | offset | size | field |                     (little-endian)
 * | 0      | 8    | what it is a checkpoint of  |
 * | 8      | 4    | u32 version                 |
 * | 12     | 4    | u32 parameters              |
 * | 16     | 8    | u64 length of the file      |
 * | end - 8 | 8   | u64 XXH3-64 of all before   | */
#ifndef LEGO_TRAIN_SEALED_H
#define LEGO_TRAIN_SEALED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEALED_HEAD = 24, SEALED_TAIL = 8 };

struct seal {
    char magic[8];
    uint32_t version, parameters;
    uint64_t size;
    const char *stranger; /* what to say of a file that has other magic */
};

/* Where the next field is, and which way it goes. Reading and writing are the same list of fields, so they agree. */
struct cursor {
    unsigned char *at;
    bool write;
};
void cursor_field(struct cursor *cursor, void *value, size_t size);

/* Head and tail, once all between is there. */
void sealed_close(const struct seal *seal, unsigned char *bytes);

/* NULL, or what is wrong with the bytes, in words that follow "FILE ". */
const char *sealed_problem(const struct seal *seal, const unsigned char *bytes, size_t size);

#endif
