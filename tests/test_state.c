/* Sketches against dictionaries: whatever is done to them, in whatever order, each law holds that docs/design.md has.
 *
 *     test_state [CHANGES [SEED]]
 *
 * Without arguments it takes some seconds; `make soak` runs it for as many changes as are asked for. Where a law does
 * not hold it says after how many changes of which seed, and the same two numbers bring it back. */
#include "support.h"

enum { DOMAIN = 5000, POOL = 6, BATCH = 9000 };

/* A sketch, and the truth about it. */
struct state {
    lego_sketch *sketch;
    uint64_t budget;
    int64_t count[DOMAIN];
    bool fell;    /* a count was negative, now or once */
    bool deleted; /* or a top has had a say: its bytes need not follow from its content */
};

static struct state pool[POOL];
static uint64_t state, changes = ROUNDS(10000), seed = 1, done;

/* ---- items: even numbers are integers, odd ones texts of many lengths -------------------------------------------- */

static size_t text_of(unsigned number, char text[400])
{
    static const int length[] = {1, 8, 3, 12, 40, 238, 239, 300};
    return (size_t)snprintf(text, 400, "%u:%0*d", number, length[number / 2 % 8], 0);
}

static lego_status add_number(lego_sketch *sketch, unsigned number, int64_t count)
{
    char text[400];
    if (number % 2 == 0) return lego_add_u64(sketch, number, count);
    return lego_add(sketch, text, text_of(number, text), count);
}

static void ask_number(const lego_sketch *sketch, unsigned number, lego_estimate *e)
{
    char text[400];
    if (number % 2 == 0) assert_int_equal(lego_query_u64(sketch, number, e), LEGO_OK);
    else assert_int_equal(lego_query(sketch, text, text_of(number, text), e), LEGO_OK);
}

static unsigned draw_number(void)
{
    return (unsigned)draw_below(&state, 1 + draw_below(&state, 1 + draw_below(&state, DOMAIN)));
}

/* ---- the laws ---------------------------------------------------------------------------------------------------- */

static void check_estimate(const struct state *one, unsigned number, bool exact)
{
    const int64_t count = one->count[number];
    lego_estimate e;
    ask_number(one->sketch, number, &e);
    assert_true((double)e.lower <= e.value && e.value <= (double)e.likely && e.likely <= e.upper);
    if (!one->fell) assert_true(e.upper >= count);
    if (exact) assert_true(e.lower == count && e.upper == count && e.value == (double)count);
}

static unsigned number_of(const unsigned char *item, size_t size)
{
    unsigned number = 0;
    if (size == 8 && item[7] == 0) return item[0] + 256u * item[1];
    for (size_t i = 0; i < size && item[i] != ':'; i++) number = 10 * number + (item[i] - '0');
    return number;
}

static int check_listed(void *context, const lego_top_item *item)
{
    const struct state *one = context;
    if (!item->exact) return 0;
    const unsigned number = number_of(item->item, item->size);
    assert_true(number < DOMAIN);
    assert_int_equal(item->estimate.upper, one->count[number]);
    assert_int_equal(item->estimate.lower, one->count[number]);
    return 0;
}

static void check(const struct state *one)
{
    const lego_info info = info_of(one->sketch);
    int64_t total = 0;
    for (unsigned i = 0; i < DOMAIN; i++) total += one->count[i];
    assert_int_equal(info.total, total);
    assert_int_equal(lego_total(one->sketch), total);
    assert_true(info.bytes <= one->budget);
    if (info.columns == 0) assert_sums(one->sketch);
    const unsigned step = one->fell && !info.exact ? 97 : 1; /* counts of both signs take long to decode */
    for (unsigned i = (unsigned)draw_below(&state, step); i < DOMAIN; i += step) check_estimate(one, i, info.exact);
    if (info.top_budget > 0)
        assert_int_equal(lego_top(one->sketch, SIZE_MAX, check_listed, (void *)(uintptr_t)one), LEGO_OK);
    lego_destroy(reload(one->sketch));
}

/* Without deletions, and while no block keeps, the bytes are those of an empty sketch of this shape that counts the
 * same in any order. */
static void check_bytes(const struct state *one)
{
    lego_sketch *fresh;
    if (one->deleted || info_of(one->sketch).keeping > 0) return;
    assert_int_equal(lego_copy(one->sketch, &fresh), LEGO_OK);
    lego_clear(fresh);
    static const unsigned steps[] = {1, 3, 7, 1733, 4999}; /* coprime to the domain, so that all come */
    unsigned step = steps[draw_below(&state, 5)], at = draw_number();
    for (unsigned i = 0; i < 5 * DOMAIN; i++, at = (at + step) % DOMAIN) { /* counts in five parts */
        const int64_t count = one->count[at] / 5 + (i < DOMAIN ? one->count[at] % 5 : 0);
        if (count > 0) assert_int_equal(add_number(fresh, at, count), LEGO_OK);
    }
    fresh->items = one->sketch->items;
    assert_same(one->sketch, fresh);
    lego_destroy(fresh);
}

/* ---- what is done ------------------------------------------------------------------------------------------------ */

