/* Numbers and sizes between text and machine; see values.h. */
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
    size_t digits = strspn(text, "0123456789.");
    if (digits == 0 || digits > length || text[0] == '.' || text[digits - 1] == '.') return false;
    char *end;
    double size = strtod(text, &end);
    unsigned shift;
    if (end != text + digits || !unit_shift(text + digits, length - digits, &shift)) return false;
    size = floor(ldexp(size, (int)shift) + 1e-6);
    if (!(size < 0x1p63)) return false;
    *bytes = (uint64_t)size;
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

bool value_count(const char *text, double *count)
{
    static const char letters[] = "kKmMgGtT";
    char *end;
    if (text[0] < '0' || text[0] > '9' || strpbrk(text, "xX") != NULL) return false; /* strtod() takes 0x10 */
    double value = strtod(text, &end);
    const char *letter = *end != '\0' ? memchr(letters, *end, sizeof letters - 1) : NULL;
    if (letter != NULL) value *= pow(1000, (double)((letter - letters) / 2 + 1));
    if (end[letter != NULL] != '\0' || !isfinite(value)) return false;
    *count = value;
    return true;
}

bool value_share(const char *text, double *share)
{
    char *end;
    if (text[0] != '.' && (text[0] < '0' || text[0] > '9')) return false;
    double value = strtod(text, &end);
    end += strspn(end, " ");
    if (*end == '%') {
        value /= 100;
        end++;
    }
    if (*end != '\0' || !(value <= 1)) return false;
    *share = value;
    return true;
}

uint64_t value_round_up(uint64_t bytes)
{
    double unit = 1;
    while ((double)bytes >= 1024 * unit) unit *= 1024;
    double step = unit > 1 && (double)bytes < 10 * unit ? unit / 10 : unit;
    return (uint64_t)ceil(ceil((double)bytes / step) * step);
}

const char *value_print_size(char text[VALUE_TEXT], uint64_t bytes)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    int unit = 0;
    double value = (double)bytes;
    for (; value >= 1024 && unit < 4; unit++) value /= 1024;
    snprintf(text, VALUE_TEXT, "%.*f%s", value == floor(value) ? 0 : 1, value, units[unit]);
    return text;
}

const char *value_print_rough(char text[VALUE_TEXT], double value)
{
    snprintf(text, VALUE_TEXT, value < 99.5 ? "%.2g" : "%.0f", value);
    return text;
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

size_t value_print_estimate(char text[VALUE_TEXT], double value)
{
    bool whole = fabs(value - round(value)) < 0.0005; /* three digits would all be 0 */
    double scaled = whole ? value : value * 1000, rest = scaled - floor(scaled);
    /* the product is rounded, so where it is near a half only printf() knows which way to go */
    if (signbit(value) || !(value < 0x1p30) || (!whole && fabs(rest - 0.5) < 0x1p-10))
        return (size_t)snprintf(text, VALUE_TEXT, "%.*f", whole ? 0 : 3, value);
    uint64_t number = (uint64_t)round(scaled);
    size_t size = value_write_u64(text, whole ? number : number / 1000);
    if (!whole) {
        char decimals[VALUE_TEXT]; /* of four digits, the first of which becomes the point */
        value_write_u64(decimals, 1000 + number % 1000);
        decimals[0] = '.';
        memcpy(text + size, decimals, 4);
        size += 4;
    }
    text[size] = '\0';
    return size;
}
