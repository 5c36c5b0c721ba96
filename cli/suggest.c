/* legosketch suggest: what budget an error takes. */
#include "lab.h"
#include "output.h"
#include "rows.h"
#include "say.h"
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    double distinct;
    const char *error, *skew;
    lab_plan plan; /* of which only what it says of reading is used */
    rows_options rows;
} given = {.plan = {.how = READING_INIT}};

static const option_entry options[] = {
    {"distinct", 'n', OPTION_COUNT, "N", &given.distinct,
     "so many distinct items there will be; 10M is ten million here, while budgets have powers of 1024 (those of the "
     "sample)"},
    {"error", 'e', OPTION_TEXT, "SHARE", &given.error,
     "the mean error of a count that is wanted, such as 1% or 0.01, or exact (50%, 10%, 1%, 0.1% and exact)"},
    {"skew", 0, OPTION_TEXT, "WORD|A", &given.skew,
     "without a sample: low, middle or high, which are 0.5, 1 and 1.5, or the skewness of a Zipf stream from 0 to 3 "
     "(middle)"},
    OPTIONS_READING(given.plan.how),
    OPTIONS_ROWS(given.rows),
    {"quiet", 'q', OPTION_FLAG, NULL, &given.plan.quiet, "no progress bar"},
    {0},
};

static const rows_column columns[] = {{"error", "error"},
                                      {"budget", "budget"},
                                      {"bytes_per_distinct", "bytes a distinct item"},
                                      {"expected_error", "expected"},
                                      {0}};

static bool parse_skew(const char *word, double *skew)
{
    static const struct {
        const char *word;
        double skew;
    } known[] = {{"low", 0.5}, {"middle", 1}, {"high", 1.5}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *skew = known[i].skew;
        if (strcmp(word, known[i].word) == 0) return true;
    }
    return value_real(word, skew) && *skew <= 3;
}

static bool parse_error(const char *word, double *error)
{
    *error = 0;
    return strcmp(word, "exact") == 0 || value_share(word, error);
}

/* ---- the sample -------------------------------------------------------------------------------------------------- */

/* How often each of its items comes, in memory to be freed. */
static bool count_sample(lego_wish *wish, int64_t **counts, int files, char **paths)
{
    content sample;
    if (!lab_read(&sample, &given.plan, paths, files)) return false;
    size_t n = exact_size(sample.truth);
    *counts = malloc((n + 1) * sizeof **counts);
    bool ok = *counts != NULL || say_no_memory();
    for (size_t i = 0; ok && i < n; i++) {
        int64_t count = exact_at(sample.truth, i).count;
        if (count > 0) (*counts)[wish->n++] = count;
        ok = count >= 0 || say("the sample has negative counts, for which nothing is suggested");
    }
    content_free(&sample);
    if (ok && wish->n == 0) ok = say("the sample has no items: there is nothing to go by");
    wish->counts = *counts;
    if (ok && wish->distinct > 0 && wish->distinct < (double)wish->n)
        ok =
            say("the sample alone has %zu distinct items, which is more than --distinct %.0f", wish->n, wish->distinct);
    return ok;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static bool print_row(rows *to, const lego_wish *wish)
{
    uint64_t budget;
    double expected;
    lego_status status = lego_suggest(wish, NULL, &budget, &expected);
    if (status == LEGO_ERR_BUDGET)
        return say("for an error of %g %% it takes more than the 64G that a budget may be", 100 * wish->error);
    if (!say_status("nothing is suggested", status)) return false;
    char size[VALUE_TEXT];
    bool people = to->form == ROWS_PEOPLE;
    if (people && wish->error == 0) rows_word(to, "exact");
    else rows_share(to, wish->error);
    if (people) rows_word(to, value_print_size(size, value_round_up(budget)));
    else rows_i64(to, (int64_t)budget);
    rows_estimate(to, (double)budget / wish->distinct);
    rows_share(to, expected);
    return rows_next(to);
}

static bool print_table(lego_wish *wish)
{
    static const double errors[] = {0.5, 0.1, 0.01, 0.001, 0};
    rows table = rows_begin(&given.rows, true, columns);
    bool ok = true, people = table.form == ROWS_PEOPLE;
    if (given.error != NULL) {
        parse_error(given.error, &wish->error);
        ok = print_row(&table, wish);
    }
    for (size_t i = 0; given.error == NULL && i < sizeof errors / sizeof *errors; i++) {
        wish->error = errors[i];
        ok = print_row(&table, wish) && ok;
    }
    ok = rows_end(&table) && ok;
    if (people)
        printf("\nfor %.0f distinct items; a budget is a ceiling, and a sketch takes what its content asks for\n",
               wish->distinct);
    return ok && output_flush();
}

static int run(int files, char **paths)
{
    lego_wish wish = {.skew = 1, .distinct = given.distinct};
    double error;
    if (!reading_check(&command_suggest, &given.plan.how) || !rows_check(&command_suggest, &given.rows))
        return EXIT_WRONG_USAGE;
    if (files == 0 && !(given.distinct >= 1))
        return options_wrong(&command_suggest, "for how many distinct items? Give --distinct N, or a sample to count");
    if (files > 0 && given.skew != NULL)
        return options_wrong(&command_suggest, "--skew is for where there is no sample, which tells it");
    if (given.skew != NULL && !parse_skew(given.skew, &wish.skew))
        return options_wrong(&command_suggest, "--skew '%s' is not low, middle, high or a number from 0 to 3",
                             given.skew);
    if (given.error != NULL && !parse_error(given.error, &error))
        return options_wrong(&command_suggest, "--error '%s' is not a share from 0 to 100%% such as 1%%, nor exact",
                             given.error);
    int64_t *counts = NULL;
    bool ok = files == 0 || count_sample(&wish, &counts, files, paths);
    if (ok && wish.distinct == 0) wish.distinct = (double)wish.n;
    ok = ok && print_table(&wish);
    free(counts);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_suggest = {
    .name = "suggest",
    .summary = "say what budget an error takes",
    .synopsis = "--distinct N [OPTION...] | [OPTION...] SAMPLE...",
    .text = "Prints the budget, its bytes a distinct item and the mean relative error to expect\n"
            "there, for an error that is wanted or a table of them. SAMPLE is read as by\n"
            "'legosketch build' and counted exactly in memory: all of a stream, or a part of it\n"
            "that is like the rest, where --distinct says how many items there will be. What is\n"
            "suggested is tried on such counts; another stream with them comes out about there.\n"
            "It is for sketches without --top, whose bytes come on top.",
    .examples = "  legosketch suggest --distinct 10M --error 1%\n"
                "  legosketch suggest --distinct 10M --skew low\n"
                "  legosketch suggest --distinct 10M hour-of-a-day.txt.gz\n"
                "  legosketch suggest --column city --json orders.csv\n",
    .options = options,
    .run = run,
};
