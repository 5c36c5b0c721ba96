/* From files to batches of items; see stream.h. While one batch is worked on the next is read and parsed, nothing more:
 * a message, the bar and the sink wait for their turn, and all is as if there were one thread. */
#include "stream.h"

#include "input.h"
#include "look.h"
#include "progress.h"
#include "say.h"
#include "values.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { REPORTS_MAX = 10 }; /* malformed lines named one by one before there is only a total */

/* ---- how it is read ---------------------------------------------------------------------------------------------- */

item_format reading_format(const char *path, size_t *stem)
{
    static const struct {
        const char *ending;
        item_format format;
    } endings[] = {{".tsv", FORMAT_TSV}, {".csv", FORMAT_CSV}, {".u32", FORMAT_U32}, {".u64", FORMAT_U64}};
    size_t length = input_stem(path);
    *stem = length;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (length <= 4 || strncasecmp(path + length - 4, endings[i].ending, 4) != 0) continue;
        *stem = length - 4;
        return endings[i].format;
    }
    return FORMAT_LINES;
}

/* The byte that separates columns; 0 if the word is none. */
static char delimiter_of(const char *word)
{
    if (strcmp(word, "\\t") == 0) return '\t';
    return strlen(word) == 1 && strchr("\"\r\n", word[0]) == NULL ? word[0] : '\0';
}

/* A column makes a table of what would be lines, or items and counts between tabs. */
static item_layout layout_of(const reading *how, const char *path)
{
    size_t stem;
    item_format format = how->format >= 0 ? (item_format)how->format : reading_format(path, &stem);
    item_layout layout = {format, how->keep_cr, how->column, format == FORMAT_TSV ? '\t' : ',', how->no_header};
    if (how->column != NULL && !format_is_raw(format)) layout.format = FORMAT_CSV;
    if (how->delimiter != NULL) layout.delimiter = delimiter_of(how->delimiter);
    return layout;
}

