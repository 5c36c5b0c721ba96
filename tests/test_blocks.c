/* The laws of the blocks of a sketch, on random streams and numbers of blocks: bytes are compared, canonical ones. The
 * room sketch, which decides when there must be more blocks, has its own tests. */
#include "trial_blocks.h"

/* ---- where an item is -------------------------------------------------------------------------------------------- */

/* Number and key together are 62 bits of the hash, and blocks are in the order of the lower half. */
static void hashes_come_back(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (unsigned i = 0; i < ROUNDS(1000000); i++) {
        uint32_t number = (uint32_t)(1 + (draw(&state) >> (36 + draw_below(&state, 28))));
        if (i % 4 == 0) number = UINT32_C(1) << draw_below(&state, 29);
        unsigned whole = key_bits(number);
        struct hash hash = {draw(&state), draw(&state)}, next = hash;
        if (i % 5 == 0) hash.lo = UINT64_MAX / number * draw_below(&state, number) + draw_below(&state, 2); /* edges */
        struct spot spot = spot_of(number, hash);
        assert_true(spot.block < number);
        if (i % 4 == 0) assert_int_equal(spot.key, key_cut(spot.key, whole)); /* a power of two: that is all of it */
        assert_int_equal(spot.key >> 40, hash.hi >> 40);
        struct hash back = spot_hash(number, (struct spot){spot.block, key_cut(spot.key, whole)});
        assert_int_equal(back.lo, hash.lo >> 26 << 26);
        assert_int_equal(back.hi, hash.hi >> 40 << 40);
        assert_true((next.lo >= hash.lo) == (spot_of(number, next).block >= spot.block) ||
                    spot_of(number, next).block == spot.block);
        if (number < UINT32_C(1) << 28) assert_int_equal(spot_of(2 * number, hash).block / 2, spot.block);
    }
}

/* ---- a function of the content ----------------------------------------------------------------------------------- */

/* All items of a block by their keys, in the order of these: equal ones summed. */
struct items {
    unsigned n;
    uint64_t key[4096];
    int64_t count[4096];
};

static void items_of(const struct stream *s, uint32_t number, uint32_t block, struct items *items)
{
    const unsigned whole = key_bits(number);
    items->n = 0;
    for (unsigned i = 0; i < s->n; i++) {
        const struct spot spot = spot_of(number, s->hash[i]);
        const uint64_t key = key_cut(spot.key, whole);
        unsigned k = items->n;
        if (spot.block != block) continue;
        while (k > 0 && items->key[k - 1] > key) k--;
        if (k > 0 && items->key[k - 1] == key) {
            items->count[k - 1] += s->count[i];
            continue;
        }
        assert_true(items->n < 4096);
        memmove(items->key + k + 1, items->key + k, (items->n - k) * sizeof *items->key);
        memmove(items->count + k + 1, items->count + k, (items->n++ - k) * sizeof *items->count);
        items->key[k] = key;
        items->count[k] = s->count[i];
    }
}

/* What a list of this step has of them; false if these are more than any can have. */
static bool list_of(const struct items *items, unsigned step, unsigned whole, struct content *content)
{
    content_start(content, step);
    for (unsigned i = 0; i < items->n; i++) {
        const uint64_t key = key_cut(items->key[i], step_print(step, whole));
        int64_t sum = items->count[i];
        for (; i + 1 < items->n && key_cut(items->key[i + 1], step_print(step, whole)) == key; i++)
            sum += items->count[i + 1];
        if (sum == 0) continue;
        if (content->n == BLOCK_ENTRIES) return false;
        content->key[content->n] = key;
        content->value[content->n++] = sum;
    }
    return true;
}

/* Each block is at the first step that its items fit, and keeps if they fit none. */
static void check_blocks(const struct blocks *blocks, const struct stream *s)
{
    static struct items items;
    static struct content content;
    bool keeps = false;
    for (uint32_t b = 0; b < blocks->blocks; b++) {
        struct block now = canonical(blocks, b), expected;
        unsigned step = 0;
        items_of(s, blocks->blocks, b, &items);
        while (step < STEP_KEEP && !(list_of(&items, step, blocks->whole, &content) &&
                                     blocks->kernels->close(&expected, blocks->whole, &content)))
            step++;
        if (step < STEP_KEEP) assert_memory_equal(&now, &expected, sizeof now);
        assert_int_equal(block_keeps(&now), step == STEP_KEEP);
        keeps |= block_keeps(&now);
    }
    assert_int_equal(blocks->keeps, keeps);
}

static void blocks_follow_from_the_content(void **unused)
{
    (void)unused;
    static struct stream s;
    for (uint64_t seed = 1; seed <= ROUNDS(150); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        struct blocks blocks = blocks_of(&s, t.most);
        check_blocks(&blocks, &s);
        free_blocks(&blocks);
    }
}

