/* A top that grows is one that was large from the start, until it leaks and after; its merges; its least form. The room
 * top alone, in front of a light part that is plain sums. */
#include "support.h"
#include "top/top.h"

enum { DOMAIN = 3000 };
static const struct seed SEED = {7, 0};

/* ---- a top and its light part ------------------------------------------------------------------------------------ */

struct pair {
    struct top top;
    void *bytes;
    int64_t light[DOMAIN];
};

/* Items of sizes from 3 to 300, few of them long, whose first 3 bytes are their number. */
static size_t item_of(uint64_t number, unsigned char item[300])
{
    static const size_t sizes[] = {8, 3, 8, 9, 8, 20, 8, 12, 8, 30, 8, 7, 8, 16, 8, 11}, longer[] = {100, 238, 300};
    size_t size = number % 97 == 50 ? longer[number / 97 % 3] : sizes[number % 16];
    memset(item, size == 8 ? 0 : (int)(number % 7), size);
    for (size_t i = 0; i < 3; i++) item[i] = (unsigned char)(number >> (8 * i));
    return size;
}

static uint64_t number_of(const void *item)
{
    const unsigned char *p = item;
    return p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16;
}

static void take(void *sketch, const void *item, size_t size, int64_t count)
{
    struct pair *pair = sketch;
    assert_true(size <= TOP_KEY_MAX && !top_grows(&pair->top));
    pair->light[number_of(item)] += count;
}

static int64_t upper(const void *sketch, const void *item, size_t size)
{
    const struct pair *pair = sketch;
    (void)size;
    return pair->light[number_of(item)];
}

static struct top_light light_of_pair(struct pair *pair)
{
    return (struct top_light){take, upper, pair};
}

static void make_pair(struct pair *pair, uint32_t buckets, uint32_t most)
{
    assert_true(top_possible(buckets, most));
    pair->bytes = malloc(top_bytes(buckets));
    top_init(&pair->top, buckets, most, pair->bytes);
    memset(pair->light, 0, sizeof pair->light);
}

static void grow_to(struct pair *pair, uint32_t buckets)
{
    struct top more;
    void *bytes = malloc(top_bytes(buckets));
    top_init(&more, buckets, pair->top.most, bytes);
    top_grow(&more, &pair->top, SEED);
    free(pair->bytes);
    pair->bytes = bytes;
    pair->top = more;
}

static void add(struct pair *pair, uint64_t number, int64_t count)
{
    unsigned char item[300];
    size_t size = item_of(number, item);
    struct hash hash = hash_bytes(item, size, SEED);
    struct top_light light = light_of_pair(pair);
    while (top_wants_more(&pair->top, hash, item, size, count)) grow_to(pair, top_larger(&pair->top));
    pair->light[number] += top_add(&pair->top, hash, item, size, count, &light);
}

static void add_pair(struct pair *into, const struct pair *from)
{
    struct top_progress progress = {0};
    struct top_light light = light_of_pair(into);
    for (int i = 0; i < DOMAIN; i++) into->light[i] += from->light[i];
    while (!top_add_all(&into->top, &from->top, &progress, SEED, &light)) grow_to(into, top_larger(&into->top));
}

/* A twin with all its buckets. */
static void copy_large(struct pair *copy, const struct pair *pair)
{
    uint32_t most = pair->top.most;
    *copy = *pair;
    copy->bytes = malloc(top_bytes(most));
    top_init(&copy->top, most, most, copy->bytes);
    if (pair->top.buckets.d < most) {
        top_grow(&copy->top, &pair->top, SEED);
    } else {
        memcpy(copy->top.bucket, pair->top.bucket, (size_t)most * TOP_BUCKET);
        copy->top.votes = pair->top.votes;
    }
}

/* ---- what they have ---------------------------------------------------------------------------------------------- */

static bool find_number(const struct pair *pair, uint64_t number, struct resident *one)
{
    unsigned char item[300];
    size_t size = item_of(number, item);
    return top_find(&pair->top, hash_bytes(item, size, SEED), item, size, one);
}

/* The same buckets, once there are as many as can be. */
static void assert_same_pair(const struct pair *a, const struct pair *b)
{
    static struct pair x, y;
    copy_large(&x, a);
    copy_large(&y, b);
    assert_int_equal(x.top.most, y.top.most);
    assert_memory_equal(x.top.bucket, y.top.bucket, (size_t)x.top.most * TOP_BUCKET);
    assert_int_equal(x.top.votes, y.top.votes);
    assert_memory_equal(x.light, y.light, sizeof x.light);
    assert_int_equal(top_least(&a->top), top_least(&b->top));
    free(x.bytes);
    free(y.bytes);
}

