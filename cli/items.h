/* From bytes to batches of items: the input formats, without any I/O. Bytes come in blocks of any size; a line or
 * record may span blocks.
 *
 *     lines   one item a line; the line end, LF or CR LF, is not part of it, everything else is
 *     tsv     item TAB count; the item ends at the last tab, so it may hold tabs; count is a signed 64-bit decimal
 *     csv     a column of a table, see table.h
 *     uniq    spaces, a count, one space, item: what `uniq -c` writes
 *     u32     raw little-endian keys of 4 bytes
 *     u64     raw little-endian keys of 8 bytes
 *
 *     item_parser parser;
 *     if (!items_open(&parser, &(item_layout){.format = FORMAT_LINES})) ...no memory...
 *     for each block:
 *         while ((event = items_parse(&parser, &at, end)) != ITEMS_MORE)  ...use parser.batch or parser.bad...
 *     while ((event = items_finish(&parser)) != ITEMS_MORE)               ...the same...
 *     items_close(&parser); */
#pragma once

#include "legosketch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum item_format { FORMAT_LINES, FORMAT_TSV, FORMAT_CSV, FORMAT_UNIQ, FORMAT_U32, FORMAT_U64 } item_format;

/* The names, in the order of the enum, as an option's choices. */
#define FORMAT_CHOICES "lines|tsv|csv|uniq|u32|u64"

static inline bool format_is_raw(item_format format)
{
    return format == FORMAT_U32 || format == FORMAT_U64;
}

/* A format, and what there is to say of it. */
typedef struct item_layout {
    item_format format;
    bool keep_cr;       /* of lines, tsv, uniq: lines end in LF, and a CR before it is part of the line */
    const char *column; /* of csv, as in table.h */
    char delimiter;
    bool no_header;
} item_layout;

/* A longer line or field is malformed. It bounds the memory that a file without line ends can take. */
#define ITEMS_LINE_MAX ((size_t)16 << 20)

typedef enum item_event {
    ITEMS_MORE,     /* everything given has been taken in */
    ITEMS_BATCH,    /* parser.batch; its items stay in memory until the call after that which gives the next batch */
    ITEMS_BAD,      /* parser.bad says what is wrong with one line, which is left out */
    ITEMS_REFUSED,  /* parser.bad says what is wrong with all of it; the parser can only be closed */
    ITEMS_NO_MEMORY /* the parser can only be closed */
} item_event;

/* Text formats fill bytes and offsets, binary ones keys; what the format does not use is NULL. */
typedef struct item_batch {
    size_t n;
    unsigned char *bytes; /* item i is bytes[offsets[i] .. offsets[i+1]) */
    size_t capacity;      /* of bytes */
    uint64_t *offsets;
    uint64_t *keys;
    int64_t *counts; /* tsv and uniq only */
    uint64_t *lines; /* the same: where each item stood */
} item_batch;

/* As a sketch takes it. */
lego_items items_view(const item_batch *batch);

typedef struct item_parser {
    item_batch batch;
    struct {
        uint64_t line;    /* the first is 1; for u32 and u64 the number of the record */
        const char *what; /* without a full stop */
    } bad;

    /* The rest is the parser's own. */
    item_batch spare; /* what the last batch handed out stands in, while the other is filled; empty before the first */
    item_format format;
    bool keep_cr;
    struct table *table; /* of csv */
    bool handed_out;     /* the batch was returned, and the next call turns to the spare */
    bool discarding;     /* inside a line that is too long */
    uint64_t line;       /* lines or records that have ended */
    size_t fill;         /* bytes[offsets[n] .. fill) is the line that has not ended yet */
    size_t carried;      /* bytes of a record that has not ended yet */
    unsigned char carry[8];
} item_parser;

bool items_open(item_parser *parser, const item_layout *layout);
void items_close(item_parser *parser);

/* Takes bytes from *at on and moves it past them. */
item_event items_parse(item_parser *parser, const unsigned char **at, const unsigned char *end);

/* A batch of what is complete so far, for a caller that cannot wait for a full one. */
item_event items_flush(item_parser *parser);

/* Items taken in that no batch has given out yet. */
size_t items_pending(const item_parser *parser);

/* At the end of the input: the last line needs no line end. To be called until it returns ITEMS_MORE. */
item_event items_finish(item_parser *parser);
