/* The parsers of the command's input formats against a reader that goes byte by byte, whatever the blocks are. */
#include "support.h"

#include "items.h"

#include <errno.h>

/* What was found: how many items, and a hash of all of them with their sizes, counts and lines; and the errors. */
struct found {
    uint64_t hash;
    size_t n, bad;
    uint64_t bad_lines;
};

static void put(struct found *found, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) found->hash = (found->hash ^ at[i]) * UINT64_C(0x100000001b3);
}

static void put_item(struct found *found, const void *bytes, size_t size, int64_t count, uint64_t line)
{
    uint64_t told[] = {size, (uint64_t)count, line};
    put(found, bytes, size);
    put(found, told, sizeof told);
    found->n++;
}

static void put_bad(struct found *found, uint64_t line)
{
    found->bad++;
    found->bad_lines = found->bad_lines * 31 + line;
}

/* ---- the reader by definition ------------------------------------------------------------------------------------ */

static bool plain_count(const char *text, size_t size, int64_t *count)
{
    char copy[32], *end;
    if (size == 0 || size >= sizeof copy) return false; /* the texts here have no count that long */
    for (size_t i = 0; i < size; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(i == 0 && size > 1 && (text[i] == '-' || text[i] == '+')))
            return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    errno = 0;
    *count = strtoll(copy, &end, 10);
    return errno == 0;
}

/* `fed`: a line feed ends the line. */
static void plain_line(struct found *found, const item_layout *layout, const char *line, size_t size, bool fed,
                       uint64_t number)
{
    size_t tab = size, space = 0, digits;
    int64_t count = 1;
    if (fed && !layout->keep_cr && size > 0 && line[size - 1] == '\r') tab = --size;
    switch (layout->format) {
    case FORMAT_TSV:
        while (tab > 0 && line[tab - 1] != '\t') tab--;
        if (tab > 0 && plain_count(line + tab, size - tab, &count)) put_item(found, line, tab - 1, count, number);
        else put_bad(found, number);
        break;
    case FORMAT_UNIQ:
        while (space < size && line[space] == ' ') space++;
        digits = space;
        while (digits < size && line[digits] >= '0' && line[digits] <= '9') digits++;
        if (digits > space && digits - space <= 18 && digits < size && line[digits] == ' ' &&
            plain_count(line + space, digits - space, &count))
            put_item(found, line + digits + 1, size - digits - 1, count, number);
        else put_bad(found, number);
        break;
    default: put_item(found, line, size, 1, 0);
    }
}

static struct found plain_lines(const item_layout *layout, const char *text, size_t size)
{
    struct found found = {0};
    uint64_t number = 0;
    size_t start = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\n') continue;
        plain_line(&found, layout, text + start, i - start, true, ++number);
        start = i + 1;
    }
    if (start < size) plain_line(&found, layout, text + start, size - start, false, ++number);
    return found;
}

/* One record from text[*at] on, whose field number `wanted` goes to `field`, of *length bytes. False if it is
 * malformed; *line is where that is seen. */
static bool plain_record(const char *text, size_t size, size_t *at, char delimiter, size_t wanted, char *field,
                         size_t *length, uint64_t *lines, uint64_t *line)
{
    size_t number = 1, fill = 0;
    *length = SIZE_MAX;
    uint64_t first = *lines + 1;
    for (;; (*at)++, number++, fill = 0) {
        if (*at < size && text[*at] == '"') {
            uint64_t opened = *lines + 1;
            for ((*at)++;; (*at)++) {
                if (*at < size && text[*at] == '"' && (*at + 1 == size || text[*at + 1] != '"')) break;
                if (*at < size && text[*at] == '"') (*at)++;
                *line = opened;
                if (*at == size) return false;
                if (text[*at] == '\n') ++*lines;
                if (number == wanted) field[fill++] = text[*at];
            }
            (*at)++;
            if (*at < size && text[*at] == '\r' && (*at + 1 == size || text[*at + 1] == '\n')) (*at)++;
            *line = *lines + 1;
            if (*at < size && text[*at] != delimiter && text[*at] != '\n') {
                while (*at < size && text[*at] != '\n') (*at)++;
                return false;
            }
        } else {
            for (; *at < size && text[*at] != delimiter && text[*at] != '\n'; (*at)++)
                if (number == wanted) field[fill++] = text[*at];
            if (number == wanted && fill > 0 && field[fill - 1] == '\r' && (*at == size || text[*at] == '\n')) fill--;
        }
        if (number == wanted) *length = fill;
        if (*at == size || text[*at] == '\n') break;
    }
    *line = first;
    return number >= wanted;
}

