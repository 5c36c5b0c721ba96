/* Blocks that come from elsewhere: from another language, and from anybody, with bits that were never a block. */
#include <limits.h>

#include "trial_block.h"

/* ---- another language -------------------------------------------------------------------------------------------- */

/* A line of tests/golden/blocks.txt. */
struct golden {
    unsigned whole, pool, n, bits, is_signed, seed;
    char hex[600];
};

static void golden_add(const struct golden *golden, struct block *block)
{
    uint64_t state = golden->seed;
    for (unsigned i = 0; i < golden->n; i++) {
        uint64_t number = draw(&state) % golden->pool, shift = draw(&state) % (golden->bits + 1), count = draw(&state);
        const uint64_t key = draw(&number) >> (64 - golden->whole) << (64 - golden->whole);
        const int64_t value = (int64_t)(count >> (63 - shift)) + 1;
        const bool below = golden->is_signed == 2 || (golden->is_signed && count % 3 == 0);
        kernels->add_on(block, golden->whole, key, below ? -value : value);
    }
}

static struct block from_hex(const char *hex)
{
    struct block block = {{0}};
    assert_true(strlen(hex) % 2 == 0 && strlen(hex) <= 512);
    for (unsigned i = 0, byte; hex[2 * i]; i++) {
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        block.word[i / 8] |= (uint64_t)byte << 8 * (i % 8);
    }
    return block;
}

/* A Python program that has the rule of keep.h, too, wrote them. */
static void golden_blocks(void)
{
    static struct content content;
    static struct golden golden;
    static char line[1024];
    FILE *f = fopen("tests/golden/blocks.txt", "r");
    assert_non_null(f); /* run the tests from the source folder */
    unsigned lines = 0, steps = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%u %u %u %u %u %u %599s", &golden.whole, &golden.pool, &golden.n, &golden.bits,
                                &golden.is_signed, &golden.seed, golden.hex),
                         7);
        struct block block = {{0}}, canonical, expected = from_hex(golden.hex);
        golden_add(&golden, &block);
        kernels->open(&block, golden.whole, &content);
        assert_true(kernels->close(&canonical, golden.whole, &content));
        assert_block(&canonical, &expected);
        assert_int_equal(block_bytes(&canonical), strlen(golden.hex) / 2);
        assert_true(kernels->valid(&expected, golden.whole, &content));
        steps |= 1u << block_step(&block);
        lines++;
    }
    fclose(f);
    assert_true(lines > 100);
    assert_int_equal(steps, (1u << (STEP_LAST + 1)) - 1); /* all of them */
}

static void blocks_of_another_language(void **unused)
{
    (void)unused;
    each_kernels(golden_blocks);
}

/* ---- bytes from outside ------------------------------------------------------------------------------------------ */

static unsigned accepted[SLOW_LAST + 1]; /* at each step */

static void check_valid(const struct block *block, unsigned whole)
{
    static struct content content, opened;
    bool expected = slow_valid(block, whole, &content);
    assert_int_equal(kernels->valid(block, whole, &opened), expected);
    if (!expected) return;
    accepted[content.step]++;
    assert_content(&opened, &content);
}

/* Every bit of some blocks changed, any field of the head or of the tail replaced, words replaced; at first of each
 * step one. */
static void changed_blocks(void)
{
    static struct content content;
    memset(accepted, 0, sizeof accepted);
    for (uint64_t seed = 1; seed <= ROUNDS(150); seed++) {
        struct trial t = make_trial(seed);
        const unsigned wanted = seed > SLOW_LAST + 1 ? UINT_MAX : (unsigned)seed - 1;
        do
            if (wanted == UINT_MAX ? seed % 2 : wanted >= SLOW_KEEP) trial_kept(&t, &content);
            else trial_list(&t, &content);
        while (!slow_fits(&content, t.whole) || (wanted != UINT_MAX && content.step != wanted));
        struct block block = slow_canonical(&content, t.whole), changed;
        for (unsigned bit = 0; bit < 2048; bit += seed % 8 ? 1 + (unsigned)draw_below(&t.state, 30) : 1) {
            changed = block;
            changed.word[bit / 64] ^= UINT64_C(1) << bit % 64;
            check_valid(&changed, t.whole);
        }
        static const unsigned field[][2] = {{0, 11}, {11, 4}, {15, 9}, {24, 5}, {29, 2}, {31, 4}, {35, 4}, {39, 1}};
        for (unsigned i = 0; i < 80; i++) {
            changed = block;
            unsigned at = field[i % 8][0];
            uint64_t mask = (UINT64_C(1) << field[i % 8][1]) - 1;
            changed.word[0] = (changed.word[0] & ~(mask << at)) | (draw(&t.state) & mask) << at;
            if (i >= 40) changed.word[draw_below(&t.state, 32)] = draw(&t.state);
            check_valid(&changed, t.whole);
        }
        for (unsigned i = 0, tail = slow_tail(&content); i < 40 && tail > 0; i++) {
            changed = block;
            unsigned bit = 2048 - 1 - (unsigned)draw_below(&t.state, tail);
            for (unsigned n = 1 + (unsigned)draw_below(&t.state, 8); n > 0 && bit < 2048; n--, bit++)
                changed.word[bit / 64] ^= (draw(&t.state) & 1) << bit % 64;
            check_valid(&changed, t.whole);
        }
    }
    for (unsigned step = 0; step <= SLOW_LAST; step++)
        assert_true(accepted[step] > 0); /* with another remainder or digit */
}

