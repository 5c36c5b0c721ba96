/* Elastic sketches: exact residents, bounds, sums through evictions, deletions and merges, lists, bytes, faults. */
#include "elastic.h"
#include "support.h"

/* ---- making them, and what is true of all ------------------------------------------------------------------------ */

static lego_elastic *make_elastic(const char *model, uint64_t budget, uint64_t heavy, const lego_allocator *allocator)
{
    lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
    options.light.model = lego_model_builtin(model);
    options.light.budget = budget;
    options.light.seed = 7;
    options.light.allocator = allocator;
    options.heavy = heavy;
    lego_elastic *elastic;
    assert_int_equal(lego_elastic_create(&options, &elastic), LEGO_OK);
    return elastic;
}

static struct bytes elastic_to_bytes(const lego_elastic *elastic)
{
    struct bytes bytes = {malloc(lego_elastic_saved_size(elastic)), 0};
    assert_non_null(bytes.p);
    assert_int_equal(lego_elastic_save(elastic, append_bytes, &bytes), LEGO_OK);
    assert_int_equal(bytes.size, lego_elastic_saved_size(elastic));
    return bytes;
}

static void assert_same_elastic(const lego_elastic *a, const lego_elastic *b)
{
    struct bytes x = elastic_to_bytes(a), y = elastic_to_bytes(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.p, y.p, x.size);
    free(x.p);
    free(y.p);
}

/* An item that is its number in so many bytes, from 0 to 300: the number may not fit, then it is a multiple of 256. */
static size_t item_of(uint64_t number, unsigned char item[300])
{
    static const size_t sizes[] = {8, 4, 1, 8, 9, 3, 20, 100, 238, 239, 300, 8, 0, 12, 8, 16};
    size_t size = sizes[number % 16];
    memset(item, (int)(number % 7), size);
    for (size_t i = 0; i < size && i < 8; i++) item[i] = (unsigned char)(number >> (8 * i));
    return size;
}

/* A stream of such items and the truth about it. Items that come out as the same bytes are counted as one. */
enum { DOMAIN = 4000 };
struct truth {
    int64_t count[DOMAIN];
    int64_t total;
};

static uint64_t first_of(uint64_t number) /* that has the same bytes */
{
    unsigned char a[300], b[300];
    size_t size = item_of(number, a);
    if (size >= 3) return number;
    for (uint64_t i = number % 16; i < number; i += 16)
        if (item_of(i, b) == size && memcmp(a, b, size) == 0) return i;
    return number;
}

/* n changes of skewed items; with deletions, of no more than is there. */
static void feed(lego_elastic *elastic, struct truth *truth, uint64_t *state, size_t n, bool deletions)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t most = 1 + draw_below(state, DOMAIN),
                 number = first_of(draw_below(state, 1 + draw_below(state, most)));
        int64_t count = draw_below(state, 20) ? 1 : draw_count(state, 4);
        if (deletions && draw_below(state, 3) == 0)
            count = -(int64_t)draw_below(state, (uint64_t)truth->count[number] + 1);
        unsigned char item[300];
        size_t size = item_of(number, item);
        assert_int_equal(lego_elastic_add(elastic, item, size, count), LEGO_OK);
        truth->count[number] += count;
        truth->total += count;
    }
}

struct listed {
    const struct truth *truth;
    const lego_elastic *elastic;
    double before;
    size_t n, exact;
    int64_t sum; /* of what is in the heavy part, as far as the list tells */
};

static int check_listed(void *context, const lego_top *top)
{
    struct listed *listed = context;
    lego_estimate e;
    assert_true(listed->n == 0 || top->estimate.value <= listed->before);
    assert_int_equal(lego_elastic_estimate(listed->elastic, top->item, top->size, &e), LEGO_OK);
    assert_memory_equal(&e, &top->estimate, sizeof e);
    listed->before = top->estimate.value;
    listed->n++;
    listed->exact += top->exact != 0;
    if (top->exact) assert_true(e.lower == e.upper && e.value == (double)e.upper);
    return 0;
}

