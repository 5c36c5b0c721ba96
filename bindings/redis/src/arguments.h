/* arguments: words and numbers of a command.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <redismodule.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether an argument is this word, in letters of either case. */
bool argument_is(const RedisModuleString *argument, const char *word);

/* An integer from least to most, in decimal digits. */
bool argument_number(const RedisModuleString *argument, uint64_t least, uint64_t most, uint64_t *number);

#endif
