/* legosketch query: how often did these items occur? */
#include "load.h"
#include "options.h"
#include "output.h"
#include "rows.h"
#include "say.h"
#include "secret.h"
#include "stream.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

/* How standard input is told; tsv is not among them, for a question has no count. */
static const item_format formats[] = {FORMAT_LINES, FORMAT_U32, FORMAT_U64}; /* in the order of the words */

static struct {
    const char *model;
    lego_asking asking;
    reading how;
    int format;
    rows_options rows;
} given = {.asking = LEGO_ASKING_INIT};

static const option_entry options[] = {
    {"format", 'f', OPTION_CHOICE, "lines|u32|u64", &given.format,
     "of standard input: an item a line, or raw little-endian keys (lines)"},
    OPTIONS_KEEP(given.how),
    {"absent", 0, OPTION_REAL, "P", &given.asking.absent,
     "how likely it is that an item never came, from 0 to below 1; from 0.25 on, one that is not listed is answered "
     "by 0 (0)"},
    OPTIONS_ROWS(given.rows),
    {OPTION_MODEL(&given.model)},
    {OPTION_SEED_FILE_READ},
    {0},
};

static const rows_column columns[] = {{"item", "item"}, {"estimate", NULL}, {"lower", NULL},
                                      {"upper", NULL},  {"likely", NULL},   {0}};

/* Who is asked, and how it is answered. */
typedef struct asked {
    const lego_sketch *sketch;
    bool integers; /* lines are whole numbers */
    uint64_t lines;
    rows rows;
} asked;

static bool print_answer(rows *to, const item_batch *batch, size_t i, const lego_estimate *estimate)
{
    unsigned char key[8];
    size_t size;
    const void *item = stream_item(batch, i, key, &size);
    rows_item(to, item, size, batch->keys != NULL);
    rows_estimate(to, estimate->value);
    rows_i64(to, estimate->lower);
    rows_i64(to, estimate->upper);
    rows_i64(to, estimate->likely);
    return rows_next(to);
}

static bool answer_batch(asked *self, const item_batch *batch)
{
    lego_estimate *answers = malloc(batch->n * sizeof *answers);
    lego_items items = items_view(batch);
    lego_status status =
        answers != NULL ? lego_query_items(self->sketch, &items, &given.asking, answers) : LEGO_ERR_MEMORY;
    if (status != LEGO_OK) say("%s", lego_status_message(status));
    bool ok = status == LEGO_OK;
    for (size_t i = 0; i < batch->n && ok; i++) ok = print_answer(&self->rows, batch, i, &answers[i]);
    free(answers);
    return ok && output_flush();
}

/* Lines as the whole numbers that they are. */
static bool answer_numbers(asked *self, stream *from, const item_batch *batch)
{
    item_batch numbers = {.keys = malloc(batch->n * sizeof *numbers.keys)};
    bool ok = numbers.keys != NULL || say_no_memory(), good = true;
    for (; ok && good && numbers.n < batch->n; numbers.n += good) {
        size_t i = numbers.n, size = (size_t)(batch->offsets[i + 1] - batch->offsets[i]);
        good = value_u64((const char *)batch->bytes + batch->offsets[i], size, &numbers.keys[i]);
    }
    if (ok && numbers.n > 0) ok = answer_batch(self, &numbers); /* those before the bad one */
    if (ok && !good)
        ok = say_at(from->file, self->lines + numbers.n + 1,
                    "not a whole number of 64 bits, as the items of the sketch are");
    self->lines += batch->n;
    free(numbers.keys);
    return ok;
}

static bool take_batch(void *context, stream *from, const item_batch *batch)
{
    asked *self = context;
    return self->integers && batch->keys == NULL ? answer_numbers(self, from, batch) : answer_batch(self, batch);
}

