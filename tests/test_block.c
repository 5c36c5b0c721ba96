/* One block: its code against slow_block.h, which has the comment over src/block/block.h a bit at a time; and what is
 * changed in place against the same opened, changed and closed. All of it for each of the kernels that this CPU can
 * run. test_block_bytes.c has the blocks that come from elsewhere. */
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "trial_block.h"

/* ---- the code ---------------------------------------------------------------------------------------------------- */

/* As the comments over block.h and in kernels.h have it: of all entries that agree with a key in all they know the one
 * that knows most; and the sum of those that agree in what all know. */
static void check_reading(const struct content *content, unsigned whole, uint64_t key, const struct reading *reading)
{
    unsigned print = slow_print(content->step, whole), best = 0;
    int64_t value = 0;
    uint64_t alike = 0;
    for (unsigned i = 0; i < content->n; i++) {
        unsigned known = content->step < SLOW_KEEP ? print : content->known[i];
        if (slow_cut(content->key[i], print) == slow_cut(key, print)) alike += (uint64_t)content->value[i];
        if (slow_cut(key, known) != content->key[i] || known <= best) continue;
        best = known;
        value = content->value[i];
    }
    assert_int_equal(reading->step, content->step);
    assert_int_equal(reading->listed, best > 0);
    assert_true(reading->value == value && reading->alike == (int64_t)alike);
    assert_true(reading->plus == content->loss.plus && reading->minus == content->loss.minus);
}

/* A key for a content: one of its own, or one that differs somewhere behind, or any. */
static uint64_t asked_key(struct trial *t, const struct content *content)
{
    int64_t count;
    uint64_t left = t->left, key = trial_item(t, content, &count);
    t->left = left;
    return key;
}

/* What a block says of its keys, and of others. */
static void check_reads(struct trial *t, const struct block *block, const struct content *content)
{
    struct reading reading;
    for (unsigned i = 0; i < 20; i++) {
        uint64_t key = asked_key(t, content);
        kernels->read(block, t->whole, key, &reading);
        check_reading(content, t->whole, key, &reading);
    }
}

/* close() gives the bits of the comment, with the best g; open() gives the content back, whatever g is; what does not
 * fit is refused, and the block stays as it was. */
static void codes_are_those_of_the_comment(void)
{
    static struct content content, opened;
    struct block block, untouched;
    unsigned fit = 0, rounds = ROUNDS(1500);
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
        if (content.step >= SLOW_KEEP || slow_levels(&content, g) + slow_keys(&content, t.whole) > SLOW_ROOM) continue;
        block = slow_block(&content, t.whole, g);
        kernels->open(&block, t.whole, &opened);
        assert_content(&opened, &content);
        check_reads(&t, &block, &content);
        assert_int_equal(kernels->valid(&block, t.whole, &opened), memcmp(&block, &expected, sizeof block) == 0);
    }
    assert_in_range(fit, rounds / 2, rounds * 9 / 10);
}

static void close_and_open(void **unused)
{
    (void)unused;
    each_kernels(codes_are_those_of_the_comment);
}

/* Memory that ends where pages do, behind which nothing can be read; for all tests, and never given back. */
enum { GUARD = 65536, GUARDED = GUARD / sizeof(struct block) };

static struct block *guarded_blocks(void)
{
    char *memory = mmap(NULL, 2 * GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + GUARD, GUARD, PROT_NONE), 0);
    return (struct block *)(void *)memory;
}

/* A block with any g, and its content. */
static void any_block(uint64_t seed, unsigned whole, struct block *block, struct content *content)
{
    struct trial t = make_trial(seed);
    t.whole = whole;
    do trial_content(&t, content);
    while (!slow_fits(content, whole));
    unsigned g = (unsigned)draw_below(&t.state, SLOW_G);
    bool any = seed % 3 == 0 && content->step < SLOW_KEEP;
    any = any && slow_levels(content, g) + slow_keys(content, whole) <= SLOW_ROOM;
    *block = any ? slow_block(content, whole, g) : slow_canonical(content, whole);
}

