/* The methods that `legosketch eval` compares, all through their one interface: exact where there is room, never below
 * the truth where they promise it, within their budget, without wrapping, and with a status wherever memory ends. */
#include "support.h"

#include "estimator.h"
#include "exact.h"
#include "metrics.h"
#include "order.h"

enum { GOOD_BUDGET = 1 << 20 };

/* ---- allocations that fail: the linker sends those of the lab here (cmake/tests.cmake) --------------------------- */

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);

static long allocations_left = -1; /* before one fails; -1: none does */

static bool fails_now(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

/* ---- what the tests share ---------------------------------------------------------------------------------------- */

static bool is(const estimator_kind *kind, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(kind->name, *names) == 0) return true;
    return false;
}

/* Never below the truth, as long as no counter is full. (elastic's light counters are full at 255; fingerprint turns
 * items away.) */
static const char *const over_estimators[] = {"rule",     "cms",      "d-cms",    "d-cms-quarter", "cu",
                                              "tower-cm", "tower-cu", "salsa-cu", "cqf",           NULL};
static const char *const boundless[] = {"one", "exact", NULL};

/* Answers as its networks learnt to, which is near the truth where they were trained and anything elsewhere. */
static const char *const learnt[] = {"ms", NULL};

static lego_options options_for(uint64_t budget, uint64_t seed)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = budget;
    options.seed = seed;
    return options;
}

static void *make_kind(const estimator_kind *kind, uint64_t budget, uint64_t seed)
{
    lego_options options = options_for(budget, seed);
    void *self;
    assert_int_equal(estimator_create(kind, &options, &self), LEGO_OK);
    return self;
}

static double ask(const estimator_kind *kind, const void *self, uint64_t item)
{
    double value = -1;
    assert_int_equal(kind->estimate(self, &item, sizeof item, &value), LEGO_OK);
    return value;
}

static void put(const estimator_kind *kind, void *self, uint64_t item, int64_t count)
{
    assert_int_equal(kind->add(self, &item, sizeof item, count), LEGO_OK);
}

/* Whether what was put fits; only methods with hindsight may say that it does not. */
static bool settled(const estimator_kind *kind, void *self)
{
    lego_status status = estimator_settle(kind, self);
    assert_true(status == LEGO_OK || (status == LEGO_ERR_BUDGET && kind->settle != NULL));
    return status == LEGO_OK;
}

#define EACH_KIND(kind)                                                                                                \
    const estimator_kind *const *at = estimator_kinds, *kind;                                                          \
    (kind = *at) != NULL;                                                                                              \
    at++

/* A stream with some heavy items and many rare ones. */
static exact_table *skewed(uint64_t items, uint64_t most)
{
    exact_table *truth;
    assert_int_equal(exact_create(&truth), LEGO_OK);
    for (uint64_t i = 0; i < items; i++)
        assert_int_equal(exact_add(truth, &i, sizeof i, (int64_t)(most / (i + 1) + 1)), LEGO_OK);
    return truth;
}

/* ---- the tests --------------------------------------------------------------------------------------------------- */

static void names_are_found(void **unused)
{
    (void)unused;
    static const char *const names[] = {
        "lego",        "rule",        "lego-paper", "rule-paper", "d-lego",  "d-lego-paper",  "d-lego-quarter",
        "cms",         "cs",          "cs-clipped", "lcs",        "d-cms",   "d-cms-quarter", "cu",
        "cmm",         "tower-cm",    "tower-cu",   "salsa-cu",   "elastic", "heavy-keeper",  "space-saving",
        "misra-gries", "fingerprint", "cqf",        "ideal-top",  "ms",      "one",           "exact"};
    enum { NAMES = sizeof names / sizeof *names };
    for (size_t i = 0; i < NAMES; i++) {
        const estimator_kind *kind = estimator_find(names[i], strlen(names[i]));
        assert_non_null(kind);
        assert_string_equal(kind->name, names[i]);
    }
    assert_null(estimator_kinds[NAMES]); /* these are all */
    assert_null(estimator_find("cmsx", 4));
    assert_null(estimator_find("", 0));
}

