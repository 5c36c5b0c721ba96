/* One block: against plain sums of the unfolded cells, and, bit by bit, against a second packer written from the
 * comment over src/block/block.h. All of it for each of the kernels that this CPU can run. */
#include "block/kernels.h"
#include "support.h"

static const struct block_kernels *kernels; /* those being tested */

/* ---- the comment, once more -------------------------------------------------------------------------------------- */

enum { STEPS = 17, CELLS = 320, HEAD = 501, G_END = 32 };

static const unsigned ladder[4][STEPS] = {{128, 128, 128, 128, 128, 128, 64, 64, 32, 32, 16, 16, 8, 8, 4, 4, 2},
                                          {64, 64, 64, 64, 64, 64, 64, 32, 32, 16, 16, 8, 8, 4, 4, 2, 2},
                                          {64, 64, 64, 32, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                          {64, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
static const unsigned digit[] = {1, 1, 1, 2, 4, 8, 16, 31};

static unsigned cells_of(unsigned step)
{
    return ladder[0][step] + ladder[1][step] + ladder[2][step] + ladder[3][step];
}

static bool any_negative(const int64_t value[], unsigned cells)
{
    for (unsigned i = 0; i < cells; i++)
        if (value[i] < 0) return true;
    return false;
}

static uint64_t code_of(int64_t v, bool is_signed)
{
    if (!is_signed) return (uint64_t)v;
    return v >= 0 ? 2 * (uint64_t)v : 2 * (uint64_t)(-(v + 1)) + 1;
}

static unsigned length_at(const int64_t value[], unsigned cells, unsigned g, bool is_signed)
{
    unsigned length = cells * (1 + g);
    for (unsigned i = 0; i < cells; i++) {
        uint64_t t = code_of(value[i], is_signed) >> g;
        for (unsigned l = 0; t > 0; t = (t - 1) >> digit[l++]) length += 1 + digit[l];
    }
    return length;
}

/* The least length over all g, and the least g that has it. */
static unsigned length_of(const int64_t value[], unsigned cells, unsigned *g)
{
    unsigned least = UINT32_MAX;
    *g = 0;
    for (unsigned order = 0; order < G_END; order++) {
        unsigned length = length_at(value, cells, order, any_negative(value, cells));
        if (length < least) least = length, *g = order;
    }
    return least;
}

struct bits {
    struct block block;
    unsigned at;
};

static void write_bits(struct bits *bits, uint64_t x, unsigned n)
{
    for (unsigned i = 0; i < n; i++, bits->at++) bits->block.word[bits->at / 64] |= (x >> i & 1) << bits->at % 64;
}

static uint64_t read_bits(const struct block *block, unsigned at, unsigned n)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < n; i++, at++) x |= (block->word[at / 64] >> at % 64 & 1) << i;
    return x;
}

static struct block packed(const int64_t value[], unsigned step, unsigned g, bool is_signed)
{
    unsigned cells = cells_of(step), entries = cells;
    uint64_t t[CELLS];
    struct bits bits = {.at = 0};
    assert_true(length_at(value, cells, g, is_signed) <= HEAD);
    for (unsigned i = 0; i < cells; i++) {
        t[i] = code_of(value[i], is_signed) >> g;
        write_bits(&bits, t[i] > 0, 1);
    }
    for (unsigned i = 0; i < cells; i++) write_bits(&bits, code_of(value[i], is_signed), g);
    for (unsigned l = 0; entries > 0; l++) {
        unsigned on = 0;
        for (unsigned i = 0; i < entries; i++)
            if (t[i] > 0) t[on++] = t[i] - 1;
        entries = on;
        for (unsigned i = 0; i < entries; i++) write_bits(&bits, t[i] >> digit[l] > 0, 1);
        for (unsigned i = 0; i < entries; i++) write_bits(&bits, t[i], digit[l]), t[i] >>= digit[l];
    }
    assert_int_equal(bits.at, length_at(value, cells, g, is_signed));
    bits.at = HEAD;
    write_bits(&bits, step, 5);
    write_bits(&bits, g, 5);
    write_bits(&bits, is_signed, 1);
    assert_int_equal(bits.at, 512);
    return bits.block;
}

static struct block canonical(const int64_t value[], unsigned step)
{
    unsigned g = 0;
    length_of(value, cells_of(step), &g);
    return packed(value, step, g, any_negative(value, cells_of(step)));
}

static void assert_block(struct block a, struct block b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

/* Whether any bytes are a canonical block: read with 128 bits and checks everywhere, then written again. */
static bool valid(const struct block *block)
{
    unsigned step = (unsigned)read_bits(block, 501, 5), g = (unsigned)read_bits(block, 506, 5);
    bool is_signed = read_bits(block, 511, 1);
    if (step >= STEPS) return false;
    unsigned cells = cells_of(step), at = cells * (1 + g), entries = 0, shift = 0, open[CELLS], order;
    if (at > HEAD) return false;
    lego_u128 t[CELLS] = {0};
    int64_t value[CELLS];
    for (unsigned i = 0; i < cells; i++)
        if (read_bits(block, i, 1)) open[entries++] = i;
    for (unsigned l = 0; entries > 0; l++) {
        if (l == 8 || at + entries * (1 + digit[l]) > HEAD) return false;
        unsigned on = 0, digits = at + entries, after = digits + entries * digit[l];
        for (unsigned j = 0; j < entries; j++) {
            t[open[j]] += (lego_u128)(1 + read_bits(block, digits + j * digit[l], digit[l])) << shift;
            if (read_bits(block, at + j, 1)) open[on++] = open[j];
        }
        shift += digit[l];
        at = after;
        entries = on;
    }
    for (unsigned i = 0; i < cells; i++) {
        lego_u128 code = t[i] << g | read_bits(block, cells + i * g, g);
        if (code > (is_signed ? UINT64_MAX : (uint64_t)INT64_MAX)) return false;
        uint64_t half = (uint64_t)(is_signed ? code >> 1 : code);
        value[i] = is_signed && (code & 1) ? -(int64_t)half - 1 : (int64_t)half;
    }
    if (is_signed != any_negative(value, cells)) return false;
    length_of(value, cells, &order);
    struct block same = packed(value, step, g, is_signed);
    return order == g && memcmp(&same, block, sizeof same) == 0;
}

/* ---- content ----------------------------------------------------------------------------------------------------- */

struct truth {
    int64_t cell[4][128]; /* of step 0 */
};

struct add {
    unsigned row[2];
    uint32_t hash[2];
    int64_t count;
};

static void truth_add(struct truth *truth, const struct add *add, int sign)
{
    for (int i = 0; i < 2; i++) truth->cell[add->row[i]][add->hash[i] % ladder[add->row[i]][0]] += sign * add->count;
}

static unsigned truth_at(const struct truth *truth, unsigned step, int64_t value[CELLS])
{
    unsigned n = 0;
    for (unsigned k = 0; k < 4; k++)
        for (unsigned c = 0; c < ladder[k][step]; c++) {
            value[n] = 0;
            for (unsigned d = c; d < ladder[k][0]; d += ladder[k][step]) value[n] += truth->cell[k][d];
            n++;
        }
    return n;
}

/* The first step at which it fits. */
static unsigned step_of(const struct truth *truth)
{
    for (unsigned step = 0;; step++) {
        int64_t value[CELLS];
        unsigned g, cells = truth_at(truth, step, value);
        if (length_of(value, cells, &g) <= HEAD) return step;
    }
}

/* Every cell, in every way to read it; the canonical form, which is made again from itself. */
static void assert_content(const struct block *block, const struct truth *truth)
{
    int64_t value[CELLS], read[BLOCK_CELLS];
    unsigned step = block_step(block), cells = truth_at(truth, step, value), at = 0;
    assert_int_equal(kernels->unpack(block, read), cells);
    assert_memory_equal(read, value, cells * sizeof *value);
    for (unsigned i = 0; i < cells; i++) assert_int_equal(kernels->get(block, i), value[i]);
    for (unsigned k = 0; k < 4; k++) {
        assert_int_equal(block_columns[step][k], ladder[k][step]);
        for (uint32_t c = 0; c < 128; c++)
            assert_int_equal(block_cell(step, k, c | c << 20), ladder[k][step] ? (int)(at + c % ladder[k][step]) : -1);
        at += ladder[k][step];
    }
    struct block made = kernels->canonical(block);
    assert_block(made, canonical(value, step));
    assert_block(kernels->canonical(&made), made);
    assert_true(kernels->valid(&made));
}

/* ---- streams of one block ---------------------------------------------------------------------------------------- */

enum { MAX_ADDS = 1000 };

/* A stream for one block: how many items, how large the counts, which signs. The sum of all |count| is below 2^62. */
struct trial {
    uint64_t state;
    size_t n;
    struct add add[MAX_ADDS];
};

static void make_trial(struct trial *t, uint64_t seed, bool negative)
{
    static const unsigned most_bits[] = {1, 2, 3, 5, 8, 12, 20, 32, 45, 52};
    t->state = seed * UINT64_C(0x2545f4914f6cdd1d);
    t->n = 1 + draw_below(&t->state, MAX_ADDS - 1);
    uint64_t domain = 1 + draw_below(&t->state, draw_below(&t->state, 2) ? 2000 : 20), salt = draw(&t->state);
    unsigned bits = most_bits[draw_below(&t->state, 10)];
    bool any_rows = draw_below(&t->state, 4) == 0, spread = draw_below(&t->state, 4) == 0; /* over the cells, evenly */
    uint64_t spread_most = 1 + draw_below(&t->state, 20); /* but for one add in so many */
    if (spread && draw_below(&t->state, 2)) bits = 1;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t item = salt + draw_below(&t->state, domain), h = draw(&item);
        unsigned which = draw(&item) & 1;
        struct add add = {{which, which + 2}, {(uint32_t)h, (uint32_t)(h >> 32)}, 0};
        if (any_rows) add.row[1] = (add.row[0] + 1 + draw(&item) % 3) % 4;
        if (spread && draw_below(&t->state, spread_most))
            add = (struct add){{0, 1 + i % 2}, {(uint32_t)i, (uint32_t)(i / 2)}, 0};
        add.count = (int64_t)(draw(&t->state) >> (64 - bits + draw_below(&t->state, bits))); /* of 0 to `bits` bits */
        if (negative && draw_below(&t->state, 3) == 0) add.count = -add.count;
        t->add[i] = add;
    }
}

/* Counts that bring the largest cells near 2^62, or -2^62. */
static void make_huge_trial(struct trial *t, uint64_t seed, int64_t sign)
{
    make_trial(t, seed, false);
    for (size_t i = 0; i < t->n; i++)
        t->add[i].count = sign * ((INT64_C(1) << 62) / (int64_t)t->n - t->add[i].count % 5);
}

static void shuffle(struct trial *t)
{
    for (size_t i = t->n; i > 1; i--) {
        size_t j = draw_below(&t->state, i);
        struct add add = t->add[i - 1];
        t->add[i - 1] = t->add[j];
        t->add[j] = add;
    }
}

static void add_to(struct block *block, struct truth *truth, const struct add *add, int sign)
{
    unsigned before = block_step(block);
    kernels->add(block, add->row, add->hash, sign * add->count);
    assert_true(block_step(block) >= before && block_step(block) < STEPS);
    if (truth) truth_add(truth, add, sign);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* What the comment over block.h says of cells 0, 4, 1, with a fourth of 0: the shortest row has four. */
static void the_example(void **unused)
{
    (void)unused;
    static const char bits[] = "0110" /* map 0 */
                               "10"
                               "10" /* level 1: map, digits */
                               "0"
                               "0"; /* level 2 */
    struct block block = {{0}};
    for (unsigned i = 0; bits[i]; i++) block.word[0] |= (uint64_t)(bits[i] == '1') << i;
    block.word[7] = UINT64_C(16) << 53;
    const int64_t value[4] = {0, 4, 1, 0};
    for (unsigned i = 0; i < 4; i++) assert_int_equal(kernels->get(&block, i), value[i]);
    assert_block(packed(value, 16, 0, false), block);
    assert_block(kernels->canonical(&block), block);
    assert_true(kernels->valid(&block));

    /* signed: 0, -4, 1, 0 are coded as 0, 7, 2, 0. With g = 1 that is T = 0, 3, 1, 0: level 1 of T - 1 = 2 and 0. */
    static const char negative[] = "0110"
                                   "0"
                                   "1"
                                   "0"
                                   "0"
                                   "10"
                                   "00"
                                   "0"
                                   "0";
    struct block minus = {{0}};
    for (unsigned i = 0; negative[i]; i++) minus.word[0] |= (uint64_t)(negative[i] == '1') << i;
    minus.word[7] = UINT64_C(16) << 53 | UINT64_C(1) << 58 | UINT64_C(1) << 63;
    const int64_t below[4] = {0, -4, 1, 0};
    for (unsigned i = 0; i < 4; i++) assert_int_equal(kernels->get(&minus, i), below[i]);
    assert_block(packed(below, 16, 1, true), minus);

    struct block empty = {{0}}; /* is all zero */
    assert_true(kernels->valid(&empty));
    assert_block(kernels->canonical(&empty), empty);
}

static void cells_are_sums(void **unused)
{
    (void)unused;
    unsigned at_step[STEPS] = {0};
    static struct trial t;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        if (seed % 8 == 0) make_huge_trial(&t, seed, seed % 16 ? -1 : 1);
        else make_trial(&t, seed, seed % 2);
        struct block block = {{0}};
        struct truth truth = {{{0}}};
        uint64_t next = 0;
        for (size_t i = 0; i < t.n; i++) {
            add_to(&block, &truth, &t.add[i], 1);
            if (i < next && i + 1 < t.n) continue;
            assert_content(&block, &truth);
            next = i + 1 + draw_below(&t.state, 100);
        }
        at_step[block_step(&block)]++;
    }
    for (unsigned s = 0; s < STEPS - 1; s++) assert_true(!FULL || at_step[s] > 0); /* of the last, see below */
}

static void order_does_not_matter(void **unused)
{
    (void)unused;
    unsigned at_step[STEPS] = {0};
    static struct trial t;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        if (seed % 10 == 0) make_huge_trial(&t, seed, 1);
        else make_trial(&t, seed, false);
        struct truth truth = {{{0}}};
        for (size_t i = 0; i < t.n; i++) truth_add(&truth, &t.add[i], 1);
        int64_t value[CELLS];
        unsigned step = step_of(&truth);
        truth_at(&truth, step, value);
        struct block made = canonical(value, step);
        for (int order = 0; order < 3; order++) {
            struct block block = {{0}};
            for (size_t i = 0; i < t.n; i++) add_to(&block, NULL, &t.add[i], 1);
            assert_int_equal(block_step(&block), step);
            assert_block(kernels->canonical(&block), made);
            shuffle(&t);
        }
        at_step[step]++;
    }
    for (unsigned s = 0; s < STEPS - 1; s++) assert_true(!FULL || at_step[s] > 0);
}

