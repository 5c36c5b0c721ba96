/* One block: its code against slow_block.h, which has the comment over src/block/block.h a bit at a time. All of it for
 * each of the kernels that this CPU can run. test_block_bytes.c has the blocks that come from elsewhere. */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "trial_block.h"

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void cells_are_folded_quarter_by_quarter(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (unsigned step = SLOW_SHARE; step < SLOW_END; step++) {
        struct slow_row row[2];
        slow_rows(step, row);
        assert_int_equal(step_cells(step), row[0].cells + row[1].cells);
        for (unsigned r = 0; r < (step < SLOW_CAP ? 2u : 1u); r++) {
            unsigned held[512] = {0};
            for (unsigned i = 0; i < row[r].start; i++) held[row[r].cell[i]]++;
            for (unsigned i = 0; i < 4096; i++) {
                uint64_t key = draw(&state);
                unsigned cell = row[r].cell[slow_first(step, r, key)];
                assert_int_equal(step_cell(step, r, key), cell + (r ? row[0].cells : 0));
                assert_int_equal(step_width(step, r, key), row[r].start / held[cell]);
            }
        }
    }
    assert_int_equal(STEP_SHARE, SLOW_SHARE);
    assert_int_equal(STEP_CAP, SLOW_CAP);
    assert_int_equal(STEP_CAP_LAST + 1, SLOW_END);
    assert_int_equal(step_cells(SLOW_SHARE), 768);
    assert_int_equal(step_cells(SLOW_LAST), 16);
    assert_int_equal(step_cells(SLOW_END - 1), 8);
}

/* Of the pairs among all 4096 prints that cells know, at most as many share both their cells as by chance (1 / cells of
 * row 0 / cells of row 1 of them); a cap knows more, so it is asked for prints at random. */
static void prints_meet_as_by_chance(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (unsigned step = SLOW_SHARE; step < SLOW_END; step += step == SLOW_LAST ? 1 : 4) {
        static unsigned held[512 * 256];
        struct slow_row row[2];
        slow_rows(step, row);
        unsigned columns = row[1].cells ? row[1].cells : 1;
        double pairs = 0;
        memset(held, 0, sizeof held);
        for (uint64_t print = 0; print < 4096; print++) {
            uint64_t key = step < SLOW_CAP ? print << 52 : draw(&state);
            unsigned other = row[1].cells ? step_cell(step, 1, key) - row[0].cells : 0;
            pairs += held[step_cell(step, 0, key) * columns + other]++;
        }
        assert_true(pairs * row[0].cells * columns / (4096.0 * 4095 / 2) < (step < SLOW_CAP ? 1 : 1.05));
    }
}

static void prints_give_up_bits_by_quarters(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (unsigned step = 0; step < SLOW_SHARE; step++)
        for (unsigned i = 0; i < 1000; i++) {
            uint64_t key = draw(&state);
            unsigned whole = 34 + i % 29, length = step_length(step, whole, key);
            assert_int_equal(length, slow_length(step, whole, key));
            assert_true(length >= BLOCK_SHARED);
            assert_int_equal(key_cut(key, length), slow_cut(step, whole, key));
        }
}

/* ---- the code ---------------------------------------------------------------------------------------------------- */

/* What a block says of each of its keys, or of keys at random. */
static void check_reads(struct trial *t, const struct block *block, const struct content *content)
{
    struct slow_row row[2];
    struct reading reading;
    struct block behind[2] = {*block}; /* 8 bytes behind a block may be read */
    if (content->step >= SLOW_SHARE) slow_rows(content->step, row);
    for (unsigned i = 0; i < 20; i++) {
        unsigned k = content->step < SLOW_SHARE && content->n ? (unsigned)draw_below(&t->state, content->n) : 0;
        uint64_t key = trial_key(t);
        if (content->step < SLOW_SHARE && content->n && i % 2) key = content->key[k] | key >> t->whole;
        kernels->read(behind, NULL, t->whole, key, &reading);
        const unsigned values = reading.values;
        const int64_t *value = reading.value;
        assert_int_equal(reading.step, content->step);
        if (content->step >= SLOW_SHARE) {
            assert_int_equal(values, content->step < SLOW_CAP ? 2 : 1);
            assert_int_equal(value[0], content->value[row[0].cell[slow_first(content->step, 0, key)]]);
            if (values > 1)
                assert_int_equal(value[1],
                                 content->value[row[0].cells + row[1].cell[slow_first(content->step, 1, key)]]);
            continue;
        }
        int64_t sum = 0;
        for (unsigned e = 0; e < content->n; e++)
            if (content->key[e] == slow_cut(content->step, t->whole, key)) sum += content->value[e];
        assert_int_equal(values, 1);
        assert_int_equal(value[0], sum);
    }
}