/* Keys of many blocks at once, most of them there or nearly. */
static void many_reads_are_right(void)
{
    static struct block *base;
    static struct content content[GUARDED];
    if (!base) base = guarded_blocks();
    uint64_t key[MANY_MOST];
    uint32_t block[MANY_MOST];
    struct reading reading[MANY_MOST];
    for (unsigned whole = 34; whole <= 62; whole += 7) {
        struct trial t = make_trial(whole);
        t.whole = whole;
        for (unsigned i = 0; i < GUARDED; i++) any_block(whole * 1000 + i, whole, &base[i], &content[i]);
        for (unsigned round = 0; round < ROUNDS(1000); round++) {
            unsigned n = (unsigned)draw_below(&t.state, MANY_MOST + 1);
            for (unsigned i = 0; i < n; i++) {
                block[i] = draw_below(&t.state, 8) ? (uint32_t)draw_below(&t.state, GUARDED) : GUARDED - 1;
                key[i] = asked_key(&t, &content[block[i]]);
            }
            memset(reading, 0x5a, sizeof reading);
            kernels->read_many(base, whole, block, key, n, reading);
            for (unsigned i = 0; i < n; i++) check_reading(&content[block[i]], whole, key[i], &reading[i]);
        }
    }
}

static void many_reads(void **unused)
{
    (void)unused;
    each_kernels(many_reads_are_right);
}

/* ---- adding to lists --------------------------------------------------------------------------------------------- */

/* Items one by one at one step, as far as they fit: add() refuses only what fits with no g, without a trace. */
static void additions_are_sums(void)
{
    static struct slow_items items, so_far;
    static struct content sum, opened;
    unsigned refused = 0, rounds = ROUNDS(400);
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        struct trial t = make_trial(seed);
        unsigned step = (unsigned)draw_below(&t.state, SLOW_KEEP);
        struct block block = {{0}}, before, expected;
        block.word[0] = (uint64_t)step << 11;
        trial_items(&t, 1 + (unsigned)draw_below(&t.state, 300), &items);
        so_far.n = 0;
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

/* settle() ends at the first step that fits, with content summed from the items at that step; or keeps what the last of
 * these came to. */
static void settled_at_the_first_step_that_fits(void)
{
    static struct slow_items items;
    static struct content slow, content;
    unsigned seen[SLOW_LAST + 1] = {0}, rounds = ROUNDS(800);
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        struct trial t = make_trial(seed);
        unsigned first = (unsigned)draw_below(&t.state, 3);
        struct block block, expected;
        trial_items(&t, (unsigned)draw_below(&t.state, draw_below(&t.state, 4) ? 150 : 300), &items);
        for (unsigned i = 0; seed % 5 == 0 && i < 4 && i < items.n; i++)
            items.key[i] = slow_cut(items.key[i] >> 8, t.whole);
        slow_content(&items, first, t.whole, &content);
        slow = content;
        unsigned step = first;
        while (!slow_fits(&slow, t.whole) && step + 1 < SLOW_KEEP) slow_content(&items, ++step, t.whole, &slow);
        if (!slow_fits(&slow, t.whole)) keep_start(&slow);
        kernels->settle(&block, t.whole, &content);
        assert_content(&content, &slow);
        expected = slow_canonical(&slow, t.whole);
        assert_block(&block, &expected);
        seen[slow.step]++;
    }
    for (unsigned step = 0; step <= SLOW_LAST; step++) assert_true(seen[step] > 0);
}

static void settling(void **unused)
{
    (void)unused;
    each_kernels(settled_at_the_first_step_that_fits);
}

/* ---- adding to what keeps ---------------------------------------------------------------------------------------- */

/* One block from its first item on, into keeping and far beyond, or from anywhere on. Whether an item is added in place
 * or not, a list has the sums; and from then on the block has the bytes of its content opened, added to by the rule and
 * closed. */
