/* Items of a command; see batch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "batch.h"

#include "reply.h"

#include <string.h>

bool batch_fits(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv, size_t n, size_t step)
{
    bool fits = true;
    for (size_t i = 0, size; i < n && value->integers && fits; i++) {
        RedisModule_StringPtrLen(argv[i * step], &size);
        fits = size == sizeof(uint64_t);
    }
    if (!fits) reply_refused(ctx, "ERR this sketch counts integers: an item of it is 8 bytes, little-endian");
    return fits;
}

bool batch_gather(struct batch *batch, RedisModuleString **argv, size_t n, size_t step, size_t number_size)
{
    size_t total = 0, size;
    for (size_t i = 0; i < n; i++) {
        RedisModule_StringPtrLen(argv[i * step], &size);
        total += size;
    }
    batch->offsets = RedisModule_TryAlloc((n + 1) * sizeof *batch->offsets + n * number_size + total);
    if (batch->offsets == NULL) return false;
    batch->numbers = batch->offsets + n + 1;
    char *bytes = (char *)batch->numbers + n * number_size;
    batch->offsets[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const char *item = RedisModule_StringPtrLen(argv[i * step], &size);
        memcpy(bytes + batch->offsets[i], item, size);
        batch->offsets[i + 1] = batch->offsets[i] + size;
    }
    batch->items = (lego_items){.n = n, .bytes = bytes, .offsets = batch->offsets};
    return true;
}
