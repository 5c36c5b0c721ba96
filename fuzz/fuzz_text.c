/* fuzz_text: the items and errors that the parsers of the command find in a text do not depend on how it was cut into
 * blocks. The first byte of the input picks the layout, the second the cuts. */
#include "items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What was found, as hashes: items with their counts and lines, and errors. How they interleave is free. */
struct found {
    uint64_t items, n, errors, bad;
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) /* FNV-1a, the size included */
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return (hash ^ size) * UINT64_C(0x100000001b3);
}

static void take(item_event event, const item_parser *parser, struct found *found)
{
    const item_batch *batch = &parser->batch;
    if (event == ITEMS_NO_MEMORY) abort();
    if (event == ITEMS_BAD || event == ITEMS_REFUSED) {
        found->bad++;
        found->errors = mix(found->errors, &parser->bad.line, sizeof parser->bad.line);
        found->errors = mix(found->errors, parser->bad.what, strlen(parser->bad.what));
        return;
    }
    found->n += batch->n;
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->keys) found->items = mix(found->items, &batch->keys[i], 8);
        else
            found->items =
                mix(found->items, batch->bytes + batch->offsets[i], batch->offsets[i + 1] - batch->offsets[i]);
        if (batch->counts) found->items = mix(found->items, &batch->counts[i], 8);
        if (batch->lines) found->items = mix(found->items, &batch->lines[i], 8);
    }
}

/* cuts 0: in one piece; else blocks of random sizes, now and then flushed. */
static struct found parse(const item_layout *layout, const uint8_t *bytes, size_t size, uint32_t cuts)
{
    struct found found = {0, 0, 0, 0};
    item_parser parser;
    item_event event;
    if (!items_open(&parser, layout)) abort();
    for (size_t done = 0; done < size;) {
        cuts = cuts * 1664525 + (cuts ? 1013904223 : 0);
        size_t block = cuts ? 1 + (cuts >> 16) % (cuts % 3 ? 8 : 400) : size;
        if (block > size - done) block = size - done;
        /* a copy of its own, so that the sanitizer sees a look past the block's end */
        unsigned char *copy = malloc(block);
        if (!copy) abort();
        memcpy(copy, bytes + done, block);
        const unsigned char *at = copy;
        do {
            event = items_parse(&parser, &at, copy + block);
            if (event != ITEMS_MORE) take(event, &parser, &found);
        } while (event != ITEMS_MORE && event != ITEMS_REFUSED);
        if (event != ITEMS_REFUSED && at != copy + block) abort();
        free(copy);
        if (event == ITEMS_REFUSED) {
            items_close(&parser);
            return found;
        }
        done += block;
        if (cuts >> 24 < 32) {
            while ((event = items_flush(&parser)) != ITEMS_MORE) take(event, &parser, &found);
        }
    }
    do {
        event = items_finish(&parser);
        if (event != ITEMS_MORE) take(event, &parser, &found);
    } while (event != ITEMS_MORE && event != ITEMS_REFUSED);
    items_close(&parser);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2) return 0;
    static const item_layout layouts[] = {{.format = FORMAT_LINES},
                                          {.format = FORMAT_TSV},
                                          {.format = FORMAT_U32},
                                          {.format = FORMAT_U64},
                                          {.format = FORMAT_LINES, .keep_cr = true},
                                          {.format = FORMAT_UNIQ},
                                          {.format = FORMAT_CSV, .column = "2", .delimiter = ','},
                                          {.format = FORMAT_CSV, .column = "2", .delimiter = ',', .no_header = true}};
    const item_layout *layout = &layouts[bytes[0] % 8];
    struct found whole = parse(layout, bytes + 2, size - 2, 0);
    struct found cut = parse(layout, bytes + 2, size - 2, 1u + bytes[1]);
    if (memcmp(&whole, &cut, sizeof whole) != 0) {
        fprintf(stderr, "in one piece %llu items, %llu bad; in blocks %llu, %llu\n", (unsigned long long)whole.n,
                (unsigned long long)whole.bad, (unsigned long long)cut.n, (unsigned long long)cut.bad);
        abort();
    }
    return 0;
}