/* Of whatever g a block is, an addition that fits with it leaves the code of that g: no bit is anywhere else. */
static void an_addition_keeps_the_order_of_the_code(void **unused)
{
    (void)unused;
    unsigned kept[G_END] = {0}, kept_signed = 0, kept_at[STEPS] = {0}, left = 0;
    static struct trial t;
    for (uint64_t seed = 1; seed <= ROUNDS(2000); seed++) {
        if (seed % 8 == 0) make_huge_trial(&t, seed, seed % 16 ? -1 : 1);
        else make_trial(&t, seed, seed % 3 == 0);
        struct truth truth = {{{0}}};
        size_t n = draw_below(&t.state, t.n);
        for (size_t i = 0; i < n; i++) truth_add(&truth, &t.add[i], 1);
        int64_t value[CELLS];
        unsigned step = step_of(&truth), cells = truth_at(&truth, step, value);
        unsigned g = (unsigned)draw_below(&t.state, G_END);
        bool is_signed = any_negative(value, cells);
        while (length_at(value, cells, g, is_signed) > HEAD) g = (g + 1) % G_END;
        struct block block = packed(value, step, g, is_signed);
        for (size_t i = n; i < t.n && i < n + 30; i++) {
            add_to(&block, &truth, &t.add[i], 1);
            truth_at(&truth, step, value);
            if (any_negative(value, cells) && !is_signed) break; /* it is packed anew */
            if (length_at(value, cells, g, is_signed) > HEAD) {
                assert_content(&block, &truth);
                left++;
                break;
            }
            assert_block(block, packed(value, step, g, is_signed));
            kept[g]++;
            kept_at[step]++;
            kept_signed += is_signed;
        }
    }
    for (unsigned g = 0; g < 24; g++) assert_true(!FULL || kept[g] > 0);
    for (unsigned s = 0; s < STEPS - 1; s++) assert_true(!FULL || kept_at[s] > 0);
    assert_true(kept_signed > 0 && left > 0);
}