/* Sums, bounds, exactness of what is not flagged, what info and the list say, and the bytes. */
static void check_elastic(const lego_elastic *elastic, const struct truth *truth)
{
    lego_elastic_info info;
    lego_sketch_info light;
    lego_elastic_describe(elastic, &info);
    lego_sketch_describe(lego_elastic_light(elastic), &light);
    assert_int_equal(info.total, truth->total);
    assert_int_equal(info.heavy_total + light.total, truth->total);
    assert_int_equal(info.bytes, info.heavy_bytes + light.bytes);
    assert_true(info.room_used <= info.room && info.exact <= info.residents);
    uint64_t residents = 0, exact = 0;
    for (uint64_t number = 0; number < DOMAIN; number++) {
        if (first_of(number) != number) continue;
        unsigned char item[300];
        size_t size = item_of(number, item);
        lego_estimate e;
        struct resident one;
        assert_int_equal(lego_elastic_estimate(elastic, item, size, &e), LEGO_OK);
        assert_true(e.upper >= truth->count[number]);
        assert_true((double)e.lower <= e.value && e.value <= (double)e.upper);
        if (!heavy_find(&elastic->heavy, hash_bytes(item, size, 7), item, size, &one)) continue;
        assert_true(size <= HEAVY_KEY_MAX);
        residents++;
        if (one.flagged) continue;
        exact++;
        assert_int_equal(one.votes, truth->count[number]);
        assert_true(e.lower == e.upper && e.upper == truth->count[number]);
    }
    assert_int_equal(info.residents, residents);
    assert_int_equal(info.exact, exact);
    struct listed listed = {.truth = truth, .elastic = elastic};
    assert_int_equal(lego_elastic_top(elastic, SIZE_MAX, check_listed, &listed), LEGO_OK);
    assert_int_equal(listed.n, residents);
    assert_int_equal(listed.exact, exact);

    struct bytes bytes = elastic_to_bytes(elastic);
    lego_elastic *loaded;
    assert_int_equal(lego_elastic_load(bytes.p, bytes.size, NULL, NULL, &loaded), LEGO_OK);
    assert_same_elastic(elastic, loaded);
    assert_int_equal(loaded->heavy.votes, elastic->heavy.votes);
    lego_elastic_destroy(loaded);
    free(bytes.p);
}

static const char *const models[] = {"compact", "rule", "paper"};

/* ---- laws -------------------------------------------------------------------------------------------------------- */

static void everything_holds(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    static struct truth truth;
    for (int round = 0; round < ROUNDS(30); round++) {
        lego_elastic *elastic =
            make_elastic(models[round % 3], 160000, round % 2 ? 600 + 1000 * (uint64_t)round : 0, NULL);
        truth = (struct truth){0};
        for (int part = 0; part < 3; part++) {
            feed(elastic, &truth, &state, 4000, round % 4 >= 2);
            check_elastic(elastic, &truth);
        }
        lego_elastic_destroy(elastic);
    }
}

/* In a heavy part that has room for everything all counts are exact, deletions and all. */
static void with_room_all_is_exact(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    lego_elastic *elastic = make_elastic("compact", 1 << 20, 1 << 19, NULL);
    static struct truth truth;
    feed(elastic, &truth, &state, 20000, true);
    check_elastic(elastic, &truth);
    for (uint64_t number = 0; number < DOMAIN; number++) {
        unsigned char item[300];
        size_t size = item_of(number, item);
        lego_estimate e;
        if (size > 20 || first_of(number) != number) continue; /* of the long ones many share a bucket */
        lego_elastic_estimate(elastic, item, size, &e);
        assert_int_equal(e.upper, truth.count[number]);
        assert_int_equal(e.lower, truth.count[number]);
        if (truth.count[number]) assert_int_equal(lego_elastic_add(elastic, item, size, -truth.count[number]), LEGO_OK);
    }
    lego_elastic_destroy(elastic);
}

static void deleting_everything_leaves_nothing(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (int m = 0; m < 3; m++) {
        lego_elastic *elastic = make_elastic(models[m], 160000, 2000, NULL);
        static struct truth truth;
        truth = (struct truth){0};
        feed(elastic, &truth, &state, 10000, false);
        for (uint64_t number = 0; number < DOMAIN; number++) {
            unsigned char item[300];
            size_t size = item_of(number, item);
            if (truth.count[number])
                assert_int_equal(lego_elastic_add(elastic, item, size, -truth.count[number]), LEGO_OK);
        }
        lego_elastic_info info;
        lego_elastic_describe(elastic, &info);
        assert_int_equal(info.total, 0);
        for (uint64_t i = 0; i < 100; i++) {
            lego_estimate e;
            lego_elastic_estimate_u64(elastic, i, &e);
            assert_int_equal(e.upper,
                             0); /* votes that had a light part to pay for are gone, and its cells are 0 again */
        }
        lego_elastic_clear(elastic);
        lego_elastic *fresh = make_elastic(models[m], 160000, 2000, NULL);
        assert_same_elastic(elastic, fresh);
        lego_elastic_destroy(elastic);
        lego_elastic_destroy(fresh);
    }
}

