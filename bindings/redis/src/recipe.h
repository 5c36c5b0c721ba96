/* recipe: what a sketch is made with. The options of LEGO.RESERVE, and those of the module, with which LEGO.ADD and
 * LEGO.INCRBY make sketches that are not there yet.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <legosketch.h>
#include <redismodule.h>
#include <stdbool.h>

struct recipe {
    lego_options options; /* budget 0: it follows from the wish */
    uint32_t top;
    lego_wish wish;
    enum { SEED_FIRST, SEED_PUBLIC, SEED_SECRET } seed; /* the first secret one, options.seed, or a secret one */
    uint64_t fingerprint;                               /* of that */
};

/* Reads the options. NULL, or what is wrong with them, and how it is right. */
const char *recipe_read(RedisModuleString **argv, int argc, struct recipe *recipe);

/* Finds the secret seed that it asks for, and makes one if the server has none; false: replied. */
bool recipe_find_seed(RedisModuleCtx *ctx, struct recipe *recipe);

/* Tells replicas and logs that a sketch was made, with every option said: nothing there depends on defaults. */
void recipe_replicate(RedisModuleCtx *ctx, RedisModuleString *name, const struct recipe *recipe);

/* That of the module; its budget is 0 if it has none. */
extern struct recipe default_recipe;
