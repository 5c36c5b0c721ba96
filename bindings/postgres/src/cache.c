/* The sketch that a function was given last; see cache.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cache.h"

#include "utils/memutils.h"

#include <string.h>

/* What tells a value from the next: what stands in the row, if that is no more than a page. So a value that is stored apart
 * is told by its address there and one that is compressed by its compressed bytes: neither is fetched again. A longer one
 * is in memory whole, and told by its size and its last 8 bytes, the hash of all others (docs/format.md). */
enum { KEY_MOST = BLCKSZ, CHECKSUM = 8 };

struct cache {
    MemoryContext context; /* of the sketch alone */
    struct sketch sketch;
    size_t size; /* of the value; 0: there is none */
    unsigned char key[KEY_MOST];
};

static struct cache *cache_of(FunctionCallInfo fcinfo)
{
    FmgrInfo *function = fcinfo->flinfo;
    if (function->fn_extra == NULL) {
        struct cache *cache = MemoryContextAlloc(function->fn_mcxt, sizeof *cache);
        cache->context = AllocSetContextCreate(function->fn_mcxt, "legosketch cache", ALLOCSET_SMALL_SIZES);
        cache->sketch = (struct sketch){NULL, NULL};
        cache->size = 0;
        function->fn_extra = cache;
    }
    return function->fn_extra;
}

const struct sketch *cache_sketch(FunctionCallInfo fcinfo, int argument)
{
    struct cache *cache = cache_of(fcinfo);
    struct varlena *value = (struct varlena *)PG_GETARG_RAW_VARLENA_P(argument);
    bool stored = VARATT_IS_EXTERNAL_ONDISK(value) || (!VARATT_IS_EXTERNAL(value) && VARSIZE_ANY(value) <= KEY_MOST);
    if (!stored) value = PG_GETARG_VARLENA_PP(argument);
    size_t size = VARSIZE_ANY(value), key_size = size <= KEY_MOST ? size : CHECKSUM;
    const char *key = (const char *)value + size - key_size;
    if (cache->size == size && memcmp(cache->key, key, key_size) == 0) return &cache->sketch;

    cache->size = 0; /* should loading fail */
    MemoryContextReset(cache->context);
    cache->sketch = sketch_load(PG_GETARG_VARLENA_PP(argument), cache->context);
    memcpy(cache->key, key, key_size);
    cache->size = size;
    return &cache->sketch;
}
