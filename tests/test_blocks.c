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
        if (i % 4 == 0)
            assert_int_equal(spot.key, slow_cut(0, whole, spot.key)); /* a power of two: that is all of it */
        assert_int_equal(spot.key >> 40, hash.hi >> 40);
        struct hash back = spot_hash(number, (struct spot){spot.block, slow_cut(0, whole, spot.key)});
        assert_int_equal(back.lo, hash.lo >> 26 << 26);
        assert_int_equal(back.hi, hash.hi >> 40 << 40);
        assert_true((next.lo >= hash.lo) == (spot_of(number, next).block >= spot.block) ||
                    spot_of(number, next).block == spot.block);
        if (number < UINT32_C(1) << 28) assert_int_equal(spot_of(2 * number, hash).block / 2, spot.block);
    }
}

/* ---- a function of the content ----------------------------------------------------------------------------------- */

/* All items of a block, as the slow model takes them: equal ones summed. */
static void items_of(const struct stream *s, uint32_t number, uint32_t block, struct slow_items *items)
{
    items->n = 0;
    for (unsigned i = 0; i < s->n; i++) {
        struct spot spot = spot_of(number, s->hash[i]);
        unsigned k = 0;
        if (spot.block != block) continue;
        while (k < items->n && items->key[k] != spot.key) k++;
        assert_true(k < 2048);
        items->key[k] = spot.key;
        items->count[k] = s->count[i] + (k < items->n ? items->count[k] : 0);
        items->n += k == items->n;
    }
}

/* Adds the items of one block to a row of a cap of this step. */
static void slow_cap(struct content *content, const struct slow_items *items)
{
    struct slow_row row[2];
    slow_rows(content->step, row);
    content->n = row[0].cells;
    for (unsigned i = 0; i < items->n; i++)
        content->value[row[0].cell[slow_first(content->step, 0, items->key[i])]] += items->count[i];
}

/* Each block at the first step that its items fit; a cap for every 32, with all that they have, if one of them is at
 * step 2 or later, else empty. */
static void check_blocks(const struct blocks *blocks, const struct stream *s)
{
    static struct slow_items items[80];
    static struct content content;
    for (uint32_t b = 0; b < blocks->blocks; b++) {
        items_of(s, blocks->blocks, b, &items[b]);
        unsigned step = 0;
        slow_content(&items[b], 0, blocks->whole, &content);
        while (!slow_fits(&content, blocks->whole)) slow_content(&items[b], ++step, blocks->whole, &content);
        struct block now = canonical(blocks, b), expected = slow_canonical(&content, blocks->whole);
        assert_memory_equal(&now, &expected, sizeof now);
    }
    uint32_t caps = blocks->blocks < 32 ? 1 : blocks->blocks / 32;
    for (uint32_t c = 0; c < caps; c++) {
        uint32_t end = c + 1 < caps ? 32 * c + 32 : blocks->blocks;
        bool counts = false;
        for (uint32_t b = 32 * c; b < end; b++) counts |= block_step(&blocks->block[b]) >= 2;
        struct block now = canonical(blocks, blocks->blocks + c), expected = {{0}};
        content.step = SLOW_CAP - 1;
        for (bool fits = !counts; !fits; fits = slow_fits(&content, blocks->whole)) {
            content = (struct content){.step = content.step + 1};
            for (uint32_t b = 32 * c; b < end; b++) slow_cap(&content, &items[b]);
        }
        if (counts) expected = slow_canonical(&content, blocks->whole);
        assert_memory_equal(&now, &expected, sizeof now);
    }
}

/* Also for large caps: one block gives up bits, and what the other 31 have is in the cap, once. */
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