/* A handful of items in plenty of bytes. Occurrences come in turn, so that who came first does not matter. */
static void exact_where_there_is_room(void **unused)
{
    (void)unused;
    enum { ITEMS = 6, TIMES = 200 };
    for (EACH_KIND(kind)) {
        if (strcmp(kind->name, "one") == 0 || is(kind, learnt)) continue;
        for (uint64_t seed = 0; seed < 5; seed++) {
            void *self = make_kind(kind, GOOD_BUDGET, seed);
            if (kind->tell != NULL) kind->tell(self, ITEMS);
            for (int64_t t = 0; t < TIMES; t++)
                for (uint64_t item = 0; item < ITEMS; item++)
                    if (t < TIMES - 30 * (int64_t)item) put(kind, self, item, 1);
            assert_true(settled(kind, self));
            for (uint64_t item = 0; item < ITEMS; item++) {
                double count = TIMES - 30 * (double)item;
                /* cmm takes off what others may have left, at most all over all columns; networks may err a little. */
                double slack = kind->uses_model || kind == &estimator_cmm ? 0.01 * count : 0;
                double value = ask(kind, self, item);
                if (value < count - slack || value > count + slack)
                    fail_msg("%s, seed %d: %g instead of %g", kind->name, (int)seed, value, count);
            }
            estimator_destroy(kind, self);
        }
    }
}

static void never_below_the_truth(void **unused)
{
    (void)unused;
    enum { ITEMS = 5000 };
    exact_table *truth = skewed(ITEMS, 20000);
    for (EACH_KIND(kind)) {
        if (!is(kind, over_estimators)) continue;
        static const uint64_t budgets[] = {8192, 20000, 65536};
        for (size_t b = 0; b < 3; b++) {
            void *self = make_kind(kind, budgets[b], b);
            if (kind->in_order) assert_int_equal(order_feed(NULL, truth, kind, self), LEGO_OK);
            else assert_int_equal(metrics_fill(truth, kind, self), LEGO_OK);
            assert_true(settled(kind, self) || budgets[b] == 8192);
            if (!settled(kind, self)) {
                estimator_destroy(kind, self);
                continue;
            }
            for (uint64_t i = 0; i < ITEMS; i++) {
                double count = (double)exact_at(truth, i).count, value = ask(kind, self, i);
                if (value < count) fail_msg("%s: %g instead of %g", kind->name, value, count);
            }
            estimator_destroy(kind, self);
        }
    }
    exact_destroy(truth);
}

/* Conservative update is never worse than adding everywhere, item by item, where the cells are the same. */
static void conservative_is_not_worse(void **unused)
{
    (void)unused;
    static const estimator_kind *const pairs[][2] = {{&estimator_cms, &estimator_cu},
                                                     {&estimator_tower_cm, &estimator_tower_cu}};
    enum { ITEMS = 5000 };
    exact_table *truth = skewed(ITEMS, 20000);
    for (size_t p = 0; p < 2; p++) {
        void *plain = make_kind(pairs[p][0], 10000, 7), *careful = make_kind(pairs[p][1], 10000, 7);
        assert_int_equal(order_feed(NULL, truth, pairs[p][0], plain), LEGO_OK);
        assert_int_equal(order_feed(NULL, truth, pairs[p][1], careful), LEGO_OK);
        double sum = 0;
        for (uint64_t i = 0; i < ITEMS; i++) {
            double less = ask(pairs[p][0], plain, i) - ask(pairs[p][1], careful, i);
            assert_true(less >= 0);
            sum += less;
        }
        assert_true(sum > 0);
        estimator_destroy(pairs[p][0], plain);
        estimator_destroy(pairs[p][1], careful);
    }
    exact_destroy(truth);
}

/* Made of the paper's bricks, which fill what they are given. */
static bool has_bricks(const estimator_kind *kind)
{
    return kind->model != NULL && strcmp(kind->model, "paper") == 0;
}

