/* Numbers and sizes between text and machine; see values.h.
 *
 * SPDX-License-Identifier: MIT */
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value_u64(const char *text, size_t length, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit > 9 || sum > (UINT64_MAX - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    if (length == 0) return false;
    *value = sum;
    return true;
}

/* The unit after the number: "", "K", "kb", "MiB", ... */
static bool unit_shift(const char *text, size_t length, unsigned *shift)
{
    static const char letters[] = "kKmMgGtT";
    *shift = 0;
    if (length == 0) return true;
    const char *letter = memchr(letters, text[0], sizeof letters - 1);
    if (letter == NULL) return length == 1 && text[0] == 'B';
    *shift = 10 * (unsigned)((letter - letters) / 2 + 1);
    return length == 1 || (length == 2 && (text[1] == 'B' || text[1] == 'b')) ||
           (length == 3 && text[1] == 'i' && text[2] == 'B');
}

bool value_size(const char *text, size_t length, uint64_t *bytes)
{
    size_t whole = 0;
    while (whole < length && text[whole] >= '0' && text[whole] <= '9') whole++;
    size_t end = whole;
    double fraction = 0;
    if (end < length && text[end] == '.') {
        double place = 0.1;
        for (end++; end < length && text[end] >= '0' && text[end] <= '9'; end++, place /= 10)
            fraction += place * (text[end] - '0');
        if (end == whole + 1) return false; /* a point needs a digit behind it */
    }
    unsigned shift;
    uint64_t value;
    if (!value_u64(text, whole, &value) || !unit_shift(text + end, length - end, &shift) || value > UINT64_MAX >> shift)
        return false;
    value <<= shift;
    uint64_t rest = (uint64_t)floor(ldexp(fraction, (int)shift) + 1e-6);
    if (value > UINT64_MAX - rest) return false;
    *bytes = value + rest;
    return true;
}

bool value_real(const char *text, double *value)
{
    if (text[0] != '.' && (text[0] < '0' || text[0] > '9')) return false;
    char *end;
    double read = strtod(text, &end);
    if (*end != '\0' || !isfinite(read)) return false;
    *value = read;
    return true;
}

void value_print_size(char text[VALUE_TEXT], uint64_t bytes)
{
    static const char units[] = "KMGT";
    if (bytes < 1024) {
        snprintf(text, VALUE_TEXT, "%llu", (unsigned long long)bytes);
        return;
    }
    int unit = 0;
    double value = (double)bytes / 1024;
    while (value >= 1024 && unit < 3) {
        value /= 1024;
        unit++;
    }
    snprintf(text, VALUE_TEXT, "%.*f%c", value == floor(value) ? 0 : 1, value, units[unit]);
}

size_t value_write_u64(char *text, uint64_t value)
{
    char digits[20];
    size_t size = 0;
    do {
        digits[size++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < size; i++) text[i] = digits[size - 1 - i];
    return size;
}

size_t value_write_i64(char *text, int64_t value)
{
    if (value >= 0) return value_write_u64(text, (uint64_t)value);
    text[0] = '-';
    return 1 + value_write_u64(text + 1, 0 - (uint64_t)value);
}

/* value * 1000 to the nearest whole number, and to the even one of two as near, from an exact product as printf() has
 * it: 53 bits times 10 bits. For values from 0 to 2^53. */
static uint64_t thousandths(double value)
{
    int exponent;
    uint64_t product = (uint64_t)ldexp(frexp(value, &exponent), 53) * 1000;
    unsigned shift = (unsigned)(53 - exponent); /* the result is product / 2^shift */
    if (shift == 0) return product;
    if (shift > 63) return 0; /* the product is below 2^63, so this is below a half */
    uint64_t half = UINT64_C(1) << (shift - 1), result = product >> shift, rest = product & (2 * half - 1);
    return result + (rest > half || (rest == half && result % 2 == 1));
}

size_t value_print_estimate(char text[VALUE_TEXT], double value)
{
    bool whole = fabs(value - round(value)) < 0.0005; /* three digits would all be 0 */
    if (signbit(value) || !(value < 0x1p53)) return (size_t)snprintf(text, VALUE_TEXT, "%.*f", whole ? 0 : 3, value);
    uint64_t scaled = whole ? (uint64_t)round(value) : thousandths(value);
    size_t size = value_write_u64(text, whole ? scaled : scaled / 1000);
    if (!whole) {
        char decimals[VALUE_TEXT]; /* of four digits, the first of which becomes the point */
        value_write_u64(decimals, 1000 + scaled % 1000);
        decimals[0] = '.';
        memcpy(text + size, decimals, 4);
        size += 4;
    }
    text[size] = '\0';
    return size;
}
