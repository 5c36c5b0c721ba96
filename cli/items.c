/* The parsers of the input formats; see items.h. Text is copied once, into the batch: a batch has to hold items end to
 * end, and the line that has not ended yet simply waits behind them.
 *
 * Line ends are looked for 64 bytes at a time, and short lines are copied without asking how long they are. Very long
 * ones, and those at the borders of a block or a batch, go one by one. */
#include "items.h"

#include "table.h"

#include <stdlib.h>
#include <string.h>

/* A sketch takes many items at once faster, so batches, of which there are two, are as large as is still modest: the
 * command takes about 75 MB beside the sketch, where lines have counts 100. Memory that a batch of long or of short
 * lines has no use for is never touched. Where items are deleted, a sketch depends on what comes together: where
 * batches of lines with counts end is for ever. */
enum {
#ifndef LEGO_SMALL_BATCHES
    BATCH_SIZE = 22 << 20,   /* bytes of keys, or of items and their offsets, with which it is handed out */
    COUNTED_ITEMS = 1 << 20, /* those of tsv and uniq, or */
    COUNTED_BYTES = 1 << 24, /* of their items; up to 40 MB with counts and lines */
    LONG = 1 << 12,          /* bytes after which a line is left to go alone */
#else                        /* for fuzzing, where an input has a few hundred bytes */
    BATCH_SIZE = 1 << 10,
    COUNTED_ITEMS = 1 << 7,
    COUNTED_BYTES = 1 << 9,
    LONG = 1 << 7,
#endif
    BATCH_ITEMS = BATCH_SIZE / 8, /* at most */
    SEARCHED = 64,                /* bytes that are searched at once */
    SHORT = 32                    /* bytes of a line that are copied in any case */
};

static inline bool is_counted(item_format format)
{
    return format == FORMAT_TSV || format == FORMAT_UNIQ;
}

lego_items items_view(const item_batch *batch)
{
    return (lego_items){.n = batch->n,
                        .integers = batch->keys,
                        .bytes = batch->bytes,
                        .offsets = batch->offsets,
                        .counts = batch->counts};
}

static bool open_batch(item_batch *batch, item_format format)
{
    size_t items = is_counted(format) ? COUNTED_ITEMS : BATCH_ITEMS;
    if (format_is_raw(format)) {
        batch->keys = malloc(items * sizeof *batch->keys);
        return batch->keys != NULL;
    }
    batch->capacity = (is_counted(format) ? COUNTED_BYTES : BATCH_SIZE) + SHORT; /* the last with what follows it */
    batch->bytes = malloc(batch->capacity);
    batch->offsets = malloc((items + 1) * sizeof *batch->offsets);
    if (batch->bytes == NULL || batch->offsets == NULL) return false;
    batch->offsets[0] = 0;
    if (!is_counted(format)) return true;
    batch->counts = malloc(items * sizeof *batch->counts);
    batch->lines = malloc(items * sizeof *batch->lines);
    return batch->counts != NULL && batch->lines != NULL;
}

/* Whether a batch of text with so many items, of so many bytes, is to be handed out. */
static inline bool is_full(bool counted, size_t items, size_t bytes)
{
    return counted ? items >= COUNTED_ITEMS || bytes >= COUNTED_BYTES : items * sizeof(uint64_t) + bytes >= BATCH_SIZE;
}

static void close_batch(item_batch *batch)
{
    free(batch->bytes);
    free(batch->offsets);
    free(batch->keys);
    free(batch->counts);
    free(batch->lines);
}

bool items_open(item_parser *parser, const item_layout *layout)
{
    *parser = (item_parser){.format = layout->format, .keep_cr = layout->keep_cr};
    bool ok = open_batch(&parser->batch, layout->format);
    if (ok && layout->format == FORMAT_CSV) {
        parser->table = malloc(sizeof *parser->table);
        ok = parser->table != NULL;
        if (ok)
            *parser->table =
                (table){.column = layout->column, .delimiter = layout->delimiter, .no_header = layout->no_header};
    }
    if (!ok) items_close(parser);
    return ok;
}

void items_close(item_parser *parser)
{
    close_batch(&parser->batch);
    close_batch(&parser->spare);
    if (parser->table != NULL) table_close(parser->table);
    free(parser->table);
    *parser = (item_parser){0};
}

/* Room for more bytes of the line that has not ended. */
static bool reserve(item_parser *parser, size_t size)
{
    item_batch *batch = &parser->batch;
    size_t capacity = batch->capacity;
    if (size <= capacity - parser->fill) return true;
    while (capacity - parser->fill < size) capacity *= 2;
    unsigned char *bytes = realloc(batch->bytes, capacity);
    if (bytes == NULL) return false;
    batch->bytes = bytes;
    batch->capacity = capacity;
    return true;
}

