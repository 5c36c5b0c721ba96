/* A sketch from the bytes of a value and back; see sketch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"
#include "memory.h"
#include "secrets.h"
#include "utils/memutils.h"

#include <inttypes.h>
#include <string.h>

/* The fingerprint of the secret seed that a value was made with; false: its seed is public, or it is no sketch. */
static bool fingerprint_of(const struct varlena *value, uint64_t *fingerprint)
{
    int secret;
    return lego_saved_seed(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), fingerprint, &secret) == LEGO_OK && secret;
}

lego_sketch *sketch_load_if_known(const struct varlena *value, MemoryContext context)
{
    lego_allocator allocator = memory_in(context);
    lego_options options = {.allocator = &allocator};
    uint64_t fingerprint;
    if (fingerprint_of(value, &fingerprint)) options.secret = secrets_find(fingerprint);
    lego_sketch *sketch;
    lego_status status = lego_load(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), &options, &sketch);
    if (status == LEGO_ERR_SECRET) return NULL;
    require_ok(status);
    return sketch;
}

lego_sketch *sketch_load(const struct varlena *value, MemoryContext context)
{
    lego_sketch *sketch = sketch_load_if_known(value, context);
    if (sketch != NULL) return sketch;
    uint64_t fingerprint = 0;
    (void)fingerprint_of(value, &fingerprint);
    ereport(
        ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
        errmsg("legosketch: this database does not know the secret seed of the sketch, with the fingerprint "
               "%016" PRIx64,
               fingerprint),
        errhint("It is in lego_secrets of the database, or in the seed file of the program, that made the sketch; the "
                "owner of lego_secrets here can INSERT it."));
    return NULL;
}

struct room {
    char *next, *end;
};

static int append(void *context, const void *bytes, size_t size)
{
    struct room *room = context;
    if (size > (size_t)(room->end - room->next)) return 1;
    memcpy(room->next, bytes, size);
    room->next += size;
    return 0;
}

struct varlena *sketch_save(const lego_sketch *sketch)
{
    uint64_t size = lego_saved_size(sketch);
    if (size > MaxAllocSize - VARHDRSZ)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("legosketch: the sketch has more than 1 GB"),
                errhint("Values have less: make it with a smaller budget, or lego_fold() it."));
    struct varlena *value = palloc(VARHDRSZ + size);
    SET_VARSIZE(value, VARHDRSZ + size);
    struct room room = {VARDATA(value), VARDATA(value) + size};
    require_ok(lego_save(sketch, append, &room));
    return value;
}

lego_info sketch_info(const lego_sketch *sketch)
{
    lego_info info;
    lego_describe(sketch, &info);
    return info;
}

lego_info sketch_measure(const lego_sketch *sketch)
{
    lego_info info;
    lego_measure(sketch, &info);
    return info;
}

/* A budget that makes a sketch of this size, where any does: lego_top_agg takes an eighth of it for the most frequent
 * items, and the rest has its least. */
static uint64_t budget_of(const lego_info *info)
{
    uint64_t least = info->top_budget != 0 ? LEGO_BUDGET_MIN * 8 / 7 : LEGO_BUDGET_MIN;
    return Max(Max(info->budget, 8 * info->top_budget), least);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Names what is in the way, and a budget that would have fitted. Columns and what keeps the most frequent items do not
 * fold; nor is it advised where both would lose nearly everything, which is all but an eighth of the smaller. */
static void refuse_shapes(const lego_info *a, const lego_info *b)
{
    const char *what = "bytes for their most frequent items";
    uint64_t of_a = a->top_budget, of_b = b->top_budget;
    if (a->columns != b->columns) what = "columns in a brick", of_a = a->columns, of_b = b->columns;
    else if (a->blocks % b->blocks != 0 && b->blocks % a->blocks != 0)
        what = "blocks", of_a = a->blocks, of_b = b->blocks;
    bool mixed = (a->top_budget == 0) != (b->top_budget == 0);
    bool first = mixed ? a->top_budget != 0 : budget_of(a) < budget_of(b);
    uint32_t common = common_divisor(a->blocks, b->blocks);
    bool fold = a->columns == b->columns && (a->top_budget == 0 || b->top_budget == 0) &&
                common >= Min(a->blocks, b->blocks) / 8;
    bool turn = a->exact && a->blocks < b->blocks && a->top_budget == 0 && b->top_budget == 0; /* goes into any */
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("legosketch: sketches that have " UINT64_FORMAT " and " UINT64_FORMAT
                   " %s do not go together, as neither folds to the other",
                   of_a, of_b, what),
            errhint("Make both with %sa budget of " UINT64_FORMAT "%s.", mixed ? "lego_top_agg and " : "",
                    budget_of(first ? a : b),
                    turn   ? ", or put the other first"
                    : fold ? psprintf(", or lego_fold() both to %u", common)
                           : ""));
}

void sketch_require_ok(lego_status status, const lego_sketch *a, const lego_sketch *b)
{
    if (status == LEGO_ERR_SHAPE) {
        lego_info of_a = sketch_info(a), of_b = sketch_info(b);
        refuse_shapes(&of_a, &of_b);
    }
    require_ok(status);
}
