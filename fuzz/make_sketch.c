/* make_sketch: real sketches, as files: lists of whole keys and of prints, blocks that keep and have lost some or most,
 * young and full ones, with counts of both signs and near the limits, with a top, of the paper's model, and after
 * deletions. */
#include "binary.h"
#include "legosketch_lab.h"

#include <stdbool.h>

enum { ITEMS = 2048, TEXT = 24 };

struct stream {
    lego_items items;
    uint64_t integers[ITEMS], offsets[ITEMS + 1];
    int64_t counts[ITEMS];
    uint8_t bytes[ITEMS * TEXT];
};

/* Nine of ten counts are small; the others have up to so many bits. */
static int64_t draw_count(uint32_t *random, uint32_t bits, uint32_t signs)
{
    uint64_t count = 1 + drawn(random, drawn(random, 10) ? 3 : 256);
    if (drawn(random, 10) == 0) count += UINT64_C(1) << drawn(random, bits);
    bool negative = signs == 1 || (signs == 2 && drawn(random, 2));
    return negative ? -(int64_t)count : (int64_t)count;
}

/* Integers or texts of many lengths, few of them or hundreds. */
static void draw_stream(struct stream *stream, uint32_t *random)
{
    uint32_t n = drawn(random, 1 + (1u << drawn(random, 10))), from = drawn(random, 1000);
    uint32_t bits = 1 + drawn(random, drawn(random, 4) ? 20 : 61), signs = drawn(random, 8), used = 0;
    bool texts = drawn(random, 2);
    stream->items = (lego_items){.n = n, .counts = stream->counts};
    for (uint32_t i = 0; i < n; i++) {
        stream->counts[i] = draw_count(random, bits, signs);
        stream->integers[i] = from + i;
        stream->offsets[i] = used;
        for (uint32_t length = drawn(random, TEXT); texts && length > 0; length--)
            stream->bytes[used++] = (uint8_t)drawn(random, 256);
    }
    stream->offsets[n] = used;
    if (!texts) stream->items.integers = stream->integers;
    stream->items.bytes = stream->bytes;
    stream->items.offsets = stream->offsets;
}

static lego_sketch *draw_shape(uint32_t *random)
{
    static const uint32_t tops[] = {0, 0, 0, LEGO_TOP_MIN, 1024, 2048};
    lego_options options = LEGO_OPTIONS_INIT;
    bool paper = drawn(random, 5) == 0;
    uint32_t blocks = 1 + drawn(random, drawn(random, 4) ? 4 : 70), columns = 0;
    if (paper) {
        options.model = trained_model();
        blocks = 1 + drawn(random, 3);
        columns = 16 + 2 * drawn(random, drawn(random, 4) ? 8 : 200);
    }
    options.top = tops[drawn(random, sizeof tops / sizeof *tops)];
    if (drawn(random, 4) == 0) options.secret = secret_seed;
    else options.seed = drawn(random, 2);
    lego_sketch *sketch;
    lego_status status = lego_lab_create(&options, blocks, columns, &sketch);
    CHECK(status == LEGO_OK);
    return sketch;
}

/* Takes a part of it away again. What it was counted in stays as far on its way as it was. */
static void take_back(lego_sketch *sketch, struct stream *stream, uint32_t *random)
{
    stream->items.n = drawn(random, (uint32_t)stream->items.n + 1);
    for (size_t i = 0; i < stream->items.n; i++) stream->counts[i] = -stream->counts[i];
    lego_add_items(sketch, &stream->items);
}

size_t make(uint8_t *bytes, size_t most, uint32_t random)
{
    static struct stream stream;
    lego_sketch *sketch = draw_shape(&random);
    for (uint32_t rounds = drawn(&random, 3); rounds > 0; rounds--) {
        draw_stream(&stream, &random);
        lego_add_items(sketch, &stream.items); /* what leaves the range of sums is refused */
        if (drawn(&random, 4) == 0) take_back(sketch, &stream, &random);
    }
    struct paper paper = {bytes, most, 0};
    lego_status status = lego_save(sketch, paper_write, &paper);
    CHECK(status == LEGO_OK || status == LEGO_ERR_WRITE);
    lego_destroy(sketch);
    return status == LEGO_OK ? paper.used : 0;
}