/* close() gives the bits of the comment, with the best g; open() gives the content back, whatever g is; what does not
 * fit is refused, and the block stays as it was. */
static void codes_are_those_of_the_comment(void)
{
    static struct content content, opened;
    struct block block, untouched;
    unsigned fit = 0, rounds = ROUNDS(3000);
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        struct trial t = make_trial(seed);
        trial_content(&t, &content);
        memset(&block, 0x5a, sizeof block);
        untouched = block;
        if (!slow_fits(&content, t.whole)) {
            assert_false(kernels->close(&block, t.whole, &content));
            assert_block(&block, &untouched);
            continue;
        }
        fit++;
        struct block expected = slow_canonical(&content, t.whole);
        assert_true(kernels->close(&block, t.whole, &content));
        assert_block(&block, &expected);
        assert_true(kernels->valid(&block, t.whole, &opened));
        assert_content(&opened, &content);
        check_reads(&t, &block, &content);
        unsigned g = (unsigned)draw_below(&t.state, SLOW_G);
        if (slow_levels(&content, g) + slow_keys(&content, t.whole) > SLOW_ROOM) continue;
        block = slow_block(&content, t.whole, g);
        kernels->open(&block, t.whole, &opened);
        assert_content(&opened, &content);
        check_reads(&t, &block, &content);
        assert_int_equal(kernels->valid(&block, t.whole, &opened), memcmp(&block, &expected, sizeof block) == 0);
    }
    assert_in_range(fit, rounds / 4, rounds * 3 / 4);
}

static void close_and_open(void **unused)
{
    (void)unused;
    each_kernels(codes_are_those_of_the_comment);
}

/* Memory that ends 8 bytes before pages do, behind which nothing can be read; for all tests, and never given back. */
enum { GUARD = 65536, GUARDED = 2 * GUARD / sizeof(struct block) - 1 };

static struct block *guarded_blocks(void)
{
    char *memory = mmap(NULL, 3 * GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + 2 * GUARD, GUARD, PROT_NONE), 0);
    return (struct block *)(void *)(memory + sizeof(struct block) - 8);
}

/* A block or a cap with any g, and a key that is there if it is a list. Caps that do not count are empty. */
static uint64_t any_block(uint64_t seed, unsigned whole, bool cap, struct block *block)
{
    static struct content content;
    struct trial t = make_trial(seed);
    t.whole = whole;
    do trial_content(&t, &content);
    while (!slow_fits(&content, whole) || (content.step >= SLOW_CAP) != cap);
    unsigned g = (unsigned)draw_below(&t.state, SLOW_G);
    bool any = seed % 3 == 0 && slow_levels(&content, g) + slow_keys(&content, whole) <= SLOW_ROOM;
    *block = any ? slow_block(&content, whole, g) : slow_canonical(&content, whole);
    if (cap && seed % 4 == 0) *block = (struct block){{0}};
    return content.step < SLOW_SHARE && content.n ? content.key[draw_below(&t.state, content.n)] : 0;
}

