/* Text that is made of values: one rule for Python's objects, for arrays and for columns (docs/python.md has it as a
 * table). It is what PostgreSQL prints, or inside of a tuple what its jsonb does, so that SQL can make the same of its
 * own values.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that get more; free(bytes) in the end. All functions say false if there is no memory. */
struct text {
    char *bytes;
    size_t size, room;
};

bool text_room(struct text *text, size_t more);
bool text_add(struct text *text, const void *bytes, size_t size);

/* A string of JSON; and bytes as one, in hexadecimal digits behind a \x. */
bool text_quoted(struct text *text, const char *bytes, size_t size);
bool text_hex(struct text *text, const char *bytes, size_t size);

/* ---- numbers: one that is an integer of 64 bits is that item, every other is text -------------------------------- */

/* Whether a float is an integer from -2^63 to 2^64 - 1, and that. */
bool text_whole(double value, uint64_t *number);

/* What 32 bits stand for: the double that their shortest decimal text is, so that 0.1 is 0.1. With the GIL. */
double text_widened(float value);

/* The shortest decimal text that is this float and no other; `plain`, as JSON's numbers here, without an exponent. NaN
 * has none. With the GIL. */
bool text_float(struct text *text, double value, bool plain);

/* A decimal of `size` little-endian bytes, two's complement, at most 32, over 10^scale. Whether it is an integer of 64
 * bits, and that; or its text without an exponent and without zeros at the end. */
bool text_decimal_whole(const unsigned char *bytes, size_t size, int scale, uint64_t *number);
bool text_decimal(struct text *text, const unsigned char *bytes, size_t size, int scale);

bool text_integer(struct text *text, uint64_t number, bool is_signed);

/* ---- dates and times --------------------------------------------------------------------------------------------- */

/* Since 1970-01-01, in parts of a second: 1, 1,000 ... a billion of them. */
struct instant {
    int64_t value;
    uint32_t parts;
};

bool text_date(struct text *text, int64_t days);
bool text_time(struct text *text, struct instant time);                                    /* of a day */
bool text_instant(struct text *text, struct instant instant, bool is_utc, bool is_nested); /* nested: with T */

/* The 36 characters of 16 bytes. */
bool text_uuid(struct text *text, const unsigned char bytes[16]);
