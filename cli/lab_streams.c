/* Streams of the lab, counted exactly; see lab.h. */
#include "lab.h"
#include "say.h"
#include "zipf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Empty; says if there is no memory. */
static bool start(content *self)
{
    *self = (content){0};
    return exact_create(&self->truth) == LEGO_OK || say_no_memory();
}

void content_free(content *self)
{
    exact_destroy(self->truth);
    order_free(&self->order);
    self->truth = NULL;
}

static bool fill_zipf(lab_stream *self, uint32_t distinct)
{
    for (uint64_t rank = 1; rank <= distinct; rank++) {
        unsigned char key[8];
        int64_t count = (int64_t)zipf_count(distinct, self->alpha, rank);
        stream_key(rank, key);
        if (exact_add(self->content.truth, key, sizeof key, count) != LEGO_OK) {
            content_free(&self->content);
            return say_no_memory();
        }
    }
    return true;
}

bool lab_stream_zipf(lab_stream *self, const char *name, uint32_t distinct, double alpha)
{
    uint64_t total;
    *self = (lab_stream){.alpha = alpha};
    if (name != NULL) snprintf(self->name, sizeof self->name, "%s", name);
    else snprintf(self->name, sizeof self->name, "zipf %g", alpha);
    if (zipf_total(distinct, alpha, &total)) return start(&self->content) && fill_zipf(self, distinct);
    return say("a stream of %" PRIu32 " items of skewness %g would leave 63 bits", distinct, alpha);
}

bool lab_stream_sized(lab_stream *self, const char *name, uint32_t distinct, uint64_t total)
{
    double low = 0, high = 3;
    for (int step = 0; step < 24; step++) { /* the length grows with alpha */
        double middle = (low + high) / 2;
        uint64_t length;
        bool below = zipf_total(distinct, middle, &length) && length < total;
        *(below ? &low : &high) = middle;
    }
    return lab_stream_zipf(self, name, distinct, low);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* The file's name without folder and endings. */
static void shorten(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *begin = slash != NULL ? slash + 1 : path;
    size_t stem;
    reading_format(begin, &stem);
    if (stem > 4 && strncmp(begin + stem - 4, ".txt", 4) == 0) stem -= 4;
    snprintf(name, size, "%.*s", (int)stem, begin);
}

/* The sink of a stream whose context is the content. */
static bool count_batch(void *context, stream *from, const item_batch *batch)
{
    content *into = context;
    if (batch->counts != NULL && into->keep_order) { /* occurrences come without an order */
        into->keep_order = false;
        order_free(&into->order);
    }
    for (size_t i = 0; i < batch->n; i++) {
        unsigned char key[8];
        size_t size;
        const void *item = stream_item(batch, i, key, &size);
        int64_t count = batch->counts != NULL ? batch->counts[i] : 1;
        lego_status status = exact_add(into->truth, item, size, count);
        if (status == LEGO_OK && into->keep_order) status = order_append(&into->order, exact_latest(into->truth));
        into->deletes = into->deletes || count < 0;
        bool ok = status == LEGO_ERR_RANGE && batch->lines != NULL
                      ? stream_malformed(from, batch->lines[i], lego_status_message(status))
                      : say_status(from->file, status);
        if (!ok) return false;
    }
    return true;
}

/* Whether a method can be given it; says if not. */
static bool suits(const content *self, const estimator_kind *kind)
{
    if (!self->deletes || !kind->insert_only) return true;
    return say("the input has negative counts, and %s cannot delete: leave it out of --methods", kind->name);
}

bool lab_read(content *into, const lab_plan *plan, char *const *paths, int count)
{
    if (!start(into)) return false;
    for (size_t i = 0; i < plan->kind_count; i++) into->keep_order = into->keep_order || plan->kinds[i]->in_order;
    stream from = {.how = &plan->how, .quiet = plan->quiet, .label = "count", .sink = count_batch, .context = into};
    bool ok = stream_read(&from, paths, count);
    for (size_t i = 0; ok && i < plan->kind_count; i++) ok = suits(into, plan->kinds[i]);
    if (!ok) content_free(into);
    return ok;
}

bool lab_stream_file(lab_stream *self, const lab_plan *plan, size_t i)
{
    const char *path = plan->files[i];
    *self = (lab_stream){.alpha = -1};
    char name[sizeof self->name];
    shorten(path, name, sizeof name);
    snprintf(self->name, sizeof self->name, "%s", path); /* until there is a stream */
    if (!lab_read(&self->content, plan, &plan->files[i], 1)) return false;
    if (exact_size(self->content.truth) == 0) {
        content_free(&self->content);
        return say("%s has no items: there is nothing to measure", path);
    }
    memcpy(self->name, name, sizeof name);
    return true;
}