static bool append(item_parser *parser, const unsigned char *bytes, size_t size)
{
    if (!reserve(parser, size)) return false;
    memcpy(parser->batch.bytes + parser->fill, bytes, size);
    parser->fill += size;
    return true;
}

/* After a batch was handed out: turns to the other one, an unfinished line comes along. False if there is no memory. */
static bool turn(item_parser *parser)
{
    if (!parser->handed_out) return true;
    parser->handed_out = false;
    item_batch full = parser->batch;
    bool is_first = parser->spare.n == 0; /* a short input needs but one */
    parser->batch = parser->spare;
    parser->spare = full;
    parser->batch.n = 0;
    if (is_first && !open_batch(&parser->batch, parser->format)) return false;
    if (format_is_raw(parser->format)) return true;
    size_t start = (size_t)full.offsets[full.n], size = parser->fill - start;
    parser->fill = 0;
    return append(parser, full.bytes + start, size);
}

static item_event hand_out(item_parser *parser)
{
    parser->handed_out = true;
    return ITEMS_BATCH;
}

static item_event report(item_parser *parser, item_event event, uint64_t line, const char *what)
{
    parser->bad.line = line;
    parser->bad.what = what;
    return event;
}

/* A little-endian number of up to 8 bytes. */
static inline uint64_t load(const unsigned char *bytes, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, bytes, width);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* What a line holds. */
typedef struct piece {
    const unsigned char *item;
    size_t size;
    int64_t count;
} piece;

/* NULL if it is a number, else what is wrong with it. */
static const char *parse_count(const unsigned char *digits, size_t size, int64_t *count)
{
    size_t i = size > 0 && (digits[0] == '-' || digits[0] == '+');
    bool negative = i == 1 && digits[0] == '-';
    if (i == size)
        return size == 0 ? "nothing after the last tab, where a count belongs" : "the count is a sign without digits";
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    uint64_t value = 0;
    bool fits = true;
    for (; i < size; i++) {
        unsigned digit = (unsigned)digits[i] - '0';
        if (digit > 9) return "the count is not a whole number";
        fits = fits && value <= (limit - digit) / 10;
        value = fits ? value * 10 + digit : value;
    }
    if (!fits) return "the count does not fit into 64 bits";
    *count = negative ? (int64_t)(0 - value) : (int64_t)value;
    return NULL;
}

/* A count of up to 18 digits, which need no check, at the end of a line: where the item before it ends; NULL if the
 * line has to be looked at more closely. */
static const unsigned char *short_count(const unsigned char *line, const unsigned char *end, int64_t *count)
{
    const unsigned char *at = end;
    int64_t value = 0;
    for (int64_t scale = 1; at > line && at[-1] >= '0' && at[-1] <= '9'; scale *= 10) {
        if (end - at == 18) return NULL;
        value += scale * (*--at - '0');
    }
    if (at == end) return NULL;
    bool negative = at > line && at[-1] == '-';
    at -= negative || (at > line && at[-1] == '+');
    *count = negative ? -value : value;
    return at > line && at[-1] == '\t' ? at - 1 : NULL;
}

static inline const char *split_tsv(const unsigned char *line, const unsigned char *end, piece *found)
{
    const unsigned char *stop = short_count(line, end, &found->count);
    if (stop == NULL) {
        for (stop = end; stop > line && stop[-1] != '\t';) stop--;
        if (stop == line) return "no tab between item and count";
        const char *what = parse_count(stop, (size_t)(end - stop), &found->count);
        if (what != NULL) return what;
        stop--;
    }
    found->item = line;
    found->size = (size_t)(stop - line);
    return NULL;
}

static inline const char *split_uniq(const unsigned char *line, const unsigned char *end, piece *found)
{
    const unsigned char *at = line;
    while (at < end && *at == ' ') at++;
    const unsigned char *digits = at;
    found->count = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (at - digits == 18) return "the count has more than 18 digits";
        found->count = 10 * found->count + (*at - '0');
    }
    if (at == digits) return "no count before the item, as 'uniq -c' writes it";
    if (at == end || *at != ' ') return "no space between count and item, as 'uniq -c' writes it";
    found->item = at + 1;
    found->size = (size_t)(end - found->item);
    return NULL;
}

/* NULL, or what is wrong with the line. */
static inline const char *split(item_format format, const unsigned char *line, const unsigned char *end, piece *found)
{
    if (format == FORMAT_TSV) return split_tsv(line, end, found);
    if (format == FORMAT_UNIQ) return split_uniq(line, end, found);
    *found = (piece){line, (size_t)(end - line), 1};
    return NULL;
}