/* As kernels->read(), one by one; and a cap that is part of it is as one that is read alone. */
static void check_asked(const struct block *base, unsigned whole, const struct asked *asked, unsigned n,
                        const struct reading reading[])
{
    struct reading one, alone;
    for (unsigned i = 0; i < n; i++) {
        const struct block *block = &base[asked->block[i]], *cap = asked->cap ? &base[asked->cap[i]] : NULL;
        kernels->read(block, cap, whole, asked->key[i], &one);
        assert_int_equal(reading[i].step, one.step);
        assert_int_equal(reading[i].values, one.values);
        assert_int_equal(reading[i].entries, one.entries);
        assert_memory_equal(reading[i].value, one.value, one.values * sizeof *one.value);
        assert_memory_equal(reading[i].width, one.width, one.values * sizeof *one.width);
        kernels->read(block, NULL, whole, asked->key[i], &alone);
        assert_memory_equal(one.value, alone.value, alone.values * sizeof *alone.value);
        bool listed = one.step < SLOW_SHARE, small = listed && alone.value[0] < BLOCKS_UNCAPPED;
        bool capped = cap && block_step(cap) >= SLOW_CAP && one.step > 1 && !small;
        capped = capped && !(listed && block_signs(cap) != SIGNS_ABOVE);
        assert_int_equal(one.values, alone.values + capped);
        if (!capped) continue;
        kernels->read(cap, NULL, whole, asked->key[i], &alone);
        assert_int_equal(one.value[one.values - 1], alone.value[0]);
        assert_int_equal(one.width[one.values - 1], alone.width[0]);
        assert_int_equal(alone.values, 1);
    }
}

/* Keys of many blocks at once, some of them there. Either blocks or caps are the last in memory. */
static void many_reads_are_single_ones(void)
{
    enum { CAPS = 64, OWN = GUARDED - CAPS };
    static struct block *base;
    if (!base) base = guarded_blocks();
    uint64_t state = 1, known[GUARDED], key[MANY_MOST];
    uint32_t block[MANY_MOST], cap[MANY_MOST];
    struct reading reading[MANY_MOST];
    for (unsigned whole = 34; whole <= 62; whole += 7) {
        unsigned blocks = whole % 2 ? CAPS : 0, caps = whole % 2 ? 0 : OWN;
        for (unsigned i = 0; i < GUARDED; i++) known[i] = any_block(whole * 1000 + i, whole, i - caps < CAPS, &base[i]);
        for (unsigned round = 0; round < ROUNDS(5000); round++) {
            unsigned n = (unsigned)draw_below(&state, MANY_MOST + 1);
            for (unsigned i = 0; i < n; i++) {
                block[i] = blocks + (draw_below(&state, 8) ? (uint32_t)draw_below(&state, OWN) : OWN - 1);
                cap[i] = caps + (draw_below(&state, 8) ? (uint32_t)draw_below(&state, CAPS) : CAPS - 1);
                key[i] = draw(&state) >> (64 - whole) << (64 - whole);
                if (draw_below(&state, 2)) key[i] = known[block[i]] | key[i] >> 62 << (64 - whole);
            }
            struct asked asked = {block, round % 3 ? cap : NULL, key};
            kernels->read_many(base, whole, &asked, n, reading);
            check_asked(base, whole, &asked, n, reading);
        }
    }
}

static void many_reads(void **unused)
{
    (void)unused;
    each_kernels(many_reads_are_single_ones);
}

/* Any sixteen integers fit at the last step, any eight at a cap's last. */
static void the_last_steps_hold_anything(void)
{
    static const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0, 1, -1, INT64_C(1) << 61, -(INT64_C(1) << 61)};
    uint64_t state = 1;
    for (unsigned round = 0; round < ROUNDS(2000); round++)
        for (unsigned step = SLOW_LAST; step < SLOW_END; step += SLOW_END - 1 - SLOW_LAST) {
            struct content content = {.step = step, .n = step_cells(step)}, opened;
            struct block block, expected;
            for (unsigned i = 0; i < content.n; i++)
                content.value[i] =
                    round % 2 ? extremes[draw_below(&state, 7)] : (int64_t)(draw(&state) >> round / 2 % 64);
            assert_true(kernels->close(&block, 62, &content));
            expected = slow_canonical(&content, 62);
            assert_block(&block, &expected);
            kernels->open(&block, 62, &opened);
            assert_content(&opened, &content);
        }
}

