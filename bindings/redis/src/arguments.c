/* Words and numbers of a command; see arguments.h.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <string.h>
#include <strings.h>

bool argument_is(const RedisModuleString *argument, const char *word)
{
    size_t size;
    const char *text = RedisModule_StringPtrLen(argument, &size);
    return size == strlen(word) && strncasecmp(text, word, size) == 0;
}

bool argument_number(const RedisModuleString *argument, uint64_t least, uint64_t most, uint64_t *number)
{
    size_t size;
    const char *text = RedisModule_StringPtrLen(argument, &size);
    uint64_t read = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (read > (UINT64_MAX - digit) / 10) return false;
        read = 10 * read + digit;
    }
    if (size == 0 || read < least || read > most) return false;
    *number = read;
    return true;
}