/* The heaviest hundred of a skewed stream are found, in order, in a heavy part of a few KB. */
struct names {
    uint64_t name[100];
    size_t n;
};

static int take_name(void *context, const lego_top *top)
{
    struct names *names = context;
    assert_int_equal(top->size, 8);
    memcpy(&names->name[names->n++], top->item, 8);
    return names->n == 100;
}

static void the_top_is_found(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    lego_elastic *elastic = make_elastic("compact", 100 << 10, 0, NULL);
    enum { N = 20000 };
    struct stream_of s = {0, malloc(400000 * 8), malloc(400000 * 8)};
    for (uint64_t rank = 1; rank <= N; rank++)
        for (uint64_t i = 0; i < N / rank; i++) {
            s.items[s.n] = rank;
            s.counts[s.n++] = 1;
        }
    shuffle_stream(&s, &state);
    assert_int_equal(lego_elastic_add_u64s(elastic, s.items, NULL, s.n), LEGO_OK);
    struct names names = {.n = 0};
    assert_int_equal(lego_elastic_top(elastic, 1000, take_name, &names), LEGO_OK); /* which stops it at 100 */
    assert_int_equal(names.n, 100);
    for (uint64_t i = 0; i < 100; i++) assert_true(names.name[i] >= i && names.name[i] <= i + 4);
    free_stream(&s);
    lego_elastic_destroy(elastic);
}

