/* What kernels do for an item (src/cuda/item.h), run on the CPU against what the library does: where an item is, when a
 * block fits, and estimates to the last bit. */
#include "cuda/prepare.h"
#include "support.h"

/* stream: what it counts, for the caller to free; or NULL. */
static lego_sketch *random_sketch(uint64_t *state, bool deletions, struct stream_of *stream)
{
    static const uint32_t blocks[] = {1, 2, 3, 12, 70, 96, 200, 1536};
    lego_options options = LEGO_OPTIONS_INIT;
    uint32_t n_blocks = blocks[draw_below(state, 8)];
    options.seed = draw_below(state, 2) ? draw(state) : 0;
    lego_sketch *sketch;
    assert_int_equal(lego_lab_create(&options, n_blocks, 0, &sketch), LEGO_OK);
    unsigned digits = (unsigned)draw_below(state, 14);
    size_t n = 1 + draw_below(state, draw_below(state, 2) ? 30000 : 100);
    struct stream_of s = make_stream(state, n, 1 + draw_below(state, 5000), digits, deletions);
    assert_int_equal(add_u64s(sketch, s.items, s.counts, s.n), LEGO_OK);
    if (stream) *stream = s;
    else free_stream(&s);
    return sketch;
}

static void hashes_and_places_agree(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (int i = 0; i < ROUNDS(1000); i++) {
        uint64_t seed = i < 2 ? 0 : draw(&state), key = i == 0 ? 0 : draw(&state), lo, hi;
        uint32_t odd = 2 * (uint32_t)draw_below(&state, i % 2 ? 3000 : 3) + 1;
        struct dense dense;
        struct places places;
        dense_place(&dense, odd << draw_below(&state, 16));
        prepare_places(&dense, seed, &places);
        item_hash(key, places.flip, &lo, &hi);
        struct hash hash = hash_u64(key, seed);
        assert_true(lo == hash.lo && hi == hash.hi);
        for (unsigned which = 0; which < 2; which++) {
            struct half want = dense_half(&dense, hash, which);
            struct item_half half = item_half_of(&places, lo, hi, which);
            assert_int_equal(half.block, want.block);
            assert_memory_equal(half.column, want.column, sizeof want.column);
        }
    }
}

/* Whether values at a step fit a block, as the kernel finds it. */
static bool fits(const int64_t value[], unsigned cells)
{
    bool is_signed = false;
    for (unsigned i = 0; i < cells; i++) is_signed |= value[i] < 0;
    for (unsigned g = 0; g < ITEM_ORDERS; g++) {
        unsigned bits = cells * (1 + g);
        for (unsigned i = 0; i < cells; i++) bits += item_digit_bits(item_code(value[i], is_signed) >> g);
        if (bits <= ITEM_BITS) return true;
    }
    return false;
}

/* The sums of every block at step 0, which a block further on has no longer: from the items once more. */
static int64_t *sums_of(const lego_sketch *sketch, const struct stream_of *s)
{
    int64_t *sums = calloc((size_t)sketch->dense.blocks * BLOCK_CELLS, sizeof *sums);
    assert_non_null(sums);
    for (size_t i = 0; i < s->n; i++)
        for (unsigned k = 0; k < BLOCK_ROWS; k++) {
            struct half half = dense_half(&sketch->dense, hash_u64(s->items[i], sketch->seed), k % 2);
            sums[(size_t)half.block * BLOCK_CELLS + block_place(0, k, half.column[k / 2])] += s->counts[i];
        }
    return sums;
}