/* Any order, counts in any parts, any kernels. */
static void order_does_not_matter(void **unused)
{
    (void)unused;
    static struct stream s;
    unsigned steps[3] = {0};
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
        assert_same_blocks(&a, &b);
        unsigned step = block_step(&a.block[0]);
        steps[step == 0 ? 0 : step < STEP_SHARE ? 1 : 2]++;
        free_blocks(&a);
        free_blocks(&b);
    }
    for (unsigned i = 0; i < 3; i++) assert_true(steps[i] > ROUNDS(400) / 20); /* each state was among them */
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int64_t true_count(const struct stream *s, struct hash hash)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < s->n; i++)
        if (s->hash[i].lo == hash.lo && s->hash[i].hi == hash.hi) sum += s->count[i];
    return sum;
}

/* One value of a list or two of rows, and the cap's, if the block is past step 1 and does not list a small count. */
static void check_shape_of_reading(const struct blocks *blocks, struct spot spot, const struct reading *reading)
{
    const struct block *block = &blocks->block[spot.block];
    bool lists = reading->step < SLOW_SHARE;
    bool capped = reading->step >= 2 && (!lists || reading->value[0] >= BLOCKS_UNCAPPED);
    assert_int_equal(reading->step, block_step(block));
    assert_int_equal(reading->values, (lists ? 1 : 2) + capped);
    assert_int_equal(reading->entries, lists ? block_entries(block) : 0);
    if (lists) {
        unsigned length = slow_length(reading->step, blocks->whole, spot.key);
        assert_int_equal(reading->width[0], 1u << (length < 24 ? length : 24));
    }
    if (capped) assert_true(reading->width[reading->values - 1] >= 8 && reading->width[reading->values - 1] <= 512);
}

/* No value is below the item's count, absent ones included; at step 0 it is the count. */
static void readings_are_bounds(void **unused)
{
    (void)unused;
    static struct stream s;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        struct blocks blocks = blocks_of(&s, t.most);
        blocks.kernels = draw_kernels(&t.state);
        for (unsigned i = 0; i < 60; i++) {
            struct hash hash = i % 3 ? s.hash[draw_below(&t.state, s.n)] : hash_u64(draw(&t.state), seed_of(99));
            struct spot spot = spot_of(t.most, hash);
            struct reading reading;
            int64_t count = true_count(&s, hash);
            blocks_read(&blocks, spot, &reading);
            check_shape_of_reading(&blocks, spot, &reading);
            if (reading.step == 0) assert_int_equal(reading.value[0], count);
            for (unsigned v = 0; v < reading.values; v++) assert_true(reading.value[v] >= count);
        }
        free_blocks(&blocks);
    }
}

/* Many at once are as one by one. */
static void many_readings_are_single_ones(void **unused)
{
    (void)unused;
    static struct stream s;
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        struct blocks blocks = blocks_of(&s, t.most);
        for (unsigned round = 0; round < 20; round++) {
            struct spot spot[MANY_MOST];
            struct reading many[MANY_MOST], one;
            unsigned n = (unsigned)draw_below(&t.state, MANY_MOST + 1);
            for (unsigned i = 0; i < n; i++) {
                bool there = draw_below(&t.state, 3) > 0;
                spot[i] =
                    spot_of(t.most, there ? s.hash[draw_below(&t.state, s.n)] : hash_u64(draw(&t.state), seed_of(99)));
            }
            blocks.kernels = draw_kernels(&t.state);
            blocks_read_many(&blocks, spot, n, many);
            for (unsigned i = 0; i < n; i++) {
                blocks_read(&blocks, spot[i], &one);
                assert_int_equal(many[i].step, one.step);
                assert_int_equal(many[i].values, one.values);
                assert_int_equal(many[i].entries, one.entries);
                assert_memory_equal(many[i].value, one.value, one.values * sizeof *one.value);
                assert_memory_equal(many[i].width, one.width, one.values * sizeof *one.width);
            }
        }
        free_blocks(&blocks);
    }
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Adds cap content, at any step, to a cap. */
static void join_cap(struct blocks *into, uint32_t block, struct content *from, int sign)
{
    static struct content own;
    struct block *cap = cap_of(into, block);
    into->kernels->open(cap, into->whole, &own);
    unsigned step = own.step > from->step ? own.step : from->step;
    content_lower(&own, step, into->whole);
    content_lower(from, step, into->whole);
    content_join(&own, from, sign);
    into->kernels->settle(cap, into->whole, &own);
}