static void batches_are_single_calls(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct stream_of s = make_stream(&state, 30000, 3000, 3, false);
    lego_elastic *one = make_elastic("compact", 40000, 0, NULL), *all = make_elastic("compact", 40000, 0, NULL);
    lego_elastic *text = make_elastic("compact", 40000, 0, NULL);
    uint64_t *offsets = malloc((s.n + 1) * 8);
    for (size_t i = 0; i <= s.n; i++) offsets[i] = 8 * i;
    for (size_t i = 0; i < s.n; i++) assert_int_equal(lego_elastic_add_u64(one, s.items[i], s.counts[i]), LEGO_OK);
    assert_int_equal(lego_elastic_add_u64s(all, s.items, s.counts, s.n), LEGO_OK);
    assert_int_equal(lego_elastic_add_batch(text, s.items, offsets, s.counts, s.n), LEGO_OK); /* on little-endian */
    assert_same_elastic(one, all);
    assert_same_elastic(one, text);
    lego_estimate *a = malloc(s.n * sizeof *a), *b = malloc(s.n * sizeof *b);
    assert_int_equal(lego_elastic_estimate_u64s(one, s.items, s.n, a), LEGO_OK);
    assert_int_equal(lego_elastic_estimate_batch(one, s.items, offsets, s.n, b), LEGO_OK);
    assert_memory_equal(a, b, s.n * sizeof *a);
    offsets[5] = 99999;
    assert_int_equal(lego_elastic_add_batch(text, s.items, offsets, NULL, s.n), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_elastic_estimate_batch(text, s.items, offsets, s.n, b), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_elastic_add(text, NULL, 3, 1), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_elastic_estimate(text, NULL, 3, b), LEGO_ERR_ARGUMENT);
    assert_same_elastic(one, text);
    free(offsets);
    free(a);
    free(b);
    free_stream(&s);
    lego_elastic_destroy(one);
    lego_elastic_destroy(all);
    lego_elastic_destroy(text);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

static void merged_sums_are_conserved(void **unused)
{
    (void)unused;
    uint64_t state = 6;
    static struct truth truth, other;
    for (int round = 0; round < ROUNDS(30); round++) {
        const char *model = models[round % 3];
        uint64_t heavy = 600 + 700 * (uint64_t)round;
        lego_elastic *a = make_elastic(model, 160000, heavy, NULL), *b = make_elastic(model, 160000, heavy, NULL), *c,
                     *d;
        truth = other = (struct truth){0};
        feed(a, &truth, &state, 3000, round % 2);
        feed(b, &other, &state, round % 5 ? 3000 : 30, round % 2); /* some whose buckets never leaked */
        assert_int_equal(lego_elastic_copy(a, &c), LEGO_OK);
        assert_int_equal(lego_elastic_copy(b, &d), LEGO_OK);
        assert_same_elastic(a, c);
        assert_int_equal(lego_elastic_merge(a, b), LEGO_OK);
        assert_int_equal(lego_elastic_merge(d, c), LEGO_OK);
        if (round % 2 == 0) assert_same_elastic(a, d); /* either way round; deletions may leave other light parts */
        for (int i = 0; i < DOMAIN; i++) truth.count[i] += other.count[i];
        truth.total += other.total;
        check_elastic(a, &truth);
        check_elastic(d, &truth);

        assert_int_equal(lego_elastic_merge(a, a), LEGO_OK);
        for (int i = 0; i < DOMAIN; i++) truth.count[i] *= 2;
        truth.total *= 2;
        check_elastic(a, &truth);
        feed(a, &truth, &state, 3000, round % 2);
        check_elastic(a, &truth);
        lego_elastic_destroy(a);
        lego_elastic_destroy(b);
        lego_elastic_destroy(c);
        lego_elastic_destroy(d);
    }
}

static void others_do_not_merge(void **unused)
{
    (void)unused;
    lego_elastic *a = make_elastic("compact", 40000, 4000, NULL), *b = make_elastic("rule", 40000, 4000, NULL);
    lego_elastic *c = make_elastic("compact", 40000, 8000, NULL), *d;
    lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
    options.light.budget = 40000;
    options.heavy = 4000;
    assert_int_equal(lego_elastic_create(&options, &d), LEGO_OK);
    lego_elastic_add_u64(a, 1, 5);
    lego_elastic *before;
    lego_elastic_copy(a, &before);
    assert_int_equal(lego_elastic_merge(a, b), LEGO_ERR_MODEL);
    assert_int_equal(lego_elastic_merge(a, c), LEGO_ERR_SHAPE);
    assert_int_equal(lego_elastic_merge(a, d), LEGO_ERR_SEED);
    assert_same_elastic(a, before);
    lego_elastic_destroy(a);
    lego_elastic_destroy(b);
    lego_elastic_destroy(c);
    lego_elastic_destroy(d);
    lego_elastic_destroy(before);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void the_budget_is_a_ceiling(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    for (int round = 0; round < 200; round++) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
        options.light.budget = 8192 + draw_below(&state, round < 100 ? 100000 : 3000000);
        options.light.model = lego_model_builtin(models[round % 2]);
        options.light.allocator = &allocator;
        options.heavy = round % 3 ? 0 : 512 + draw_below(&state, options.light.budget - 512 - 4096);
        lego_elastic *elastic;
        lego_status status = lego_elastic_create(&options, &elastic);
        if (status == LEGO_ERR_BUDGET && round % 2 == 1) continue; /* bricks may need more than is left */
        assert_int_equal(status, LEGO_OK);
        assert_true(lego_elastic_bytes(elastic) <= options.light.budget);
        assert_true(books.now <= options.light.budget + lego_sketch_cache_bytes(lego_elastic_light(elastic)));
        if (round % 2 == 0) assert_true(lego_elastic_bytes(elastic) >= options.light.budget / 100 * 98 - 1200);
        lego_elastic_destroy(elastic);
        assert_int_equal(books.now, 0);
    }
    static const uint64_t wrong[][2] = {
        {4096, 0},       {4607, 512}, {100000, 100},           {100000, 96000}, {100000, UINT64_MAX},
        {UINT64_MAX, 0}, {0, 0},      {UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
        lego_elastic *elastic = NULL;
        options.light.budget = wrong[i][0];
        options.heavy = wrong[i][1];
        assert_int_equal(lego_elastic_create(&options, &elastic), LEGO_ERR_BUDGET);
        assert_null(elastic);
    }
}

static void sums_do_not_overflow(void **unused)
{
    (void)unused;
    for (int m = 0; m < 3; m++) {
        lego_elastic *elastic = make_elastic(models[m], 160000, 600, NULL), *before;
        int64_t most = INT64_MAX / (int64_t)lego_elastic_light(elastic)->model->quantum, part = most / 100;
        for (uint64_t i = 0; i < 100; i++) /* few places, so that most of it goes through the light part */
            assert_int_equal(lego_elastic_add_u64(elastic, i * UINT64_C(0x9e3779b97f4a7c15), part), LEGO_OK);
        lego_elastic_copy(elastic, &before);
        assert_int_equal(lego_elastic_add_u64(elastic, 1, part), LEGO_ERR_RANGE);
        assert_int_equal(lego_elastic_add_u64(elastic, 1, INT64_MIN), LEGO_ERR_RANGE);
        assert_int_equal(lego_elastic_merge(elastic, before), LEGO_ERR_RANGE);
        assert_same_elastic(elastic, before);
        lego_elastic_info info;
        lego_elastic_describe(elastic, &info);
        assert_true(info.total == part * 100);
        struct bytes bytes = elastic_to_bytes(elastic);
        lego_elastic *loaded;
        assert_int_equal(lego_elastic_load(bytes.p, bytes.size, NULL, NULL, &loaded), LEGO_OK);
        free(bytes.p);
        lego_elastic_destroy(loaded);
        lego_elastic_destroy(elastic);
        lego_elastic_destroy(before);
    }
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void put_int(unsigned char *p, uint64_t x)
{
    for (int i = 0; i < 8; i++) p[i] = (unsigned char)(x >> (8 * i));
}

#define XXH_INLINE_ALL
#include <xxhash.h>

static void mend(struct bytes *bytes) /* the checksum */
{
    put_int(bytes->p + bytes->size - 8, XXH3_64bits(bytes->p, bytes->size - 8));
}

/* Every byte changed: without the right checksum it is refused; with it, it is refused or it is what it says. */
static void every_change_is_seen(void **unused)
{
    (void)unused;
    uint64_t state = 8;
    for (int m = 0; m < 2; m++) {
        lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
        options.light.model = lego_model_builtin(models[m]);
        options.light.budget = 0;
        options.light.bricks = 2;
        options.light.columns = m ? 64 : 0;
        options.light.seed = 7;
        options.heavy = 1100;
        lego_elastic *elastic, *loaded = NULL;
        assert_int_equal(lego_elastic_create(&options, &elastic), LEGO_OK);
        static struct truth truth;
        truth = (struct truth){0};
        feed(elastic, &truth, &state, 400, false);
        struct bytes good = elastic_to_bytes(elastic), bad = {malloc(good.size), good.size};
        size_t accepted = 0;
        for (size_t at = 0; at < good.size; at++) {
            for (int change = 0; change < 3; change++) {
                memcpy(bad.p, good.p, good.size);
                bad.p[at] ^= (unsigned char)(change == 0 ? 1 : change == 1 ? 0x80 : 1 + draw_below(&state, 255));
                assert_int_not_equal(lego_elastic_load(bad.p, bad.size, NULL, NULL, &loaded), LEGO_OK);
                assert_null(loaded);
                mend(&bad);
                if (lego_elastic_load(bad.p, bad.size, NULL, NULL, &loaded) != LEGO_OK) {
                    assert_null(loaded);
                    continue;
                }
                accepted++;
                struct bytes again = elastic_to_bytes(loaded);
                assert_int_equal(again.size, bad.size);
                assert_memory_equal(again.p, bad.p, bad.size);
                free(again.p);
                lego_elastic_destroy(loaded);
                loaded = NULL;
            }
        }
        assert_true(accepted <
                    good.size / 4); /* of 3 each: votes against, flags, keys that are as good as those there */
        for (size_t size = 0; size < good.size; size++)
            assert_int_not_equal(lego_elastic_load(good.p, size, NULL, NULL, &loaded), LEGO_OK);
        lego_sketch *sketch = NULL;
        assert_int_equal(lego_sketch_load(good.p, good.size, NULL, NULL, &sketch), LEGO_ERR_MAGIC);
        char name[16];
        assert_int_equal(lego_sketch_saved_model(good.p, good.size, name), LEGO_OK);
        assert_string_equal(name, models[m]);
        assert_int_equal(lego_elastic_load(good.p, good.size, lego_model_builtin(models[1 - m]), NULL, &loaded),
                         LEGO_ERR_MODEL);
        put_int(bad.p + 8, 2);
        assert_int_equal(lego_elastic_load(bad.p, bad.size, NULL, NULL, &loaded), LEGO_ERR_VERSION);
        free(good.p);
        free(bad.p);
        lego_elastic_destroy(elastic);
    }
}

/* The bytes of a bucket, one after another, as docs/format.md has them. */
static void a_bucket_is_as_documented(void **unused)
{
    (void)unused;
    lego_elastic *elastic = make_elastic("compact", 40000, 512, NULL);
    assert_int_equal(elastic->heavy.buckets.d, 1);
    lego_elastic_add(elastic, "pear", 4, 300);
    lego_elastic_add_u64(elastic, 0x1234, 2);
    lego_elastic_add(elastic, "", 0, 1);
    unsigned tags[3] = {(unsigned)hash_bytes("", 0, 7).lo & 15, (unsigned)hash_bytes("pear", 4, 7).lo & 15,
                        (unsigned)hash_u64(0x1234, 7).lo & 15};
    unsigned char wanted[HEAVY_BUCKET] = {0,   0, 0, 0,  0, 0,   3,   16,  0,   0, 4,    0,
                                          250, 0, 1, 44, 1, 'p', 'e', 'a', 'r', 2, 0x34, 0x12};
    for (int i = 0; i < 3; i++) wanted[9 + 2 * i] = (unsigned char)((i == 1 ? 2 : 0) | tags[i] << 4);
    struct bytes bytes = elastic_to_bytes(elastic);
    assert_memory_equal(bytes.p, "LEGOELAS\1\0\0\0\0\0\0\0", 16);
    assert_memory_equal(bytes.p + 56, "\1\0\0\0\0\0\0\0\57\1\0\0\0\0\0\0", 16); /* one bucket, 303 votes */
    assert_memory_equal(bytes.p + 80, wanted, HEAVY_BUCKET);
    assert_memory_equal(bytes.p + 80 + HEAVY_BUCKET, "LEGOSKCH", 8);
    free(bytes.p);
    lego_elastic_destroy(elastic);
}

/* A flat light part: the same answers, and the same bytes, as a dense one of as many blocks. */
static void flat_is_dense(void **unused)
{
    (void)unused;
    uint64_t state = 9;
    lego_elastic *made[2];
    static struct truth truth;
    for (int i = 0; i < 2; i++) {
        lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
        options.light.budget = 0;
        options.light.bricks = 64;
        options.light.packing = i ? LEGO_FLAT : LEGO_DENSE;
        options.light.seed = 7;
        options.heavy = 3000;
        assert_int_equal(lego_elastic_create(&options, &made[i]), LEGO_OK);
        truth = (struct truth){0};
        state = 9;
        feed(made[i], &truth, &state, 20000, false);
        check_elastic(made[i], &truth);
    }
    assert_same_elastic(made[0], made[1]);
    assert_int_equal(lego_elastic_merge(made[0], made[1]), LEGO_OK);
    assert_int_equal(lego_elastic_merge(made[1], made[1]), LEGO_OK);
    assert_same_elastic(made[0], made[1]);
    lego_elastic_destroy(made[0]);
    lego_elastic_destroy(made[1]);
}

/* After loading it goes on as if nothing had been. */
static void loaded_goes_on(void **unused)
{
    (void)unused;
    uint64_t state = 10, again;
    static struct truth truth, same;
    lego_elastic *elastic = make_elastic("compact", 40000, 0, NULL), *loaded;
    feed(elastic, &truth, &state, 10000, false);
    struct bytes bytes = elastic_to_bytes(elastic);
    assert_int_equal(lego_elastic_load(bytes.p, bytes.size, NULL, NULL, &loaded), LEGO_OK);
    free(bytes.p);
    same = truth;
    again = state;
    feed(elastic, &truth, &state, 10000, false);
    feed(loaded, &same, &again, 10000, false);
    assert_same_elastic(elastic, loaded);
    lego_elastic_destroy(elastic);
    lego_elastic_destroy(loaded);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static int ignore(void *context, const lego_top *top)
{
    (void)context;
    (void)top;
    return 0;
}

static lego_status do_copy(lego_elastic *elastic, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)bytes, (void)allocator;
    lego_elastic *copy = NULL;
    lego_status status = lego_elastic_copy(elastic, &copy);
    assert_true((copy != NULL) == (status == LEGO_OK));
    lego_elastic_destroy(copy);
    return status;
}

static lego_status do_load(lego_elastic *elastic, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)elastic;
    lego_elastic *loaded = NULL;
    lego_status status = lego_elastic_load(bytes->p, bytes->size, NULL, allocator, &loaded);
    assert_true((loaded != NULL) == (status == LEGO_OK));
    lego_elastic_destroy(loaded);
    return status;
}

static lego_status do_create(lego_elastic *elastic, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)elastic, (void)bytes;
    lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
    lego_elastic *made = NULL;
    options.light.allocator = allocator;
    lego_status status = lego_elastic_create(&options, &made);
    assert_true((made != NULL) == (status == LEGO_OK));
    lego_elastic_destroy(made);
    return status;
}

static lego_status do_merge(lego_elastic *elastic, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)bytes, (void)allocator;
    return lego_elastic_merge(elastic, elastic);
}

