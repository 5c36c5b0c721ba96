/* Text that is made of values; see text.h.
 *
 * SPDX-License-Identifier: MIT */
#include "text.h"

#include <Python.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool text_room(struct text *text, size_t more)
{
    if (more <= text->room - text->size) return true;
    if (more > SIZE_MAX / 4 - text->size) return false;
    size_t room = 2 * (text->size + more);
    char *bytes = realloc(text->bytes, room);
    if (bytes == NULL) return false;
    text->bytes = bytes;
    text->room = room;
    return true;
}

bool text_add(struct text *text, const void *bytes, size_t size)
{
    if (!text_room(text, size)) return false;
    if (size > 0) memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    return true;
}

static bool add_string(struct text *text, const char *string)
{
    return text_add(text, string, strlen(string));
}

static const char hexadecimal[] = "0123456789abcdef";

/* At least so many digits; returns what is behind them. */
static char *put_digits(char *to, uint64_t number, int least)
{
    char digit[24];
    int n = 0;
    for (; number > 0 || n < least; number /= 10) digit[n++] = (char)('0' + number % 10);
    while (n > 0) *to++ = digit[--n];
    return to;
}

bool text_quoted(struct text *text, const char *bytes, size_t size)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    if (size > SIZE_MAX / 16 || !text_room(text, 6 * size + 2)) return false;
    char *to = text->bytes + text->size;
    *to++ = '"';
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        const char *found = byte == 0 ? NULL : strchr(escaped, byte);
        if (found != NULL) {
            *to++ = '\\';
            *to++ = letters[found - escaped];
        } else if (byte < 0x20) {
            memcpy(to, "\\u00", 4);
            to[4] = hexadecimal[byte >> 4];
            to[5] = hexadecimal[byte & 15];
            to += 6;
        } else {
            *to++ = (char)byte;
        }
    }
    *to++ = '"';
    text->size = (size_t)(to - text->bytes);
    return true;
}