static void deleting_everything_leaves_zeros(void **unused)
{
    (void)unused;
    static struct trial t;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        if (seed % 10 == 0) make_huge_trial(&t, seed, seed % 20 ? 1 : -1);
        else make_trial(&t, seed, seed % 2);
        struct block block = {{0}};
        for (size_t i = 0; i < t.n; i++) add_to(&block, NULL, &t.add[i], 1);
        unsigned step = block_step(&block);
        if (seed % 3) shuffle(&t); /* the sums on the way are below zero as well as above */
        for (size_t i = 0; i < t.n; i++) add_to(&block, NULL, &t.add[i], -1);
        const int64_t zeros[CELLS] = {0};
        struct truth nothing = {{{0}}};
        assert_true(block_step(&block) >= step);
        assert_content(&block, &nothing);
        assert_block(kernels->canonical(&block), packed(zeros, block_step(&block), 0, false));
    }
}

static void blocks_add_up(void **unused)
{
    (void)unused;
    static struct trial t, u;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        int sign = seed % 4 == 0 ? -1 : 1;
        bool negative = seed % 4 == 1;
        make_trial(&t, 2 * seed, negative);
        make_trial(&u, 2 * seed + 1, negative);
        struct block a = {{0}}, b = {{0}}, both = {{0}};
        struct truth truth = {{{0}}};
        for (size_t i = 0; i < t.n; i++) add_to(&a, &truth, &t.add[i], 1), add_to(&both, NULL, &t.add[i], 1);
        for (size_t i = 0; i < u.n; i++) add_to(&b, NULL, &u.add[i], 1), add_to(&both, &truth, &u.add[i], sign);
        struct block before = b, more = a, shifted = b;
        unsigned least = block_step(&a) > block_step(&b) ? block_step(&a) : block_step(&b);
        kernels->add_all(&more, &b, sign);
        assert_block(b, before);
        assert_true(block_step(&more) >= least);
        assert_content(&more, &truth);
        if (sign < 0 || negative) { /* at equal steps, equal bytes */
            if (block_step(&more) == block_step(&both))
                assert_block(kernels->canonical(&more), kernels->canonical(&both));
        } else {
            assert_block(kernels->canonical(&more), kernels->canonical(&both));
            assert_int_equal(block_step(&more), step_of(&truth));
            kernels->add_all(&shifted, &a, 1); /* the other way round */
            assert_block(kernels->canonical(&shifted), kernels->canonical(&more));
        }
        kernels->add_all(&more, &b, -sign); /* and back: the content of a, at the step where it is now */
        struct truth alone = {{{0}}};
        for (size_t i = 0; i < t.n; i++) truth_add(&alone, &t.add[i], 1);
        assert_content(&more, &alone);
    }
}