/* One word of the command line as a batch of one. */
static bool answer_word(asked *self, char *word)
{
    uint64_t key, offsets[] = {0, strlen(word)};
    item_batch batch = {.n = 1, .bytes = (unsigned char *)word, .offsets = offsets};
    if (self->integers && value_u64(word, strlen(word), &key)) batch.keys = &key;
    return answer_batch(self, &batch);
}

/* Asked for no items, the library says whether it would answer. */
static bool can_answer(const lego_sketch *sketch, const char *path)
{
    lego_status status = lego_query_items(sketch, &(lego_items){.n = 0}, &given.asking, NULL);
    if (status == LEGO_ERR_MODEL)
        return say("%s was built with the paper's model, which has one way to answer: leave --absent out", path);
    return say_status(path, status);
}

/* Whether the questions are of the kind that the sketch counts. Where it counts both, and where it is empty, they are
 * text unless the format says otherwise. */
static bool is_of_kind(asked *self, const char *path, int count, char **words)
{
    lego_info info;
    lego_measure(self->sketch, &info);
    bool raw = format_is_raw(formats[given.format]);
    if (raw && info.items == LEGO_ITEMS_BYTES)
        return say("the items of %s are text, not integers: leave --format out", path);
    self->integers = raw || info.items == LEGO_ITEMS_INTEGERS;
    for (int i = 0; i < count && self->integers; i++) {
        uint64_t key;
        if (!value_u64(words[i], strlen(words[i]), &key))
            return say("'%s' is not a whole number of 64 bits, as the items of %s are", words[i], path);
    }
    return true;
}

static int run(int count, char **operands)
{
    if (!(given.asking.absent < 1)) return options_wrong(&command_query, "--absent is from 0 to below 1");
    if (!rows_check(&command_query, &given.rows)) return EXIT_WRONG_USAGE;
    if (count == 1 && strcmp(operands[0], "-") == 0)
        return options_wrong(&command_query, "the sketch and the items cannot both come from standard input");
    lego_sketch *sketch;
    if (!load_sketch(operands[0], given.model, &sketch, NULL)) return EXIT_FAILED;
    asked self = {.sketch = sketch};
    bool ok = can_answer(sketch, operands[0]) && is_of_kind(&self, operands[0], count - 1, operands + 1);
    if (ok) self.rows = rows_begin(&given.rows, false, columns);
    if (ok && count == 1) {
        given.how.format = (int)formats[given.format];
        stream from = {.how = &given.how, .quiet = true, .prompt = true, .sink = take_batch, .context = &self};
        ok = stream_read(&from, NULL, 0);
    }
    for (int i = 1; i < count && ok; i++) ok = answer_word(&self, operands[i]);
    ok = rows_end(&self.rows) && ok;
    lego_destroy(sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_query = {
    .name = "query",
    .summary = "ask how often items occurred",
    .synopsis = "[OPTION...] SKETCH [ITEM...]",
    .text = "Prints item, estimate, lower, upper and likely, separated by tabs, for each ITEM;\n"
            "without any, for each item on standard input, at once as they come. A sketch of\n"
            "integers is asked for whole numbers. The true count is never above upper if no count\n"
            "was ever negative; for 99 % of the items it is not above likely, and for 99 % not\n"
            "below lower. Tabs, line ends, backslashes and other control bytes of items are\n"
            "printed as \\t, \\n, \\r, \\\\ and \\x1b. SKETCH - reads the sketch from standard input.\n"
            "Put -- before an ITEM that starts with a dash.\n"
            "\n"
            "A block that is full lists its heaviest items, with their counts. Any other item is\n"
            "answered by one number, what such items mostly count, often 1: it is taken for one\n"
            "that came. If it may be one that never did, say how likely that is with --absent.",
    .examples = "  legosketch query words.sketch apple pear\n"
                "  legosketch query --json words.sketch < questions.txt\n"
                "  legosketch query day.sketch 42 1099511627776\n"
                "  legosketch query --absent 0.5 words.sketch < dictionary.txt\n",
    .options = options,
    .operands = OPERANDS_SOME,
    .run = run,
};