/* The budget from which on a method uses at least a share of it: bricks of ms take 9 KB each, and blocks nest. */
static uint64_t filled_from(const estimator_kind *kind)
{
    return kind == &estimator_ms ? 100000 : has_bricks(kind) ? 16384 * 4 / 3 : 10000;
}

static double share_filled(const estimator_kind *kind)
{
    if (has_bricks(kind)) return 0.98;
    /* sketches of blocks and the ideal table take what their content asks for */
    return kind->uses_model || kind == &estimator_ideal_top ? 0 : 0.9;
}

static void bytes_stay_within_the_budget(void **unused)
{
    (void)unused;
    for (EACH_KIND(kind)) {
        if (is(kind, boundless)) continue;
        uint64_t state = 1, made = 0;
        for (int round = 0; round < ROUNDS(400); round++) {
            uint64_t budget = draw_below(&state, round % 2 == 0 ? 3000 : 400000);
            lego_options options = options_for(budget, 0);
            void *self;
            lego_status status = estimator_create(kind, &options, &self);
            if (status != LEGO_OK) {
                assert_int_equal(status, LEGO_ERR_BUDGET);
                continue;
            }
            made++;
            for (uint64_t item = 0; item < 300; item++) put(kind, self, item, (int64_t)item * 50);
            bool fits = settled(kind, self);
            if (estimator_bytes(kind, self) > budget)
                fail_msg("%s has %d bytes", kind->name, (int)estimator_bytes(kind, self));
            if (budget > filled_from(kind) && (double)estimator_bytes(kind, self) < share_filled(kind) * (double)budget)
                fail_msg("%s has %d bytes of %d", kind->name, (int)estimator_bytes(kind, self), (int)budget);
            for (uint64_t item = 0; fits && item < 300; item++) ask(kind, self, item);
            estimator_destroy(kind, self);
        }
        assert_true(made > 0);
    }
}

/* From 0 bytes up: a status, and from some size on a sketch that works. */
static void tiny_budgets_are_refused(void **unused)
{
    (void)unused;
    for (EACH_KIND(kind)) {
        if (is(kind, boundless)) continue;
        bool fits = false;
        for (uint64_t budget = 0; budget < 8192; budget += budget < 1200 ? 1 : 97) {
            lego_options options = options_for(budget, 3);
            void *self;
            lego_status status = estimator_create(kind, &options, &self);
            assert_true(status == LEGO_ERR_BUDGET || status == LEGO_OK);
            if (budget < 16) assert_int_equal(status, LEGO_ERR_BUDGET);
            if (status != LEGO_OK) {
                if (fits) fail_msg("%s refuses %d bytes, having taken fewer", kind->name, (int)budget);
                continue;
            }
            fits = true;
            assert_true(estimator_bytes(kind, self) <= budget);
            for (uint64_t item = 0; item < 50; item++) put(kind, self, item, 1 + (int64_t)item);
            bool holds = settled(kind, self);
            for (uint64_t item = 0; holds && item < 60; item++) ask(kind, self, item);
            estimator_destroy(kind, self);
        }
        assert_true(fits || has_bricks(kind) || kind == &estimator_d_lego || kind == &estimator_ms);
    }
}

static void huge_budgets_are_refused(void **unused)
{
    (void)unused;
    static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 7, LEGO_BUDGET_MAX + 1};
    for (EACH_KIND(kind)) {
        if (is(kind, boundless)) continue;
        for (size_t i = 0; i < 3; i++) {
            lego_options options = options_for(huge[i], 0);
            void *self;
            assert_int_equal(estimator_create(kind, &options, &self), LEGO_ERR_BUDGET);
        }
    }
}

/* Sums past a counter's range stay at its end: an item of 2^33 occurrences is answered with 2^31 - 1 or more, and later
 * additions do not bring it down. */