static void the_last_step_holds_anything(void **unused)
{
    (void)unused;
    static const int64_t edge[] = {0,
                                   1,
                                   -1,
                                   2,
                                   255,
                                   -256,
                                   INT64_C(1) << 31,
                                   -(INT64_C(1) << 32),
                                   INT64_C(1) << 62,
                                   INT64_MAX - 1,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT64_MIN + 1};
    enum { EDGES = sizeof edge / sizeof *edge };
    uint64_t state = 1;
    for (int i = 0; i < ROUNDS(20000); i++) {
        int64_t value[4];
        for (int k = 0; k < 4; k++) {
            value[k] = edge[draw_below(&state, EDGES)];
            if (draw_below(&state, 3) == 0) value[k] = (int64_t)draw(&state) >> draw_below(&state, 64);
        }
        struct block made = canonical(value, 16);
        assert_true(kernels->valid(&made));
        assert_block(kernels->canonical(&made), made);
        for (unsigned k = 0; k < 4; k++) assert_int_equal(kernels->get(&made, k), value[k]);

        unsigned column[2] = {(unsigned)draw_below(&state, 2), (unsigned)draw_below(&state, 2)};
        int64_t to = edge[draw_below(&state, EDGES)], now[BLOCK_CELLS], count;
        if (__builtin_sub_overflow(to, value[column[0]], &count)) continue;
        if (__builtin_add_overflow(value[2 + column[1]], count, &now[0])) continue;
        kernels->add(&made, (const unsigned[2]){0, 1}, column, count);
        value[column[0]] = to;
        value[2 + column[1]] = now[0];
        assert_int_equal(kernels->unpack(&made, now), 4);
        assert_memory_equal(now, value, sizeof value);
        assert_block(kernels->canonical(&made), canonical(value, 16));
    }
}

