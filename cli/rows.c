/* Rows of answers; see rows.h. Numbers are written without printf(), which would be slower. */
#include "rows.h"

#include "say.h"
#include "shown.h"
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Room for a cell of so many bytes and what separates it; NULL if there is no memory. */
static char *begin_cell(rows *self, size_t most)
{
    if (self->column > 0 && self->form != ROWS_PEOPLE) text_bytes(&self->cells, self->form == ROWS_CSV ? "," : "\t", 1);
    return text_room(&self->cells, most + 1);
}

static void end_cell(rows *self, size_t size)
{
    self->cells.size += size;
    if (self->form == ROWS_PEOPLE) self->cells.bytes[self->cells.size++] = '\0';
    self->column++;
}

/* The name of the next column, for JSON, whose object begins with the first. */
static const char *next_name(rows *self)
{
    if (self->column == 0) self->object = json_begin();
    return self->columns[self->column++].name;
}

static void put(rows *self, const char *bytes, size_t size)
{
    char *cell = begin_cell(self, size);
    if (cell == NULL) return;
    memcpy(cell, bytes, size);
    end_cell(self, size);
}

void rows_word(rows *self, const char *word)
{
    if (self->form == ROWS_JSON) json_text(&self->object, next_name(self), word);
    else put(self, word, strlen(word));
}

void rows_bool(rows *self, bool value)
{
    if (self->form == ROWS_JSON) json_bool(&self->object, next_name(self), value);
    else rows_word(self, value ? "true" : "false");
}

void rows_i64(rows *self, int64_t value)
{
    if (self->form == ROWS_JSON) {
        json_i64(&self->object, next_name(self), value);
        return;
    }
    char *cell = begin_cell(self, VALUE_TEXT);
    if (cell != NULL) end_cell(self, value_write_i64(cell, value));
}

void rows_estimate(rows *self, double value)
{
    if (self->form == ROWS_JSON) {
        json_real(&self->object, next_name(self), value);
        return;
    }
    char *cell = begin_cell(self, VALUE_TEXT);
    if (cell != NULL) end_cell(self, value_print_estimate(cell, value));
}

void rows_share(rows *self, double share)
{
    if (self->form == ROWS_JSON) {
        json_real(&self->object, next_name(self), share); /* null if it is not a number */
        return;
    }
    char cell[VALUE_TEXT] = "";
    if (isfinite(share))
        snprintf(cell, sizeof cell, self->form == ROWS_PEOPLE ? "%.3g %%" : "%.6g",
                 self->form == ROWS_PEOPLE ? 100 * share : share);
    put(self, cell, strlen(cell));
}

/* A field of CSV; there is room for twice its bytes and two. */
static size_t write_field(char *to, const char *bytes, size_t size)
{
    char *at = to;
    *at++ = '"';
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '"') *at++ = '"';
        *at++ = bytes[i];
    }
    *at++ = '"';
    return (size_t)(at - to);
}

static bool is_quoted(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (memchr(",\"\r\n", bytes[i], 4) != NULL) return true;
    return false;
}

static uint64_t as_u64(const unsigned char bytes[8])
{
    uint64_t number = 0;
    for (int i = 8; i > 0; i--) number = number << 8 | bytes[i - 1];
    return number;
}

static shown_in shown_of(const rows *self)
{
    return self->terminal ? SHOWN_TO_PEOPLE : SHOWN_IN_TABS;
}

/* The bytes as people are shown them, for CSV on a terminal, which has no form of its own for control bytes. */
static const void *show_first(rows *self, const void *bytes, size_t *size)
{
    self->shown.size = 0;
    char *shown = text_room(&self->shown, SHOWN_MOST * *size + 1);
    *size = shown != NULL ? shown_write(shown, bytes, *size, SHOWN_TO_PEOPLE) : 0;
    return shown != NULL ? shown : bytes;
}

void rows_item(rows *self, const void *bytes, size_t size, bool is_number)
{
    if (self->form == ROWS_JSON) {
        const char *name = next_name(self);
        if (is_number) json_u64(&self->object, name, as_u64(bytes));
        else json_item(&self->object, bytes, size);
        return;
    }
    if (self->form == ROWS_CSV && !is_number && self->terminal) bytes = show_first(self, bytes, &size);
    if (self->form == ROWS_CSV && !is_number && !is_quoted(bytes, size)) {
        put(self, bytes, size);
        return;
    }
    char *cell = begin_cell(self, SHOWN_MOST * size + VALUE_TEXT);
    if (cell == NULL) return;
    end_cell(self, is_number                ? value_write_u64(cell, as_u64(bytes))
                   : self->form == ROWS_CSV ? write_field(cell, bytes, size)
                                            : shown_write(cell, bytes, size, shown_of(self)));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

bool rows_check(const command *self, const rows_options *given)
{
    bool ok = !(given->csv && given->json);
    if (!ok) options_wrong(self, "--csv and --json: which of them?");
    return ok;
}

rows rows_begin(const rows_options *how, bool people, const rows_column *columns)
{
    rows self = {.form = ROWS_TABS, .terminal = isatty(STDOUT_FILENO), .columns = columns};
    if (how->json) self.form = ROWS_JSON;
    else if (how->csv) self.form = ROWS_CSV;
    else if (people && !how->header && self.terminal) self.form = ROWS_PEOPLE;
    bool titled = self.form == ROWS_PEOPLE || (how->header && self.form != ROWS_JSON);
    for (const rows_column *c = columns; titled && c->name != NULL; c++)
        rows_word(&self, self.form != ROWS_PEOPLE ? c->name : c->title != NULL ? c->title : "");
    if (titled) rows_next(&self);
    return self;
}

bool rows_next(rows *self)
{
    self->column = 0;
    self->count++;
    if (self->form == ROWS_JSON) return json_print(&self->object);
    if (self->cells.failed || self->shown.failed) return say_no_memory();
    if (self->form == ROWS_PEOPLE) return true;
    text_bytes(&self->cells, "\n", 1);
    fwrite(self->cells.bytes, 1, self->cells.size, stdout);
    self->cells.size = 0;
    return true;
}

/* All rows, aligned to the right but for the items, which come last. */
static void print_aligned(const rows *self)
{
    enum { COLUMNS_MOST = 16 };
    int widths[COLUMNS_MOST] = {0};
    size_t columns = 0;
    while (self->columns[columns].name != NULL) columns++;
    bool has_item = strcmp(self->columns[0].name, "item") == 0;
    for (int printing = 0; printing < 2; printing++) {
        const char *cell = self->cells.bytes;
        for (size_t row = 0; row < self->count; row++) {
            const char *item = has_item ? cell : "";
            for (size_t c = 0; c < columns; c++, cell += strlen(cell) + 1) {
                bool shown = self->columns[c].title != NULL && !(has_item && c == 0);
                if (shown && printing) printf("%s%*s", c > has_item ? "  " : "", widths[c], cell);
                else if (shown && widths[c] < (int)strlen(cell)) widths[c] = (int)strlen(cell);
            }
            if (printing) printf("%s%s\n", has_item ? "  " : "", item);
        }
    }
}

bool rows_end(rows *self)
{
    bool ok = !self->cells.failed || say_no_memory();
    if (ok && self->form == ROWS_PEOPLE) print_aligned(self);
    text_free(&self->cells);
    text_free(&self->shown);
    return ok;
}
