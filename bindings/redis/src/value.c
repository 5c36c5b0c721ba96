/* What a key holds; see value.h.
 *
 * SPDX-License-Identifier: MIT */
#include "value.h"

#include "memory.h"

#include <string.h>

/* The value of a sketch that was just made, or nothing at all. */
static lego_status wrap(lego_sketch *sketch, uint32_t top, uint64_t budget, struct value **value)
{
    struct value *made = RedisModule_TryAlloc(sizeof *made);
    if (made == NULL) {
        lego_destroy(sketch);
        return LEGO_ERR_MEMORY;
    }
    *made = (struct value){sketch, top, budget};
    *value = made;
    return LEGO_OK;
}

lego_status value_create(const lego_options *options, uint32_t top, struct value **value)
{
    lego_options own = *options;
    own.top = top == 0 ? 0 : own.budget / 8;
    own.allocator = &server_memory;
    lego_sketch *sketch;
    lego_status status = lego_create(&own, &sketch);
    return status != LEGO_OK ? status : wrap(sketch, top, own.budget, value);
}

void value_destroy(struct value *value)
{
    lego_destroy(value->sketch);
    RedisModule_Free(value);
}

lego_status value_copy(const struct value *value, struct value **copy)
{
    lego_sketch *sketch;
    lego_status status = lego_copy(value->sketch, &sketch);
    return status != LEGO_OK ? status : wrap(sketch, value->top, value->budget, copy);
}

lego_status value_merge(struct value *into, const struct value *from)
{
    lego_status status = lego_merge(into->sketch, from->sketch);
    if (status == LEGO_OK && into->top != 0 && into->top < from->top) into->top = from->top;
    return status;
}

uint64_t value_memory(const struct value *value)
{
    lego_info info;
    lego_measure(value->sketch, &info);
    return sizeof *value + info.bytes + info.cache_bytes;
}

lego_status value_load(const char *bytes, size_t size, struct value **value)
{
    lego_sketch *sketch;
    lego_status status = lego_load(bytes, size, NULL, &server_memory, &sketch);
    if (status != LEGO_OK) return status;
    lego_info info;
    lego_measure(sketch, &info);
    return wrap(sketch, info.top_bytes == 0 ? 0 : TOP_DEFAULT, info.budget, value);
}

bool value_set_top(struct value *value, uint64_t top)
{
    if ((value->top == 0) != (top == 0) || top > TOP_MAX) return false;
    value->top = (uint32_t)top;
    return true;
}

static int append(void *context, const void *bytes, size_t size)
{
    char **end = context;
    memcpy(*end, bytes, size);
    *end += size;
    return 0;
}

char *value_save(const struct value *value, void *(*alloc)(size_t size), size_t *size)
{
    *size = lego_saved_size(value->sketch);
    char *bytes = alloc(*size), *end = bytes;
    if (bytes != NULL) (void)lego_save(value->sketch, append, &end); /* which fails only if append() does */
    return bytes;
}
