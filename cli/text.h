/* Text that grows as it is written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct text {
    char *bytes; /* ended by a zero; NULL while there is nothing */
    size_t size, capacity;
    bool failed; /* memory ran out: what came after is missing */
} text;

void text_bytes(text *to, const char *bytes, size_t size);
char *text_room(text *to, size_t size); /* where so many can be written; the caller adds to the size. NULL if failed */
__attribute__((format(printf, 2, 3))) void text_print(text *to, const char *format, ...);

/* What comes from outside, so that HTML shows it as it is; NULL becomes a dash. */
void text_escaped(text *to, const char *from);

/* The rest of an open file, up to where it has `most` bytes or more; 0 or an error number. */
int text_read(text *to, int file, size_t most);
void text_free(text *to);
