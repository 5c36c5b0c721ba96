/* legosketch demo: the idea in a few seconds, on a stream made for it. */
#include "lab.h"
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

/* The stream, what is true of it, and the two sketches of it that are compared. */
typedef struct show {
    uint64_t *keys; /* in the order of the stream */
    size_t length;
    exact_table *truth;
    void *lego, *cms;
} show;

/* ---- how it looks --------------------------------------------------------------------------------------------- */

static struct {
    const char *title, *lego, *other, *plain, *block;
} style = {"", "", "", "", "#"};

static void choose_style(void)
{
    if (!isatty(STDOUT_FILENO)) return;
    if (setlocale(LC_CTYPE, "") != NULL && MB_CUR_MAX > 1) style.block = "\u2588";
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((no_color == NULL || no_color[0] == '\0') && terminal != NULL && terminal[0] != '\0') {
        style.title = "\033[1m";
        style.lego = "\033[32m";
        style.other = "\033[33m";
        style.plain = "\033[0m";
    }
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

/* ---- making it ------------------------------------------------------------------------------------------------ */

static bool make_stream(show *made)
{
    uint64_t total;
    if (!zipf_total(given.distinct, given.alpha, &total) || total > UINT32_MAX) {
        say("the stream would be too long for a demonstration: choose a smaller --alpha or --distinct");
        return false;
    }
    lab_stream counted;
    if (!lab_stream_zipf(&counted, NULL, given.distinct, given.alpha)) return false;
    made->truth = counted.content.truth;
    made->keys = zipf_keys(given.distinct, given.alpha, given.seed, &made->length);
    if (made->keys == NULL) say_no_memory();
    return made->keys != NULL;
}

/* The sketch counts the stream item by item as it would come, in batches. */
static lego_status count_stream(const show *made)
{
    enum { BATCH = 1 << 16 };
    lego_status status = LEGO_OK;
    for (size_t at = 0; at < made->length && status == LEGO_OK; at += BATCH) {
        lego_items batch = {.n = made->length - at < BATCH ? made->length - at : BATCH, .integers = made->keys + at};
        status = lego_add_items(made->lego, &batch);
    }
    return status;
}

static bool make_sketches(show *made)
{
    lego_options wanted = {.budget = given.budget, .seed = given.seed};
    lego_status status = estimator_create(&estimator_lego, &wanted, &made->lego);
    double start = record_clock();
    if (status == LEGO_OK) status = count_stream(made);
    double seconds = record_clock() - start;
    if (status == LEGO_OK) status = estimator_create(&estimator_cms, &wanted, &made->cms);
    if (status == LEGO_OK) status = metrics_fill(made->truth, &estimator_cms, made->cms);
    if (status != LEGO_OK) {
        say_status("the demonstration stops", status);
        return false;
    }
    char text[VALUE_TEXT], size[VALUE_TEXT], exact[VALUE_TEXT];
    value_print_size(size, estimator_bytes(&estimator_lego, made->lego));
    value_print_size(exact, exact_bytes(made->truth));
    printf("%sA stream of %s items", style.title, grouped(text, made->length));
    printf(", %s of them distinct%s (Zipf, skewness %g)\n", grouped(text, given.distinct), style.plain, given.alpha);
    printf("counted into %s in %.2f s: %.0f million items a second on one core.\n", size, seconds,
           (double)made->length / seconds / 1e6);
    printf("A hash table of exact counts takes %s.\n", exact);
    return true;
}

/* ---- showing it ----------------------------------------------------------------------------------------------- */

static bool print_answer(const show *made, const char *what, uint64_t rank)
{
    unsigned char key[8];
    stream_key(rank, key);
    lego_estimate answer;
    double cms;
    if (lego_query(made->lego, key, sizeof key, &answer) != LEGO_OK ||
        estimator_cms.estimate(made->cms, key, sizeof key, &cms) != LEGO_OK)
        return false;
    char value[VALUE_TEXT], range[2 * VALUE_TEXT];
    value_print_estimate(value, answer.value);
    snprintf(range, sizeof range, "%" PRId64 " to %" PRId64, answer.lower, answer.upper);
    printf("  %-9" PRIu64 " %-9s %9" PRId64 " %s%12s%s %19s %s%12.0f%s\n", rank, what,
           exact_count(made->truth, key, sizeof key), style.lego, value, style.plain, range, style.other, cms,
           style.plain);
    return true;
}

static bool print_answers(const show *made)
{
    uint32_t n = given.distinct;
    const struct {
        const char *what;
        uint64_t rank;
    } asked[] = {{"top", 1},      {"top", 10}, {"top", 100},         {"middle", n / 50},  {"middle", n / 10},
                 {"rare", n - 1}, {"rare", n}, {"absent", n + 1ull}, {"absent", n + 2ull}};
    printf("\n%sHow often did item x occur?%s\n\n", style.title, style.plain);
    printf("  %-9s %-9s %9s %12s %19s %12s\n", "item", "", "truth", "Lego sketch", "bounds", "Count-Min");
    bool ok = true;
    for (size_t i = 0; i < sizeof asked / sizeof *asked && ok; i++)
        ok = asked[i].rank == 0 || print_answer(made, asked[i].what, asked[i].rank);
    return ok;
}

/* AAE / ARE of three methods at half, once and twice the budget. */
static void print_table(const show *made)
{
    static const struct {
        const estimator_kind *kind;
        const char *name;
    } rows[] = {{&estimator_lego, "Lego sketch"}, {&estimator_cms, "Count-Min"}, {&estimator_one, "always 1"}};
    char text[VALUE_TEXT];
    printf("\n%sMean error over all %s distinct items, absolute / relative%s\n\n", style.title,
           grouped(text, given.distinct), style.plain);
    printf("  %-12s", "bytes");
    const uint64_t budgets[] = {given.budget / 2, given.budget, given.budget * 2};
    for (size_t b = 0; b < 3; b++) {
        value_print_size(text, budgets[b]);
        printf(" %19s", text);
    }
    putchar('\n');
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        printf("  %s%-12s", r == 0 ? style.lego : r == 1 ? style.other : "", rows[r].name);
        for (size_t b = 0; b < 3; b++) {
            trial spec = {.kind = rows[r].kind, .budget = budgets[b], .first_seed = given.seed, .seeds = 1};
            metrics result;
            if (metrics_run(made->truth, &spec, &result) == LEGO_OK) printf(" %9.3f / %7.3f", result.aae, result.are);
            else printf(" %19s", "does not fit");
        }
        printf("%s\n", style.plain);
    }
}