/* Where a line ends that stops at a line feed. */
static inline const unsigned char *line_end(bool keep_cr, const unsigned char *line, const unsigned char *feed)
{
    return feed - (!keep_cr && feed > line && feed[-1] == '\r');
}

/* The line behind the last item has ended, at a line feed if it is fed: it becomes an item. NULL, or what is wrong
 * with it. */
static const char *end_line(item_parser *parser, bool fed)
{
    item_batch *batch = &parser->batch;
    size_t start = (size_t)batch->offsets[batch->n];
    unsigned char *line = batch->bytes + start;
    const unsigned char *end = line_end(parser->keep_cr || !fed, line, batch->bytes + parser->fill);
    piece found;
    const char *what = split(parser->format, line, end, &found);
    parser->fill = start;
    if (what != NULL) return what;
    memmove(line, found.item, found.size);
    parser->fill += found.size;
    if (batch->counts != NULL) batch->counts[batch->n] = found.count;
    if (batch->lines != NULL) batch->lines[batch->n] = parser->line;
    batch->offsets[++batch->n] = parser->fill;
    return NULL;
}

/* The line feeds among eight bytes as eight bits, the first the lowest. Seven bits plus 127 have a carry unless all are
 * 0; the multiplication gathers the highest bit of each byte, which is what is left then. */
