/* fuzz_csv: what the command writes as CSV (cli/rows.c) it reads back as the same items (cli/table.c), whatever bytes
 * they have. The input is items, each ended by a zero; JSON, tabs and numbers are written of them, too. */
#include "items.h"
#include "rows.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Writes each item as a row; returns how many there are. */
static size_t write_rows(const uint8_t *bytes, size_t size, rows *to)
{
    size_t n = 0;
    for (const uint8_t *at = bytes, *end = bytes + size; at < end; n++) {
        const uint8_t *zero = memchr(at, 0, (size_t)(end - at));
        size_t length = (size_t)((zero ? zero : end) - at);
        rows_item(to, at, length, length == 8 && to->form != ROWS_CSV);
        rows_i64(to, (int64_t)length - 5);
        rows_share(to, (double)length / 7);
        if (!rows_next(to)) abort();
        at += length + 1;
    }
    return n;
}

/* What is written to standard output meanwhile; to be freed. */
static char *written(const uint8_t *bytes, size_t size, rows_options how, size_t *length, size_t *n)
{
    static const rows_column columns[] = {{"item", ""}, {"count", "count"}, {"share", "share"}, {NULL, NULL}};
    FILE *before = stdout;
    char *text = NULL;
    stdout = open_memstream(&text, length);
    if (!stdout) abort();
    rows to = rows_begin(&how, false, columns);
    *n = write_rows(bytes, size, &to);
    if (!rows_end(&to) || fclose(stdout) != 0) abort();
    stdout = before;
    return text;
}

/* Goes on in the input past the items of a batch, which have to be there. */
static void compare(const item_batch *batch, const uint8_t **at, const uint8_t *end)
{
    for (size_t i = 0; i < batch->n; i++) {
        size_t length = batch->offsets[i + 1] - batch->offsets[i];
        if (length > (size_t)(end - *at) || memcmp(batch->bytes + batch->offsets[i], *at, length) != 0) abort();
        *at += length;
        if (*at < end && *(*at)++ != 0) abort();
    }
}

/* How many items the text has, which have to be those of the input. */
static size_t read_back(const char *text, size_t length, const uint8_t *bytes, size_t size)
{
    item_parser parser;
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    const uint8_t *next = bytes;
    size_t n = 0;
    if (!items_open(&parser, &(item_layout){.format = FORMAT_CSV, .column = "item", .delimiter = ','})) abort();
    for (bool ended = false; !ended;) {
        bool finishing = at == end;
        item_event event = finishing ? items_finish(&parser) : items_parse(&parser, &at, end);
        ended = finishing && event == ITEMS_MORE;
        if (event == ITEMS_BATCH) compare(&parser.batch, &next, bytes + size);
        else if (event != ITEMS_MORE) abort();
        n += event == ITEMS_BATCH ? parser.batch.n : 0;
    }
    items_close(&parser);
    if (next != bytes + size) abort();
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t length, n;
    free(written(bytes, size, (rows_options){.json = true}, &length, &n));
    free(written(bytes, size, (rows_options){.header = true}, &length, &n));
    char *text = written(bytes, size, (rows_options){.csv = true, .header = true}, &length, &n);
    if (read_back(text, length, bytes, size) != n) abort();
    free(text);
    return 0;
}