static void sums_never_wrap(void **unused)
{
    (void)unused;
    for (EACH_KIND(kind)) {
        if (strcmp(kind->name, "one") == 0 || is(kind, learnt)) continue;
        for (int64_t step = INT64_C(1) << 30; step <= INT64_C(1) << 33; step *= 2) {
            void *self = make_kind(kind, GOOD_BUDGET, 1);
            if (kind->tell != NULL) kind->tell(self, 2);
            double before = 0;
            for (int64_t sum = 0; sum < INT64_C(1) << 34; sum += step) {
                put(kind, self, 1, step);
                assert_true(settled(kind, self));
                double value = ask(kind, self, 1);
                if (value < before) fail_msg("%s fell from %g to %g", kind->name, before, value);
                before = value;
            }
            if (before < 0x7fffffff) fail_msg("%s says %g", kind->name, before);
            put(kind, self, 2, 5);
            assert_true(settled(kind, self));
            assert_true(ask(kind, self, 2) < 100);
            estimator_destroy(kind, self);
        }
        /* these refuse what leaves 63 bits */
        if (!kind->uses_model && kind != &estimator_exact && kind != &estimator_ideal_top) {
            void *self = make_kind(kind, GOOD_BUDGET, 1);
            put(kind, self, 1, INT64_MAX);
            put(kind, self, 1, INT64_MAX);
            put(kind, self, 1, INT64_MAX);
            assert_true(settled(kind, self));
            assert_true(ask(kind, self, 1) >= 0x7fffffff);
            estimator_destroy(kind, self);
        }
    }
}

static void deletions(void **unused)
{
    (void)unused;
    for (EACH_KIND(kind)) {
        if (strcmp(kind->name, "one") == 0 || is(kind, learnt)) continue;
        void *self = make_kind(kind, GOOD_BUDGET, 2);
        if (kind->tell != NULL) kind->tell(self, 2);
        uint64_t item = 9;
        put(kind, self, item, 10);
        if (kind->insert_only) {
            assert_int_equal(kind->add(self, &item, sizeof item, -3), LEGO_ERR_ARGUMENT);
            assert_true(settled(kind, self));
            assert_true(ask(kind, self, item) == 10);
        } else {
            put(kind, self, item, -3);
            assert_true(settled(kind, self));
            assert_true(ask(kind, self, item) > 6.5 && ask(kind, self, item) <= 7);
        }
        estimator_destroy(kind, self);
    }
}

static void one_seed_gives_the_same_answers(void **unused)
{
    (void)unused;
    exact_table *truth = skewed(3000, 5000);
    for (EACH_KIND(kind)) {
        metrics first, again;
        trial spec = {.kind = kind, .budget = 16384, .seeds = 1, .first_seed = 4};
        assert_int_equal(metrics_run(truth, &spec, &first), LEGO_OK);
        assert_int_equal(metrics_run(truth, &spec, &again), LEGO_OK);
        assert_true(first.aae == again.aae && first.are == again.are && first.bytes == again.bytes);
    }
    exact_destroy(truth);
}

/* Whatever is behind the filter: items that come first and often are exact, though thousands more come; an item that
 * votes against a rare one takes its place, and is counted. */
static void the_filter_keeps_heavy_items(void **unused)
{
    (void)unused;
    static const estimator_kind *const kinds[] = {&estimator_d_cms, &estimator_d_cms_quarter, &estimator_d_lego_paper,
                                                  &estimator_d_lego_quarter};
    enum { HEAVY = 6, RARE = 20000 };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        void *self = make_kind(kinds[k], 40000, 2);
        for (uint64_t item = 0; item < HEAVY; item++) put(kinds[k], self, item, 5000 + (int64_t)item);
        for (uint64_t item = HEAVY; item < RARE; item++) put(kinds[k], self, item, 1);
        for (uint64_t item = 0; item < HEAVY; item++)
            assert_true(ask(kinds[k], self, item) == (double)(5000 + item)); /* not even a network's rounding */
        for (int i = 0; i < 3000; i++) put(kinds[k], self, RARE, 1);
        assert_true(ask(kinds[k], self, RARE) >= 2700);
        estimator_destroy(kinds[k], self);
    }
}

/* How many of so many items, which come first and often, are exact: those that got a bucket, since ten times as many
 * that come once crowd Count-Min. */
