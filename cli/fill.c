/* From files into a sketch; see fill.h. */
#include "fill.h"

#include "say.h"

#include <inttypes.h>

/* Where the stream goes. */
typedef struct target {
    lego_sketch *sketch;
    lego_status status; /* of the latest batch */
    uint64_t unlisted;  /* items that are too long to be kept */
} target;

static void add_batch(void *context, const item_batch *batch)
{
    target *into = context;
    lego_items items = items_view(batch);
    into->status = lego_add_items(into->sketch, &items);
    for (size_t i = 0; batch->keys == NULL && i < batch->n; i++)
        into->unlisted += batch->offsets[i + 1] - batch->offsets[i] > LEGO_TOP_ITEM_MAX;
}

/* A batch that the sketch refuses because of its counts is added item by item, so that the line can be named. */
static bool add_singly(lego_sketch *sketch, stream *from, const item_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        unsigned char key[8];
        size_t size;
        const void *item = stream_item(batch, i, key, &size);
        lego_status status = lego_add(sketch, item, size, batch->counts[i]);
        if (status == LEGO_ERR_RANGE && stream_malformed(from, batch->lines[i], lego_status_message(status))) continue;
        if (status == LEGO_ERR_MEMORY) say_status(from->file, status);
        if (status != LEGO_OK) return false;
    }
    return true;
}

static bool check_batch(void *context, stream *from, const item_batch *batch)
{
    const target *into = context;
    if (into->status == LEGO_ERR_RANGE && batch->counts != NULL) return add_singly(into->sketch, from, batch);
    return say_status(from->file, into->status);
}

bool fill_sketch(lego_sketch *sketch, stream *from, char *const *paths, int count)
{
    target into = {.sketch = sketch};
    from->work = add_batch;
    from->sink = check_batch;
    from->context = &into;
    if (!stream_read(from, paths, count)) return false;
    lego_info info;
    lego_measure(sketch, &info);
    if (info.top_bytes > 0 && into.unlisted > 0)
        say("%" PRIu64
            " of the items have more than %u bytes: they are counted, but not listed among the most frequent",
            into.unlisted, LEGO_TOP_ITEM_MAX);
    return true;
}
