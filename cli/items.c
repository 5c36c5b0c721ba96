/* The parsers of the input formats; see items.h. Text is copied once, into the batch: a batch has to hold items end to
 * end, and the line that has not ended yet simply waits behind them.
 *
 * SPDX-License-Identifier: MIT */
#include "items.h"

#include <stdlib.h>
#include <string.h>

enum {
    BATCH_ITEMS = 1 << 16,
    BATCH_BYTES = 1 << 20 /* a batch is handed out once its items have so many bytes */
};

static bool is_text(item_format format)
{
    return format == FORMAT_LINES || format == FORMAT_TSV;
}

bool items_open(item_parser *parser, item_format format)
{
    *parser = (item_parser){.format = format};
    item_batch *batch = &parser->batch;
    bool ok;
    if (is_text(format)) {
        parser->capacity = BATCH_BYTES;
        batch->bytes = malloc(parser->capacity);
        batch->offsets = malloc((BATCH_ITEMS + 1) * sizeof *batch->offsets);
        ok = batch->bytes != NULL && batch->offsets != NULL;
        if (ok)
            batch->offsets[0] = 0;
    } else {
        batch->keys = malloc(BATCH_ITEMS * sizeof *batch->keys);
        ok = batch->keys != NULL;
    }
    if (format == FORMAT_TSV) {
        batch->counts = malloc(BATCH_ITEMS * sizeof *batch->counts);
        batch->lines = malloc(BATCH_ITEMS * sizeof *batch->lines);
        ok = ok && batch->counts != NULL && batch->lines != NULL;
    }
    if (!ok)
        items_close(parser);
    return ok;
}

void items_close(item_parser *parser)
{
    free(parser->batch.bytes);
    free(parser->batch.offsets);
    free(parser->batch.keys);
    free(parser->batch.counts);
    free(parser->batch.lines);
    *parser = (item_parser){0};
}

/* Empty the batch that the last call returned; an unfinished line moves to the front. */
static void take_back(item_parser *parser)
{
    if (!parser->handed_out)
        return;
    parser->handed_out = false;
    item_batch *batch = &parser->batch;
    if (is_text(parser->format)) {
        size_t start = (size_t)batch->offsets[batch->n];
        memmove(batch->bytes, batch->bytes + start, parser->fill - start);
        parser->fill -= start;
    }
    batch->n = 0;
}

static item_event hand_out(item_parser *parser)
{
    parser->handed_out = true;
    return ITEMS_BATCH;
}

static item_event report(item_parser *parser, uint64_t line, const char *what)
{
    parser->bad.line = line;
    parser->bad.what = what;
    return ITEMS_BAD;
}

static bool reserve(item_parser *parser, size_t size)
{
    if (size <= parser->capacity - parser->fill)
        return true;
    size_t capacity = parser->capacity;
    while (capacity - parser->fill < size)
        capacity *= 2;
    unsigned char *bytes = realloc(parser->batch.bytes, capacity);
    if (bytes == NULL)
        return false;
    parser->batch.bytes = bytes;
    parser->capacity = capacity;
    return true;
}

/* NULL if the text is a number, else what is wrong with it. */
static const char *parse_count(const unsigned char *text, size_t size, int64_t *count)
{
    size_t i = size > 0 && (text[0] == '-' || text[0] == '+');
    bool negative = i == 1 && text[0] == '-';
    if (i == size)
        return size == 0 ? "nothing after the last tab, where a count belongs" : "the count is a sign without digits";
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    uint64_t value = 0;
    bool fits = true;
    for (; i < size; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9)
            return text[i] == '\r' && i + 1 == size ? "a carriage return after the count: convert the line ends first"
                                                    : "the count is not a whole number";
        fits = fits && value <= (limit - digit) / 10;
        value = fits ? value * 10 + digit : value;
    }
    if (!fits)
        return "the count does not fit into 64 bits";
    *count = negative ? (int64_t)(0 - value) : (int64_t)value;
    return NULL;
}

