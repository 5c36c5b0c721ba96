/* A sketch of either kind, from the bytes of a value and back; see sketch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"
#include "memory.h"
#include "utils/memutils.h"

#include <string.h>

struct sketch sketch_load(const struct varlena *value, MemoryContext context)
{
    struct sketch sketch = {NULL, NULL};
    lego_allocator allocator = memory_in(context);
    const char *bytes = VARDATA_ANY(value);
    size_t size = VARSIZE_ANY_EXHDR(value);
    lego_status status = lego_sketch_load(bytes, size, NULL, &allocator, &sketch.plain);
    if (status == LEGO_ERR_MAGIC) status = lego_elastic_load(bytes, size, NULL, &allocator, &sketch.elastic);
    require_ok(status);
    return sketch;
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

struct varlena *sketch_save(const struct sketch *sketch)
{
    uint64_t size =
        sketch->plain != NULL ? lego_sketch_saved_size(sketch->plain) : lego_elastic_saved_size(sketch->elastic);
    if (size > MaxAllocSize - VARHDRSZ)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("legosketch: the sketch has more than 1 GB"),
                errhint("Values have less: make it with a smaller budget, or lego_fold() it."));
    struct varlena *value = palloc(VARHDRSZ + size);
    SET_VARSIZE(value, VARHDRSZ + size);
    struct room room = {VARDATA(value), VARDATA(value) + size};
    require_ok(sketch->plain != NULL ? lego_sketch_save(sketch->plain, append, &room)
                                     : lego_elastic_save(sketch->elastic, append, &room));
    return value;
}

void sketch_destroy(struct sketch *sketch)
{
    lego_sketch_destroy(sketch->plain);
    lego_elastic_destroy(sketch->elastic);
    *sketch = (struct sketch){NULL, NULL};
}

void sketch_require_near(const struct sketch *a, const struct sketch *b)
{
    lego_sketch_info of_a, of_b;
    lego_sketch_describe(sketch_light(a), &of_a);
    lego_sketch_describe(sketch_light(b), &of_b);
    bool near = of_a.bricks % of_b.bricks == 0 || of_b.bricks % of_a.bricks == 0;
    if (of_a.model == of_b.model && !near)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: sketches of %u and %u bricks have only a smaller one in common", of_a.bricks,
                       of_b.bricks),
                errhint("Make sketches that will meet with the same budget%s.",
                        a->plain != NULL ? ", or lego_fold() both to a common divisor" : ""));
}

void sketch_merge(struct sketch *into, const struct sketch *from)
{
    if ((into->plain == NULL) != (from->plain == NULL))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: a sketch of lego_top_agg goes only with another such"));
    sketch_require_near(into, from);
    require_ok(into->plain != NULL ? lego_sketch_merge(into->plain, from->plain)
                                   : lego_elastic_merge(into->elastic, from->elastic));
}

const lego_sketch *sketch_light(const struct sketch *sketch)
{
    return sketch->plain != NULL ? sketch->plain : lego_elastic_light(sketch->elastic);
}

int64 sketch_total(const struct sketch *sketch)
{
    if (sketch->plain != NULL) {
        lego_sketch_info info;
        lego_sketch_describe(sketch->plain, &info);
        return info.total;
    }
    lego_elastic_info info;
    lego_elastic_describe(sketch->elastic, &info);
    return info.total;
}