/* A half at once, whichever rows it still has. */
static void halves_are_read(void **unused)
{
    (void)unused;
    static struct trial t;
    for (uint64_t seed = 1; seed <= ROUNDS(100); seed++) {
        make_trial(&t, seed, seed % 2);
        struct block block = {{0}};
        for (size_t i = 0; i < t.n; i++) {
            const struct add *add = &t.add[i];
            add_to(&block, NULL, add, 1);
            unsigned which = add->row[0] % 2, step = block_step(&block), rows = 0;
            int64_t value[2] = {-1, -1};
            uint32_t columns[2] = {0, 0};
            unsigned n = kernels->read(&block, which, add->hash, value, columns);
            for (unsigned k = 0; k < 2; k++) {
                int cell = block_cell(step, which + 2 * k, add->hash[k]);
                if (cell < 0) continue;
                assert_int_equal(columns[rows], ladder[which + 2 * k][step]);
                assert_int_equal(value[rows++], kernels->get(&block, (unsigned)cell));
            }
            assert_int_equal(n, rows);
        }
    }
}

/* Many additions in one go. */
static void notes_add_up(void **unused)
{
    (void)unused;
    static struct trial t;
    static uint32_t note[MAX_ADDS];
    static int32_t count[MAX_ADDS];
    for (uint64_t seed = 1; seed <= ROUNDS(600); seed++) {
        bool negative = seed % 3 == 0, once = seed % 3 == 1;
        make_trial(&t, seed, negative);
        uint64_t often = 1 + draw_below(&t.state, 100);
        struct block one = {{0}}, many = {{0}};
        struct truth truth = {{{0}}};
        for (size_t i = 0, n = 0; i < t.n; i++) {
            struct add *add = &t.add[i];
            add->row[0] %= 2;
            add->row[1] = add->row[0] + 2;
            add->count = once ? 1 : i % 50 ? add->count % INT32_MAX : negative ? INT32_MIN : INT32_MAX;
            add_to(&one, &truth, add, 1);
            count[n] = (int32_t)add->count;
            note[n++] = note_of(NOTE_BLOCKS - 1, add->row[0], add->hash[0], add->hash[1]);
            assert_true(note_block(note[n - 1]) == NOTE_BLOCKS - 1);
            if (i + 1 < t.n && draw_below(&t.state, often)) continue;
            kernels->add_notes(&many, note, once ? NULL : count, n);
            n = 0;
        }
        assert_content(&many, &truth);
        if (!negative) assert_block(kernels->canonical(&many), kernels->canonical(&one));
    }
}