static lego_status do_top(lego_elastic *elastic, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)bytes, (void)allocator;
    return lego_elastic_top(elastic, 10, ignore, NULL);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    static lego_status (*const operations[])(lego_elastic *, const struct bytes *,
                                             const lego_allocator *) = {do_copy, do_load, do_create, do_merge, do_top};
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        lego_status status = LEGO_ERR_MEMORY;
        long at = 1;
        for (; status != LEGO_OK; at++) {
            struct books books;
            lego_allocator allocator = books_allocator(&books);
            lego_elastic *elastic = make_elastic("compact", 20000, 0, &allocator);
            for (uint64_t i = 0; i < 5000; i++) lego_elastic_add_u64(elastic, i * i % 901, 1);
            struct bytes before = elastic_to_bytes(elastic), after;
            size_t held = books.now;
            books.calls = 0;
            books.fail_at = at;
            status = operations[o](elastic, &before, &allocator);
            assert_int_equal(books.now, held);
            if (status != LEGO_OK) {
                assert_int_equal(status, LEGO_ERR_MEMORY);
                after = elastic_to_bytes(elastic);
                assert_memory_equal(before.p, after.p, before.size);
                free(after.p);
            }
            free(before.p);
            lego_elastic_destroy(elastic);
            assert_int_equal(books.now, 0);
        }
        assert_true(at > 2); /* it failed at least once */
    }
}