static void make_new(struct state *one)
{
    static const uint64_t budgets[] = {4096, 8192, 9000, 16384, 40000, 65536, 131072, 524288};
    lego_options options = {.budget = budgets[draw_below(&state, 8)], .seed = draw_below(&state, 12) == 0};
    if (draw_below(&state, 4) == 0) options = (lego_options){.budget = options.budget, .secret = "sixteen bytes of"};
    if (draw_below(&state, 6) == 0) options.model = lego_model_builtin("paper");
    if (draw_below(&state, 3) == 0 && options.budget >= 8192)
        options.top = options.budget / (2 + draw_below(&state, 7));
    lego_destroy(one->sketch);
    *one = (struct state){.budget = options.budget, .deleted = options.top > 0};
    assert_int_equal(lego_create(&options, &one->sketch), LEGO_OK);
    lego_set_threads(one->sketch, 1 + (unsigned)draw_below(&state, 3));
}

/* So much that a few of them come near the most that a sketch holds, or little. */
static int64_t draw_size(void)
{
    if (draw_below(&state, 500) == 0) return INT64_C(1) << (40 + draw_below(&state, 20));
    return draw_below(&state, 4) ? 1 : draw_count(&state, 5);
}

/* A count for an item that may take away what it has, or, rarely, more. */
static int64_t draw_change(const struct state *one, unsigned number, bool deletes)
{
    if (!deletes || draw_below(&state, 2)) return draw_size();
    const int64_t has = one->count[number];
    if (draw_below(&state, 300) == 0) return -draw_size();
    return has > 0 ? -(int64_t)(1 + draw_below(&state, (uint64_t)has)) : 0;
}

static void took(struct state *one, unsigned number, int64_t count)
{
    one->count[number] += count;
    one->fell |= one->count[number] < 0;
    one->deleted |= count < 0;
}

/* What was refused has changed nothing, and is refused for its size alone. */
static void check_refused(const struct state *one, lego_status status, const struct bytes *before)
{
    struct bytes now = sketch_to_bytes(one->sketch);
    assert_int_equal(status, LEGO_ERR_RANGE);
    assert_true(now.size == before->size && memcmp(now.p, before->p, now.size) == 0);
    free(now.p);
}

static void add_one(struct state *one)
{
    const unsigned number = draw_number();
    const int64_t count = draw_change(one, number, draw_below(&state, 3) == 0);
    const bool large = count >> 40 != 0 && count >> 40 != -1;
    lego_sketch *twin = large ? reload(one->sketch) : NULL; /* which takes and refuses the same */
    struct bytes before = sketch_to_bytes(one->sketch);
    const lego_status status = add_number(one->sketch, number, count);
    if (large) assert_int_equal(add_number(twin, number, count), status);
    lego_destroy(twin);
    if (status == LEGO_OK) took(one, number, count);
    else check_refused(one, status, &before);
    free(before.p);
}

/* Of bricks and of blocks: what many items made of a sketch is what they make of its twin, one by one. */
static void check_singles(const lego_sketch *sketch, lego_sketch *twin, const lego_items *items,
                          const unsigned numbers[])
{
    for (size_t i = 0; i < items->n; i++)
        assert_int_equal(add_number(twin, numbers[i], items->counts ? items->counts[i] : 1), LEGO_OK);
    twin->items = sketch->items; /* counts of 0 alone are none, but not in a call with others */
    assert_same(sketch, twin);
}

/* Many at once: of integers, or of texts; by counts or once each; deletions may be among them. */
static void add_many(struct state *one)
{
    static uint64_t integers[BATCH], offsets[BATCH + 1];
    static int64_t counts[BATCH];
    static char bytes[BATCH * 400];
    static unsigned numbers[BATCH];
    const bool texts = draw_below(&state, 2), counted = draw_below(&state, 2), deletes = draw_below(&state, 4) == 0;
    const size_t n = 1 + draw_below(&state, 1 + draw_below(&state, 1 + draw_below(&state, BATCH)));
    static struct state trial;
    trial = *one;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = draw_number() / 2 * 2 + texts;
        integers[i] = numbers[i];
        offsets[i + 1] = offsets[i] + (texts ? text_of(numbers[i], bytes + offsets[i]) : 0);
        counts[i] = counted ? draw_change(&trial, numbers[i], deletes) : 1;
        took(&trial, numbers[i], counts[i]);
    }
    const lego_items items = {.n = n,
                              .integers = texts ? NULL : integers,
                              .bytes = bytes,
                              .offsets = texts ? offsets : NULL,
                              .counts = counted ? counts : NULL};
    struct bytes before = sketch_to_bytes(one->sketch);
    lego_sketch *twin = has_top(one->sketch) ? NULL : reload(one->sketch); /* a top depends on calls */
    const lego_status status = lego_add_items(one->sketch, &items);
    if (status == LEGO_OK && twin) check_singles(one->sketch, twin, &items, numbers);
    if (status == LEGO_OK) *one = trial;
    else check_refused(one, status, &before);
    lego_destroy(twin);
    free(before.p);
}

