/* Streams counted exactly; see content.h. */
#include "content.h"

#include "say.h"

bool content_start(content *self)
{
    *self = (content){0};
    if (exact_create(&self->truth) == LEGO_OK) return true;
    self->truth = NULL;
    say_no_memory();
    return false;
}

void content_free(content *self)
{
    exact_destroy(self->truth);
    order_free(&self->order);
    self->truth = NULL;
}

bool content_batch(void *context, stream *from, const item_batch *batch)
{
    content *into = context;
    for (size_t i = 0; i < batch->n; i++) {
        unsigned char key[8];
        size_t size;
        const void *item = stream_item(batch, i, key, &size);
        int64_t count = batch->counts != NULL ? batch->counts[i] : 1;
        lego_status status = exact_add(into->truth, item, size, count);
        if (status == LEGO_OK && into->keep_order) status = order_append(&into->order, exact_latest(into->truth));
        into->deletes = into->deletes || count < 0;
        if (status == LEGO_ERR_RANGE && batch->lines != NULL) {
            if (!stream_malformed(from, batch->lines[i], lego_status_message(status))) return false;
        } else if (status != LEGO_OK) {
            say_status(from->file, status);
            return false;
        }
    }
    return true;
}

bool content_suits(const content *self, const estimator_kind *kind)
{
    if (!self->deletes || !kind->insert_only) return true;
    say("the input has negative counts, and %s cannot delete: leave it out of --methods", kind->name);
    return false;
}