/* Any order, counts in any parts, any kernels: which blocks keep, and the bytes of the others. */
static void order_does_not_matter_to_lists(void **unused)
{
    (void)unused;
    static struct stream s;
    unsigned whole = 0, shorter = 0, keeps = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        struct blocks a = blocks_of(&s, t.most), b = make_blocks(t.most, t.most);
        shuffle(&s, &t.state);
        for (unsigned i = 0; i < s.n; i++) {
            int64_t part = (int64_t)draw_below(&t.state, (uint64_t)s.count[i] + 1);
            b.kernels = draw_kernels(&t.state);
            if (part < s.count[i]) assert_true(blocks_add(&b, s.hash[i], s.count[i] - part));
            if (part > 0) assert_true(blocks_add(&b, s.hash[i], part));
        }
        for (uint32_t i = 0; i < t.most; i++) {
            struct block x = canonical(&a, i), y = canonical(&b, i);
            assert_int_equal(block_keeps(&x), block_keeps(&y));
            if (!block_keeps(&x)) assert_memory_equal(&x, &y, sizeof x);
            whole += block_step(&x) == STEP_WHOLE;
            shorter += block_step(&x) != STEP_WHOLE && !block_keeps(&x);
            keeps += block_keeps(&x);
        }
        assert_int_equal(a.keeps, b.keeps);
        free_blocks(&a);
        free_blocks(&b);
    }
    assert_true(whole > ROUNDS(400) && shorter > ROUNDS(400) && keeps > ROUNDS(400)); /* each was among them */
}

/* ---- a function of the order ------------------------------------------------------------------------------------- */

/* Turns some counts round: none, a few or a third. */
static void turn_some(struct trial *t, struct stream *s)
{
    static const unsigned share[] = {0, 100, 3};
    const unsigned one = share[draw_below(&t->state, 3)];
    for (unsigned i = 0; one > 0 && i < s->n; i++)
        if (draw_below(&t->state, one) == 0) s->count[i] = -s->count[i];
}

/* The items of each block, in their order, cut into parts of any size. */
static void take_in_parts(struct blocks *blocks, const struct stream *s, uint64_t *state)
{
    static uint64_t key[8192];
    static int64_t count[8192];
    for (uint32_t b = 0; b < blocks->blocks; b++) {
        size_t n = 0;
        for (unsigned i = 0; i < s->n; i++) {
            const struct spot spot = spot_of(blocks->blocks, s->hash[i]);
            if (spot.block != b) continue;
            key[n] = spot.key;
            count[n++] = s->count[i];
        }
        const uint64_t most = draw_below(state, 3) ? n + 1 : 14;
        for (size_t first = 0, size; first < n; first += size) {
            size = 1 + draw_below(state, most);
            if (size > n - first) size = n - first;
            blocks->kernels = draw_kernels(state);
            struct news news = {0};
            const bool keeps = blocks_take(blocks, b, key + first, count + first, size, &news);
            blocks->unlisted.entered += news.entered;
            blocks->unlisted.lighter += news.lighter;
            assert_int_equal(keeps, block_keeps(&blocks->block[b]));
            blocks->keeps |= keeps;
        }
    }
}

static void items_in_parts_are_single_ones(void **unused)
{
    (void)unused;
    static struct stream s;
    unsigned keeps = 0, lists = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        turn_some(&t, &s);
        struct blocks a = blocks_of(&s, t.most), b = make_blocks(t.most, t.most);
        take_in_parts(&b, &s, &t.state);
        assert_same_blocks(&a, &b);
        keeps += a.keeps;
        lists += !a.keeps;
        free_blocks(&a);
        free_blocks(&b);
    }
    assert_true(keeps > ROUNDS(80) && lists > ROUNDS(80));
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int64_t true_count(const struct stream *s, struct hash hash)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (s->hash[i].lo == hash.lo && s->hash[i].hi == hash.hi) sum += s->count[i];
    return sum;
}

static void check_reading(const struct block *block, const struct reading *reading, int64_t count)
{
    assert_int_equal(reading->step, block_step(block));
    assert_true(reading->minus == 0 && (reading->plus == 0 || block_keeps(block)));
    assert_true(reading->value >= 0 && reading->value <= reading->alike);
    if (!reading->listed) assert_int_equal(reading->value, 0);
    if (!block_keeps(block)) assert_true(reading->value == reading->alike && reading->listed == (reading->value > 0));
    if (reading->step == STEP_WHOLE) assert_int_equal(reading->value, count);
    assert_true((uint64_t)reading->alike + reading->plus >= (uint64_t)count);
}

/* What is listed of an item, what agrees with it, and what was lost is not below its count, absent ones included; of
 * whole keys it is the count. */
