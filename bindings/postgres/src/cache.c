/* The sketch that a function was given last; see cache.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cache.h"

#include "utils/memutils.h"

#include <string.h>

/* What tells a value from the next: all that stands in the row, or in a variable. So a value that is stored apart is
 * told by its address there and one that is compressed by its compressed bytes: neither is unpacked again. A plain one
 * of more than a page is told by its size and its last 8 bytes, the hash of all others (docs/format.md). */
enum { KEY_MOST = BLCKSZ, CHECKSUM = 8 };

static struct cache *cache_of(FunctionCallInfo fcinfo)
{
    FmgrInfo *function = fcinfo->flinfo;
    if (function->fn_extra == NULL) {
        struct cache *cache = MemoryContextAllocZero(function->fn_mcxt, sizeof *cache);
        cache->context = AllocSetContextCreate(function->fn_mcxt, "legosketch cache", ALLOCSET_SMALL_SIZES);
        function->fn_extra = cache;
    }
    return function->fn_extra;
}

struct cache *cache_read(FunctionCallInfo fcinfo)
{
    struct cache *cache = cache_of(fcinfo);
    struct varlena *value = (struct varlena *)PG_GETARG_RAW_VARLENA_P(0);
    if (VARATT_IS_EXTERNAL(value) && !VARATT_IS_EXTERNAL_ONDISK(value)) value = PG_GETARG_VARLENA_PP(0);
    size_t size = VARSIZE_ANY(value), key_size = VARATT_IS_4B_U(value) && size > KEY_MOST ? CHECKSUM : size;
    const char *key = (const char *)value + size - key_size;
    if (cache->size == size && cache->key_size == key_size && memcmp(cache->key, key, key_size) == 0) return cache;

    cache->size = 0; /* should loading fail */
    MemoryContextReset(cache->context);
    cache->sketch = sketch_load(pg_detoast_datum_packed(value), cache->context);
    cache->kind = sketch_measure(cache->sketch).items;
    cache->key = MemoryContextAlloc(cache->context, key_size);
    memcpy(cache->key, key, key_size);
    cache->key_size = key_size;
    cache->size = size;
    return cache;
}