/* Sums that were made elsewhere, of step 0. */
static void values_add_up(void **unused)
{
    (void)unused;
    static struct trial t;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        make_trial(&t, seed, seed % 3 == 0);
        struct block one = {{0}}, many = {{0}};
        struct truth truth = {{{0}}};
        int64_t value[BLOCK_CELLS] = {0};
        size_t half = draw_below(&t.state, t.n + 1);
        for (size_t i = 0; i < t.n; i++) {
            add_to(&one, &truth, &t.add[i], 1);
            if (i < half) kernels->add(&many, t.add[i].row, t.add[i].hash, t.add[i].count);
            for (int k = 0; k < 2 && i >= half; k++)
                value[block_place(0, t.add[i].row[k], t.add[i].hash[k])] += t.add[i].count;
        }
        kernels->add_values(&many, value);
        assert_content(&many, &truth);
        if (seed % 3) assert_block(kernels->canonical(&many), kernels->canonical(&one));
    }
}

/* Many huge cells, to the end of the ladder, which is one step before the last: six integers of 64 bits always fit. */
static void huge_cells_go_down_the_ladder(void **unused)
{
    (void)unused;
    const int64_t six[6] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX};
    unsigned g;
    assert_true(length_of(six, 6, &g) <= HEAD);
    struct block last = canonical(six, 15);
    assert_true(kernels->valid(&last));
    struct block block = {{0}};
    struct truth truth = {{{0}}};
    for (uint32_t i = 0; i < 128; i++) {
        struct add add = {{0, 1}, {i, i}, (INT64_C(1) << 62) / 128 - i};
        add_to(&block, &truth, &add, 1);
        assert_content(&block, &truth);
        assert_int_equal(block_step(&block), step_of(&truth));
    }
    assert_int_equal(block_step(&block), 15);
}

