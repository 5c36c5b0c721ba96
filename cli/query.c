/* legosketch query: how often did these items occur?
 *
 * SPDX-License-Identifier: MIT */
#include "json.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "stream.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *model;
    int format;
    bool json, quiet;
} given;

/* What --format means by position: tsv would have counts, which a question has not. */
#define QUERY_CHOICES "lines|u32|u64"
static const item_format formats[] = {FORMAT_LINES, FORMAT_U32, FORMAT_U64};

static const option_entry options[] = {
    {"format", 'f', OPTION_CHOICE, QUERY_CHOICES, &given.format,
     "u32, u64: ITEMs are whole numbers, and standard input holds raw little-endian keys (lines)"},
    {"json", 0, OPTION_FLAG, NULL, &given.json, "print an object a line: item, estimate, lower, upper"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &given.model, "the .lego file the sketch was made with, if not built in"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "do not say that the model is untrained"},
    {0},
};

static bool print_answer(const item_batch *batch, size_t i, const lego_estimate *answer)
{
    unsigned char key[8];
    size_t size;
    const void *item = stream_item(batch, i, key, &size);
    if (given.json) {
        json_line line = json_begin();
        if (batch->keys != NULL)
            json_u64(&line, "item", batch->keys[i]);
        else
            json_item(&line, item, size);
        json_real(&line, "estimate", answer->value);
        json_i64(&line, "lower", answer->lower);
        json_i64(&line, "upper", answer->upper);
        return json_print(&line);
    }
    char line[4 * VALUE_TEXT + 4]; /* what comes with the item: without printf(), which would take most of the time */
    size_t length = 0;
    if (batch->keys != NULL)
        length = value_write_u64(line, batch->keys[i]);
    else
        fwrite(item, 1, size, stdout);
    line[length++] = '\t';
    length += value_print_estimate(line + length, answer->value);
    line[length++] = '\t';
    length += value_write_i64(line + length, answer->lower);
    line[length++] = '\t';
    length += value_write_i64(line + length, answer->upper);
    line[length++] = '\n';
    fwrite(line, 1, length, stdout);
    return true;
}

static bool answer_batch(void *context, stream *from, const item_batch *batch)
{
    (void)from;
    lego_estimate *answers = malloc(batch->n * sizeof *answers);
    if (answers == NULL) {
        say_no_memory();
        return false;
    }
    lego_status status = any_estimate(context, batch, answers);
    if (status != LEGO_OK)
        say("%s", lego_status_message(status));
    bool ok = status == LEGO_OK;
    for (size_t i = 0; i < batch->n && ok; i++)
        ok = print_answer(batch, i, &answers[i]);
    free(answers);
    return ok && output_flush();
}

static bool is_item(const char *word, item_format format, uint64_t *key)
{
    return format == FORMAT_LINES ||
           (value_u64(word, strlen(word), key) && (format == FORMAT_U64 || *key <= UINT32_MAX));
}

/* One word of the command line as a batch of one. */
static bool answer_word(any_sketch *sketch, item_format format, char *word)
{
    uint64_t key, offsets[] = {0, strlen(word)};
    if (!is_item(word, format, &key))
        return false;
    item_batch batch = {.n = 1};
    if (format == FORMAT_LINES) {
        batch.bytes = (unsigned char *)word;
        batch.offsets = offsets;
    } else {
        batch.keys = &key;
    }
    return answer_batch(sketch, NULL, &batch);
}

static int run(int count, char **operands)
{
    if (count == 0)
        return options_wrong(&command_query, "the sketch FILE is missing");
    if (count == 1 && strcmp(operands[0], "-") == 0)
        return options_wrong(&command_query, "the sketch and the items cannot both come from standard input");
    item_format format = formats[given.format];
    for (int i = 1; i < count; i++) {
        uint64_t key;
        if (!is_item(operands[i], format, &key))
            return options_wrong(&command_query, "'%s' is not a whole number of %d bits", operands[i],
                                 format == FORMAT_U32 ? 32 : 64);
    }
    const lego_model *model;
    any_sketch sketch;
    if (!load_model(given.model, &model) || !load_any(operands[0], model, &sketch))
        return EXIT_FAILED;
    if (!given.quiet) {
        lego_sketch_info info;
        lego_sketch_describe(any_light(&sketch), &info);
        say_if_untrained(info.model);
    }
    bool ok = true;
    if (count == 1) {
        stream from = {.format = format, .quiet = true, .prompt = true, .sink = answer_batch, .context = &sketch};
        ok = stream_read(&from, NULL, 0);
    }
    for (int i = 1; i < count && ok; i++)
        ok = answer_word(&sketch, format, operands[i]);
    any_destroy(&sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_query = {
    .name = "query",
    .summary = "ask how often items occurred",
    .synopsis = "[OPTION...] FILE [ITEM...]",
    .text = "Prints item, estimate, lower and upper, separated by tabs, for each ITEM; without\n"
            "any, for each item on standard input, at once as they come. The true count is\n"
            "never above upper if no count is negative, and not below lower for 95 % of the\n"
            "items. FILE - reads the sketch from standard input. Put -- before an ITEM that\n"
            "starts with a dash.",
    .examples = "  legosketch query words.sketch apple pear\n"
                "  legosketch query --json words.sketch < questions.txt\n"
                "  legosketch query --format u64 day.sketch 42 1099511627776\n",
    .options = options,
    .run = run,
};
