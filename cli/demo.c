/* legosketch demo: the idea in a few seconds, on a stream made for it. */
#include "lab.h"
#include "progress.h"
#include "say.h"
#include "values.h"
#include "zipf.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    uint64_t budget, seed;
    uint32_t distinct;
    double alpha;
} given = {.budget = 1 << 20, .distinct = 400000, .alpha = 1};

static const option_entry options[] = {
    {"budget", 'b', OPTION_SIZE, "SIZE", &given.budget, "bytes of the sketch (1M)"},
    {"distinct", 'n', OPTION_U32, "N", &given.distinct, "distinct items of the stream (400000)"},
    {"alpha", 'a', OPTION_REAL, "A", &given.alpha, "its skewness (1.0)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "seed of its order and of the hash (0)"},
    {0},
};

/* Who is compared; the first two keep something, and are asked item by item. */
static const struct {
    const char *name;
    const estimator_kind *kind;
} rivals[] = {{"legosketch", &estimator_lego}, {"Count-Min", &estimator_cms}, {"always 1", &estimator_one}};
enum { RIVALS = sizeof rivals / sizeof *rivals, SKETCHES = 2 };

/* The stream, what is true of it, and the sketches of it. */
typedef struct show {
    uint64_t *keys; /* in the order of the stream */
    size_t length;
    exact_table *truth;
    void *sketches[SKETCHES];
} show;

/* How it looks. */
static struct {
    const char *title, *colours[RIVALS], *plain, *block;
} style = {"", {"", "", ""}, "", "#"};

static void choose_style(void)
{
    if (!isatty(STDOUT_FILENO)) return;
    if (setlocale(LC_CTYPE, "") != NULL && MB_CUR_MAX > 1) style.block = "\u2588";
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((no_color != NULL && no_color[0] != '\0') || terminal == NULL || terminal[0] == '\0') return;
    style.title = "\033[1m";
    style.colours[0] = "\033[32m";
    style.colours[1] = "\033[33m";
    style.plain = "\033[0m";
}

/* 1234567 as 1,234,567. */
static const char *grouped(char text[VALUE_TEXT], uint64_t value)
{
    char *at = text + VALUE_TEXT - 1;
    *at = '\0';
    for (int digits = 0; value > 0 || digits == 0; digits++, value /= 10) {
        if (digits > 0 && digits % 3 == 0) *--at = ',';
        *--at = (char)('0' + value % 10);
    }
    return at;
}

static bool make_stream(show *made)
{
    uint64_t total;
    lab_stream counted;
    if (!zipf_total(given.distinct, given.alpha, &total) || total > UINT32_MAX)
        return say("the stream would be too long for a demonstration: choose a smaller --alpha or --distinct");
    if (!lab_stream_zipf(&counted, NULL, given.distinct, given.alpha)) return false;
    made->truth = counted.content.truth;
    made->keys = zipf_keys(given.distinct, given.alpha, given.seed, &made->length);
    return made->keys != NULL || say_no_memory();
}

static lego_status count_stream(show *made)
{
    lego_options wanted = {.budget = given.budget, .seed = given.seed};
    lego_items items = {.n = made->length, .integers = made->keys};
    lego_status status = LEGO_OK;
    for (int r = 0; r < SKETCHES && status == LEGO_OK; r++)
        status = estimator_create(rivals[r].kind, &wanted, &made->sketches[r]);
    double start = progress_clock();
    if (status == LEGO_OK) status = lego_add_items(made->sketches[0], &items);
    double seconds = progress_clock() - start;
    if (status == LEGO_OK) status = metrics_fill(made->truth, &estimator_cms, made->sketches[1]);
    if (status != LEGO_OK) return status;
    char text[VALUE_TEXT];
    printf("%sA stream of %s items", style.title, grouped(text, made->length));
    printf(", %s of them distinct%s (Zipf, skewness %g)\n", grouped(text, given.distinct), style.plain, given.alpha);
    printf("counted into %s in %.2f s: %.0f million items a second on one core.\n",
           value_print_size(text, estimator_bytes(&estimator_lego, made->sketches[0])), seconds,
           (double)made->length / seconds / 1e6);
    printf("A hash table of exact counts takes %s.\n", value_print_size(text, exact_bytes(made->truth)));
    return LEGO_OK;
}

static lego_status print_answer(const show *made, const char *what, uint64_t rank)
{
    unsigned char key[8];
    lego_estimate answer;
    double cms;
    stream_key(rank, key);
    lego_status status = lego_query(made->sketches[0], key, sizeof key, &answer);
    if (status == LEGO_OK) status = estimator_cms.estimate(made->sketches[1], key, sizeof key, &cms);
    if (status != LEGO_OK) return status;
    char value[VALUE_TEXT], range[2 * VALUE_TEXT];
    value_print_estimate(value, answer.value);
    snprintf(range, sizeof range, "%" PRId64 " to %" PRId64, answer.lower, answer.likely);
    printf("  %-9" PRIu64 " %-9s %9" PRId64 " %s%12s%s %19s %s%12.0f%s\n", rank, what,
           exact_count(made->truth, key, sizeof key), style.colours[0], value, style.plain, range, style.colours[1],
           cms, style.plain);
    return LEGO_OK;
}

static lego_status print_answers(const show *made)
{
    uint64_t n = given.distinct;
    const struct {
        const char *what;
        uint64_t rank;
    } asked[] = {{"top", 1},      {"top", 10}, {"top", 100},      {"middle", n / 50}, {"middle", n / 10},
                 {"rare", n - 1}, {"rare", n}, {"absent", n + 1}, {"absent", n + 2}};
    printf("\n%sHow often did item x occur?%s\n\n", style.title, style.plain);
    printf("  %-9s %-9s %9s %12s %19s %12s\n", "item", "", "truth", "legosketch", "99 % lie in", "Count-Min");
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < sizeof asked / sizeof *asked && status == LEGO_OK; i++)
        if (asked[i].rank > 0) status = print_answer(made, asked[i].what, asked[i].rank);
    return status;
}