static double kept_exactly(const estimator_kind *kind, uint64_t budget, uint64_t items)
{
    void *self = make_kind(kind, budget, 0);
    double exact = 0;
    for (uint64_t item = 0; item < 11 * items; item++) put(kind, self, item, item < items ? 1000 : 1);
    for (uint64_t item = 0; item < items; item++) exact += ask(kind, self, item) == 1000;
    estimator_destroy(kind, self);
    return exact;
}

/* In the published code the filter has a third of 300 KB and a fifth of 1500 KB, in the paper's text a quarter of both:
 * 100 and 75 KB, 300 and 375 KB. */
static void filters_have_their_shares(void **unused)
{
    (void)unused;
    double code = kept_exactly(&estimator_d_cms, 300 << 10, 30000),
           text = kept_exactly(&estimator_d_cms_quarter, 300 << 10, 30000);
    if (!(code > 1.1 * text && code < 1.5 * text)) fail_msg("at 300 KB %g and %g", code, text);
    code = kept_exactly(&estimator_d_cms, 1500 << 10, 100000);
    text = kept_exactly(&estimator_d_cms_quarter, 1500 << 10, 100000);
    if (!(code < 0.9 * text && code > 0.7 * text)) fail_msg("at 1500 KB %g and %g", code, text);
}

