/* The Lego sketch as its users call it: the default model, alone and with its most frequent items, and the paper's. */
#include "cpu.h"
#include "method.h"

/* The default model has no networks. What comes before the decoder of the paper's (hashes, reads) is not counted. */
#define PAPER_FLOPS (2.0 * DECODE_FORWARD_MADDS)

/* Lines: an item is in a block of 4 of them; in bricks, in a cell of every row. Lines and operations of a sketch
 * with its top are those of items that are not there: the shares of a limit that it reaches are less than they seem. */
enum { COMPACT_LINES = 4, PAPER_LINES = 5 };

static lego_status create(const struct method *self, uint64_t bytes, const struct keys *stream, void **made)
{
    (void)stream;
    lego_options wanted = LEGO_OPTIONS_INIT;
    wanted.budget = bytes;
    wanted.top = self->top_part > 0 ? bytes / self->top_part : 0;
    wanted.model = lego_model_builtin(self->model);
    if (self->secret) wanted.secret = "sixteen bytes of";
    return lego_create(&wanted, (lego_sketch **)made);
}

static void destroy(void *made)
{
    lego_destroy(made);
}

static void clear(void *made)
{
    lego_clear(made);
}

static void describe(const void *made, uint64_t *bytes, uint64_t *total)
{
    lego_info info;
    lego_describe(made, &info);
    *bytes = info.bytes;
    *total = (uint64_t)info.total;
}

static lego_items items_of(const struct span *span, size_t from)
{
    const struct keys *stream = span->stream;
    if (span->keys == TEXTS)
        return (lego_items){.n = span->n, .bytes = stream->text, .offsets = stream->offsets + from};
    const int64_t *counts = span->keys == COUNTED ? stream->counts + from : NULL;
    return (lego_items){.n = span->n, .integers = stream->numbers + from, .counts = counts};
}

static lego_status run_batch(lego_sketch *sketch, const struct span *span, lego_estimate *answers)
{
    lego_set_threads(sketch, span->threads);
    lego_items stored = items_of(span, span->from), asked = items_of(span, span->ask_from);
    lego_status status = span->operation != QUERY ? lego_add_items(sketch, &stored) : LEGO_OK;
    if (span->operation == STORE || status != LEGO_OK) return status;
    return lego_query_items(sketch, &asked, NULL, answers);
}

static inline lego_status add_one(lego_sketch *sketch, const struct span *span, size_t i)
{
    size_t size;
    if (span->keys == NUMBERS) return lego_add_u64(sketch, span->stream->numbers[i], 1);
    const char *text = text_of(span->stream, i, &size);
    return lego_add(sketch, text, size, 1);
}

static inline lego_status ask_one(const lego_sketch *sketch, const struct span *span, size_t i, lego_estimate *answer)
{
    size_t size;
    if (span->keys == NUMBERS) return lego_query_u64(sketch, span->stream->numbers[i], answer);
    const char *text = text_of(span->stream, i, &size);
    return lego_query(sketch, text, size, answer);
}

static lego_status run(void *made, const struct span *span, void *answers)
{
    lego_estimate *estimates = answers;
    if (span->calls == BATCH) return run_batch(made, span, estimates);
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < span->n && status == LEGO_OK; i++) {
        if (span->operation != QUERY) status = add_one(made, span, span->from + i);
        if (span->operation != STORE && status == LEGO_OK)
            status = ask_one(made, span, span->ask_from + i, &estimates[i]);
    }
    return status;
}

static double upper(const void *answers, size_t i)
{
    return (double)((const lego_estimate *)answers)[i].upper;
}

static double value(const void *answers, size_t i)
{
    return ((const lego_estimate *)answers)[i].value;
}

#define LEGO_METHOD                                                                                                    \
    .threads = true, .create = create, .destroy = destroy, .clear = clear, .describe = describe, .run = run,           \
    .upper = upper, .value = value, .answer_size = sizeof(lego_estimate)

const struct method method_compact = {.name = "lego compact", .lines = COMPACT_LINES, LEGO_METHOD};
const struct method method_top = {.name = "lego top", .lines = COMPACT_LINES, .top_part = 8, LEGO_METHOD};
const struct method method_secret = {.name = "lego secret", .lines = COMPACT_LINES, .secret = true, LEGO_METHOD};
const struct method method_paper = {
    .name = "lego paper", .lines = PAPER_LINES, .flops = PAPER_FLOPS, .model = "paper", LEGO_METHOD};