static void kept_as_the_rule_says(void)
{
    static struct content rule, opened;
    unsigned some = 0, kept = 0, seen[SLOW_LAST + 1] = {0};
    for (uint64_t seed = 1; seed <= ROUNDS(120); seed++) {
        struct trial t = make_trial(seed);
        if (seed % 3 == 0) t.bits = (unsigned)draw_below(&t.state, 3);
        struct block block = {{0}}, expected;
        content_start(&rule, 0);
        if (seed % 4 == 0) trial_kept(&t, &rule), block = slow_canonical(&rule, t.whole);
        for (unsigned i = 0, n = 300 + (unsigned)draw_below(&t.state, 1500); i < n; i++) {
            int64_t count;
            const bool keeps = rule.step >= SLOW_KEEP;
            const uint64_t key = keeps ? trial_sly_item(&t, &rule, &count) : trial_item(&t, &rule, &count);
            unsigned way = (unsigned)draw_below(&t.state, 3);
            rule.entered = 0;
            if (keeps) keep_add(&rule, key, count);
            if (way == 0 && kernels->add_some(&block, t.whole, &key, &count, 1)) some += keeps;
            else if (way == 1 && keeps) assert_true(kernels->add(&block, t.whole, key, count));
            else assert_int_equal(kernels->add_on(&block, t.whole, key, count), keeps ? rule.entered : 0);
            if (!keeps) kernels->open(&block, t.whole, &rule); /* test_block's other tests have lists */
            if (!keeps || rule.step < SLOW_KEEP) continue;
            kept++;
            seen[rule.step]++;
            if (i % 16) {
                assert_true(kernels->close(&expected, t.whole, &rule));
                assert_block(&block, &expected);
                continue;
            }
            expected = slow_canonical(&rule, t.whole);
            assert_block(&block, &expected);
            assert_true(kernels->valid(&block, t.whole, &opened));
            assert_content(&opened, &rule);
            check_reads(&t, &block, &rule);
        }
        for (unsigned i = 0; rule.step >= SLOW_KEEP && rule.n > 4 && i < 1000; i++) { /* and all of it deleted */
            unsigned k = 4 + (unsigned)draw_below(&t.state, rule.n - 4);
            const uint64_t key = rule.key[k];
            const int64_t count = -rule.value[k];
            keep_add(&rule, key, count);
            kernels->add_on(&block, t.whole, key, count);
            expected = slow_canonical(&rule, t.whole);
            assert_block(&block, &expected);
            assert_true(kernels->valid(&block, t.whole, &opened));
        }
    }
    assert_in_range(some, kept / 20, kept);
    for (unsigned step = SLOW_KEEP; step <= SLOW_LAST; step++) assert_true(seen[step] > 0);
}

static void keeping(void **unused)
{
    (void)unused;
    each_kernels(kept_as_the_rule_says);
}

/* The sample is the four items of the smallest prints, whatever came, and in which order; with their counts exactly;
 * and add_on() tells when it has got another one. (Prints here are far apart, so that nobody shares one.) */
static void the_sample_is_exact(void)
{
    enum { ITEMS = 3000 };
    static int64_t sum[ITEMS];
    static struct content content;
    unsigned seen[SLOW_LAST + 1] = {0}, entered = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(60); seed++) {
        struct trial t = make_trial(seed);
        t.is_signed = t.below = false;
        struct block block = {{0}};
        uint64_t first = draw(&t.state);
        unsigned least[5], n = 0, known = 60 + (unsigned)draw_below(&t.state, ITEMS - 60);
        memset(sum, 0, sizeof sum);
        for (unsigned i = 0; i < 3 * known; i++) {
            unsigned item = (unsigned)draw_below(&t.state, known), k = n, news = 0;
            int64_t count = trial_count(&t);
            const bool kept = block_step(&block) >= SLOW_KEEP;
#define KEY(item) slow_cut(first + (item)*UINT64_C(0x9e3779b97f4a7c15), t.whole)
            if (sum[item] == 0) { /* a new one */
                for (; k > 0 && KEY(least[k - 1]) > KEY(item); k--) least[k] = least[k - 1];
                least[k] = item;
                if (n < 4) n++;
                news = k < 4;
            }
            sum[item] += count;
            const unsigned told = kernels->add_on(&block, t.whole, KEY(item), count);
            if (kept) assert_int_equal(told, news);
            if (block_step(&block) < SLOW_KEEP || (i % 8 && i + 1 < 3 * known)) continue;
            entered += news;
            seen[block_step(&block)]++;
            kernels->open(&block, t.whole, &content);
            for (unsigned m = 0; m < 4; m++) {
                assert_true(slow_cut(KEY(least[m]), content.known[m]) == content.key[m]);
                assert_true(content.value[m] == sum[least[m]]);
            }
        }
#undef KEY
    }
    assert_true(entered > 0);
    for (unsigned step = SLOW_KEEP; step <= SLOW_LAST; step++) assert_true(seen[step] > 0);
}

static void sample(void **unused)
{
    (void)unused;
    each_kernels(the_sample_is_exact);
}