bool reading_check(const command *self, const reading *given)
{
    uint64_t number;
    const char *column = given->column;
    const char *what = NULL;
    if (given->delimiter != NULL && delimiter_of(given->delimiter) == '\0')
        what = "--delimiter is one byte, or \\t for a tab, and neither a quote nor a line end";
    else if (column == NULL && (given->delimiter != NULL || given->no_header))
        what = "--delimiter and --no-header are for tables: --column says which column to count";
    else if (column != NULL && given->format > FORMAT_CSV) what = "--column is for -f csv and tsv, and text without -f";
    else if (column != NULL && given->keep_cr) what = "--keep-cr is for lines: in a table CR LF is a line end";
    else if (column != NULL && strcmp(column, "0") == 0) what = "the first column has the number 1";
    else if (column != NULL && given->no_header && !value_u64(column, strlen(column), &number))
        what = "without a header a column goes by its number: --column 1 is the first";
    if (what != NULL) options_wrong(self, "%s", what);
    return what == NULL;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

bool stream_malformed(stream *self, uint64_t line, const char *what)
{
    self->malformed++;
    if (self->how->policy == ON_ERROR_STOP || self->malformed <= REPORTS_MAX) say_at(self->file, line, what);
    return self->how->policy == ON_ERROR_SKIP;
}

const void *stream_item(const item_batch *batch, size_t i, unsigned char buffer[8], size_t *size)
{
    if (batch->keys == NULL) {
        *size = (size_t)(batch->offsets[i + 1] - batch->offsets[i]);
        return batch->bytes + batch->offsets[i];
    }
    stream_key(batch->keys[i], buffer);
    *size = 8;
    return buffer;
}

static void *work(void *argument)
{
    stream *self = argument;
    self->work(self->context, &self->at_work);
    return NULL;
}

/* Gives the sink the batch that is worked on, if there is one. */
static bool settle(stream *self)
{
    if (self->at_work.n == 0) return true;
    pthread_join(self->worker, NULL);
    item_batch done = self->at_work;
    self->at_work.n = 0;
    return self->sink(self->context, self, &done);
}

static bool take_batch(stream *self, const item_batch *batch)
{
    if (!settle(self)) return false;
    self->items += batch->n;
    if (self->work != NULL) {
        self->at_work = *batch;
        if (pthread_create(&self->worker, NULL, work, self) == 0) return true;
        self->at_work.n = 0;
        self->work(self->context, batch); /* one thread has to do */
    }
    return self->sink(self->context, self, batch);
}

/* A file that is named .tsv may be a table, or lines that hold tabs. */
static void explain_name(const stream *self, const item_parser *parser)
{
    if (parser->format == FORMAT_TSV && self->how->format < 0 && self->how->policy == ON_ERROR_STOP)
        say("by its name %s has an item, a tab and a count a line; --column counts a column of a table, -f lines whole "
            "lines",
            self->file);
}

static bool take_bad(stream *self, const item_parser *parser)
{
    if (!settle(self)) return false;
    if (stream_malformed(self, parser->bad.line, parser->bad.what)) return true;
    explain_name(self, parser);
    return false;
}

/* What the parser found: hands on a batch, reports a line. */
static bool handle(stream *self, const item_parser *parser, item_event event)
{
    switch (event) {
    case ITEMS_BATCH: return take_batch(self, &parser->batch);
    case ITEMS_BAD: return take_bad(self, parser);
    case ITEMS_REFUSED: return settle(self) && say_at(self->file, parser->bad.line, parser->bad.what);
    case ITEMS_NO_MEMORY: return say_no_memory();
    case ITEMS_MORE: break;
    }
    return true;
}

static bool parse_block(stream *self, item_parser *parser, const unsigned char *block, size_t size)
{
    const unsigned char *at = block, *end = block + size;
    item_event event;
    while ((event = items_parse(parser, &at, end)) != ITEMS_MORE) {
        if (!handle(self, parser, event)) return false;
    }
    return !self->prompt || handle(self, parser, items_flush(parser));
}

/* Takes off what some programs write before text, to say that it is UTF-8. */
static void pass_mark(const unsigned char **block, size_t *size)
{
    if (*size < 3 || memcmp(*block, "\xef\xbb\xbf", 3) != 0) return;
    *block += 3;
    *size -= 3;
}

static bool read_blocks(stream *self, input *from, item_parser *parser)
{
    const unsigned char *block;
    size_t size;
    for (bool first = true;; first = false) {
        if (!input_next(from, &block, &size)) return false;
        if (size == 0) break;
        if (first && !look_at(self->file, block, size, parser->format, self->how->keep_nul)) return false;
        if (first && !format_is_raw(parser->format)) pass_mark(&block, &size);
        if (!parse_block(self, parser, block, size)) return false;
        progress_update(self->done, self->items + items_pending(parser));
    }
    item_event event;
    while ((event = items_finish(parser)) != ITEMS_MORE) {
        if (!handle(self, parser, event)) return false;
    }
    return settle(self);
}

static bool read_file(stream *self, const char *path)
{
    input *from;
    item_parser parser;
    if (!input_open(&from, path, &self->done)) return false;
    self->file = input_name(from);
    item_layout layout = layout_of(self->how, path);
    bool ok = (items_open(&parser, &layout) || say_no_memory()) && read_blocks(self, from, &parser);
    if (self->at_work.n > 0) { /* something failed meanwhile */
        pthread_join(self->worker, NULL);
        self->at_work.n = 0;
    }
    items_close(&parser);
    input_close(from);
    return ok;
}

/* Whether the files can be read together, as they are named. */
static bool check_names(const stream *self, char *const *paths, int count)
{
    const char *first = self->into;
    lego_kind first_kind = self->kind;
    for (int i = 0; i < count; i++) {
        bool raw = format_is_raw(layout_of(self->how, paths[i]).format);
        lego_kind kind = raw ? LEGO_ITEMS_INTEGERS : LEGO_ITEMS_BYTES;
        if (raw && self->how->column != NULL) return say("%s has raw keys by its name, and no columns", paths[i]);
        if (!say_mixed(first, first_kind, paths[i], kind)) return false;
        first = paths[i];
        first_kind = kind;
    }
    return true;
}

bool stream_read(stream *self, char *const *paths, int count)
{
    static char dash[] = "-";
    static char *const only_stdin[] = {dash};
    if (count == 0) {
        paths = only_stdin;
        count = 1;
    }
    uint64_t total;
    if (!check_names(self, paths, count)) return false;
    if (!input_measure(paths, count, self->output != NULL ? self->output : "-", &total)) return false;
    progress_begin(self->label, total, self->quiet);
    bool ok = true;
    for (int i = 0; i < count && ok; i++) ok = read_file(self, paths[i]);
    progress_end();
    if (ok && self->malformed > 0)
        say("skipped %" PRIu64 " malformed %s", self->malformed, self->malformed == 1 ? "line" : "lines");
    return ok;
}
