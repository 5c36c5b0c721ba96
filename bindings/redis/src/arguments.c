/* Words and numbers of a command; see arguments.h.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <string.h>
#include <strings.h>

static bool is_word(const char *text, size_t size, const char *word)
{
    return size == strlen(word) && strncasecmp(text, word, size) == 0;
}

bool argument_is(const RedisModuleString *argument, const char *word)
{
    size_t size;
    const char *text = RedisModule_StringPtrLen(argument, &size);
    return is_word(text, size, word);
}

int argument_among(const RedisModuleString *argument, const char *const words[], int n)
{
    for (int i = 0; i < n; i++)
        if (argument_is(argument, words[i])) return i;
    return -1;
}

/* The digits that a text of that size starts with, as a number; returns how many they are, 0 if that is too large. */
static size_t read_digits(const char *text, size_t size, uint64_t *number)
{
    size_t n = 0;
    *number = 0;
    for (; n < size && text[n] >= '0' && text[n] <= '9'; n++) {
        uint64_t digit = (uint64_t)(text[n] - '0');
        if (*number > (UINT64_MAX - digit) / 10) return 0;
        *number = 10 * *number + digit;
    }
    return n > 1 && text[0] == '0' ? 0 : n;
}

static bool is_within(uint64_t read, uint64_t least, uint64_t most, uint64_t *number)
{
    if (read < least || read > most) return false;
    *number = read;
    return true;
}

bool argument_number(const RedisModuleString *argument, uint64_t least, uint64_t most, uint64_t *number)
{
    size_t size;
    const char *text = RedisModule_StringPtrLen(argument, &size);
    uint64_t read;
    size_t digits = read_digits(text, size, &read);
    return digits > 0 && digits == size && is_within(read, least, most, number);
}

bool argument_bytes(const RedisModuleString *argument, uint64_t least, uint64_t most, uint64_t *bytes)
{
    static const char *const units[] = {"", "kb", "mb", "gb"};
    size_t size;
    const char *text = RedisModule_StringPtrLen(argument, &size);
    uint64_t read;
    size_t digits = read_digits(text, size, &read);
    if (digits == 0) return false;
    for (unsigned i = 0; i < 4; i++)
        if (is_word(text + digits, size - digits, units[i]))
            return read <= most >> 10 * i && is_within(read << 10 * i, least, most, bytes);
    return false;
}

bool argument_integer(const RedisModuleString *argument, int64_t *number)
{
    long long read;
    if (RedisModule_StringToLongLong(argument, &read) != REDISMODULE_OK) return false;
    *number = read;
    return true;
}