static void flipped_bits_are_seen(void **unused)
{
    (void)unused;
    static struct trial t;
    unsigned accepted = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(80); seed++) {
        if (seed % 8 == 0) make_huge_trial(&t, seed, seed % 16 ? -1 : 1);
        else make_trial(&t, seed, seed % 2);
        struct block block = {{0}};
        for (size_t i = 0; i < t.n; i++) add_to(&block, NULL, &t.add[i], 1);
        block = kernels->canonical(&block);
        assert_true(valid(&block));
        for (unsigned bit = 0; bit < 512; bit++) {
            block.word[bit / 64] ^= UINT64_C(1) << bit % 64;
            bool good = kernels->valid(&block);
            assert_int_equal(good, valid(&block));
            if (good) assert_block(kernels->canonical(&block), block);
            accepted += good;
            block.word[bit / 64] ^= UINT64_C(1) << bit % 64;
        }
    }
    assert_in_range(accepted, ROUNDS(80), ROUNDS(80) * 400); /* digits and low bits may be anything */
}

static void garbage_is_refused(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    unsigned accepted = 0;
    for (int i = 0; i < ROUNDS(100000); i++) {
        struct block block;
        for (int j = 0; j < 8; j++) {
            block.word[j] = draw(&state);
            for (unsigned thinner = (unsigned)i % 7; thinner > 0; thinner--) block.word[j] &= draw(&state);
        }
        if (i % 2) { /* a head that leaves room, and nothing at the end */
            unsigned step = (unsigned)draw_below(&state, STEPS),
                     g = (unsigned)draw_below(&state, 500 / cells_of(step) + 1);
            block.word[7] = (uint64_t)step << 53 | (uint64_t)(g < 31 ? g : 31) << 58 | draw_below(&state, 2) << 63;
            for (unsigned j = (unsigned)draw_below(&state, 7); j < 7; j++) block.word[j] = 0;
        }
        bool good = kernels->valid(&block);
        assert_int_equal(good, valid(&block));
        accepted += good;
    }
    assert_in_range(accepted, ROUNDS(100), ROUNDS(50000));
}

