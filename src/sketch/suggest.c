/* suggest: what budget a wish takes. Blocks are local, so errors depend on bytes a distinct item and on how counts are
 * distributed, and on nothing else; how they do is told by no formula, but soon found: sketches of a few ten thousand
 * such items are made, and asked. Blocks that keep depend on the order, too: the items of a trial come one by one, in
 * random order. */
#include <math.h>

#include "core/allocate.h"
#include "sketch/sketch.h"

enum {
    TRIAL_MOST = 1 << 14, /* items of a sketch that is tried */
    ARRIVALS = 4,         /* for each of them, at most: who comes more often comes in parts of several */
    ALL_ITEMS = 1 << 16,  /* ... and of those together that one budget is tried with, if so many runs are enough: */
    RUNS_LEAST = 2,
    RUNS_EXACT = 8, /* to be exact is up to the fullest of all blocks, in which runs differ more */
    RUNS_MOST = 16,
    BYTES_FIRST = 16,  /* an item that are tried first */
    PARTS_OF_BYTE = 4, /* fewer than one of these an item say next to nothing of it, whatever is wished */
    SKEW_MOST = 3
};

/* The suggestion is above what did in the trials by so much, since streams differ; and where it is to be exact, and
 * there are more blocks to be the fullest than were tried. */
static const double spare = 1.03, spare_exact = 1.06;

struct trial {
    const lego_wish *wish;
    const lego_allocator *allocator;
    size_t items; /* of a run */
    unsigned runs;
    lego_estimate *estimate;
    int64_t *count, *part;
    uint64_t *item, *arrival; /* arrivals and their parts of the counts: of each item, and of all in random order */
};

