/* The parsers of the command's input formats against a reader that goes byte by byte, whatever the blocks are. */
#include "support.h"

#include "items.h"

#include <errno.h>

/* What was found: items end to end, each followed by its size, count and line; and the errors. */
struct found {
    unsigned char *bytes;
    size_t size, n, bad;
    uint64_t bad_lines;
};

static void put(struct found *found, const void *bytes, size_t size)
{
    if (size > 0) memcpy(found->bytes + found->size, bytes, size);
    found->size += size;
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

static struct found found_start(size_t size)
{
    struct found found = {.bytes = malloc(25 * size + 64)}; /* an empty line, one byte, is told in 24 */
    assert_non_null(found.bytes);
    return found;
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

static void plain_line(struct found *found, item_format format, const char *line, size_t size, uint64_t number)
{
    size_t tab = size;
    int64_t count = 1;
    if (format == FORMAT_LINES) {
        put_item(found, line, size, 1, 0);
        return;
    }
    while (tab > 0 && line[tab - 1] != '\t') tab--;
    if (tab > 0 && plain_count(line + tab, size - tab, &count)) put_item(found, line, tab - 1, count, number);
    else put_bad(found, number);
}

static struct found plain_read(item_format format, const char *text, size_t size)
{
    struct found found = found_start(size);
    uint64_t number = 0;
    size_t start = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\n') continue;
        plain_line(&found, format, text + start, i - start, ++number);
        start = i + 1;
    }
    if (start < size) plain_line(&found, format, text + start, size - start, ++number);
    return found;
}

static struct found plain_keys(item_format format, const char *text, size_t size)
{
    struct found found = found_start(size);
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

/* first: the size of the first block; then: that of the others, random ones below it if state is not NULL. */
static struct found read_blocks(item_format format, const char *text, size_t size, size_t first, size_t then,
                                uint64_t *state)
{
    struct lines_read reading = {.found = found_start(size)};
    item_parser parser;
    item_event event;
    assert_true(items_open(&parser, format));
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

static void same(struct found *wanted, struct found found)
{
    assert_int_equal(found.n, wanted->n);
    assert_int_equal(found.bad, wanted->bad);
    assert_int_equal(found.bad_lines, wanted->bad_lines);
    assert_int_equal(found.size, wanted->size);
    assert_memory_equal(found.bytes, wanted->bytes, wanted->size);
    free(found.bytes);
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

/* Lines of all lengths around those that are special to the parser, of any bytes; the last may have no end. */
static size_t make_text(char *text, size_t size, item_format format, uint64_t *state)
{
    static const size_t longest[] = {1, 4, 12, 34, 70, 200, 5000};
    size_t fill = 0, most = longest[draw(state) % 7];
    while (fill < size) {
        if (draw(state) % 16 == 0) most = longest[draw(state) % 7];
        for (size_t length = draw(state) % (most + 1); length > 0 && fill < size; length--) {
            char byte = (char)draw(state);
            text[fill++] = byte == '\n' || draw(state) % 4 ? (char)('a' + draw(state) % 26) : byte;
        }
        const char *count = counts[draw(state) % 4 ? draw(state) % 3 : draw(state) % (sizeof counts / sizeof *counts)];
        for (; format == FORMAT_TSV && *count && fill < size; count++) text[fill++] = *count;
        if (fill < size) text[fill++] = '\n';
    }
    if (text[size - 1] == '\n' && draw(state) % 2) text[size - 1] = '0';
    return size;
}

/* A short text, cut in two at every place. */
static void every_cut(void **unused)
{
    (void)unused;
    char text[700];
    uint64_t state = 1;
    for (unsigned round = 0; round < (unsigned)ROUNDS(20); round++) {
        for (int format = FORMAT_LINES; format <= FORMAT_U64; format++) {
            size_t size = make_text(text, 1 + draw(&state) % sizeof text, (item_format)format, &state);
            bool lines = format == FORMAT_LINES || format == FORMAT_TSV;
            struct found wanted =
                lines ? plain_read((item_format)format, text, size) : plain_keys((item_format)format, text, size);
            for (size_t cut = 1; cut <= size; cut++)
                same(&wanted, read_blocks((item_format)format, text, size, cut, size, NULL));
            same(&wanted, read_blocks((item_format)format, text, size, 1, 1, NULL));
            free(wanted.bytes);
        }
    }
}

/* More than a batch, by its lines and by its bytes; random blocks, and batches that are asked for early. */
static void many_batches(void **unused)
{
    (void)unused;
    enum { SIZE = 30 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    uint64_t state = 2;
    for (int format = FORMAT_LINES; format <= FORMAT_U64; format++) {
        size_t size = make_text(text, SIZE - 5, (item_format)format, &state);
        bool lines = format == FORMAT_LINES || format == FORMAT_TSV;
        struct found wanted =
            lines ? plain_read((item_format)format, text, size) : plain_keys((item_format)format, text, size);
        same(&wanted, read_blocks((item_format)format, text, size, size, size, NULL));
        same(&wanted, read_blocks((item_format)format, text, size, 1 << 20, 1 << 20, NULL));
        same(&wanted, read_blocks((item_format)format, text, size, 77, 300000, &state));
        free(wanted.bytes);
    }
    memset(text, '\n', SIZE); /* the most lines that there can be */
    struct found wanted = plain_read(FORMAT_LINES, text, 4 << 20);
    same(&wanted, read_blocks(FORMAT_LINES, text, 4 << 20, 1 << 19, 1 << 19, NULL));
    free(wanted.bytes);
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
        assert_true(items_open(&parser, FORMAT_TSV));
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
        cmocka_unit_test(many_batches),
        cmocka_unit_test(counted_batches_end_at_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