static uint64_t line_feeds_of_word(const unsigned char bytes[8])
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t word = load(bytes, 8) ^ UINT64_C(0x0a0a0a0a0a0a0a0a);
    uint64_t feeds = ~(((word & low) + low) | word | low);
    return (feeds >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static uint64_t line_feeds(const unsigned char bytes[SEARCHED])
{
    uint64_t feeds = 0;
    for (unsigned i = 0; i < SEARCHED; i += 8) feeds |= line_feeds_of_word(bytes + i) << i;
    return feeds;
}

/* Copies an item, with what follows it if it is short. */
static inline void copy_item(unsigned char *to, const unsigned char *from, size_t size)
{
    memcpy(to, from, SHORT);
    if (size > SHORT) memcpy(to + SHORT, from + SHORT, size - SHORT);
}

/* Takes lines from *at on, as long as nothing is special about them. A function for each format, or the compiler would
 * ask for every line. */
static inline void take_plain_lines(item_parser *parser, item_format format, const unsigned char **at,
                                    const unsigned char *end)
{
    bool counted = is_counted(format), keep_cr = parser->keep_cr;
    item_batch batch = parser->batch; /* a copy: bytes are written, and could be anything's, had it an address */
    const unsigned char *line = *at;
    size_t fill = parser->fill;
    uint64_t lines = parser->line;
    /* As many lines end in a part as it has bytes, at most, and one of them began before it: none fills the batch. */
    for (const unsigned char *part = line; end - part >= SEARCHED + SHORT && part - line <= LONG &&
                                           !is_full(counted, batch.n + SEARCHED, fill + LONG + SEARCHED);
         part += SEARCHED) {
        for (uint64_t feeds = line_feeds(part); feeds != 0; feeds &= feeds - 1) {
            const unsigned char *feed = part + __builtin_ctzll(feeds);
            piece found;
            if (split(format, line, line_end(keep_cr, line, feed), &found) != NULL) {
                end = part; /* leaves both loops */
                break;
            }
            copy_item(batch.bytes + fill, found.item, found.size);
            fill += found.size;
            lines++;
            if (counted) batch.counts[batch.n] = found.count;
            if (counted) batch.lines[batch.n] = lines;
            batch.offsets[++batch.n] = fill;
            line = feed + 1;
        }
    }
    parser->batch.n = batch.n;
    parser->fill = fill;
    parser->line = lines;
    *at = line;
}

static void take_plain(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    if (parser->format == FORMAT_TSV) take_plain_lines(parser, FORMAT_TSV, at, end);
    else if (parser->format == FORMAT_UNIQ) take_plain_lines(parser, FORMAT_UNIQ, at, end);
    else take_plain_lines(parser, FORMAT_LINES, at, end);
}

static item_event parse_lines(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    while (*at < end) {
        size_t start = (size_t)parser->batch.offsets[parser->batch.n];
        if (!parser->discarding && parser->fill == start) {
            take_plain(parser, at, end);
            start = parser->fill;
        }
        const unsigned char *newline = memchr(*at, '\n', (size_t)(end - *at));
        const unsigned char *stop = newline != NULL ? newline : end;
        size_t size = (size_t)(stop - *at);
        if (!parser->discarding) {
            if (size > ITEMS_LINE_MAX - (parser->fill - start)) {
                parser->fill = start;
                parser->discarding = true;
                *at = stop;
                return report(parser, ITEMS_BAD, parser->line + 1, "the line is longer than 16 MiB");
            }
            if (!append(parser, *at, size)) return ITEMS_NO_MEMORY;
        }
        *at = stop;
        if (newline == NULL) break;
        *at += 1;
        parser->line++;
        if (parser->discarding) {
            parser->discarding = false;
            continue;
        }
        const char *what = end_line(parser, true);
        if (what != NULL) return report(parser, ITEMS_BAD, parser->line, what);
        if (is_full(is_counted(parser->format), parser->batch.n, parser->fill)) return hand_out(parser);
    }
    return ITEMS_MORE;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* What the table found becomes an item, or is handed on. */
static item_event take_field(item_parser *parser, table_event event)
{
    item_batch *batch = &parser->batch;
    const table *from = parser->table;
    switch (event) {
    case TABLE_MORE: return ITEMS_MORE;
    case TABLE_BAD: return report(parser, ITEMS_BAD, from->bad.line, from->bad.what);
    case TABLE_REFUSED: return report(parser, ITEMS_REFUSED, from->bad.line, from->bad.what);
    case TABLE_NO_MEMORY: return ITEMS_NO_MEMORY;
    case TABLE_FIELD: break;
    }
    if (from->field.size > 0 && !append(parser, (unsigned char *)from->field.bytes, from->field.size))
        return ITEMS_NO_MEMORY;
    batch->offsets[++batch->n] = parser->fill;
    return is_full(false, batch->n, parser->fill) ? hand_out(parser) : ITEMS_MORE;
}

static item_event parse_table(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    item_event event = ITEMS_MORE;
    while (*at < end && event == ITEMS_MORE) event = take_field(parser, table_next(parser->table, at, end));
    return event;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static size_t record_width(const item_parser *parser)
{
    return parser->format == FORMAT_U32 ? 4 : 8;
}

/* Takes records that lie whole in the block. */
static void take_records(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    size_t width = record_width(parser), n = (size_t)(end - *at) / width, room = BATCH_ITEMS - parser->batch.n;
    uint64_t *keys = parser->batch.keys + parser->batch.n;
    if (n > room) n = room;
    for (size_t i = 0; i < n; i++) keys[i] = width == 4 ? load(*at + 4 * i, 4) : load(*at + 8 * i, 8);
    parser->batch.n += n;
    parser->line += n;
    *at += n * width;
}

static item_event parse_records(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    size_t width = record_width(parser);
    while (*at < end) {
        if (parser->carried == 0) take_records(parser, at, end);
        while (*at < end && parser->carried < width && parser->batch.n < BATCH_ITEMS)
            parser->carry[parser->carried++] = *(*at)++;
        if (parser->carried == width) {
            parser->carried = 0;
            parser->batch.keys[parser->batch.n++] = load(parser->carry, width);
            parser->line++;
        }
        if (parser->batch.n == BATCH_ITEMS) return hand_out(parser);
    }
    return ITEMS_MORE;
}

item_event items_parse(item_parser *parser, const unsigned char **at, const unsigned char *end)
{
    if (!turn(parser)) return ITEMS_NO_MEMORY;
    if (parser->format == FORMAT_CSV) return parse_table(parser, at, end);
    return format_is_raw(parser->format) ? parse_records(parser, at, end) : parse_lines(parser, at, end);
}

item_event items_flush(item_parser *parser)
{
    if (!turn(parser)) return ITEMS_NO_MEMORY;
    return parser->batch.n > 0 ? hand_out(parser) : ITEMS_MORE;
}

size_t items_pending(const item_parser *parser)
{
    return parser->handed_out ? 0 : parser->batch.n;
}

item_event items_finish(item_parser *parser)
{
    if (!turn(parser)) return ITEMS_NO_MEMORY;
    if (parser->format == FORMAT_CSV) {
        item_event event = take_field(parser, table_end(parser->table));
        if (event != ITEMS_MORE) return event;
    } else if (!format_is_raw(parser->format)) {
        parser->discarding = false;
        if (parser->fill > parser->batch.offsets[parser->batch.n]) {
            parser->line++;
            const char *what = end_line(parser, false);
            if (what != NULL) return report(parser, ITEMS_BAD, parser->line, what);
        }
    } else if (parser->carried > 0) {
        parser->carried = 0;
        return report(parser, ITEMS_BAD, parser->line + 1, "the input ends in the middle of a record");
    }
    return items_flush(parser);
}