/* Buckets are valid; both parts together have what came; what is not flagged is exact, and while it grows all are. */
static void check_pair(const struct pair *pair, const int64_t truth[DOMAIN])
{
    uint64_t votes = 0, residents = 0, found = 0;
    bool leaks = top_leaks(&pair->top);
    assert_true(top_possible(pair->top.buckets.d, pair->top.most) && !(leaks && top_grows(&pair->top)));
    for (uint32_t b = 0; b < pair->top.buckets.d; b++) {
        assert_true(top_bucket_valid(&pair->top.bucket[b], b, pair->top.buckets, SEED, &votes));
        residents += top_residents(&pair->top.bucket[b]);
    }
    assert_int_equal(votes, pair->top.votes);
    for (uint64_t i = 0; i < DOMAIN; i++) {
        unsigned char item[300];
        struct resident one = {.votes = 0};
        bool here = find_number(pair, i, &one), possible = item_of(i, item) <= TOP_KEY_MAX;
        found += here;
        assert_int_equal((int64_t)one.votes + pair->light[i], truth[i]);
        if (here && !one.flagged) assert_int_equal(one.votes, truth[i]);
        if (!leaks && possible) assert_true(here == (truth[i] > 0) && !one.flagged && pair->light[i] == 0);
    }
    assert_int_equal(found, residents);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

struct change {
    uint64_t number;
    int64_t count;
};

/* One of skewed items. With deletions, of no more than is there; with wild ones, of anything. */
static struct change draw_change(uint64_t *state, const int64_t truth[DOMAIN], bool deletions, bool wild)
{
    uint64_t most = 1 + draw_below(state, DOMAIN), number = draw_below(state, 1 + draw_below(state, most));
    int64_t count = draw_below(state, 10) ? 1 : draw_count(state, 7);
    if (deletions && truth[number] > 0 && draw_below(state, 3) == 0)
        count = -1 - (int64_t)draw_below(state, (uint64_t)truth[number]);
    if (wild && draw_below(state, 200) == 0) count = -draw_count(state, 3);
    return (struct change){number, count};
}

static void feed_pairs(struct pair *const pairs[], int n, int64_t truth[DOMAIN], uint64_t *state, int changes,
                       bool deletions, bool wild)
{
    for (int i = 0; i < changes; i++) {
        struct change change = draw_change(state, truth, deletions, wild);
        truth[change.number] += change.count;
        for (int k = 0; k < n; k++) add(pairs[k], change.number, change.count);
    }
}

static void feed_pair(struct pair *pair, int64_t truth[DOMAIN], uint64_t *state, int changes, bool deletions)
{
    feed_pairs((struct pair *const[]){pair}, 1, truth, state, changes, deletions, false);
}

static const uint32_t numbers[] = {1, 2, 3, 7, 8, 11, 15, 16, 26, 36, 64, 96, 240, 448};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void budgets_give_four_bits(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    assert_int_equal(top_most(0), 0);
    assert_int_equal(top_most(TOP_LINE + TOP_BUCKET - 1), 0);
    assert_int_equal(top_most(TOP_LINE + TOP_BUCKET), 1);
    for (int i = 0; i < 20000; i++) {
        uint64_t bytes = 320 + draw(&state) % (LEGO_BUDGET_MAX >> draw_below(&state, 28)), most = top_most(bytes), m;
        assert_true(top_bytes((uint32_t)most) <= bytes);
        if (bytes >= 512) assert_true((most + (most + 7) / 8 + 1) * TOP_BUCKET + TOP_LINE > bytes);
        for (m = most; m >= 16; m /= 2) assert_int_equal(m % 2, 0);
        if (most >= 8) assert_int_equal(top_most(2 * bytes - TOP_LINE), 2 * most); /* so that they merge */
    }
}

static void numbers_are_multiples(void **unused)
{
    (void)unused;
    for (uint32_t most = 1; most <= 480; most++) {
        uint32_t kept = top_most(top_bytes(most));
        assert_true(top_possible(1, most) == (kept == most));
        if (kept != most) continue;
        struct top top = {.buckets = divisor_of(1), .most = most};
        uint32_t possible = 1, counted = 0;
        for (uint32_t more; top_grows(&top); possible++, top.buckets = divisor_of(more)) {
            more = top_larger(&top);
            assert_true(more > top.buckets.d && more % top.buckets.d == 0 && top_possible(more, most));
            assert_true(top.buckets.d == 1 ? more <= 15 && (more >= 8 || more == most) : more == 2 * top.buckets.d);
        }
        assert_int_equal(top.buckets.d, most);
        for (uint32_t n = 0; n <= 2 * most; n++) counted += top_possible(n, most);
        assert_int_equal(counted, possible);
    }
}

/* ---- growing ----------------------------------------------------------------------------------------------------- */

/* One begins with one bucket and one with all: they are the same after every part of a stream, leaking or not. */
static void growing_is_being_large(void **unused)
{
    (void)unused;
    uint64_t state = 2, young = 0, leaking = 0;
    static struct pair small, large;
    for (int round = 0; round < 140; round++) {
        uint32_t most = numbers[round % NUMBERS];
        int64_t truth[DOMAIN] = {0};
        bool deletions = round / NUMBERS % 3 > 0, wild = round / NUMBERS % 3 > 1;
        make_pair(&small, 1, most);
        make_pair(&large, most, most);
        for (int part = 0; part < 12; part++) {
            feed_pairs((struct pair *const[]){&small, &large}, 2, truth, &state, 1 << part, deletions, wild);
            assert_same_pair(&small, &large);
            check_pair(&small, truth);
            check_pair(&large, truth);
            if (!deletions && top_grows(&small.top)) assert_int_equal(small.top.buckets.d, top_least(&small.top));
            young += top_grows(&small.top);
            leaking += top_leaks(&small.top);
        }
        free(small.bytes);
        free(large.bytes);
    }
    assert_true(young > 140 && leaking > 140);
}

/* Asking changes nothing; what a top that grows is asked for and need not grow for, it takes whole. */
static void asking_changes_nothing(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    static struct pair pair, before;
    int64_t truth[DOMAIN] = {0};
    make_pair(&pair, 1, 448);
    for (int part = 0; part < 20; part++) {
        feed_pair(&pair, truth, &state, 20, true);
        copy_large(&before, &pair);
        for (uint64_t i = 0; i < DOMAIN; i++)
            for (int64_t count = -1; count <= 1; count++) {
                unsigned char item[300];
                size_t size = item_of(i, item);
                struct hash hash = hash_bytes(item, size, SEED);
                bool more = top_wants_more(&pair.top, hash, item, size, count);
                if (size > TOP_KEY_MAX || count == 0) assert_false(more);
                else if (count < 0) assert_true(more == (top_grows(&pair.top) && truth[i] == 0));
                assert_false(top_wants_more(&before.top, hash, item, size, count));
            }
        assert_same_pair(&pair, &before);
        free(before.bytes);
    }
    free(pair.bytes);
}

/* ---- the least form ---------------------------------------------------------------------------------------------- */

/* As a file would bring it back. */
static void gather_pair(struct pair *gathered, const struct pair *pair)
{
    uint32_t least = top_least(&pair->top);
    make_pair(gathered, least, pair->top.most);
    memcpy(gathered->light, pair->light, sizeof pair->light);
    gathered->top.votes = pair->top.votes;
    for (uint32_t b = 0; b < least; b++) top_gather(&pair->top, least, b, &gathered->top.bucket[b]);
}

/* Whether everything has room in so many buckets, fewer than the most: by trying. */
static bool has_room(const struct pair *pair, uint32_t buckets)
{
    static struct pair trial;
    struct top_light light = light_of_pair(&trial);
    struct top_progress progress = {0};
    make_pair(&trial, buckets, pair->top.most);
    bool all = top_add_all(&trial.top, &pair->top, &progress, SEED, &light);
    free(trial.bytes);
    return all;
}

static void the_least_form_is_the_content(void **unused)
{
    (void)unused;
    uint64_t state = 4, fewer = 0;
    static struct pair pair, gathered, again;
    for (int round = 0; round < 140; round++) {
        int64_t truth[DOMAIN] = {0};
        make_pair(&pair, 1, numbers[round % NUMBERS]);
        feed_pair(&pair, truth, &state, 1 << draw_below(&state, 11), round % 2);
        for (uint64_t i = 0; round % 3 == 0 && i < DOMAIN; i++) /* some is left, where it is not all */
            if (truth[i] > 0 && draw_below(&state, 10)) {
                add(&pair, i, -truth[i]);
                truth[i] = 0;
            }
        uint32_t least = top_least(&pair.top), smaller = 0;
        assert_true(top_leaks(&pair.top) ? least == pair.top.most : least <= pair.top.buckets.d);
        for (uint32_t n = 1; n < least; n++)
            if (top_possible(n, pair.top.most)) smaller = n;
        if (smaller && !top_leaks(&pair.top)) assert_false(has_room(&pair, smaller));
        fewer += least < pair.top.buckets.d;
        gather_pair(&gathered, &pair);
        assert_int_equal(top_least(&gathered.top), gathered.top.buckets.d);
        check_pair(&gathered, truth);
        assert_same_pair(&pair, &gathered);
        gather_pair(&again, &gathered);
        assert_memory_equal(again.top.bucket, gathered.top.bucket, (size_t)least * TOP_BUCKET);
        feed_pairs((struct pair *const[]){&pair, &gathered}, 2, truth, &state, 500, true, false);
        assert_same_pair(&pair, &gathered);
        free(pair.bytes);
        free(gathered.bytes);
        free(again.bytes);
    }
    assert_true(fewer > 5);
}

static void order_is_not_content(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    static struct pair a, b, least[2];
    for (int round = 0; round < 30; round++) {
        uint64_t n = 1 + draw_below(&state, 150);
        make_pair(&a, 1, 448);
        make_pair(&b, round % 2 ? 448 : 1, 448);
        for (uint64_t i = 0; i < n; i++) add(&a, i, (int64_t)(1 + i * i));
        for (uint64_t i = 0; i < 40; i++) add(&b, 2000 + i, 1); /* these go again */
        for (uint64_t i = n; i-- > 0;) add(&b, i, 1);
        for (uint64_t i = 0; i < n; i++) add(&b, i, (int64_t)(i * i));
        for (uint64_t i = 0; i < 40; i++) add(&b, 2000 + i, -1);
        assert_false(top_leaks(&a.top) || top_leaks(&b.top));
        gather_pair(&least[0], &a);
        gather_pair(&least[1], &b);
        assert_int_equal(least[0].top.buckets.d, least[1].top.buckets.d);
        assert_memory_equal(least[0].top.bucket, least[1].top.bucket, least[0].top.buckets.d * TOP_BUCKET);
        struct pair *all[] = {&a, &b, &least[0], &least[1]};
        for (int i = 0; i < 4; i++) free(all[i]->bytes);
    }
}

static void deleting_everything_leaves_one_bucket(void **unused)
{
    (void)unused;
    uint64_t state = 6;
    static struct pair pair, least;
    static const struct top_bucket empty;
    int64_t truth[DOMAIN] = {0};
    make_pair(&pair, 1, 448);
    feed_pair(&pair, truth, &state, 100, true);
    assert_false(top_leaks(&pair.top));
    assert_true(pair.top.buckets.d > 1);
    for (uint64_t i = 0; i < DOMAIN; i++) add(&pair, i, -truth[i]);
    gather_pair(&least, &pair);
    assert_int_equal(least.top.buckets.d, 1);
    assert_int_equal(least.top.votes, 0);
    assert_memory_equal(least.top.bucket, &empty, sizeof empty);
    free(pair.bytes);
    free(least.bytes);
}

/* A file of few buckets, one of them leaky, and one of more than it needs, are told by top_least(). */
static void other_forms_are_seen(void **unused)
{
    (void)unused;
    static struct pair pair;
    make_pair(&pair, 1, 24);
    add(&pair, 0, 5);
    uint64_t votes = 0;
    pair.top.bucket[0].byte[5] |= 0x80;
    assert_true(top_bucket_valid(pair.top.bucket, 0, pair.top.buckets, SEED, &votes));
    assert_int_not_equal(top_least(&pair.top), pair.top.buckets.d);
    pair.top.bucket[0].byte[5] = 0;
    assert_int_equal(top_least(&pair.top), 1);
    grow_to(&pair, 12);
    assert_int_not_equal(top_least(&pair.top), pair.top.buckets.d);
    for (uint32_t b = 0; b < 12; b++) {
        if (top_residents(&pair.top.bucket[b]) == 0) continue;
        assert_true(top_bucket_valid(&pair.top.bucket[b], b, divisor_of(12), SEED, &votes));
        assert_true(top_bucket_valid(&pair.top.bucket[b], 0, divisor_of(1), SEED, &votes));
        assert_false(top_bucket_valid(&pair.top.bucket[b], (b + 1) % 12, divisor_of(12), SEED, &votes));
    }
    free(pair.bytes);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* Into whatever has room, of whatever most: it is the top of both streams. */
static void young_ones_merge_exactly(void **unused)
{
    (void)unused;
    uint64_t state = 7, exact = 0, grew = 0;
    static struct pair into, from, whole;
    for (int round = 0; round < 200; round++) {
        int64_t truth[DOMAIN] = {0}, other[DOMAIN] = {0};
        make_pair(&into, 1, numbers[draw_below(&state, NUMBERS)]);
        make_pair(&from, 1, numbers[draw_below(&state, NUMBERS)]);
        feed_pair(&into, truth, &state, 1 << draw_below(&state, 8), round % 2);
        feed_pair(&from, other, &state, 1 << draw_below(&state, 8), round % 2);
        uint32_t before = into.top.buckets.d;
        bool any_leaks = top_leaks(&into.top) || top_leaks(&from.top);
        if (!any_leaks) {
            make_pair(&whole, 1, into.top.most);
            for (uint64_t i = 0; i < DOMAIN; i++) add(&whole, i, truth[i] += other[i]);
            add_pair(&into, &from);
            check_pair(&into, truth);
            assert_true(top_leaks(&into.top) == top_leaks(&whole.top));
            if (!top_leaks(&whole.top)) assert_same_pair(&into, &whole);
            exact += !top_leaks(&whole.top);
            grew += into.top.buckets.d > before;
            free(whole.bytes);
        }
        free(into.bytes);
        free(from.bytes);
    }
    assert_true(exact > 50 && grew > 25);
}

/* Of equal most: either way round, and whether they have all their buckets yet or not, it is the same. */
static void growing_changes_no_merge(void **unused)
{
    (void)unused;
    uint64_t state = 8, mixed = 0;
    static struct pair a, b, large[2], other[2];
    for (int round = 0; round < 200; round++) {
        int64_t truth[DOMAIN] = {0}, more[DOMAIN] = {0};
        uint32_t most = numbers[round % NUMBERS];
        make_pair(&a, 1, most);
        make_pair(&b, 1, most);
        feed_pair(&a, truth, &state, 1 << draw_below(&state, 11), false);
        feed_pair(&b, more, &state, 1 << draw_below(&state, 11), round % 2);
        copy_large(&large[0], &a);
        copy_large(&large[1], &b);
        for (int i = 0; i < 2; i++) copy_large(&other[i], &large[i]);
        mixed += top_grows(&a.top) != top_grows(&b.top);
        for (int i = 0; i < DOMAIN; i++) truth[i] += more[i];
        add_pair(&large[0], &large[1]);
        add_pair(&other[1], &other[0]);
        assert_same_pair(&large[0], &other[1]);
        if (top_leaks(&b.top) && top_grows(&a.top)) grow_to(&a, most); /* as a caller has to */
        add_pair(&a, &b);
        check_pair(&a, truth);
        assert_same_pair(&a, &large[0]);
        struct pair *all[] = {&a, &b, &large[0], &large[1], &other[0], &other[1]};
        for (int i = 0; i < 6; i++) free(all[i]->bytes);
    }
    assert_true(mixed > 20);
}

/* Those that leak fold into a divisor; one that does not goes anywhere, as itself and to meet one that does. */
static void leaking_ones_fold(void **unused)
{
    (void)unused;
    uint64_t state = 9, moved = 0;
    static struct pair into, from, made;
    for (int round = 0; round < 200; round++) {
        int64_t truth[DOMAIN] = {0}, more[DOMAIN] = {0};
        make_pair(&from, 1, numbers[draw_below(&state, NUMBERS)]);
        make_pair(&into, 1, numbers[draw_below(&state, NUMBERS)]);
        feed_pair(&from, more, &state, 1 << draw_below(&state, 12), round % 2);
        feed_pair(&into, truth, &state, 1 << draw_below(&state, round % 3 ? 6 : 12), round % 2);
        uint32_t a = into.top.buckets.d, b = from.top.buckets.d;
        bool nests = !top_grows(&into.top) && b % a == 0, meets = top_leaks(&from.top) && !nests;
        if (meets && !top_leaks(&into.top)) {
            make_pair(&made, b, b);
            add_pair(&made, &into);
            check_pair(&made, truth);
            free(into.bytes);
            into = made;
            moved++;
        }
        if (!meets || into.top.buckets.d == b) {
            for (int i = 0; i < DOMAIN; i++) truth[i] += more[i];
            add_pair(&into, &from);
            check_pair(&into, truth);
            feed_pair(&into, truth, &state, 200, round % 2);
            check_pair(&into, truth);
        }
        free(into.bytes);
        free(from.bytes);
    }
    assert_true(moved > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_give_four_bits),
        cmocka_unit_test(numbers_are_multiples),
        cmocka_unit_test(growing_is_being_large),
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(the_least_form_is_the_content),
        cmocka_unit_test(order_is_not_content),
        cmocka_unit_test(deleting_everything_leaves_one_bucket),
        cmocka_unit_test(other_forms_are_seen),
        cmocka_unit_test(young_ones_merge_exactly),
        cmocka_unit_test(growing_changes_no_merge),
        cmocka_unit_test(leaking_ones_fold),
    };
    return cmocka_run_group_tests_name("top grow", tests, NULL, NULL);
}