static void blocks_fit_where_they_are_packed(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    unsigned stayed = 0, went = 0;
    for (int round = 0; round < ROUNDS(50); round++) {
        struct stream_of s;
        lego_sketch *sketch = random_sketch(&state, false, &s);
        int64_t *sums = sums_of(sketch, &s);
        for (uint32_t b = 0; b < sketch->dense.blocks; b++) {
            struct block packed = sketch->dense.block[b];
            int64_t value[BLOCK_CELLS];
            unsigned step = block_step(&packed), cells = block_kernels_best()->unpack(&packed, value);
            assert_int_equal(cells, item_first(block_columns[step], BLOCK_ROWS));
            assert_true(fits(value, cells));
            if (step == 0) {
                stayed++;
                continue;
            }
            went++; /* it did not fit one step before */
            int64_t before[BLOCK_CELLS];
            unsigned n = 0;
            for (unsigned k = 0; k < BLOCK_ROWS; k++)
                for (unsigned c = 0; c < block_columns[step - 1][k]; c++, n++) {
                    before[n] = 0;
                    for (unsigned i = c; i < block_columns[0][k]; i += block_columns[step - 1][k])
                        before[n] += sums[(size_t)b * BLOCK_CELLS + block_place(0, k, 0) + i];
                }
            assert_false(fits(before, n));
        }
        free(sums);
        free_stream(&s);
        lego_destroy(sketch);
    }
    assert_true(stayed > 100 && went > 100);
}

/* As the kernel answers, from packed blocks. */
static void estimate_pair(const lego_sketch *sketch, const struct places *places, const struct decoder *d,
                          const uint64_t key[ITEM_TOGETHER], lego_estimate estimate[ITEM_TOGETHER])
{
    float x[ITEM_TOGETHER][ITEM_READS], h[ITEM_TOGETHER];
    int64_t upper[ITEM_TOGETHER];
    double slack[ITEM_TOGETHER];
    for (unsigned t = 0; t < ITEM_TOGETHER; t++) {
        uint64_t lo, hi;
        unsigned step[2];
        int64_t value[ITEM_ROWS];
        item_hash(key[t], places->flip, &lo, &hi);
        for (unsigned which = 0; which < 2; which++) {
            struct item_half half = item_half_of(places, lo, hi, which);
            struct block block = sketch->dense.block[half.block];
            step[which] = block_step(&block);
            for (unsigned i = 0; i < 2; i++) {
                unsigned s = step[which], row = which + 2 * i;
                unsigned cell = d->first[s][row] + (half.column[i] & d->mask[s][row]);
                value[row] = cell < ITEM_CELLS ? block_kernels_best()->get(&block, cell) : 0;
            }
        }
        struct item_reads reads = item_reads_of(d, step[0], step[1], value);
        item_see(d, &reads, x[t]);
        upper[t] = reads.key[0] >> 2;
        slack[t] = d->slack[step[0]][step[1]];
    }
    item_decode(d, x, h);
    for (unsigned t = 0; t < ITEM_TOGETHER; t++) estimate[t] = item_answer(upper[t], slack[t], h[t]);
}

static void estimates_agree_to_the_bit(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (int round = 0; round < ROUNDS(100); round++) {
        lego_sketch *sketch = random_sketch(&state, round % 2, NULL);
        if (round == 0) { /* a read that is as large as one can be */
            lego_clear(sketch);
            assert_int_equal(lego_add_u64(sketch, 0, INT64_MAX / 4), LEGO_OK);
        }
        struct block block[COMPACT_SCANNED];
        struct places places;
        struct decoder decoder;
        for (uint32_t i = 0; i < COMPACT_SCANNED && i < sketch->dense.blocks; i++) block[i] = sketch->dense.block[i];
        prepare_places(&sketch->dense, sketch->seed, &places);
        prepare_decoder(sketch->model, &sketch->dense, block, &decoder);
        for (uint64_t item = 0; item < 100; item += ITEM_TOGETHER) {
            uint64_t key[ITEM_TOGETHER];
            lego_estimate estimate[ITEM_TOGETHER], want;
            for (unsigned t = 0; t < ITEM_TOGETHER; t++) key[t] = item + t;
            estimate_pair(sketch, &places, &decoder, key, estimate);
            for (unsigned t = 0; t < ITEM_TOGETHER; t++) {
                assert_int_equal(lego_query_u64(sketch, key[t], &want), LEGO_OK);
                assert_memory_equal(&estimate[t], &want, sizeof want);
            }
        }
        lego_destroy(sketch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_and_places_agree),
        cmocka_unit_test(blocks_fit_where_they_are_packed),
        cmocka_unit_test(estimates_agree_to_the_bit),
    };
    return cmocka_run_group_tests_name("cuda_item", tests, NULL, NULL);
}