/* The line behind the last item has ended: it becomes an item. NULL, or what is wrong with it. */
static const char *end_line(item_parser *parser)
{
    item_batch *batch = &parser->batch;
    size_t start = (size_t)batch->offsets[batch->n];
    if (parser->format == FORMAT_TSV) {
        const unsigned char *line = batch->bytes + start;
        size_t tab = parser->fill - start;
        while (tab > 0 && line[tab - 1] != '\t')
            tab--;
        const char *what = "no tab between item and count";
        if (tab > 0)
            what = parse_count(line + tab, parser->fill - start - tab, &batch->counts[batch->n]);
        if (what != NULL) {
            parser->fill = start;
            return what;
        }
        parser->fill = start + tab - 1;
        batch->lines[batch->n] = parser->line;
    }
    batch->n++;
    batch->offsets[batch->n] = parser->fill;
    return NULL;
}

static item_event parse_text(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    while (*at < end) {
        const unsigned char *newline = memchr(*at, '\n', (size_t)(end - *at));
        const unsigned char *stop = newline != NULL ? newline : end;
        size_t size = (size_t)(stop - *at);
        if (!parser->discarding) {
            size_t start = (size_t)parser->batch.offsets[parser->batch.n];
            if (size > ITEMS_LINE_MAX - (parser->fill - start)) {
                parser->fill = start;
                parser->discarding = true;
                *at = stop;
                return report(parser, parser->line + 1, "the line is longer than 16 MiB");
            }
            if (!reserve(parser, size))
                return ITEMS_NO_MEMORY;
            memcpy(parser->batch.bytes + parser->fill, *at, size);
            parser->fill += size;
        }
        *at = stop;
        if (newline == NULL)
            break;
        *at += 1;
        parser->line++;
        if (parser->discarding) {
            parser->discarding = false;
            continue;
        }
        const char *what = end_line(parser);
        if (what != NULL)
            return report(parser, parser->line, what);
        if (parser->batch.n == BATCH_ITEMS || parser->fill >= BATCH_BYTES)
            return hand_out(parser);
    }
    return ITEMS_MORE;
}

static uint64_t load_key(const unsigned char *bytes, size_t width)
{
    uint64_t key = 0;
    for (size_t i = width; i > 0; i--)
        key = key << 8 | bytes[i - 1];
    return key;
}

static size_t record_width(const item_parser *parser)
{
    return parser->format == FORMAT_U32 ? 4 : 8;
}

static item_event parse_records(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    size_t width = record_width(parser);
    while (*at < end) {
        uint64_t key;
        if (parser->carried == 0 && (size_t)(end - *at) >= width) {
            key = width == 4 ? load_key(*at, 4) : load_key(*at, 8); /* constant widths become single loads */
            *at += width;
        } else {
            parser->carry[parser->carried++] = *(*at)++;
            if (parser->carried < width)
                continue;
            key = load_key(parser->carry, width);
            parser->carried = 0;
        }
        parser->line++;
        parser->batch.keys[parser->batch.n++] = key;
        if (parser->batch.n == BATCH_ITEMS)
            return hand_out(parser);
    }
    return ITEMS_MORE;
}

item_event items_parse(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    take_back(parser);
    return is_text(parser->format) ? parse_text(parser, at, end) : parse_records(parser, at, end);
}

item_event items_flush(item_parser *parser)
{
    take_back(parser);
    return parser->batch.n > 0 ? hand_out(parser) : ITEMS_MORE;
}

size_t items_pending(const item_parser *parser)
{
    return parser->handed_out ? 0 : parser->batch.n;
}

item_event items_finish(item_parser *parser)
{
    take_back(parser);
    if (is_text(parser->format)) {
        parser->discarding = false;
        if (parser->fill > parser->batch.offsets[parser->batch.n]) {
            parser->line++;
            const char *what = end_line(parser);
            if (what != NULL)
                return report(parser, parser->line, what);
        }
    } else if (parser->carried > 0) {
        parser->carried = 0;
        return report(parser, parser->line + 1, "the input ends in the middle of a record");
    }
    return items_flush(parser);
}