/* The blocks of one cap that counts in either: in both first, so that it can be added as it is. */
static void join_counting(struct blocks *into, struct blocks *from, uint32_t cap, int sign)
{
    static struct content content;
    uint32_t first = cap_first(cap), end = cap_end(into, cap);
    blocks_make_cap(into, first);
    blocks_make_cap(from, first);
    for (uint32_t i = first; i < end; i++) {
        from->kernels->open(&from->block[i], from->whole, &content);
        assert_true(blocks_join(into, i, &content, sign));
    }
    from->kernels->open(cap_of(from, first), from->whole, &content);
    join_cap(into, first, &content, sign);
}

/* Of one that counts in neither: it may be made on the way, of all that is there by then. From then on, and of the
 * block itself, entries are added. */
static void join_lists(struct blocks *into, struct blocks *from, uint32_t cap, int sign)
{
    static struct content list, row;
    for (uint32_t i = cap_first(cap); i < cap_end(into, cap); i++) {
        from->kernels->open(&from->block[i], from->whole, &list);
        assert_true(blocks_join(into, i, &list, sign));
        if (!cap_counts(cap_of(into, i))) continue;
        from->kernels->open(&from->block[i], from->whole, &list);
        content_start(&row, STEP_CAP);
        for (unsigned k = 0; k < list.n; k++) content_add(&row, from->whole, list.key[k], list.value[k]);
        join_cap(into, i, &row, sign);
    }
}

static void join_blocks(struct blocks *into, const struct blocks *other, int sign)
{
    struct blocks from = copy_blocks(other);
    for (uint32_t cap = 0; cap < blocks_caps(into->blocks, into->most); cap++) {
        bool counts = cap_counts(&into->block[into->blocks + cap]) || cap_counts(&from.block[from.blocks + cap]);
        (counts ? join_counting : join_lists)(into, &from, cap, sign);
    }
    free_blocks(&from);
}

static void joined_is_added(void **unused)
{
    (void)unused;
    static struct stream one, two;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &one);
        t.items = 1 + (unsigned)draw_below(&t.state, t.items);
        trial_stream(&t, &two);
        for (unsigned i = 0; i < two.n; i += 2) two.hash[i] = one.hash[draw_below(&t.state, one.n)];
        struct blocks a = blocks_of(&one, t.most), b = blocks_of(&two, t.most);
        join_blocks(&a, &b, 1);
        add_stream(&b, &one, 1);
        assert_same_blocks(&a, &b);
        free_blocks(&a);
        free_blocks(&b);
    }
}

/* ---- folding ----------------------------------------------------------------------------------------------------- */

/* What two neighbours of 2B blocks are in one of B: hashes while both are whole, prints after that. */
static void fold_pair(const struct blocks *from, struct blocks *to, uint32_t block)
{
    static struct content half[2], sum;
    bool whole = true;
    for (uint32_t i = 0; i < 2; i++) {
        from->kernels->open(&from->block[2 * block + i], from->whole, &half[i]);
        whole &= half[i].step == STEP_WHOLE;
    }
    unsigned step = half[0].step > half[1].step ? half[0].step : half[1].step;
    sum = half[0];
    if (!whole) content_lower(&sum, step, from->whole);
    if (!whole) content_lower(&half[1], step, from->whole);
    if (!whole) content_join(&sum, &half[1], 1);
    if (whole) content_start(&sum, STEP_WHOLE);
    for (uint32_t i = 0; whole && i < 2; i++)
        for (unsigned k = 0; k < half[i].n; k++) {
            struct spot spot =
                spot_of(to->blocks, spot_hash(from->blocks, (struct spot){2 * block + i, half[i].key[k]}));
            assert_int_equal(spot.block, block);
            content_add(&sum, to->whole, spot.key, half[i].value[k]);
        }
    to->kernels->settle(&to->block[block], to->whole, &sum);
}

