/* arguments: words and numbers of a command.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <redismodule.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether an argument is this word, in letters of either case. */
bool argument_is(const RedisModuleString *argument, const char *word);

/* Which of n words an argument is; -1 if it is none. */
int argument_among(const RedisModuleString *argument, const char *const words[], int n);

/* An integer from least to most, in decimal digits, none of them a zero in front: the server does not read such a
 * number. If we did, LEGO.MERGE would open keys which the server, that looks for them behind numkeys, never checked. */
bool argument_number(const RedisModuleString *argument, uint64_t least, uint64_t most, uint64_t *number);

/* The same of bytes, which may end with kb, mb or gb: 1024 bytes, and so on. A letter alone is refused: k is 1000 in
 * redis.conf and 1024 in the command legosketch. */
bool argument_bytes(const RedisModuleString *argument, uint64_t least, uint64_t most, uint64_t *bytes);

/* An integer of 64 bits with a sign. */
bool argument_integer(const RedisModuleString *argument, int64_t *number);
