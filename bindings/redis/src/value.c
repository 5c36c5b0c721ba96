/* What a key holds; see value.h.
 *
 * SPDX-License-Identifier: MIT */
#include "value.h"

#include "memory.h"

#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

static int64_t total_of(const struct value *value)
{
    if (value->plain == NULL) {
        lego_elastic_info info;
        lego_elastic_describe(value->elastic, &info);
        return info.total;
    }
    lego_sketch_info info;
    lego_sketch_describe(value->plain, &info);
    return info.total;
}

/* The value of what was just made, or nothing at all. */
static lego_status wrap(lego_sketch *plain, lego_elastic *elastic, uint32_t top, struct value **value)
{
    struct value *made = RedisModule_TryAlloc(sizeof *made);
    if (made == NULL) {
        lego_sketch_destroy(plain);
        lego_elastic_destroy(elastic);
        return LEGO_ERR_MEMORY;
    }
    *made = (struct value){plain, elastic, top, 0};
    made->total = total_of(made);
    *value = made;
    return LEGO_OK;
}

lego_status value_create(const lego_options *options, uint32_t top, struct value **value)
{
    lego_elastic_options both = {.light = *options};
    both.light.allocator = &server_memory;
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    lego_status status = top == 0 ? lego_sketch_create(&both.light, &plain) : lego_elastic_create(&both, &elastic);
    return status != LEGO_OK ? status : wrap(plain, elastic, top, value);
}

void value_destroy(struct value *value)
{
    lego_sketch_destroy(value->plain);
    lego_elastic_destroy(value->elastic);
    RedisModule_Free(value);
}

lego_status value_copy(const struct value *value, struct value **copy)
{
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    lego_status status =
        value->plain != NULL ? lego_sketch_copy(value->plain, &plain) : lego_elastic_copy(value->elastic, &elastic);
    return status != LEGO_OK ? status : wrap(plain, elastic, value->top, copy);
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

lego_status value_add(struct value *value, const char *item, size_t size, int64_t count)
{
    lego_status status = value->plain != NULL ? lego_sketch_add(value->plain, item, size, count)
                                              : lego_elastic_add(value->elastic, item, size, count);
    if (status == LEGO_OK) value->total += count; /* the library refuses what would leave 64 bits */
    return status;
}

lego_status value_add_batch(struct value *value, const char *bytes, const uint64_t *offsets, const int64_t *counts,
                            size_t n)
{
    lego_status status = value->plain != NULL ? lego_sketch_add_batch(value->plain, bytes, offsets, counts, n)
                                              : lego_elastic_add_batch(value->elastic, bytes, offsets, counts, n);
    for (size_t i = 0; i < n && status == LEGO_OK; i++) value->total += counts == NULL ? 1 : counts[i];
    return status;
}

lego_status value_estimate(const struct value *value, const char *item, size_t size, lego_estimate *estimate)
{
    return value->plain != NULL ? lego_sketch_estimate(value->plain, item, size, estimate)
                                : lego_elastic_estimate(value->elastic, item, size, estimate);
}

lego_status value_estimate_batch(const struct value *value, const char *bytes, const uint64_t *offsets, size_t n,
                                 lego_estimate *estimates)
{
    return value->plain != NULL ? lego_sketch_estimate_batch(value->plain, bytes, offsets, n, estimates)
                                : lego_elastic_estimate_batch(value->elastic, bytes, offsets, n, estimates);
}

/* ---- sketches ---------------------------------------------------------------------------------------------------- */

lego_status value_merge(struct value *into, const struct value *from)
{
    lego_status status = into->plain != NULL ? lego_sketch_merge(into->plain, from->plain)
                                             : lego_elastic_merge(into->elastic, from->elastic);
    if (status != LEGO_OK) return status;
    into->total += from->total;
    if (into->top < from->top) into->top = from->top;
    return LEGO_OK;
}

const lego_sketch *value_light(const struct value *value)
{
    return value->plain != NULL ? value->plain : lego_elastic_light(value->elastic);
}

uint64_t value_memory(const struct value *value)
{
    uint64_t bytes = value->plain != NULL ? lego_sketch_bytes(value->plain) : lego_elastic_bytes(value->elastic);
    return sizeof *value + bytes + lego_sketch_cache_bytes(value_light(value));
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

bool value_bytes_have_top(const char *bytes, size_t size)
{
    return size >= 8 && memcmp(bytes, "LEGOELAS", 8) == 0;
}

lego_status value_load(const char *bytes, size_t size, uint64_t top, struct value **value)
{
    bool has_top = value_bytes_have_top(bytes, size);
    if (has_top ? top == 0 || top > TOP_MAX : top != 0) return LEGO_ERR_ARGUMENT;
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    lego_status status = has_top ? lego_elastic_load(bytes, size, NULL, &server_memory, &elastic)
                                 : lego_sketch_load(bytes, size, NULL, &server_memory, &plain);
    return status != LEGO_OK ? status : wrap(plain, elastic, (uint32_t)top, value);
}

uint64_t value_saved_size(const struct value *value)
{
    return value->plain != NULL ? lego_sketch_saved_size(value->plain) : lego_elastic_saved_size(value->elastic);
}

static int append(void *context, const void *bytes, size_t size)
{
    char **end = context;
    memcpy(*end, bytes, size);
    *end += size;
    return 0;
}

/* Only what it writes to could fail, and memory does not. */
void value_save(const struct value *value, char *bytes)
{
    if (value->plain != NULL) (void)lego_sketch_save(value->plain, append, &bytes);
    else (void)lego_elastic_save(value->elastic, append, &bytes);
}
