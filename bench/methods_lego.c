/* The Lego sketch as its users call it: both packings of the default model, the paper's model and the one without
 * networks.
 *
 * SPDX-License-Identifier: MIT */
#include "cpu.h"
#include "estimator.h"
#include "method.h"

/* The decoder of the compact model has layers of 14, 40, 24 and 1 numbers; train/cpu.h counts that of the paper's. What
 * comes before a decoder (hashes, reads, logarithms) is not counted. */
#define COMPACT_FLOPS (2.0 * (14 * 40 + 40 * 24 + 24))
#define PAPER_FLOPS (2.0 * DECODE_FORWARD_MADDS)

/* Lines: a dense item is in two blocks of a line each; flat, in four cells of those two blocks, each on a line of its
 * own (two steps beside them are in so little memory that it stays near); in bricks, in a cell of every row. */
enum { DENSE_LINES = 2, FLAT_LINES = 4, PAPER_LINES = 5, RULE_LINES = 4 };

static lego_status create(const struct method *self, uint64_t bytes, const lego_allocator *allocator, void **made)
{
    lego_options wanted = LEGO_OPTIONS_INIT;
    wanted.budget = bytes;
    wanted.model = lego_model_builtin(self->model);
    wanted.packing = self->packing;
    wanted.allocator = allocator;
    return self->kind->create(&wanted, made); /* the lab's, which is a sketch and knows how the paper's is shaped */
}

static void destroy(void *made)
{
    lego_sketch_destroy(made);
}

static void clear(void *made)
{
    lego_sketch_clear(made);
}

static uint64_t bytes(const void *made)
{
    return lego_sketch_bytes(made);
}

static uint64_t total(const void *made)
{
    lego_sketch_info info;
    lego_sketch_describe(made, &info);
    return (uint64_t)info.total;
}

static struct answer read_answer(const void *answers, size_t i)
{
    const lego_estimate *estimate = &((const lego_estimate *)answers)[i];
    return (struct answer){estimate->value, (double)estimate->upper};
}

/* ---- one item a call -------------------------------------------------------------------------------------------- */

static inline lego_status add_one(lego_sketch *sketch, const struct work *work, size_t i)
{
    const struct keys *stream = work->stream;
    if (work->keys == NUMBERS) return lego_sketch_add_u64(sketch, stream->numbers[i], 1);
    return lego_sketch_add(sketch, stream->text + stream->offsets[i], stream->offsets[i + 1] - stream->offsets[i], 1);
}

static inline lego_status ask_one(const lego_sketch *sketch, const struct work *work, size_t i, lego_estimate *answer)
{
    const struct keys *stream = work->stream;
    if (work->keys == NUMBERS) return lego_sketch_estimate_u64(sketch, stream->numbers[i], answer);
    return lego_sketch_estimate(sketch, stream->text + stream->offsets[i], stream->offsets[i + 1] - stream->offsets[i],
                                answer);
}

static lego_status run_single(lego_sketch *sketch, enum operation operation, const struct work *work)
{
    lego_estimate *answers = work->answers;
    lego_status status = LEGO_OK;
    size_t slot = 0;
    for (size_t i = 0; i < work->items && status == LEGO_OK; i++) {
        if (operation != QUERY) status = add_one(sketch, work, i);
        if (operation != STORE && status == LEGO_OK) {
            status = ask_one(sketch, work, work->ask_from + i, &answers[slot]);
            slot = slot + 1 < work->batch ? slot + 1 : 0;
        }
    }
    return status;
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

static lego_status add_batch(lego_sketch *sketch, const struct work *work, size_t at)
{
    const struct keys *stream = work->stream;
    if (work->keys == NUMBERS) return lego_sketch_add_u64s(sketch, stream->numbers + at, NULL, batch_size(work, at));
    return lego_sketch_add_batch(sketch, stream->text, stream->offsets + at, NULL, batch_size(work, at));
}

static lego_status ask_batch(const lego_sketch *sketch, const struct work *work, size_t at)
{
    const struct keys *stream = work->stream;
    size_t from = work->ask_from + at, n = batch_size(work, at);
    if (work->keys == NUMBERS) return lego_sketch_estimate_u64s(sketch, stream->numbers + from, n, work->answers);
    return lego_sketch_estimate_batch(sketch, stream->text, stream->offsets + from, n, work->answers);
}

static lego_status run_batches(lego_sketch *sketch, enum operation operation, const struct work *work)
{
    lego_status status = LEGO_OK;
    for (size_t at = 0; at < work->items && status == LEGO_OK; at += work->batch) {
        if (operation != QUERY) status = add_batch(sketch, work, at);
        if (operation != STORE && status == LEGO_OK) status = ask_batch(sketch, work, at);
    }
    return status;
}

static lego_status run(void *made, enum operation operation, const struct work *work)
{
    lego_sketch_set_threads(made, work->threads);
    return work->calls == SINGLE ? run_single(made, operation, work) : run_batches(made, operation, work);
}

#define LEGO_METHOD                                                                                                    \
    .batches = true, .threads = true, .create = create, .destroy = destroy, .clear = clear, .bytes = bytes,            \
    .total = total, .run = run, .read = read_answer

const struct method method_dense = {
    .name = "lego dense", .lines = DENSE_LINES, .flops = COMPACT_FLOPS, .kind = &estimator_lego, LEGO_METHOD};
const struct method method_flat = {.name = "lego flat",
                                   .lines = FLAT_LINES,
                                   .flops = COMPACT_FLOPS,
                                   .kind = &estimator_lego,
                                   .packing = LEGO_FLAT,
                                   LEGO_METHOD};
const struct method method_paper = {.name = "lego paper",
                                    .lines = PAPER_LINES,
                                    .flops = PAPER_FLOPS,
                                    .kind = &estimator_lego_paper,
                                    .model = "paper",
                                    LEGO_METHOD};
const struct method method_rule = {
    .name = "lego rule", .lines = RULE_LINES, .kind = &estimator_lego, .model = "rule", LEGO_METHOD};