/* Everything that eval does with a method, with each allocation in turn failing. */
static void every_failed_allocation_is_a_status(void **unused)
{
    (void)unused;
    exact_table *truth = skewed(300, 1000);
    for (EACH_KIND(kind)) {
        trial spec = {.kind = kind, .budget = 65536, .seeds = 2};
        for (long fail_at = 0;; fail_at++) {
            metrics result;
            allocations_left = fail_at;
            lego_status status = metrics_run(truth, &spec, &result);
            bool reached = allocations_left < 0;
            allocations_left = -1;
            if (!reached) {
                assert_int_equal(status, LEGO_OK);
                break;
            }
            assert_int_equal(status, LEGO_ERR_MEMORY);
        }
    }
    exact_destroy(truth);
    item_order order = {0};
    allocations_left = 0;
    assert_int_equal(order_append(&order, 1), LEGO_ERR_MEMORY);
    allocations_left = -1;
    order_free(&order);
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

/* An estimator that notes what it is given. */
enum { STREAM = 500 };

typedef struct notebook {
    uint64_t items[STREAM + 1];
    int64_t counts[STREAM + 1];
    size_t n;
} notebook;

static lego_status note(void *self, const void *item, size_t size, int64_t count)
{
    notebook *made = self;
    assert_int_equal(size, 8);
    assert_true(made->n <= STREAM);
    memcpy(&made->items[made->n], item, 8);
    made->counts[made->n++] = count;
    return LEGO_OK;
}

static const estimator_kind noting = {.name = "notes", .in_order = true, .add = note};

/* A stream, what it holds and its order. */
typedef struct known_stream {
    uint64_t items[STREAM];
    exact_table *truth;
    item_order order;
} known_stream;

static void make_known(known_stream *made)
{
    uint64_t state = 5;
    *made = (known_stream){.truth = NULL};
    assert_int_equal(exact_create(&made->truth), LEGO_OK);
    for (size_t i = 0; i < STREAM; i++) {
        made->items[i] = draw_below(&state, 40);
        assert_int_equal(exact_add(made->truth, &made->items[i], 8, 1), LEGO_OK);
        assert_int_equal(order_append(&made->order, exact_latest(made->truth)), LEGO_OK);
    }
}

static void free_known(known_stream *made)
{
    exact_destroy(made->truth);
    order_free(&made->order);
}

static void occurrences_come_in_order(void **unused)
{
    (void)unused;
    static known_stream stream;
    static notebook made;
    make_known(&stream);
    assert_int_equal(order_feed(&stream.order, stream.truth, &noting, &made), LEGO_OK);
    assert_int_equal(made.n, STREAM);
    assert_memory_equal(made.items, stream.items, sizeof stream.items);
    for (size_t i = 0; i < STREAM; i++) assert_int_equal(made.counts[i], 1);
    free_known(&stream);
}

/* Where the order is not known: the same each time, every occurrence there, and what is deleted comes last. */
static void occurrences_are_shuffled(void **unused)
{
    (void)unused;
    static known_stream stream;
    static notebook made, again;
    uint64_t deleted = 1000;
    make_known(&stream);
    assert_int_equal(exact_add(stream.truth, &deleted, sizeof deleted, -3), LEGO_OK);
    assert_int_equal(order_feed(NULL, stream.truth, &noting, &made), LEGO_OK);
    assert_int_equal(order_feed(NULL, stream.truth, &noting, &again), LEGO_OK);
    assert_int_equal(made.n, STREAM + 1);
    assert_memory_equal(&made, &again, sizeof made);
    assert_memory_not_equal(made.items, stream.items, sizeof stream.items);
    assert_int_equal(made.items[STREAM], deleted);
    assert_int_equal(made.counts[STREAM], -3);
    exact_table *counted;
    assert_int_equal(exact_create(&counted), LEGO_OK);
    for (size_t i = 0; i <= STREAM; i++)
        assert_int_equal(exact_add(counted, &made.items[i], 8, made.counts[i]), LEGO_OK);
    for (size_t i = 0; i < exact_size(stream.truth); i++) {
        exact_item item = exact_at(stream.truth, i);
        assert_int_equal(exact_count(counted, item.bytes, item.size), item.count);
    }
    exact_destroy(counted);
    free_known(&stream);
}

/* An estimator that counts how often it saw each of a few items, and how many came in the first part of the stream. */
typedef struct tally {
    int64_t seen[3], early[3], n, rare;
} tally;

static lego_status count_one(void *self, const void *item, size_t size, int64_t count)
{
    tally *made = self;
    uint64_t number;
    assert_int_equal(size, sizeof number);
    memcpy(&number, item, sizeof number);
    if (number < 3) {
        made->seen[number] += count;
        if (made->n < (1 << 23)) made->early[number] += count;
    } else {
        made->rare += count;
    }
    made->n++;
    return LEGO_OK;
}

static const estimator_kind counting = {.name = "tally", .in_order = true, .add = count_one};

/* More than one round: still every occurrence, and items spread evenly. */
static void long_streams_come_in_rounds(void **unused)
{
    (void)unused;
    static const int64_t counts[3] = {INT64_C(1) << 24, INT64_C(1) << 22, 1000};
    int64_t total = 0;
    exact_table *truth;
    assert_int_equal(exact_create(&truth), LEGO_OK);
    for (uint64_t i = 0; i < 3; i++) {
        total += counts[i];
        assert_int_equal(exact_add(truth, &i, sizeof i, counts[i]), LEGO_OK);
    }
    for (uint64_t i = 3; i < 1000; i++, total++) assert_int_equal(exact_add(truth, &i, sizeof i, 1), LEGO_OK);
    tally made = {.n = 0};
    assert_int_equal(order_feed(NULL, truth, &counting, &made), LEGO_OK);
    for (size_t i = 0; i < 3; i++) {
        double share = (double)made.early[i] / (double)counts[i], wanted = (double)(1 << 23) / (double)total;
        assert_int_equal(made.seen[i], counts[i]);
        assert_true(share > 0.85 * wanted && share < 1.15 * wanted);
    }
    assert_int_equal(made.rare, 997);
    exact_destroy(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(exact_where_there_is_room),
        cmocka_unit_test(never_below_the_truth),
        cmocka_unit_test(conservative_is_not_worse),
        cmocka_unit_test(bytes_stay_within_the_budget),
        cmocka_unit_test(tiny_budgets_are_refused),
        cmocka_unit_test(huge_budgets_are_refused),
        cmocka_unit_test(sums_never_wrap),
        cmocka_unit_test(deletions),
        cmocka_unit_test(one_seed_gives_the_same_answers),
        cmocka_unit_test(the_filter_keeps_heavy_items),
        cmocka_unit_test(filters_have_their_shares),
        cmocka_unit_test(every_failed_allocation_is_a_status),
        cmocka_unit_test(occurrences_come_in_order),
        cmocka_unit_test(occurrences_are_shuffled),
        cmocka_unit_test(long_streams_come_in_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