bool text_hex(struct text *text, const char *bytes, size_t size)
{
    if (size > SIZE_MAX / 16 || !text_room(text, 2 * size + 5)) return false;
    text_add(text, "\"\\\\x", 4);
    char *to = text->bytes + text->size;
    for (size_t i = 0; i < size; i++) {
        *to++ = hexadecimal[(unsigned char)bytes[i] >> 4];
        *to++ = hexadecimal[bytes[i] & 15];
    }
    *to++ = '"';
    text->size = (size_t)(to - text->bytes);
    return true;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

bool text_whole(double value, uint64_t *number)
{
    if (!(value >= -0x1p63 && value < 0x1p64) || value != trunc(value)) return false;
    *number = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    return true;
}

double text_widened(float value)
{
    uint64_t whole;
    double found = value;
    if (text_whole(value, &whole) || !isfinite(value)) return value;
    for (int digits = 6; digits <= 9; digits++) {
        char *text = PyOS_double_to_string(value, 'g', digits, 0, NULL);
        if (text == NULL) break;
        found = PyOS_string_to_double(text, NULL, NULL);
        PyMem_Free(text);
        if ((float)found == value) break;
    }
    PyErr_Clear(); /* without memory it is the value as it is, and the next to ask for some says so */
    return found;
}

/* The digits of a number that is digits * 10^(exponent - n + 1), the first of which is not 0. */
struct digits {
    const char *digit;
    int n, exponent;
    bool is_negative;
};

static bool add_plain(struct text *text, struct digits d)
{
    int before = d.exponent + 1, after = d.n - before; /* the point; negative if zeros fill up to there */
    size_t room = (size_t)(abs(before) + d.n + 3);
    if (!text_room(text, room)) return false;
    char *to = text->bytes + text->size;
    if (d.is_negative) *to++ = '-';
    if (before <= 0) *to++ = '0';
    for (int i = 0; i < before; i++) *to++ = i < d.n ? d.digit[i] : '0';
    if (after > 0) *to++ = '.';
    for (int i = before; i < d.n; i++) *to++ = i < 0 ? '0' : d.digit[i];
    text->size = (size_t)(to - text->bytes);
    return true;
}

/* PostgreSQL has exponents below 10^-4 and from 10^15 on, of two digits or more. */
static bool add_float(struct text *text, struct digits d)
{
    char exponent[16] = {'e', d.exponent < 0 ? '-' : '+'};
    if (d.exponent >= -4 && d.exponent < 15) return add_plain(text, d);
    char *end = put_digits(exponent + 2, (uint64_t)abs(d.exponent), 2);
    d.exponent = 0;
    return add_plain(text, d) && text_add(text, exponent, (size_t)(end - exponent));
}

bool text_float(struct text *text, double value, bool plain)
{
    char digit[24];
    struct digits d = {.digit = digit, .is_negative = value < 0};
    if (isinf(value)) {
        const char *infinity = value < 0 ? "-Infinity" : "Infinity";
        return plain ? text_quoted(text, infinity, strlen(infinity)) : add_string(text, infinity);
    }
    char *shown = PyOS_double_to_string(fabs(value), 'r', 0, 0, NULL); /* 12.5, 0.00123, 1e-07, 1.5e+300 */
    if (shown == NULL) return PyErr_Clear(), false;
    int point = -1, zeros = 0, at = 0;
    const char *end = shown;
    for (; *end != '\0' && *end != 'e'; end++, at++) {
        if (*end == '.') point = at--;
        else if (d.n == 0 && *end == '0') zeros++;
        else if (d.n < (int)sizeof digit) digit[d.n++] = *end;
    }
    d.exponent = (point < 0 ? at : point) - zeros - 1 + (*end == 'e' ? atoi(end + 1) : 0);
    PyMem_Free(shown);
    while (d.n > 0 && digit[d.n - 1] == '0') d.n--;
    return plain ? add_plain(text, d) : add_float(text, d);
}

bool text_integer(struct text *text, uint64_t number, bool is_signed)
{
    char shown[24], *to = shown;
    bool is_negative = is_signed && number > INT64_MAX;
    if (is_negative) *to++ = '-';
    to = put_digits(to, is_negative ? 0 - number : number, 1);
    return text_add(text, shown, (size_t)(to - shown));
}

/* The digits of a decimal, of which there are at most 77, without the zeros at its end; 0 has none. */
static struct digits decimal_digits(const unsigned char *bytes, size_t size, int scale, char digit[80])
{
    uint32_t word[8] = {0};
    bool is_negative = (bytes[size - 1] & 0x80) != 0;
    uint64_t carry = is_negative;
    for (size_t i = 0; i < sizeof word; i++) {
        uint32_t byte = i < size ? bytes[i] : is_negative ? 0xff : 0;
        word[i / 4] |= byte << 8 * (i % 4);
    }
    for (size_t i = 0; i < 8 && is_negative; i++) {
        carry += (uint32_t)~word[i];
        word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    int at = 80;
    size_t words = 8;
    while (words > 0) {
        uint64_t rest = 0;
        for (size_t i = words; i-- > 0;) {
            rest = rest << 32 | word[i];
            word[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digit[--at] = (char)('0' + rest);
        while (words > 0 && word[words - 1] == 0) words--;
    }
    while (at < 80 && digit[at] == '0') at++;
    struct digits d = {digit + at, 80 - at, 80 - at - 1 - scale, is_negative};
    while (d.n > 0 && d.digit[d.n - 1] == '0') d.n--;
    return d;
}

bool text_decimal_whole(const unsigned char *bytes, size_t size, int scale, uint64_t *number)
{
    char digit[80], shown[64];
    struct digits d = decimal_digits(bytes, size, scale, digit);
    struct text text = {shown, 0, sizeof shown};
    *number = 0;
    if (d.n == 0) return true;
    if (d.n > d.exponent + 1 || d.exponent > 19) return false;
    d.is_negative = false;
    add_plain(&text, d);
    for (size_t i = 0; i < text.size; i++) {
        uint64_t more = (uint64_t)(shown[i] - '0');
        if (*number > (UINT64_MAX - more) / 10) return false;
        *number = *number * 10 + more;
    }
    if ((bytes[size - 1] & 0x80) == 0) return true;
    if (*number > (uint64_t)1 << 63) return false;
    *number = 0 - *number;
    return true;
}

bool text_decimal(struct text *text, const unsigned char *bytes, size_t size, int scale)
{
    char digit[80];
    struct digits d = decimal_digits(bytes, size, scale, digit);
    return d.n == 0 ? add_string(text, "0") : add_plain(text, d);
}

/* ---- dates and times --------------------------------------------------------------------------------------------- */

static int64_t floor_divide(int64_t value, int64_t by, int64_t *rest)
{
    int64_t whole = value / by - (value % by < 0);
    *rest = value - whole * by;
    return whole;
}

/* The Gregorian calendar, whose year begins in March here, so that a leap day is its last. Returns what is behind the
 * date; whether the year is before Christ is said behind all else. */
static char *put_date(char *to, int64_t days, bool *is_before)
{
    int64_t of_era, era = floor_divide(days, 146097, &of_era);
    era += floor_divide(of_era + 719468, 146097, &of_era); /* as which 1970-01-01 counts from March of the year 0 */
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
    month = month < 10 ? month + 3 : month - 9;
    year += 400 * era + (month <= 2);
    *is_before = year <= 0;
    to = put_digits(to, (uint64_t)(*is_before ? 1 - year : year), 4);
    *to++ = '-';
    to = put_digits(to, (uint64_t)month, 2);
    *to++ = '-';
    return put_digits(to, (uint64_t)day, 2);
}

/* Parts of a second are as many digits as it takes. */
static char *put_time(char *to, int64_t value, uint32_t parts)
{
    uint64_t seconds = (uint64_t)value / parts, fraction = (uint64_t)value % parts;
    to = put_digits(to, seconds / 3600, 2);
    *to++ = ':';
    to = put_digits(to, seconds / 60 % 60, 2);
    *to++ = ':';
    to = put_digits(to, seconds % 60, 2);
    if (fraction > 0) *to++ = '.';
    for (uint32_t left = parts; fraction > 0; fraction %= left) {
        left /= 10;
        *to++ = (char)('0' + fraction / left);
    }
    return to;
}

static char *put_string(char *to, const char *string)
{
    size_t size = strlen(string);
    return (char *)memcpy(to, string, size) + size;
}

bool text_date(struct text *text, int64_t days)
{
    char date[64];
    bool is_before;
    char *end = put_date(date, days, &is_before);
    if (is_before) end = put_string(end, " BC");
    return text_add(text, date, (size_t)(end - date));
}

bool text_time(struct text *text, struct instant time)
{
    char shown[64];
    int64_t within;
    floor_divide(time.value, (int64_t)86400 * time.parts, &within);
    return text_add(text, shown, (size_t)(put_time(shown, within, time.parts) - shown));
}

bool text_instant(struct text *text, struct instant instant, bool is_utc, bool is_nested)
{
    char shown[128];
    bool is_before;
    int64_t within, days = floor_divide(instant.value, (int64_t)86400 * instant.parts, &within);
    char *end = put_date(shown, days, &is_before);
    *end++ = is_nested ? 'T' : ' ';
    end = put_time(end, within, instant.parts);
    if (is_utc) end = put_string(end, is_nested ? "+00:00" : "+00");
    if (is_before) end = put_string(end, " BC");
    return text_add(text, shown, (size_t)(end - shown));
}

bool text_uuid(struct text *text, const unsigned char bytes[16])
{
    char shown[36], *to = shown;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        *to++ = hexadecimal[bytes[i] >> 4];
        *to++ = hexadecimal[bytes[i] & 15];
    }
    return text_add(text, shown, sizeof shown);
}