struct sink {
    long calls, fail_at;
};

static int write_or_fail(void *context, const void *bytes, size_t size)
{
    struct sink *sink = context;
    assert_true(bytes != NULL && size > 0);
    assert_true(sink->fail_at == 0 || sink->calls < sink->fail_at);
    return ++sink->calls == sink->fail_at;
}

static void every_write_may_fail(void **unused)
{
    (void)unused;
    lego_elastic *elastic = make_elastic("rule", 40000, 0, NULL);
    for (uint64_t i = 0; i < 5000; i++) lego_elastic_add_u64(elastic, i * i % 901, 1);
    lego_status status = LEGO_ERR_WRITE;
    long at = 0;
    while (status != LEGO_OK) {
        struct sink sink = {0, ++at};
        status = lego_elastic_save(elastic, write_or_fail, &sink);
        assert_true(status == LEGO_OK || status == LEGO_ERR_WRITE);
    }
    assert_true(at > 2);
    lego_elastic_destroy(elastic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_holds),
        cmocka_unit_test(with_room_all_is_exact),
        cmocka_unit_test(deleting_everything_leaves_nothing),
        cmocka_unit_test(the_top_is_found),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(merged_sums_are_conserved),
        cmocka_unit_test(others_do_not_merge),
        cmocka_unit_test(the_budget_is_a_ceiling),
        cmocka_unit_test(sums_do_not_overflow),
        cmocka_unit_test(every_change_is_seen),
        cmocka_unit_test(a_bucket_is_as_documented),
        cmocka_unit_test(flat_is_dense),
        cmocka_unit_test(loaded_goes_on),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_write_may_fail),
    };
    return cmocka_run_group_tests_name("elastic", tests, NULL, NULL);
}