/* What a content has seen of its counts, and what it adds up from then on, is what there is to be seen; and whoever
 * looks again before every item comes to the same. */
static void nothing_depends_on_who_has_looked(void **unused)
{
    (void)unused;
    static struct content once, again;
    unsigned looked = 0, seen[SLOW_LAST + 1] = {0};
    for (uint64_t seed = 1; seed <= ROUNDS(500); seed++) {
        struct trial t = make_trial(seed);
        trial_kept(&t, &once);
        again = once;
        for (unsigned i = 0; i < 3000; i++) {
            int64_t count;
            if (i % 300 == 0) t.bits = (unsigned)draw_below(&t.state, draw_below(&t.state, 2) ? 4 : 50);
            const uint64_t key = trial_sly_item(&t, &once, &count);
            again.looked = false;
            keep_add(&once, key, count);
            keep_add(&again, key, count);
            assert_content(&once, &again);
            assert_int_equal(once.entered, again.entered);
            seen[once.step]++;
            if (!once.looked) continue;
            uint64_t listed = 0;
            unsigned alike;
            looked++;
            for (unsigned k = 0; k < once.n; k++) listed += trial_size(once.value[k]);
            assert_true(once.listed == listed);
            assert_true(once.smallest == trial_least(&once, &alike));
            assert_int_equal(once.smallests, alike);
        }
    }
    assert_in_range(looked, ROUNDS(500) * 300, ROUNDS(500) * 3000);
    for (unsigned step = SLOW_KEEP; step <= SLOW_LAST; step++) assert_true(seen[step] > 0);
}

/* Lists that give up bits on their way have the sums of all items. With something negative a block may be further on
 * than its content asks for. */
static void added_on_from_step_to_step(void)
{
    static struct slow_items items;
    static struct content slow, opened;
    for (uint64_t seed = 1; seed <= ROUNDS(150); seed++) {
        struct trial t = make_trial(seed);
        unsigned n = 1 + (unsigned)draw_below(&t.state, 200);
        struct block block = {{0}}, expected;
        trial_items(&t, n, &items);
        for (unsigned i = 0; i < n; i++) {
            kernels->add_on(&block, t.whole, items.key[i], items.count[i]);
            if (block_step(&block) >= SLOW_KEEP) break;
            if (i % 20 && i + 1 < n) continue;
            items.n = i + 1;
            unsigned step = t.is_signed ? block_step(&block) : 0;
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
        trial_items(&t, (unsigned)draw_below(&t.state, 190), &one);
        trial_items(&t, (unsigned)draw_below(&t.state, 190), &two);
        for (unsigned i = 0; i < two.n && i < one.n; i++)
            if (draw_below(&t.state, 2)) two.key[i] = one.key[i], two.count[i] = one.count[i];
        both = one;
        for (unsigned i = 0; i < two.n; i++) {
            both.key[both.n] = two.key[i];
            both.count[both.n++] = sign * two.count[i];
        }
        unsigned first = (unsigned)draw_below(&t.state, SLOW_KEEP);
        unsigned second = first + (unsigned)draw_below(&t.state, SLOW_KEEP - first);
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

/* Of a list without anything negative and an item or a count more: with every g, so with the best of them, and at every
 * step, the code does not get shorter. So what did not fit does not fit later. */
static void codes_only_get_longer(void **unused)
{
    (void)unused;
    static struct slow_items items;
    static struct content before, after;
    static const unsigned edges[] = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 63, 64, 127, 128, 129, 255, 256};
    for (uint64_t seed = 1; seed <= ROUNDS(1000); seed++) {
        struct trial t = make_trial(seed);
        t.is_signed = t.below = false;
        unsigned n = seed % 2 ? (unsigned)draw_below(&t.state, 300) : edges[draw_below(&t.state, 20)], g;
        trial_items(&t, n, &items);
        for (unsigned step = 0; step < SLOW_KEEP; step++) {
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
        cmocka_unit_test(close_and_open),
        cmocka_unit_test(many_reads),
        cmocka_unit_test(additions),
        cmocka_unit_test(settling),
        cmocka_unit_test(keeping),
        cmocka_unit_test(sample),
        cmocka_unit_test(nothing_depends_on_who_has_looked),
        cmocka_unit_test(adding_on),
        cmocka_unit_test(steps_and_sums_commute),
        cmocka_unit_test(codes_only_get_longer),
    };
    return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