static struct found plain_table(const item_layout *layout, const char *text, size_t size)
{
    struct found found = {0};
    char *field = malloc(size + 2);
    assert_non_null(field);
    uint64_t lines = 0, line;
    for (size_t at = 0; at < size; at += at < size, lines++) {
        size_t length, blank = at;
        while (blank < size && text[blank] == '\r' && blank == at) blank++;
        if (blank == size || text[blank] == '\n') {
            at = blank;
            continue;
        }
        size_t wanted = (size_t)strtoul(layout->column, NULL, 10);
        bool ok = plain_record(text, size, &at, layout->delimiter, wanted, field, &length, &lines, &line);
        if (ok) put_item(&found, field, length, 1, 0);
        else put_bad(&found, line);
    }
    free(field);
    return found;
}

static struct found plain_keys(item_format format, const char *text, size_t size)
{
    struct found found = {0};
    size_t width = format == FORMAT_U32 ? 4 : 8;
    for (size_t i = 0; i + width <= size; i += width) {
        uint64_t key = 0;
        for (size_t k = width; k > 0; k--) key = key << 8 | (unsigned char)text[i + k - 1];
        put_item(&found, &key, 8, 1, 0);
    }
    if (size % width > 0) put_bad(&found, size / width + 1);
    return found;
}

/* ---- the parser -------------------------------------------------------------------------------------------------- */

struct lines_read {
    struct found found;
    item_batch last; /* the last batch, which is looked at only when the next one is there */
};

static void use_last(struct lines_read *reading)
{
    const item_batch *batch = &reading->last;
    for (size_t i = 0; i < batch->n; i++) {
        int64_t count = batch->counts ? batch->counts[i] : 1;
        uint64_t line = batch->lines ? batch->lines[i] : 0;
        if (batch->keys) put_item(&reading->found, &batch->keys[i], 8, 1, 0);
        else
            put_item(&reading->found, batch->bytes + batch->offsets[i],
                     (size_t)(batch->offsets[i + 1] - batch->offsets[i]), count, line);
    }
}

static void take(struct lines_read *reading, const item_parser *parser, item_event event)
{
    assert_true(event == ITEMS_BATCH || event == ITEMS_BAD);
    if (event == ITEMS_BAD) {
        put_bad(&reading->found, parser->bad.line);
        return;
    }
    use_last(reading);
    reading->last = parser->batch;
}

static void give(struct lines_read *reading, item_parser *parser, const char *text, size_t size)
{
    unsigned char *block = malloc(size > 0 ? size : 1); /* of its own, so that a sanitizer sees a look past its end */
    assert_non_null(block);
    memcpy(block, text, size);
    const unsigned char *at = block;
    item_event event;
    while ((event = items_parse(parser, &at, block + size)) != ITEMS_MORE) take(reading, parser, event);
    assert_ptr_equal(at, block + size);
    free(block);
}

static struct found plain_read(const item_layout *layout, const char *text, size_t size)
{
    if (layout->format == FORMAT_CSV) return plain_table(layout, text, size);
    return format_is_raw(layout->format) ? plain_keys(layout->format, text, size) : plain_lines(layout, text, size);
}

