/* What a key holds; see value.h.
 *
 * SPDX-License-Identifier: MIT */
#include "value.h"

#include "memory.h"
#include "secrets.h"

#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

static bool counts_integers(const lego_sketch *sketch)
{
    lego_info info;
    lego_measure(sketch, &info);
    return info.items == LEGO_ITEMS_INTEGERS;
}

/* The value of a sketch that was just made, or nothing at all. */
static lego_status wrap(lego_sketch *sketch, uint32_t top, uint64_t budget, struct value **value)
{
    struct value *made = RedisModule_TryAlloc(sizeof *made);
    if (made == NULL) {
        lego_destroy(sketch);
        return LEGO_ERR_MEMORY;
    }
    *made = (struct value){.sketch = sketch, .owners = 1, .top = top, .budget = budget};
    made->integers = counts_integers(sketch);
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

lego_status value_copy(const struct value *value, struct value **copy)
{
    lego_sketch *sketch;
    lego_status status = lego_copy(value->sketch, &sketch);
    return status != LEGO_OK ? status : wrap(sketch, value->top, value->budget, copy);
}

lego_status value_load(const char *bytes, size_t size, struct value **value)
{
    lego_sketch *sketch;
    lego_options options = {.allocator = &server_memory};
    uint64_t seed;
    int is_secret;
    const struct secret *secret = NULL;
    if (lego_saved_seed(bytes, size, &seed, &is_secret) == LEGO_OK && is_secret) secret = secrets_find(seed);
    if (secret != NULL) options.secret = secret->bytes;
    lego_status status = lego_load(bytes, size, &options, &sketch);
    if (status != LEGO_OK) return status;
    lego_info info;
    lego_measure(sketch, &info);
    return wrap(sketch, info.top_bytes == 0 ? 0 : TOP_DEFAULT, info.budget, value);
}

const struct secret *value_secret(const struct value *value)
{
    lego_info info;
    lego_measure(value->sketch, &info);
    return info.secret ? secrets_find(info.seed) : NULL;
}

void value_hold(struct value *value)
{
    atomic_fetch_add(&value->owners, 1);
}

void value_release(struct value *value)
{
    if (value == NULL || atomic_fetch_sub(&value->owners, 1) != 1) return;
    lego_destroy(value->sketch);
    RedisModule_Free(value);
}

bool value_is_shared(const struct value *value)
{
    return atomic_load(&value->owners) > 1;
}

/* ---- sums and folds ---------------------------------------------------------------------------------------------- */

lego_status value_merge(struct value *into, struct value *const from[], const int64_t weights[], int n)
{
    const lego_sketch **sketches = RedisModule_Alloc(((size_t)n + 1) * sizeof *sketches);
    int64_t *times = RedisModule_Alloc(((size_t)n + 1) * sizeof *times);
    size_t added = 0;
    uint32_t top = into->top;
    for (int i = 0; i < n; i++) {
        if (from[i] == NULL) continue;
        if (top != 0 && top < from[i]->top) top = from[i]->top;
        if (weights[i] == 0) continue;
        sketches[added] = from[i]->sketch;
        times[added++] = weights[i];
    }
    lego_status status = lego_merge_many(into->sketch, sketches, times, added);
    if (status == LEGO_OK) into->top = top;
    into->integers = counts_integers(into->sketch);
    RedisModule_Free(sketches);
    RedisModule_Free(times);
    return status;
}

lego_status value_fold(struct value *value, uint32_t blocks, uint64_t budget)
{
    lego_status status = blocks == 0 ? lego_fold_within(value->sketch, budget) : lego_fold(value->sketch, blocks);
    lego_info info;
    lego_measure(value->sketch, &info);
    value->budget = info.budget;
    return status;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

uint64_t value_bytes(const struct value *value)
{
    lego_info info;
    lego_measure(value->sketch, &info);
    return info.bytes;
}

static void *add_size(void *context, void *memory, size_t size)
{
    (void)size;
    *(uint64_t *)context += RedisModule_MallocSize(memory);
    return memory;
}

/* Nothing moves here, so nothing changes, whatever lego_relocate() might do. */
uint64_t value_memory(const struct value *value)
{
    uint64_t bytes = RedisModule_MallocSize((void *)(uintptr_t)value);
    lego_relocate(value->sketch, add_size, &bytes);
    return bytes;
}

struct value *value_relocate(struct value *value, void *(*move)(void *context, void *memory, size_t size),
                             void *context)
{
    value = move(context, value, sizeof *value);
    value->sketch = lego_relocate(value->sketch, move, context);
    return value;
}

/* ---- what it lists, and its bytes -------------------------------------------------------------------------------- */

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