/* Two of one size come to the same whichever goes into which, if none has a top. */
static void check_direction(const struct state *one, const struct state *other)
{
    lego_sketch *a, *b;
    const bool sizes = info_of(one->sketch).blocks == info_of(other->sketch).blocks;
    if (has_top(one->sketch) || has_top(other->sketch) || !sizes) return;
    assert_int_equal(lego_copy(one->sketch, &a), LEGO_OK);
    assert_int_equal(lego_copy(other->sketch, &b), LEGO_OK);
    const lego_status status = lego_merge(a, other->sketch);
    assert_int_equal(lego_merge(b, one->sketch), status);
    if (status == LEGO_OK) assert_same(a, b);
    lego_destroy(a);
    lego_destroy(b);
}

/* The other may be the same. */
static void combine(struct state *one, const struct state *other, bool subtract)
{
    check_direction(one, other);
    struct bytes before = sketch_to_bytes(one->sketch);
    static struct state from;
    from = *other;
    const bool top = info_of(other->sketch).top_budget > 0;
    const lego_status status =
        subtract ? lego_subtract(one->sketch, other->sketch) : lego_merge(one->sketch, other->sketch);
    if (status != LEGO_OK) {
        struct bytes now = sketch_to_bytes(one->sketch);
        assert_true(now.size == before.size && memcmp(now.p, before.p, now.size) == 0);
        free(now.p);
    } else {
        for (unsigned i = 0; i < DOMAIN; i++) one->count[i] += subtract ? -from.count[i] : from.count[i];
        for (unsigned i = 0; i < DOMAIN; i++) one->fell |= one->count[i] < 0;
        one->fell |= from.fell;
        one->deleted |= from.deleted || subtract || top;
    }
    free(before.p);
}

static void fold(struct state *one)
{
    const lego_info info = info_of(one->sketch);
    if (info.blocks % 2 == 0 && info.blocks > 8 && draw_below(&state, 2)) {
        assert_int_equal(lego_fold(one->sketch, info.blocks / 2), LEGO_OK);
        return;
    }
    const uint64_t budget = one->budget / (1 + draw_below(&state, 4));
    if (lego_fold_within(one->sketch, budget) == LEGO_OK) one->budget = budget;
}

static void replace_by_copy(struct state *one)
{
    lego_sketch *copy;
    if (draw_below(&state, 2)) copy = reload(one->sketch);
    else assert_int_equal(lego_copy(one->sketch, &copy), LEGO_OK);
    assert_same(copy, one->sketch);
    lego_destroy(one->sketch);
    one->sketch = copy;
    lego_set_threads(copy, 1 + (unsigned)draw_below(&state, 3));
}

static void clear(struct state *one)
{
    const bool top = info_of(one->sketch).top_budget > 0;
    lego_clear(one->sketch);
    *one = (struct state){.sketch = one->sketch, .budget = one->budget, .deleted = top};
    assert_true(sketch_untouched(one->sketch));
}

/* Everything is taken away again: if all was exact, nothing is left, unless a top has sent an item away. */
static void take_all_away(struct state *one)
{
    const bool leaks = has_top(one->sketch) && top_leaks(&one->sketch->top);
    const bool exact = info_of(one->sketch).exact && !leaks;
    for (unsigned i = 0; i < DOMAIN; i++)
        if (one->count[i] != 0 && add_number(one->sketch, i, -one->count[i]) != LEGO_OK) { /* its sums are too large */
            make_new(one);
            return;
        }
    memset(one->count, 0, sizeof one->count);
    one->deleted = true;
    check(one);
    if (!exact || info_of(one->sketch).columns > 0) return;
    lego_sketch *fresh;
    assert_int_equal(lego_copy(one->sketch, &fresh), LEGO_OK);
    lego_clear(fresh);
    fresh->items = one->sketch->items;
    assert_same(one->sketch, fresh);
    lego_destroy(fresh);
}

static void change(void)
{
    struct state *one = &pool[draw_below(&state, POOL)], *other = &pool[draw_below(&state, POOL)];
    const uint64_t what = draw_below(&state, 100);
    if (what < 40) add_one(one);
    else if (what < 65) add_many(one);
    else if (what < 77) combine(one, other, false);
    else if (what < 82) combine(one, other, true);
    else if (what < 86) fold(one);
    else if (what < 92) replace_by_copy(one);
    else if (what < 93) clear(one);
    else if (what < 94) take_all_away(one);
    else if (what < 96) check_bytes(one);
    else if (what < 97) make_new(one);
    else check(one);
}

static void every_law_holds(void **unused)
{
    (void)unused;
    state = seed;
    for (int i = 0; i < POOL; i++) make_new(&pool[i]);
    for (done = 0; done < changes; done++) change();
    for (int i = 0; i < POOL; i++) {
        check(&pool[i]);
        check_bytes(&pool[i]);
        lego_destroy(pool[i].sketch);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) changes = strtoull(argv[1], NULL, 10);
    if (argc > 2) seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_law_holds)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) printf("after %llu changes of seed %llu\n", (unsigned long long)done, (unsigned long long)seed);
    return failed;
}