static void last_steps(void **unused)
{
    (void)unused;
    each_kernels(the_last_steps_hold_anything);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Items one by one at one step, as far as they fit: add() refuses only what fits with no g, without a trace. */
static void additions_are_sums(void)
{
    static struct slow_items items, so_far;
    static struct content sum, opened;
    unsigned refused = 0, rounds = ROUNDS(400);
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        struct trial t = make_trial(seed);
        unsigned step = (unsigned)draw_below(&t.state, SLOW_END);
        struct block block, before, expected;
        trial_items(&t, 1 + (unsigned)draw_below(&t.state, 700), &items);
        so_far.n = 0;
        slow_content(&so_far, step, t.whole, &sum);
        block = slow_canonical(&sum, t.whole);
        for (unsigned i = 0; i < items.n; i++) {
            so_far.key[so_far.n] = items.key[i];
            so_far.count[so_far.n++] = items.count[i];
            before = block;
            bool added = kernels->add(&block, t.whole, items.key[i], items.count[i]);
            bool look = !added || i % 16 == 0 || i + 1 == items.n;
            if (look) slow_content(&so_far, step, t.whole, &sum);
            if (look) assert_int_equal(added, slow_fits(&sum, t.whole));
            if (added && look) {
                kernels->open(&block, t.whole, &opened);
                assert_content(&opened, &sum);
                assert_true(kernels->close(&before, t.whole, &opened));
                expected = slow_canonical(&sum, t.whole);
                assert_block(&before, &expected);
            }
            if (added) continue;
            assert_block(&block, &before);
            refused++;
            break;
        }
    }
    assert_in_range(refused, rounds / 10, rounds);
}

static void additions(void **unused)
{
    (void)unused;
    each_kernels(additions_are_sums);
}

/* settle() ends at the first step that fits, with content summed from the items at that step. */
static void settled_at_the_first_step_that_fits(void)
{
    static struct slow_items items;
    static struct content slow, content;
    bool seen[SLOW_END] = {false};
    unsigned steps = 0, rounds = ROUNDS(700);
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        struct trial t = make_trial(seed);
        unsigned first = draw_below(&t.state, 4) == 0 ? SLOW_CAP : (unsigned)draw_below(&t.state, 3);
        struct block block, expected;
        trial_items(&t, (unsigned)draw_below(&t.state, draw_below(&t.state, 4) ? 500 : 1000), &items);
        slow_content(&items, first, t.whole, &content);
        slow = content;
        unsigned step = first;
        while (!slow_fits(&slow, t.whole)) slow_content(&items, ++step, t.whole, &slow);
        assert_true(step != SLOW_CAP || first == SLOW_CAP);
        kernels->settle(&block, t.whole, &content);
        assert_content(&content, &slow);
        expected = slow_canonical(&slow, t.whole);
        assert_block(&block, &expected);
        steps += !seen[step];
        seen[step] = true;
    }
    assert_true(!FULL || steps > 60); /* most of the steps were among them */
}

static void settling(void **unused)
{
    (void)unused;
    each_kernels(settled_at_the_first_step_that_fits);
}

/* The same item by item: each is added at the first step that has room for it. With something negative a block may be
 * further on than its content asks for; it still has the sums. */
static void added_on_from_step_to_step(void)
{
    static struct slow_items items;
    static struct content slow, opened;
    for (uint64_t seed = 1; seed <= ROUNDS(150); seed++) {
        struct trial t = make_trial(seed);
        unsigned first = seed % 4 ? 0 : SLOW_CAP, n = 1 + (unsigned)draw_below(&t.state, seed % 3 ? 300 : 900);
        slow_content(&(struct slow_items){.n = 0}, first, t.whole, &slow);
        struct block block = slow_canonical(&slow, t.whole), expected;
        trial_items(&t, n, &items);
        for (unsigned i = 0; i < n; i++) {
            kernels->add_on(&block, t.whole, items.key[i], items.count[i]);
            if (i % 100 && i + 1 < n) continue;
            items.n = i + 1;
            unsigned step = t.is_signed ? block_step(&block) : first;
            slow_content(&items, step, t.whole, &slow);
            while (!t.is_signed && !slow_fits(&slow, t.whole)) slow_content(&items, ++step, t.whole, &slow);
            kernels->open(&block, t.whole, &opened);
            assert_content(&opened, &slow);
            assert_true(kernels->close(&expected, t.whole, &opened));
        }
    }
}