/* A cap has those of its blocks' halves, if it must count. */
static void fold_cap(struct blocks *from, struct blocks *to, uint32_t cap)
{
    static struct content sum, row;
    bool counts = false;
    uint32_t first = 2 * cap_first(cap), end = 2 * cap_end(to, cap);
    for (uint32_t i = first / 2; i < end / 2; i++) counts |= block_step(&to->block[i]) > STEP_LIST;
    if (!counts) return;
    content_start(&sum, STEP_CAP);
    to->kernels->settle(cap_of(to, first / 2), to->whole, &sum);
    for (uint32_t c = cap_index(from, first); c <= cap_index(from, end - 1); c++) {
        assert_true(cap_first(c) >= first && cap_end(from, c) <= end);
        blocks_make_cap(from, cap_first(c));
        from->kernels->open(&from->block[from->blocks + c], from->whole, &row);
        join_cap(to, first / 2, &row, 1);
    }
}

static void folded_is_made_with_fewer(void **unused)
{
    (void)unused;
    static struct stream s;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        struct blocks twice = blocks_of(&s, 2 * t.most), made = blocks_of(&s, t.most),
                      folded = make_blocks(t.most, t.most);
        for (uint32_t i = 0; i < t.most; i++) fold_pair(&twice, &folded, i);
        for (uint32_t c = 0; c < blocks_caps(t.most, t.most); c++) fold_cap(&twice, &folded, c);
        assert_same_blocks(&folded, &made);
        free_blocks(&twice);
        free_blocks(&made);
        free_blocks(&folded);
    }
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
 * they have the bytes of those that were made so many. */
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
            join_blocks(&b, &a, 1);
            join_blocks(&b, &a, -1);
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

/* With deletions steps may be further on than the content asks for; what blocks hold, caps included, are still the
 * sums. */
static void deletions_are_linear(void **unused)
{
    (void)unused;
    static struct stream s;
    static struct slow_items items;
    static struct content now, expected;
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        struct trial t = make_trial(seed);
        trial_stream(&t, &s);
        for (unsigned i = 0; i < s.n; i++)
            if (draw_below(&t.state, 3) == 0) s.count[i] = -s.count[i];
        struct blocks blocks = blocks_of(&s, t.most);
        for (uint32_t b = 0; b < t.most; b++) {
            items_of(&s, t.most, b, &items);
            blocks.kernels->open(&blocks.block[b], blocks.whole, &now);
            slow_content(&items, now.step, blocks.whole, &expected);
            assert_int_equal(now.n, expected.n);
            assert_memory_equal(now.value, expected.value, now.n * sizeof *now.value);
            if (b > 0 && (b % 32 || b / 32 >= blocks_caps(t.most, t.most))) continue;
            bool counts = false;
            for (uint32_t i = b; i < cap_end(&blocks, b / 32); i++) counts |= block_step(&blocks.block[i]) >= 2;
            assert_int_equal(cap_counts(cap_of(&blocks, b)), counts);
            if (!counts) continue;
            blocks.kernels->open(cap_of(&blocks, b), blocks.whole, &now);
            expected = (struct content){.step = now.step};
            for (uint32_t i = b; i < cap_end(&blocks, b / 32); i++) {
                items_of(&s, t.most, i, &items);
                slow_cap(&expected, &items);
            }
            assert_int_equal(now.n, expected.n);
            assert_memory_equal(now.value, expected.value, now.n * sizeof *now.value);
        }
        free_blocks(&blocks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_come_back),
        cmocka_unit_test(blocks_follow_from_the_content),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(readings_are_bounds),
        cmocka_unit_test(many_readings_are_single_ones),
        cmocka_unit_test(joined_is_added),
        cmocka_unit_test(folded_is_made_with_fewer),
        cmocka_unit_test(growth_is_made_large),
        cmocka_unit_test(whole_deletions_are_undone),
        cmocka_unit_test(deletions_are_linear),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