/* AAE / ARE of all at half, once and twice the budget. */
static bool print_table(const show *made)
{
    char text[VALUE_TEXT];
    printf("\n%sMean error over all %s distinct items, absolute / relative%s\n\n  %-12s", style.title,
           grouped(text, given.distinct), style.plain, "bytes");
    for (uint64_t budget = given.budget / 2, i = 0; i < 3; i++, budget *= 2) {
        char size[VALUE_TEXT];
        printf(" %19s", value_print_size(size, budget));
    }
    for (int r = 0; r < RIVALS; r++) {
        printf("\n  %s%-12s", style.colours[r], rivals[r].name);
        for (uint64_t budget = given.budget / 2, i = 0; i < 3; i++, budget *= 2) {
            trial spec = {.kind = rivals[r].kind, .budget = budget, .first_seed = given.seed, .seeds = 1};
            metrics result;
            if (metrics_run(made->truth, &spec, &result) == LEGO_OK) printf(" %9.3f / %7.3f", result.aae, result.are);
            else printf(" %19s", "does not fit");
        }
        fputs(style.plain, stdout);
    }
    putchar('\n');
    return true;
}

/* A bar with one block for each sixth of a power of ten above a hundredth of a per cent. */
static void print_bar(const char *label, int rival, double error)
{
    int blocks = error > 1e-4 ? (int)lround(6 * log10(error / 1e-4)) : 0;
    printf("  %-20s %-12s %s", label, rivals[rival].name, style.colours[rival]);
    for (int i = 0; i < blocks && i < 36; i++) fputs(style.block, stdout);
    printf("%s%s%.*f %%\n", style.plain, blocks > 0 ? " " : "", error < 0.1 ? 2 : 0, 100 * error);
}

static lego_status print_classes(const show *made)
{
    static const int64_t bounds[] = {1, 2, 5, 20, 100, 1000, INT64_MAX};
    enum { CLASSES = sizeof bounds / sizeof *bounds - 1 };
    double sums[CLASSES][SKETCHES] = {0}, n[CLASSES] = {0};
    for (size_t i = 0, c = 0; i < exact_size(made->truth); i++, c = 0) {
        exact_item item = exact_at(made->truth, i);
        while (item.count >= bounds[c + 1]) c++;
        for (int r = 0; r < SKETCHES; r++) {
            double value, count = (double)item.count;
            lego_status status = rivals[r].kind->estimate(made->sketches[r], item.bytes, item.size, &value);
            if (status != LEGO_OK) return status;
            sums[c][r] += fabs(value - count) / count;
        }
        n[c]++;
    }
    printf("\n%sMean relative error by how often items occur%s (bars: logarithmic)\n", style.title, style.plain);
    for (int c = 0; c < CLASSES; c++) {
        char range[2 * VALUE_TEXT], items[2 * VALUE_TEXT], text[VALUE_TEXT];
        if (n[c] == 0) continue;
        snprintf(range, sizeof range, "%" PRId64 " to %" PRId64 " times", bounds[c], bounds[c + 1] - 1);
        if (c + 1 == CLASSES) snprintf(range, sizeof range, "%" PRId64 " and more", bounds[c]);
        snprintf(items, sizeof items, "%s items", grouped(text, (uint64_t)n[c]));
        putchar('\n');
        print_bar(c == 0 ? "once" : range, 0, sums[c][0] / n[c]);
        print_bar(items, 1, sums[c][1] / n[c]);
    }
    putchar('\n');
    return LEGO_OK;
}

static int run(int count, char **operands)
{
    if (count > 0) return options_wrong(&command_demo, "it takes no argument, and '%s' is one", operands[0]);
    choose_style();
    show made = {0};
    bool ok = make_stream(&made) && say_status("counting stops", count_stream(&made)) &&
              say_status("asking stops", print_answers(&made)) && print_table(&made) &&
              say_status("asking stops", print_classes(&made));
    free(made.keys);
    exact_destroy(made.truth);
    for (int r = 0; r < SKETCHES; r++) estimator_destroy(rivals[r].kind, made.sketches[r]);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_demo = {
    .name = "demo",
    .summary = "see it work on a stream of several million items",
    .synopsis = "[OPTION...]",
    .text = "Makes a Zipf stream in memory, counts it, and shows estimates beside the truth and\n"
            "beside Count-Min of the same size. Colours need a terminal; NO_COLOR turns them off.",
    .examples = "  legosketch demo\n"
                "  legosketch demo --budget 100K --alpha 1.1\n",
    .options = options,
    .run = run,
};
