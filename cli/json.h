/* JSON for programs: one object a line on standard output, built field by field. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

typedef struct json_line {
    struct cJSON *object;
    bool ok; /* every field found memory */
} json_line;

json_line json_begin(void);
void json_text(json_line *line, const char *name, const char *text); /* NULL becomes null */
void json_u64(json_line *line, const char *name, uint64_t value);
void json_i64(json_line *line, const char *name, int64_t value);
void json_real(json_line *line, const char *name, double value);
void json_bool(json_line *line, const char *name, bool value);
void json_reals(json_line *line, const char *name, const double *values, int n); /* what is no number becomes null */

/* As "item": "text" where the bytes are UTF-8 text, else as "item_hex": "00ff...", for JSON has no other bytes. */
void json_item(json_line *line, const void *bytes, size_t size);

/* Prints it and frees it; says so and returns false if memory ran out. */
bool json_print(json_line *line);