static void readings_are_bounds(void **unused)
{
    (void)unused;
    static struct stream s;
    unsigned lost = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        struct blocks blocks = blocks_of(&s, t.most);
        blocks.kernels = draw_kernels(&t.state);
        for (unsigned i = 0; i < 60; i++) {
            struct hash hash = i % 3 ? s.hash[draw_below(&t.state, s.n)] : hash_u64(draw(&t.state), seed_of(99));
            struct spot spot = spot_of(t.most, hash);
            struct reading reading;
            blocks_read(&blocks, spot, &reading);
            check_reading(&blocks.block[spot.block], &reading, true_count(&s, hash));
            lost += reading.plus > 0;
        }
        free_blocks(&blocks);
    }
    assert_true(lost > ROUNDS(2000));
}

/* Many at once are as one by one. */
static void many_readings_are_single_ones(void **unused)
{
    (void)unused;
    static struct stream s;
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        turn_some(&t, &s);
        struct blocks blocks = blocks_of(&s, t.most);
        for (unsigned round = 0; round < 20; round++) {
            uint32_t block[MANY_MOST];
            uint64_t key[MANY_MOST];
            struct reading many[MANY_MOST], one;
            unsigned n = (unsigned)draw_below(&t.state, MANY_MOST + 1);
            for (unsigned i = 0; i < n; i++) {
                bool there = draw_below(&t.state, 3) > 0;
                struct hash hash = there ? s.hash[draw_below(&t.state, s.n)] : hash_u64(draw(&t.state), seed_of(99));
                struct spot spot = spot_of(t.most, hash);
                block[i] = spot.block;
                key[i] = spot.key;
            }
            blocks.kernels = draw_kernels(&t.state);
            blocks.kernels->read_many(blocks.block, blocks.whole, block, key, n, many);
            for (unsigned i = 0; i < n; i++) {
                blocks.kernels = draw_kernels(&t.state);
                blocks_read(&blocks, (struct spot){block[i], key[i]}, &one);
                assert_true(many[i].value == one.value && many[i].alike == one.alike);
                assert_true(many[i].plus == one.plus && many[i].minus == one.minus);
                assert_true(many[i].listed == one.listed && many[i].step == one.step);
            }
        }
        free_blocks(&blocks);
    }
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* The items of the second stream, a list for each block, come to what adding them makes; or they are refused, where a
 * block keeps in the end, and nothing has changed. */
static void joined_is_added(void **unused)
{
    (void)unused;
    static struct stream one, two;
    static struct items items;
    static struct content list;
    unsigned joined = 0, refused = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &one);
        t.items = 1 + (unsigned)draw_below(&t.state, t.items);
        trial_stream(&t, &two);
        for (unsigned i = 0; i < two.n; i += 2) two.hash[i] = one.hash[draw_below(&t.state, one.n)];
        struct blocks a = blocks_of(&one, t.most), b = copy_blocks(&a);
        add_stream(&b, &two, 1);
        for (uint32_t i = 0; i < t.most; i++) {
            struct block before = a.block[i], now, expected = canonical(&b, i);
            items_of(&two, t.most, i, &items);
            if (!list_of(&items, STEP_WHOLE, a.whole, &list)) continue;
            a.kernels = draw_kernels(&t.state);
            const bool done = blocks_join(&a, i, &list);
            assert_int_equal(done, !block_keeps(&expected));
            if (!done) assert_memory_equal(&a.block[i], &before, sizeof before);
            now = canonical(&a, i);
            if (done) assert_memory_equal(&now, &expected, sizeof now);
            joined += done;
            refused += !done;
        }
        free_blocks(&a);
        free_blocks(&b);
    }
    assert_true(joined > ROUNDS(400) && refused > ROUNDS(400));
}

/* ---- growing ----------------------------------------------------------------------------------------------------- */

/* The same content in more blocks, through the hashes. */
static struct blocks grown(struct blocks *from)
{
    static struct content list;
    struct blocks to = make_blocks(blocks_after(from->blocks, from->most), from->most);
    for (uint32_t b = 0; b < from->blocks; b++) {
        from->kernels->open(&from->block[b], from->whole, &list);
        assert_int_equal(list.step, STEP_WHOLE);
        for (unsigned k = 0; k < list.n; k++)
            assert_true(blocks_add(&to, spot_hash(from->blocks, (struct spot){b, list.key[k]}), list.value[k]));
    }
    free_blocks(from);
    return to;
}

/* What does not fit changes nothing, and there are as many blocks in the end as the content asks for, in any order;
 * they have the bytes of those that were made so many and got the same in this order. */