/* Mean relative errors of the items that occur from `least` times to less than `beyond`, and how many they are. */
static bool measure_class(const show *made, int64_t least, int64_t beyond, double *lego, double *cms, uint64_t *n)
{
    *lego = *cms = 0;
    *n = 0;
    for (size_t i = 0; i < exact_size(made->truth); i++) {
        exact_item item = exact_at(made->truth, i);
        double ours, theirs, count = (double)item.count;
        if (item.count < least || item.count >= beyond) continue;
        if (estimator_lego.estimate(made->lego, item.bytes, item.size, &ours) != LEGO_OK ||
            estimator_cms.estimate(made->cms, item.bytes, item.size, &theirs) != LEGO_OK)
            return false;
        *lego += fabs(ours - count) / count;
        *cms += fabs(theirs - count) / count;
        ++*n;
    }
    *lego /= *n > 0 ? (double)*n : 1;
    *cms /= *n > 0 ? (double)*n : 1;
    return true;
}

/* A bar with one block for each sixth of a power of ten above a hundredth of a per cent. */
static void print_bar(const char *label, const char *name, const char *color, double error)
{
    int blocks = error > 1e-4 ? (int)lround(6 * log10(error / 1e-4)) : 0;
    printf("  %-20s %-12s %s", label, name, color);
    for (int i = 0; i < blocks && i < 36; i++) fputs(style.block, stdout);
    printf("%s%s%.*f %%\n", style.plain, blocks > 0 ? " " : "", error < 0.1 ? 2 : 0, 100 * error);
}

static bool print_classes(const show *made)
{
    static const int64_t bounds[] = {1, 2, 5, 20, 100, 1000, INT64_MAX};
    printf("\n%sMean relative error by how often items occur%s (bars: logarithmic)\n", style.title, style.plain);
    for (size_t c = 0; c + 1 < sizeof bounds / sizeof *bounds; c++) {
        int64_t least = bounds[c], beyond = bounds[c + 1];
        double lego, cms;
        uint64_t n;
        if (!measure_class(made, least, beyond, &lego, &cms, &n)) return false;
        if (n == 0) continue;
        char range[2 * VALUE_TEXT], items[2 * VALUE_TEXT], text[VALUE_TEXT];
        if (beyond == 2) snprintf(range, sizeof range, "once");
        else if (beyond == INT64_MAX) snprintf(range, sizeof range, "%" PRId64 " and more", least);
        else snprintf(range, sizeof range, "%" PRId64 " to %" PRId64 " times", least, beyond - 1);
        snprintf(items, sizeof items, "%s items", grouped(text, n));
        putchar('\n');
        print_bar(range, "Lego sketch", style.lego, lego);
        print_bar(items, "Count-Min", style.other, cms);
    }
    return true;
}

static int run(int count, char **operands)
{
    if (count > 0) return options_wrong(&command_demo, "it takes no argument, and '%s' is one", operands[0]);
    choose_style();
    show made = {0};
    bool ok = make_stream(&made) && make_sketches(&made) && print_answers(&made);
    if (ok) print_table(&made);
    ok = ok && print_classes(&made);
    if (ok) putchar('\n');
    free(made.keys);
    exact_destroy(made.truth);
    estimator_destroy(&estimator_lego, made.lego);
    estimator_destroy(&estimator_cms, made.cms);
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
