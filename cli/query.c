/* legosketch query: how often did these items occur? */
#include "answer.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "stream.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *model;
    lego_asking asking;
    reading how;
    int format;
    bool json;
} given = {.asking = LEGO_ASKING_INIT};

static const item_format formats[] = {FORMAT_LINES, FORMAT_U32, FORMAT_U64}; /* in the order of ANSWER_CHOICES */

static const option_entry options[] = {
    {"format", 'f', OPTION_CHOICE, ANSWER_CHOICES, &given.format,
     "u32, u64: ITEMs are whole numbers, and standard input holds raw little-endian keys (lines)"},
    {"absent", 0, OPTION_REAL, "P", &given.asking.absent,
     "how likely it is that an item never came, from 0 to below 1; above 0, an estimate may be 0 where items share "
     "(0)"},
    {"relative", 0, OPTION_REAL, "W", &given.asking.relative,
     "what relative error is worth against absolute, from 0, nothing, to 1, all (0.5)"},
    {"json", 0, OPTION_FLAG, NULL, &given.json, "print an object a line: item, estimate, lower, upper"},
    OPTIONS_KEEP(given.how),
    {OPTION_MODEL(&given.model)},
    {0},
};

static bool print_answer(const item_batch *batch, size_t i, const lego_estimate *estimate)
{
    unsigned char key[8];
    lego_top_item answer = {.estimate = *estimate, .exact = ANSWER_PLAIN};
    answer.item = stream_item(batch, i, key, &answer.size);
    return answer_print(&answer, batch->keys != NULL, given.json);
}

static bool answer_batch(void *context, stream *from, const item_batch *batch)
{
    (void)from;
    lego_estimate *answers = malloc(batch->n * sizeof *answers);
    lego_items items = items_view(batch);
    lego_status status = answers != NULL ? lego_query_items(context, &items, &given.asking, answers) : LEGO_ERR_MEMORY;
    if (status != LEGO_OK) say("%s", lego_status_message(status));
    bool ok = status == LEGO_OK;
    for (size_t i = 0; i < batch->n && ok; i++) ok = print_answer(batch, i, &answers[i]);
    free(answers);
    return ok && output_flush();
}

static bool is_item(const char *word, item_format format, uint64_t *key)
{
    if (format == FORMAT_LINES) return true;
    return value_u64(word, strlen(word), key) && (format == FORMAT_U64 || *key <= UINT32_MAX);
}

/* One word of the command line as a batch of one. */
static bool answer_word(lego_sketch *sketch, item_format format, char *word)
{
    uint64_t key, offsets[] = {0, strlen(word)};
    if (!is_item(word, format, &key)) return false;
    item_batch batch = {.n = 1, .bytes = (unsigned char *)word, .offsets = offsets};
    if (format != FORMAT_LINES) batch.keys = &key;
    return answer_batch(sketch, NULL, &batch);
}

/* Asked for no items, the library says whether it would answer. */
static bool can_answer(const lego_sketch *sketch, const char *path)
{
    lego_status status = lego_query_items(sketch, &(lego_items){.n = 0}, &given.asking, NULL);
    if (status == LEGO_ERR_MODEL)
        return say(
            "%s was built with the paper's model, which has one way to answer: leave --absent and --relative out",
            path);
    return say_status(path, status);
}

static int run(int count, char **operands)
{
    if (!(given.asking.absent < 1)) return options_wrong(&command_query, "--absent is from 0 to below 1");
    if (!(given.asking.relative <= 1)) return options_wrong(&command_query, "--relative is from 0 to 1");
    if (count == 1 && strcmp(operands[0], "-") == 0)
        return options_wrong(&command_query, "the sketch and the items cannot both come from standard input");
    item_format format = formats[given.format];
    for (int i = 1; i < count; i++) {
        uint64_t key;
        if (!is_item(operands[i], format, &key))
            return options_wrong(&command_query, "'%s' is not a whole number of %d bits", operands[i],
                                 format == FORMAT_U32 ? 32 : 64);
    }
    lego_sketch *sketch;
    if (!load_sketch(operands[0], given.model, &sketch, NULL)) return EXIT_FAILED;
    bool ok = can_answer(sketch, operands[0]);
    if (ok && count == 1) {
        given.how.format = format;
        stream from = {.how = &given.how, .quiet = true, .prompt = true, .sink = answer_batch, .context = sketch};
        ok = stream_read(&from, NULL, 0);
    }
    for (int i = 1; i < count && ok; i++) ok = answer_word(sketch, format, operands[i]);
    lego_destroy(sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_query = {
    .name = "query",
    .summary = "ask how often items occurred",
    .synopsis = "[OPTION...] SKETCH [ITEM...]",
    .text = "Prints item, estimate, lower and upper, separated by tabs, for each ITEM; without\n"
            "any, for each item on standard input, at once as they come. The true count is\n"
            "never above upper if no count is negative, and not below lower for 95 % of the\n"
            "items. SKETCH - reads the sketch from standard input. Put -- before an ITEM that\n"
            "starts with a dash.\n"
            "\n"
            "Where items share cells, an estimate takes an item for one that came. If it may\n"
            "be one that never did, say how likely that is with --absent. --relative 0 makes\n"
            "the mean error small, and --relative 1 that of rare items.",
    .examples = "  legosketch query words.sketch apple pear\n"
                "  legosketch query --json words.sketch < questions.txt\n"
                "  legosketch query --format u64 day.sketch 42 1099511627776\n"
                "  legosketch query --absent 0.5 words.sketch < dictionary.txt\n",
    .options = options,
    .operands = OPERANDS_SOME,
    .run = run,
};