static void adding_on(void **unused)
{
    (void)unused;
    each_kernels(added_on_from_step_to_step);
}

/* Content brought from step to step, and two of them joined, are what the items come to. */
static void steps_and_sums_commute(void **unused)
{
    (void)unused;
    static struct slow_items one, two, both;
    static struct content a, b, expected;
    for (uint64_t seed = 1; seed <= ROUNDS(3000); seed++) {
        struct trial t = make_trial(seed);
        int sign = t.is_signed && seed % 2 ? -1 : 1;
        trial_items(&t, (unsigned)draw_below(&t.state, 500), &one);
        trial_items(&t, (unsigned)draw_below(&t.state, 500), &two);
        for (unsigned i = 0; i < two.n && i < one.n; i++)
            if (draw_below(&t.state, 2)) two.key[i] = one.key[i], two.count[i] = one.count[i];
        both = one;
        for (unsigned i = 0; i < two.n; i++) {
            both.key[both.n] = two.key[i];
            both.count[both.n++] = sign * two.count[i];
        }
        bool cap = draw_below(&t.state, 4) == 0;
        unsigned low = cap ? SLOW_CAP : 0, end = cap ? SLOW_END : SLOW_CAP;
        unsigned first = low + (unsigned)draw_below(&t.state, end - low);
        unsigned second = first + (unsigned)draw_below(&t.state, end - first);
        slow_content(&one, first, t.whole, &a);
        slow_content(&two, first, t.whole, &b);
        content_lower(&b, second, t.whole);
        if (seed % 3) content_lower(&a, second, t.whole);
        else
            while (a.step < second) content_lower(&a, a.step + 1, t.whole);
        content_join(&a, &b, sign);
        slow_content(&both, second, t.whole, &expected);
        assert_content(&a, &expected);
    }
}

/* ---- the proof that codes are monotone, attacked ----------------------------------------------------------------- */

/* Of content without anything negative and an item or a count more: with every g, so with the best of them, and at
 * every step, the code does not get shorter. So what did not fit does not fit later. */
static void codes_only_get_longer(void **unused)
{
    (void)unused;
    static struct slow_items items;
    static struct content before, after;
    static const unsigned edges[] = {0,  1,  3,  4,  5,   7,   8,   9,   15,  16,  17,
                                     31, 32, 63, 64, 127, 128, 129, 255, 256, 257, 510};
    for (uint64_t seed = 1; seed <= ROUNDS(500); seed++) {
        struct trial t = make_trial(seed);
        t.is_signed = t.below = false;
        unsigned n = seed % 2 ? (unsigned)draw_below(&t.state, 700) : edges[draw_below(&t.state, 22)], g;
        trial_items(&t, n, &items);
        for (unsigned step = (unsigned)(seed % 7); step < SLOW_END; step += 7) {
            items.n = n;
            slow_content(&items, step, t.whole, &before);
            items.key[n] = n && draw_below(&t.state, 2) ? items.key[draw_below(&t.state, n)] : trial_key(&t);
            items.count[n] = draw_below(&t.state, 2) ? 1 : trial_count(&t);
            items.n = n + 1;
            slow_content(&items, step, t.whole, &after);
            assert_true(after.n >= before.n);
            assert_true(slow_keys(&after, t.whole) >= slow_keys(&before, t.whole));
            for (g = 0; g < SLOW_G; g++) assert_true(slow_levels(&after, g) >= slow_levels(&before, g));
            assert_true(slow_size(&after, t.whole, &g) >= slow_size(&before, t.whole, &g));
            assert_false(slow_fits(&after, t.whole) && !slow_fits(&before, t.whole));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_folded_quarter_by_quarter),
        cmocka_unit_test(prints_meet_as_by_chance),
        cmocka_unit_test(prints_give_up_bits_by_quarters),
        cmocka_unit_test(close_and_open),
        cmocka_unit_test(many_reads),
        cmocka_unit_test(last_steps),
        cmocka_unit_test(additions),
        cmocka_unit_test(settling),
        cmocka_unit_test(adding_on),
        cmocka_unit_test(steps_and_sums_commute),
        cmocka_unit_test(codes_only_get_longer),
    };
    return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
