/* cache: the sketch that a function was given last stays loaded until the statement ends (in PL/pgSQL, where it is a
 * plain expression, the transaction), so that a million rows which ask the same sketch load it once.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "item.h"
#include "sketch.h"

struct cache {
    MemoryContext context;        /* of the sketch and the key alone */
    lego_sketch *sketch;          /* do not change it */
    lego_kind kind;               /* of its items */
    const struct item_type *type; /* of argument 1; set and used by functions where that is an item, or several */
    size_t size, key_size;        /* of the value, and of what tells it; 0: there is none */
    char *key;
};

/* What a function knows of its argument 0, which is a sketch. */
struct cache *cache_read(FunctionCallInfo fcinfo);
