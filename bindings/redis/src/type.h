/* type: the type of our keys, as the server sees it: saved, logged, copied, freed.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <redismodule.h>

/* The server hands it out once, when the module is loaded, and asks for it with every key. */
extern RedisModuleType *sketch_type;

int type_start(RedisModuleCtx *ctx); /* REDISMODULE_OK or _ERR */