/* first: the size of the first block; then: that of the others, random ones below it if state is not NULL. */
static struct found read_blocks(const item_layout *layout, const char *text, size_t size, size_t first, size_t then,
                                uint64_t *state)
{
    struct lines_read reading = {0};
    item_parser parser;
    item_event event;
    assert_true(items_open(&parser, layout));
    for (size_t at = 0, block = first; at < size; at += block, block = state ? 1 + draw(state) % then : then) {
        if (block > size - at) block = size - at;
        give(&reading, &parser, text + at, block);
        if (state && draw(state) % 4 == 0)
            while ((event = items_flush(&parser)) != ITEMS_MORE) take(&reading, &parser, event);
    }
    while ((event = items_finish(&parser)) != ITEMS_MORE) take(&reading, &parser, event);
    use_last(&reading);
    items_close(&parser);
    return reading.found;
}

static void same(const struct found *wanted, struct found found)
{
    assert_int_equal(found.n, wanted->n);
    assert_int_equal(found.bad, wanted->bad);
    assert_int_equal(found.bad_lines, wanted->bad_lines);
    assert_int_equal(found.hash, wanted->hash);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *const counts[] = {"\t1",
                                     "\t-7",
                                     "\t+40",
                                     "\t123456789012345678",
                                     "\t9223372036854775807",
                                     "\t-9223372036854775808",
                                     "\t9223372036854775808",
                                     "\t00000000000000000012",
                                     "",
                                     "\t",
                                     "\t-",
                                     "\t1x",
                                     "\t1\r",
                                     "\t\t5"};

static const char *const uniqs[] = {"      1 ", "1 ",  "  12345 ", " 123456789012345678 ",
                                    "",         " ",   "7",        "1234567890123456789 ",
                                    "  3\t",    "-3 ", "   5  "};
enum { COUNTS = sizeof counts / sizeof *counts, UNIQS = sizeof uniqs / sizeof *uniqs };

static size_t put_text(char *text, size_t fill, size_t size, const char *more)
{
    for (; *more && fill < size; more++) text[fill++] = *more;
    return fill;
}

/* Lines of all lengths around those that are special to the parser, of any bytes; the last may have no end. */
static void make_lines(char *text, size_t size, item_format format, uint64_t *state)
{
    static const size_t longest[] = {1, 4, 12, 34, 70, 200, 5000};
    size_t fill = 0, most = longest[draw(state) % 7];
    while (fill < size) {
        if (draw(state) % 16 == 0) most = longest[draw(state) % 7];
        if (format == FORMAT_UNIQ)
            fill = put_text(text, fill, size, uniqs[draw(state) % 4 ? draw(state) % 3 : draw(state) % UNIQS]);
        for (size_t length = draw(state) % (most + 1); length > 0 && fill < size; length--) {
            char byte = (char)draw(state);
            text[fill++] = byte == '\n' || draw(state) % 4 ? (char)('a' + draw(state) % 26) : byte;
        }
        if (format == FORMAT_TSV)
            fill = put_text(text, fill, size, counts[draw(state) % 4 ? draw(state) % 3 : draw(state) % COUNTS]);
        fill = put_text(text, fill, size, draw(state) % 8 ? "\n" : draw(state) % 2 ? "\r\n" : "\r\r\n");
    }
    if (text[size - 1] == '\n' && draw(state) % 2) text[size - 1] = '0';
}

/* Fields with and without quotes, and now and then a mistake. */
static void make_table(char *text, size_t size, uint64_t *state)
{
    static const char *const parts[] = {",", ",", ",", "\n", "\n", "\r\n", "a", "bc", "\"", "\"\"", "\r", " "};
    static const char *const fields[] = {"\"a,b\"", "\"x\ny\"", "\"say \"\"no\"\"\"", "\"\"", "\"a\r\nb\"",
                                         "plain",   "5\""};
    for (size_t fill = 0; fill < size;) {
        if (draw(state) % 64 == 0) fill = put_text(text, fill, size, parts[draw(state) % 12]);
        fill = put_text(text, fill, size, draw(state) % 8 ? "some field" : fields[draw(state) % 7]);
        fill = put_text(text, fill, size, parts[draw(state) % 6]);
    }
}

static const item_layout layouts[] = {{.format = FORMAT_LINES},
                                      {.format = FORMAT_LINES, .keep_cr = true},
                                      {.format = FORMAT_TSV},
                                      {.format = FORMAT_UNIQ},
                                      {.format = FORMAT_CSV, .column = "1", .delimiter = ',', .no_header = true},
                                      {.format = FORMAT_CSV, .column = "2", .delimiter = ',', .no_header = true},
                                      {.format = FORMAT_U32},
                                      {.format = FORMAT_U64}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void make_text(char *text, size_t size, const item_layout *layout, uint64_t *state)
{
    if (layout->format == FORMAT_CSV) make_table(text, size, state);
    else make_lines(text, size, layout->format, state);
}

/* A short text, cut in two at every place. */
static void every_cut(void **unused)
{
    (void)unused;
    char text[500];
    uint64_t state = 1;
    for (unsigned round = 0; round < (unsigned)ROUNDS(8); round++) {
        for (const item_layout *layout = layouts; layout < layouts + LAYOUTS; layout++) {
            size_t size = 1 + draw(&state) % sizeof text;
            make_text(text, size, layout, &state);
            struct found wanted = plain_read(layout, text, size);
            for (size_t cut = 1; cut <= size; cut++) same(&wanted, read_blocks(layout, text, size, cut, size, NULL));
            same(&wanted, read_blocks(layout, text, size, 1, 1, NULL));
        }
    }
}

/* Lines of returns alone: of one it is blank, of two it has an item, also where a block ends between them. */
static void lines_of_returns(void **unused)
{
    (void)unused;
    static const char text[] = "a,b\n\r\r\n\r\nc,d\n\r\r\r\n\r";
    size_t size = sizeof text - 1;
    for (const item_layout *layout = layouts; layout < layouts + LAYOUTS; layout++) {
        struct found wanted = plain_read(layout, text, size);
        for (size_t cut = 1; cut <= size; cut++) same(&wanted, read_blocks(layout, text, size, cut, 1, NULL));
    }
}

/* More than a batch, by its lines and by its bytes; random blocks, and batches that are asked for early. */
static void many_batches(void **unused)
{
    (void)unused;
    enum { SIZE = 25 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    uint64_t state = 2;
    for (const item_layout *layout = layouts; layout < layouts + LAYOUTS; layout++) {
        size_t size = SIZE - 5;
        make_text(text, size, layout, &state);
        struct found wanted = plain_read(layout, text, size);
        same(&wanted, read_blocks(layout, text, size, size, size, NULL));
        same(&wanted, read_blocks(layout, text, size, 1 << 20, 1 << 20, NULL));
        same(&wanted, read_blocks(layout, text, size, 77, 300000, &state));
    }
    memset(text, '\n', SIZE); /* the most lines that there can be */
    struct found wanted = plain_read(&layouts[0], text, 4 << 20);
    same(&wanted, read_blocks(&layouts[0], text, 4 << 20, 1 << 19, 1 << 19, NULL));
    free(text);
}

/* Where items are deleted a sketch depends on what comes together, so where a batch ends is part of the answer. */
static void counted_batches_end_at_one_place(void **unused)
{
    (void)unused;
    static const struct {
        const char *line;
        size_t n;
    } cases[] = {{"a\t1\n", 1048576}, {"0123456789abcdef\t-1\n", 1048576}, {"0123456789abcdefg\t+1\n", 986896}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = strlen(cases[i].line), lines = 2200000;
        char *text = malloc(size * lines);
        assert_non_null(text);
        for (size_t k = 0; k < lines; k++) memcpy(text + k * size, cases[i].line, size);
        const unsigned char *at = (unsigned char *)text, *end = at + size * lines;
        item_parser parser;
        assert_true(items_open(&parser, &(item_layout){.format = FORMAT_TSV}));
        for (unsigned batch = 0; batch < 2; batch++) {
            assert_int_equal(items_parse(&parser, &at, end), ITEMS_BATCH);
            assert_int_equal(parser.batch.n, cases[i].n);
        }
        items_close(&parser);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut),
        cmocka_unit_test(lines_of_returns),
        cmocka_unit_test(many_batches),
        cmocka_unit_test(counted_batches_end_at_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