/* The counts of a run: those of the sample, each as often or as seldom as it takes, every run others. */
static void draw_counts(const struct trial *trial, unsigned run)
{
    const lego_wish *wish = trial->wish;
    const double shift = (run + 0.5) / trial->runs;
    for (size_t i = 0; i < trial->items; i++) {
        double part = ((double)i + shift) / (double)trial->items;
        size_t at = (size_t)(part * (double)wish->n);
        if (!wish->counts) trial->count[i] = (int64_t)(pow(part, -wish->skew) + 0.5);
        else trial->count[i] = wish->counts[at < wish->n ? at : wish->n - 1];
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* In how many parts an item comes at most, so that all of them are few enough. */
static int64_t parts_most(const struct trial *trial)
{
    int64_t most = 1, all = 0;
    while (most < INT64_C(1) << 32 && all <= (int64_t)(ARRIVALS * trial->items)) {
        most *= 2;
        all = 0;
        for (size_t i = 0; i < trial->items; i++) all += least(trial->count[i], most);
    }
    return most > 2 ? most / 2 : 1;
}

/* Has the items come in random order, each in parts as equal as can be; returns how many come. Every place may be that
 * of any arrival (Durstenfeld 1964). */
static size_t draw_arrivals(const struct trial *trial, unsigned run)
{
    const int64_t most = parts_most(trial);
    size_t n = 0;
    for (size_t i = 0; i < trial->items; i++) {
        const int64_t count = trial->count[i], parts = least(count, most);
        for (int64_t j = 0; j < parts; j++, n++) {
            const size_t at = (size_t)((lego_u128)hash_u64(n, seed_of(run)).hi * (n + 1) >> 64);
            if (at < n) trial->arrival[n] = trial->arrival[at], trial->part[n] = trial->part[at];
            trial->arrival[at] = trial->item[i];
            trial->part[at] = count / parts + (j < count % parts);
        }
    }
    return n;
}

/* The mean relative error; where a wish is to be exact it only matters whether it is 0. */
static lego_status run_error(const struct trial *trial, unsigned run, lego_sketch *sketch, double *error)
{
    const size_t n = draw_arrivals(trial, run);
    const lego_items arrivals = {.n = n, .integers = trial->arrival, .counts = trial->part};
    const lego_items items = {.n = trial->items, .integers = trial->item};
    lego_status status = lego_add_items(sketch, &arrivals);
    *error = 0;
    if (status == LEGO_OK && trial->wish->error == 0) {
        *error = !blocks_whole(&sketch->blocks);
        return LEGO_OK;
    }
    if (status == LEGO_OK) status = lego_query_items(sketch, &items, NULL, trial->estimate);
    if (status != LEGO_OK) return status;
    for (size_t i = 0; i < trial->items; i++)
        *error += fabs(trial->estimate[i].value - (double)trial->count[i]) / (double)trial->count[i];
    *error /= (double)trial->items;
    /* A giant that is mistaken for another item is so rare, and so far off, that some runs may not meet it. What a
     * sketch expects of its lists knows that; where blocks keep, giants have prints of their own. */
    lego_info info;
    lego_describe(sketch, &info);
    if (info.keeping == 0) *error = fmax(*error, info.expected_are);
    return LEGO_OK;
}

/* The mean of all runs in a budget. */
static lego_status try_budget(const struct trial *trial, double budget, double *error)
{
    lego_status status = LEGO_OK;
    double sum = 0;
    for (unsigned run = 0; run < trial->runs && status == LEGO_OK; run++) {
        lego_options options = LEGO_OPTIONS_INIT;
        lego_sketch *sketch;
        double own = 0;
        options.budget = (uint64_t)budget;
        options.seed = run;
        options.allocator = trial->allocator;
        status = lego_create(&options, &sketch);
        if (status != LEGO_OK) return status;
        draw_counts(trial, run);
        status = run_error(trial, run, sketch, &own);
        lego_destroy(sketch);
        sum += own;
        if (trial->wish->error == 0 && own > 0) break;
    }
    if (status == LEGO_OK) *error = sum / trial->runs;
    return status;
}

/* The least budget from which on the wish is granted, and the error there. The search goes down from where nearly all
 * is exact, and ends where the wish fails first. */
static lego_status search(const struct trial *trial, double *budget, double *error)
{
    const double least = fmax(LEGO_BUDGET_MIN, (double)trial->items / PARTS_OF_BYTE);
    double at = fmax(least, BYTES_FIRST * (double)trial->items), failed = 0, granted = 0, found;
    while (failed == 0 || granted == 0 || granted > 1.01 * failed) {
        lego_status status = try_budget(trial, at, &found);
        if (status != LEGO_OK) return status;
        if (found > trial->wish->error) {
            failed = at;
        } else {
            granted = at;
            *error = found;
            if (at == least) break;
        }
        if (failed > 0 && granted > 0) at = sqrt(failed * granted);
        else at = failed > 0 ? at * sqrt(2) : fmax(least, at / sqrt(2));
    }
    *budget = granted;
    return LEGO_OK;
}

static bool is_possible(const lego_wish *wish)
{
    bool skewed = !wish->counts && wish->n == 0 && wish->distinct > 0 && wish->skew >= 0 && wish->skew <= SKEW_MOST;
    if (!(wish->error >= 0) || !(wish->distinct >= 0)) return false; /* NaN is neither */
    if (!wish->counts || wish->n == 0) return skewed;
    for (size_t i = 0; i < wish->n; i++)
        if (wish->counts[i] <= 0) return false;
    return true;
}

lego_status lego_suggest(const lego_wish *wish, const lego_allocator *allocator, uint64_t *budget, double *expected)
{
    if (!is_possible(wish)) return LEGO_ERR_ARGUMENT;
    const lego_allocator a = allocator_or_default(allocator);
    const double distinct = wish->distinct > 0 ? fmax(wish->distinct, 1) : (double)wish->n;
    struct trial trial = {.wish = wish, .allocator = allocator};
    trial.items = distinct < TRIAL_MOST ? (size_t)distinct : TRIAL_MOST;
    trial.runs = (unsigned)(ALL_ITEMS / trial.items < RUNS_MOST ? ALL_ITEMS / trial.items : RUNS_MOST);
    if (trial.runs < RUNS_LEAST) trial.runs = RUNS_LEAST;
    if (wish->error == 0) trial.runs = RUNS_EXACT;
    const size_t most = ARRIVALS * trial.items;
    const size_t size = trial.items * (sizeof *trial.estimate + sizeof *trial.count + sizeof *trial.item) +
                        most * (sizeof *trial.part + sizeof *trial.arrival);
    trial.estimate = a.alloc(a.context, size);
    if (!trial.estimate) return LEGO_ERR_MEMORY;
    trial.count = (int64_t *)(void *)(trial.estimate + trial.items);
    trial.part = trial.count + trial.items;
    trial.item = (uint64_t *)(void *)(trial.part + most);
    trial.arrival = trial.item + trial.items;
    for (size_t i = 0; i < trial.items; i++) trial.item[i] = i;

    double least = 0, error = 0;
    lego_status status = search(&trial, &least, &error);
    a.free(a.context, trial.estimate, size);
    if (status != LEGO_OK) return status;
    least *= distinct / (double)trial.items;
    if (least > LEGO_BUDGET_MIN) least *= wish->error == 0 ? spare_exact : spare;
    if (least > (double)LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    *budget = (uint64_t)ceil(least);
    if (expected) *expected = error;
    return LEGO_OK;
}
