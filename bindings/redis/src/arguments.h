/* arguments: words and numbers of a command.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <redismodule.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether an argument is this word, in letters of either case. */
bool argument_is(const RedisModuleString *argument, const char *word);

/* An integer from least to most, in decimal digits, none of them a zero in front: the server does not read such a
 * number. If we did, LEGO.MERGE would open keys which the server, that looks for them behind numkeys, never checked. */
bool argument_number(const RedisModuleString *argument, uint64_t least, uint64_t most, uint64_t *number);
