/* The lab's methods that people would otherwise use, as they are there: one item a call, hashed by XXH3, checked.
 *
 * SPDX-License-Identifier: MIT */
#include "estimator.h"
#include "method.h"

typedef struct lab_method {
    const estimator_kind *kind;
    lego_allocator allocator;
    void *self;
} lab_method;

static lego_status create(const struct method *self, uint64_t bytes, const lego_allocator *allocator, void **made)
{
    lab_method *lab = allocator->alloc(allocator->context, sizeof *lab);
    if (lab == NULL) return LEGO_ERR_MEMORY;
    *lab = (lab_method){.kind = self->kind, .allocator = *allocator};
    lego_options wanted = LEGO_OPTIONS_INIT;
    wanted.budget = bytes;
    lego_status status = lab->kind->create(&wanted, &lab->self);
    if (status == LEGO_OK) *made = lab;
    else allocator->free(allocator->context, lab, sizeof *lab);
    return status;
}

static void destroy(void *made)
{
    lab_method *lab = made;
    lego_allocator allocator = lab->allocator;
    lab->kind->destroy(lab->self);
    allocator.free(allocator.context, lab, sizeof *lab);
}

static uint64_t bytes(const void *made)
{
    const lab_method *lab = made;
    return lab->kind->bytes(lab->self);
}

static struct answer read_answer(const void *answers, size_t i)
{
    double value = ((const double *)answers)[i];
    return (struct answer){value, value};
}

/* Numbers are their 8 bytes, little-endian on the machines that this runs on; answers do not depend on that here. */
static inline const void *item_of(const struct work *work, size_t i, size_t *size)
{
    const struct keys *stream = work->stream;
    *size = work->keys == NUMBERS ? sizeof *stream->numbers : stream->offsets[i + 1] - stream->offsets[i];
    return work->keys == NUMBERS ? (const void *)&stream->numbers[i] : stream->text + stream->offsets[i];
}

static lego_status run(void *made, enum operation operation, const struct work *work)
{
    lab_method *lab = made;
    double *answers = work->answers;
    size_t slot = 0, size;
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < work->items && status == LEGO_OK; i++) {
        if (operation != QUERY) {
            const void *item = item_of(work, i, &size);
            status = lab->kind->add(lab->self, item, size, 1);
        }
        if (operation != STORE && status == LEGO_OK) {
            const void *item = item_of(work, work->ask_from + i, &size);
            status = lab->kind->estimate(lab->self, item, size, &answers[slot]);
            slot = slot + 1 < work->batch ? slot + 1 : 0;
        }
    }
    return status;
}

#define LAB_METHOD .create = create, .destroy = destroy, .bytes = bytes, .run = run, .read = read_answer

/* Lines: 3 rows; a bucket of 76 bytes, which is on two lines at least, and often a light counter. */
const struct method method_cu = {.name = "cu", .lines = 3, .kind = &estimator_cu, LAB_METHOD};
const struct method method_elastic = {
    .name = "elastic", .lines = 3, .kind = &estimator_elastic, .may_miss = true, LAB_METHOD};