static void what_is_not_canonical_is_refused(void **unused)
{
    (void)unused;
    static struct trial t;
    unsigned longer = 0, trailing = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(100); seed++) {
        make_trial(&t, seed, seed % 4 == 0);
        struct block block = {{0}};
        for (size_t i = 0; i < t.n; i++) add_to(&block, NULL, &t.add[i], 1);
        int64_t value[CELLS];
        unsigned step = block_step(&block), cells = kernels->unpack(&block, value), best, used;
        used = length_of(value, cells, &best);
        bool is_signed = any_negative(value, cells);
        for (unsigned g = 0; g < G_END; g++) { /* the same content with another g */
            if (g == best || length_at(value, cells, g, is_signed) > HEAD) continue;
            block = packed(value, step, g, is_signed);
            assert_false(kernels->valid(&block));
            longer++;
        }
        if (!is_signed && length_at(value, cells, best, true) <= HEAD) { /* signed without need */
            block = packed(value, step, best, true);
            assert_false(kernels->valid(&block));
        }
        for (unsigned bit = used; bit < HEAD; bit++) { /* a bit after the last level */
            block = packed(value, step, best, is_signed);
            block.word[bit / 64] |= UINT64_C(1) << bit % 64;
            assert_false(kernels->valid(&block));
            trailing++;
        }
        block = packed(value, step, best, is_signed);
        for (unsigned wrong = STEPS; wrong < 32; wrong++) { /* no such step */
            block.word[7] = (block.word[7] & ~(UINT64_C(31) << 53)) | (uint64_t)wrong << 53;
            assert_false(kernels->valid(&block));
        }
    }
    assert_true(longer > ROUNDS(100) && trailing > ROUNDS(1000));

    struct block full = {{0}}; /* 320 cells with a digit: level 1 ends at bit 960 */
    memset(full.word, 0xff, 40);
    assert_false(kernels->valid(&full));
    full = (struct block){{0}};
    full.word[7] = UINT64_C(1) << 58; /* 320 cells with a low bit each: 640 bits before any level */
    assert_false(kernels->valid(&full));
    full = (struct block){{0xf}}; /* four cells that go on beyond the eighth level */
    for (unsigned at = 4, l = 0; l < 8; at += 4 * (1 + digit[l++]))
        for (unsigned i = 0; i < 4; i++) full.word[(at + i) / 64] |= UINT64_C(1) << (at + i) % 64;
    full.word[7] |= UINT64_C(16) << 53;
    assert_false(kernels->valid(&full));
}

/* Bits that read as unsigned cells of 2^63 and more. If they are taken for negative ones their neighbours' codes double
 * and do not fit any more, and the sum of the two that a fold makes is beyond 64 bits: refused before any of that. */
static void cells_beyond_64_bits_are_refused(void **unused)
{
    (void)unused;
    for (unsigned twos = 0; twos <= 18; twos++) {
        int64_t value[CELLS] = {0};
        value[256] = value[256 + 32] = INT64_C(8590066223); /* the least that reach level 8: digit 0 there */
        for (unsigned i = 0; i < twos; i++) value[i] = 2;
        struct block block = packed(value, 0, 0, false);
        assert_true(kernels->valid(&block));
        unsigned used = length_at(value, CELLS, 0, false); /* the block ends with the two digits of level 8 */
        for (unsigned which = 1; which < 4; which++) {
            struct block beyond = block;
            if (which & 1) beyond.word[(used - 32) / 64] |= UINT64_C(1) << (used - 32) % 64;
            if (which & 2) beyond.word[(used - 1) / 64] |= UINT64_C(1) << (used - 1) % 64;
            assert_false(valid(&beyond));
            assert_false(kernels->valid(&beyond));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example),
        cmocka_unit_test(cells_are_sums),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(an_addition_keeps_the_order_of_the_code),
        cmocka_unit_test(deleting_everything_leaves_zeros),
        cmocka_unit_test(blocks_add_up),
        cmocka_unit_test(the_last_step_holds_anything),
        cmocka_unit_test(halves_are_read),
        cmocka_unit_test(notes_add_up),
        cmocka_unit_test(values_add_up),
        cmocka_unit_test(huge_cells_go_down_the_ladder),
        cmocka_unit_test(flipped_bits_are_seen),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(what_is_not_canonical_is_refused),
        cmocka_unit_test(cells_beyond_64_bits_are_refused),
    };
    int failed = 0;
    for (int i = 0; block_kernels_all[i]; i++) {
        kernels = block_kernels_all[i];
        printf("kernels: %s\n", kernels->name);
        if (kernels->supported()) failed += cmocka_run_group_tests_name("block", tests, NULL, NULL);
    }
    return failed;
}