/* Heads that name the largest of everything over bits that are mostly ones, mostly zeros or random. */
static void hostile_blocks(void)
{
    uint64_t state = 1;
    for (unsigned round = 0; round < ROUNDS(20000); round++) {
        struct block block;
        unsigned kind = (unsigned)draw_below(&state, 4), n = (unsigned)draw_below(&state, 512);
        for (unsigned i = 0; i < 32; i++)
            block.word[i] = kind == 0   ? draw(&state)
                            : kind == 1 ? draw(&state) | draw(&state) | draw(&state)
                            : kind == 2 ? UINT64_MAX
                                        : draw(&state) & draw(&state) & draw(&state);
        uint64_t used = draw_below(&state, 3) ? 1700 + draw_below(&state, 309) : draw_below(&state, 2048);
        uint64_t step = draw_below(&state, 16), g = draw_below(&state, 2) ? 31 : draw_below(&state, 32);
        if (draw_below(&state, 2)) n %= 8;
        else if (draw_below(&state, 2)) n %= SLOW_ENTRIES;
        block.word[0] =
            block.word[0] >> 31 << 31 | used | step << 11 | (uint64_t)n << 15 | g << 24 | draw_below(&state, 4) << 29;
        if (draw_below(&state, 2)) block.word[0] &= ~(UINT64_C(0x1ff) << 31);
        check_valid(&block, 34 + (unsigned)draw_below(&state, 29));
    }
}

/* Few entries, all low bits, and a chain of digits on every level there is: the largest shift that bytes can ask
 * for. */
static void deepest_levels(void)
{
    memset(accepted, 0, sizeof accepted);
    for (unsigned g = 0; g < SLOW_G; g++)
        for (unsigned step = 0; step <= SLOW_LAST; step++)
            for (unsigned goes_on = 0; goes_on < 4; goes_on++) {
                struct slow_bits bits = {.at = SLOW_HEAD};
                unsigned n = 1 + goes_on / 2 * 7, q = slow_quotient(n), print = slow_print(step, 62);
                slow_put(&bits, (1u << n) - 1, n + (1u << q));
                for (unsigned i = 0; i < n; i++) slow_put(&bits, i, print - q);
                slow_put(&bits, 1, n);
                for (unsigned i = 0; i < n; i++) slow_put(&bits, 0, g);
                for (unsigned l = 0; l < 8; l++) {
                    slow_put(&bits, l < 7 || goes_on % 2, 1);
                    slow_put(&bits, goes_on % 2 ? UINT32_MAX : 0, slow_digit[l]);
                }
                for (unsigned i = 0; step >= SLOW_KEEP && i < (step < SLOW_LAST ? 1 : n); i++)
                    slow_put(&bits, 1, slow_field(step));
                uint64_t used = bits.at - SLOW_HEAD;
                struct content tail = {.step = step, .n = n, .signs = 1, .loss = {.hand = step >= SLOW_FLOOR}};
                for (unsigned i = 0; i < n; i++) tail.value[i] = 1, tail.known[i] = (uint8_t)print;
                if (step >= SLOW_KEEP) slow_put_tail(&bits, &tail);
                bits.at = 0;
                slow_put(&bits, used | (uint64_t)step << 11 | (uint64_t)n << 15 | (uint64_t)g << 24, 40);
                check_valid(&bits.block, 62);
                bits.at = 29;
                slow_put(&bits, 1, 1);
                check_valid(&bits.block, 62);
            }
    for (unsigned step = SLOW_KEEP; step <= SLOW_LAST; step++) assert_true(accepted[step] > 0); /* these tell their g */
}

/* What was accepted can be added to, whatever it is, and is a block again. */
static void accepted_blocks_go_on(void)
{
    static struct content content, opened;
    unsigned went = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        struct trial t = make_trial(seed);
        t.left = UINT64_MAX / 16;
        trial_kept(&t, &content);
        struct block block = slow_canonical(&content, t.whole), changed;
        for (unsigned i = 0; i < 40; i++) {
            changed = block;
            unsigned tail = slow_tail(&content), bit = i % 2 ? 2047 - (unsigned)draw_below(&t.state, tail) : 0;
            if (bit == 0) bit = SLOW_HEAD + (unsigned)draw_below(&t.state, 2008);
            for (unsigned n = 1 + (unsigned)draw_below(&t.state, 3); n > 0 && bit < 2048; n--, bit++)
                changed.word[bit / 64] ^= UINT64_C(1) << bit % 64;
            if (!kernels->valid(&changed, t.whole, &opened) || memcmp(&changed, &block, sizeof block) == 0) continue;
            lego_u128 sum = (lego_u128)opened.loss.plus + opened.loss.minus;
            for (unsigned k = 0; k < opened.n; k++)
                sum += opened.value[k] < 0 ? -(uint64_t)opened.value[k] : (uint64_t)opened.value[k];
            if (sum > UINT64_MAX / 8) continue;
            went++;
            for (unsigned k = 0; k < 50; k++) {
                int64_t count;
                uint64_t key = trial_item(&t, &opened, &count);
                if (k % 3 == 0) count = t.is_signed ? -1 : 1;
                kernels->add_on(&changed, t.whole, key, count);
                keep_add(&opened, key, count);
            }
            struct block expected = slow_canonical(&opened, t.whole);
            assert_block(&changed, &expected);
            assert_true(kernels->valid(&changed, t.whole, &opened));
        }
    }
    assert_true(went > ROUNDS(1000));
}

static void bytes_from_outside(void **unused)
{
    (void)unused;
    each_kernels(deepest_levels);
    each_kernels(changed_blocks);
    each_kernels(hostile_blocks);
    each_kernels(accepted_blocks_go_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_another_language),
        cmocka_unit_test(bytes_from_outside),
    };
    return cmocka_run_group_tests_name("block bytes", tests, NULL, NULL);
}
