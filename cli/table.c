/* The CSV parser; see table.h. */
#include "table.h"

#include "items.h"
#include "shown.h"
#include "values.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_MOST = 60, NAMES_MOST = 400 }; /* bytes of a column's name and of all of them in a message */

static table_event report(table *self, table_event event, uint64_t line, const char *what)
{
    self->bad.line = line;
    self->bad.what = what;
    return self->in_header ? TABLE_REFUSED : event; /* nothing can be counted without one */
}

/* A report of what was printed into the message. */
static table_event report_printed(table *self, table_event event, uint64_t line)
{
    if (self->message.failed || self->names.failed) return TABLE_NO_MEMORY;
    return report(self, event, line, self->message.bytes);
}

static void begin_record(table *self)
{
    if (!self->begun) {
        self->begun = true;
        self->in_header = !self->no_header;
        if (self->no_header && self->column != NULL) value_u64(self->column, strlen(self->column), &self->wanted);
    }
    self->ended = self->quoted = self->too_long = self->blank_cr = false;
    self->blank = true;
    self->number = 1;
    self->first = self->lines + 1;
    self->field.size = 0;
    self->at = TABLE_FIELD_BEGINS;
}

static bool is_kept(const table *self)
{
    return self->in_header || self->number == self->wanted;
}