static void growth_is_made_large(void **unused)
{
    (void)unused;
    static struct stream s;
    unsigned full = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        struct trial t = make_trial(seed);
        uint32_t number[2];
        t.most *= 8;
        trial_stream(&t, &s);
        for (unsigned order = 0; order < 2; order++, shuffle(&s, &t.state)) {
            struct blocks blocks = make_blocks(1, t.most);
            for (unsigned i = 0; i < s.n; i++) {
                struct spot spot = spot_of(blocks.blocks, s.hash[i]);
                struct block before = blocks.block[spot.block];
                if (blocks_add(&blocks, s.hash[i], s.count[i])) continue;
                assert_true(blocks_grow(&blocks));
                assert_memory_equal(&before, &blocks.block[spot.block], sizeof before);
                blocks = grown(&blocks);
                i--;
            }
            struct blocks large = make_blocks(blocks.blocks, t.most);
            add_stream(&large, &s, 1);
            assert_same_blocks(&blocks, &large);
            assert_true(blocks_possible(blocks.blocks, t.most));
            number[order] = blocks.blocks;
            full += !blocks_grow(&blocks);
            free_blocks(&large);
            free_blocks(&blocks);
        }
        assert_int_equal(number[0], number[1]);
    }
    assert_in_range(full, ROUNDS(300) / 10, ROUNDS(300) * 19 / 10); /* of 2 each: some reached the most, some did not */
}

/* ---- deleting ---------------------------------------------------------------------------------------------------- */

/* While keys are whole what is taken away is gone: the blocks without it, byte for byte; and the empty ones. */
static void whole_deletions_are_undone(void **unused)
{
    (void)unused;
    static struct stream one, two;
    unsigned checked = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        struct trial t = make_trial(seed);
        t.items = 1 + t.items % (16 * t.most);
        if (t.digits > 3) t.items = 1 + t.items % (6 * t.most); /* so that all of them, twice, list whole keys */
        trial_stream(&t, &one);
        trial_stream(&t, &two);
        struct blocks a = blocks_of(&one, t.most), b = copy_blocks(&a), empty = make_blocks(t.most, t.most);
        add_stream(&b, &two, 1);
        bool whole = true;
        for (uint32_t i = 0; i < t.most; i++) whole &= block_step(&b.block[i]) == STEP_WHOLE;
        checked += whole;
        if (whole) {
            shuffle(&two, &t.state);
            add_stream(&b, &two, -1);
            assert_same_blocks(&a, &b);
            add_stream(&b, &two, -1); /* below zero and back */
            add_stream(&b, &two, 1);
            assert_same_blocks(&a, &b);
            add_stream(&b, &one, -1);
            assert_same_blocks(&b, &empty);
            assert_true(b.loose);
        }
        free_blocks(&a);
        free_blocks(&b);
        free_blocks(&empty);
    }
    assert_true(checked > ROUNDS(400) / 2);
}

/* With deletions steps may be further on than the content asks for. What lists hold are still the sums of what shares
 * their bits, and what a block keeps and has lost is the sum of all that it got. */
static void deletions_are_linear(void **unused)
{
    (void)unused;
    static struct stream s;
    static struct items items;
    static struct content now, expected;
    unsigned keeps = 0, lists = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        for (unsigned i = 0; i < s.n; i++)
            if (draw_below(&t.state, 3) == 0) s.count[i] = -s.count[i];
        struct blocks blocks = blocks_of(&s, t.most);
        for (uint32_t b = 0; b < t.most; b++) {
            int64_t sum = 0;
            items_of(&s, t.most, b, &items);
            blocks.kernels->open(&blocks.block[b], blocks.whole, &now);
            keeps += block_keeps(&blocks.block[b]);
            lists += !block_keeps(&blocks.block[b]);
            if (!block_keeps(&blocks.block[b])) {
                assert_true(list_of(&items, now.step, blocks.whole, &expected));
                assert_int_equal(now.n, expected.n);
                assert_memory_equal(now.key, expected.key, now.n * sizeof *now.key);
                assert_memory_equal(now.value, expected.value, now.n * sizeof *now.value);
                continue;
            }
            for (unsigned i = 0; i < items.n; i++) sum += items.count[i];
            for (unsigned i = 0; i < now.n; i++) sum -= now.value[i];
            assert_true(sum == (int64_t)(now.loss.plus - now.loss.minus));
        }
        free_blocks(&blocks);
    }
    assert_true(keeps > ROUNDS(100) && lists > ROUNDS(100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_come_back),
        cmocka_unit_test(blocks_follow_from_the_content),
        cmocka_unit_test(order_does_not_matter_to_lists),
        cmocka_unit_test(items_in_parts_are_single_ones),
        cmocka_unit_test(readings_are_bounds),
        cmocka_unit_test(many_readings_are_single_ones),
        cmocka_unit_test(joined_is_added),
        cmocka_unit_test(growth_is_made_large),
        cmocka_unit_test(whole_deletions_are_undone),
        cmocka_unit_test(deletions_are_linear),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