/* Takes bytes of the field, as many as one may have. */
static void keep(table *self, const unsigned char *bytes, const unsigned char *end)
{
    size_t size = (size_t)(end - bytes);
    self->blank = self->blank && (size == 0 || (size == 1 && *bytes == '\r' && !self->blank_cr));
    self->blank_cr = self->blank_cr || size > 0;
    if (!is_kept(self)) return;
    self->too_long = self->too_long || size > ITEMS_LINE_MAX - self->field.size;
    if (!self->too_long) text_bytes(&self->field, (const char *)bytes, size);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

/* A field of the header is complete: is it the column? */
static table_event take_name(table *self)
{
    bool is_it = self->column != NULL && self->field.size == strlen(self->column) &&
                 (self->field.size == 0 || memcmp(self->field.bytes, self->column, self->field.size) == 0);
    if (is_it && self->wanted > 0) {
        text_print(&self->message, "columns %" PRIu64 " and %" PRIu64 " are both named '%s': give --column its number",
                   self->wanted, self->number, self->column);
        return report_printed(self, TABLE_REFUSED, self->first);
    }
    if (is_it) self->wanted = self->number;
    if (self->names.size < NAMES_MOST) {
        char name[SHOWN_MOST * NAME_MOST];
        size_t size = shown_write(name, self->field.bytes, self->field.size < NAME_MOST ? self->field.size : NAME_MOST,
                                  SHOWN_TO_PEOPLE);
        text_print(&self->names, "%s%" PRIu64 " %.*s", self->number > 1 ? ", " : "", self->number, (int)size, name);
        if (self->names.size >= NAMES_MOST) text_print(&self->names, ", ...");
    }
    self->field.size = 0;
    return TABLE_MORE;
}

static table_event end_header(table *self)
{
    self->in_header = false;
    uint64_t number = 0;
    if (self->wanted == 0 && self->column != NULL && value_u64(self->column, strlen(self->column), &number) &&
        number <= self->number)
        self->wanted = number;
    if (self->wanted > 0) return TABLE_MORE;
    if (self->column == NULL) text_print(&self->message, "say which column to count, with --column: ");
    else text_print(&self->message, "there is no column '%s', but ", self->column);
    if (!self->names.failed) text_print(&self->message, "%s", self->names.bytes);
    if (self->number == 1) text_print(&self->message, "; --delimiter if fields are separated by something else");
    return report_printed(self, TABLE_REFUSED, self->first);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static table_event end_field(table *self)
{
    table_event event = self->in_header ? take_name(self) : TABLE_MORE;
    self->blank = self->quoted = false;
    self->number++;
    self->at = TABLE_FIELD_BEGINS;
    return event;
}

static table_event end_record(table *self)
{
    self->ended = true;
    text *field = &self->field;
    if (self->blank) return TABLE_MORE;
    if (is_kept(self) && !self->quoted && field->size > 0 && field->bytes[field->size - 1] == '\r') field->size--;
    if (field->failed) return TABLE_NO_MEMORY;
    if (self->too_long) return report(self, TABLE_BAD, self->first, "a field is longer than 16 MiB");
    if (self->in_header) {
        table_event event = take_name(self);
        return event != TABLE_MORE ? event : end_header(self);
    }
    if (self->number >= self->wanted) return TABLE_FIELD;
    self->message.size = 0;
    text_print(&self->message, "there is no column %" PRIu64 ": the record has %" PRIu64, self->wanted, self->number);
    return report_printed(self, TABLE_BAD, self->first);
}

static table_event end_line(table *self)
{
    self->lines++;
    return end_record(self);
}

/* A byte behind a quote that may have closed a field. */
static table_event take_behind_quote(table *self, const unsigned char *byte)
{
    bool behind_cr = self->at == TABLE_CR_SEEN;
    if (*byte == '\n') return end_line(self);
    if (!behind_cr && *byte == (unsigned char)self->delimiter) return end_field(self);
    self->at = *byte == '"' ? TABLE_QUOTED : *byte == '\r' ? TABLE_CR_SEEN : TABLE_DISCARDING;
    if (behind_cr) self->at = TABLE_DISCARDING;
    if (self->at == TABLE_QUOTED) keep(self, byte, byte + 1);
    if (self->at != TABLE_DISCARDING) return TABLE_MORE;
    return report(self, TABLE_BAD, self->lines + 1, "something follows the quote that ends a field");
}

static uint64_t line_feeds(const unsigned char *at, const unsigned char *end)
{
    uint64_t n = 0;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        n++;
        at++;
    }
    return n;
}

/* Bytes as they are, up to what may end them, and that as well. */
static table_event take_plain(table *self, const unsigned char **at, const unsigned char *end)
{
    unsigned char delimiter = (unsigned char)self->delimiter;
    const unsigned char *stop = *at, *begin = stop;
    while (stop < end && *stop != delimiter && *stop != '\n') stop++;
    *at = stop < end ? stop + 1 : end;
    keep(self, begin, stop);
    return stop == end ? TABLE_MORE : *stop == '\n' ? end_line(self) : end_field(self);
}

static table_event take_quoted(table *self, const unsigned char **at, const unsigned char *end)
{
    const unsigned char *begin = *at, *quote = memchr(begin, '"', (size_t)(end - begin));
    const unsigned char *stop = quote != NULL ? quote : end;
    *at = quote != NULL ? quote + 1 : end;
    self->lines += line_feeds(begin, stop);
    if (quote != NULL) self->at = TABLE_QUOTE_SEEN;
    keep(self, begin, stop);
    return TABLE_MORE;
}

static table_event take(table *self, const unsigned char **at, const unsigned char *end)
{
    switch (self->at) {
    case TABLE_FIELD_BEGINS:
        self->quoted = **at == '"';
        self->at = self->quoted ? TABLE_QUOTED : TABLE_PLAIN;
        if (!self->quoted) return TABLE_MORE;
        self->blank = false;
        self->opened = self->lines + 1;
        ++*at;
        return TABLE_MORE;
    case TABLE_PLAIN: return take_plain(self, at, end);
    case TABLE_QUOTED: return take_quoted(self, at, end);
    case TABLE_QUOTE_SEEN:
    case TABLE_CR_SEEN: return take_behind_quote(self, (*at)++);
    case TABLE_DISCARDING: break;
    }
    const unsigned char *feed = memchr(*at, '\n', (size_t)(end - *at));
    *at = feed != NULL ? feed + 1 : end;
    self->lines += feed != NULL;
    self->ended = feed != NULL;
    return TABLE_MORE;
}

table_event table_next(table *self, const unsigned char **at, const unsigned char *end)
{
    table_event event = TABLE_MORE;
    while (*at < end && event == TABLE_MORE) {
        if (self->ended || !self->begun) begin_record(self);
        event = take(self, at, end);
    }
    return event;
}

table_event table_end(table *self)
{
    bool inside = self->begun && !self->ended && self->at != TABLE_DISCARDING &&
                  !(self->at == TABLE_FIELD_BEGINS && self->number == 1);
    if (!self->begun) begin_record(self);
    bool has_header = !self->in_header;
    self->ended = true;
    if (inside && self->at == TABLE_QUOTED)
        return report(self, TABLE_BAD, self->opened,
                      "a quote begins a field here and none ends it: nothing from here on is counted");
    if (inside) return end_record(self);
    return has_header ? TABLE_MORE : report(self, TABLE_REFUSED, 1, "there is no header with the names of columns");
}

void table_close(table *self)
{
    text_free(&self->field);
    text_free(&self->names);
    text_free(&self->message);
}
