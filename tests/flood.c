/* flood: additions, questions or loads, of keys that come by chance or are chosen to hurt; test_flood.py counts their
 * instructions.
 *
 *     flood add|batch|query|load|top random|chosen N
 *     flood sparse BLOCKS N
 *
 * An attacker who knows the seed can choose keys of one block, or with prints that begin alike, or with words that
 * begin alike, which tables of a call are in the order of; or a file that was made of such keys. Each run begins with
 * the same sketch, full of keys that came by chance, so two runs of different N differ by what N items take. A sparse
 * file has as many blocks for its bytes as one can: all are empty but the first, which has too many items. */
#include "support.h"

enum { FILLED = 20000, MOST = 1 << 13 };

static uint64_t key[MOST];

/* Of the first of so many blocks, and of them the first in the order of words. */
static void draw_keys(uint64_t *state, size_t n, uint32_t blocks)
{
    for (size_t i = 0; i < n;) {
        key[i] = draw(state);
        if (spot_of(blocks, hash_u64(key[i], seed_of(0))).block == 0) i++;
    }
}

static lego_sketch *make_full(uint64_t top)
{
    lego_options options = {32768, top, NULL, 0, NULL, NULL};
    lego_sketch *sketch;
    uint64_t state = 1;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    for (int i = 0; i < FILLED; i++) assert_int_equal(lego_add_u64(sketch, draw(&state), 1 + i % 3), LEGO_OK);
    return sketch;
}

static int load_sparse(uint32_t blocks, size_t n)
{
    enum { TOO_MANY = 300 };
    lego_options options = LEGO_OPTIONS_INIT;
    lego_sketch *sketch;
    uint64_t state = 3;
    assert_int_equal(lego_lab_create(&options, blocks, 0, &sketch), LEGO_OK);
    draw_keys(&state, TOO_MANY, blocks);
    assert_int_equal(add_u64s(sketch, key, NULL, TOO_MANY), LEGO_OK);
    assert_int_equal(sketch->blocks.blocks, blocks); /* it has grown to all of them */
    for (size_t i = 0; i < n; i++) lego_destroy(reload(sketch));
    lego_destroy(sketch);
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "flood add|batch|query|load|top random|chosen N, flood sparse BLOCKS N\n");
    return 2;
}

int main(int argc, char **argv)
{
    if (argc != 4) return usage();
    const bool chosen = strcmp(argv[2], "chosen") == 0;
    const size_t n = strtoul(argv[3], NULL, 10);
    uint64_t state = 2;
    lego_estimate e;
    if (n > MOST) return usage();
    if (strcmp(argv[1], "sparse") == 0) return load_sparse((uint32_t)strtoul(argv[2], NULL, 10), n);
    draw_keys(&state, MOST, chosen ? 64 : 1);
    lego_sketch *sketch = make_full(strcmp(argv[1], "top") == 0 ? 4096 : 0);
    if (strcmp(argv[1], "batch") == 0) assert_int_equal(add_u64s(sketch, key, NULL, n), LEGO_OK);
    else if (strcmp(argv[1], "load") == 0) {
        lego_clear(sketch);
        assert_int_equal(add_u64s(sketch, key, NULL, MOST), LEGO_OK);
        for (size_t i = 0; i < n; i++) lego_destroy(reload(sketch));
    } else
        for (size_t i = 0; i < n; i++) {
            if (strcmp(argv[1], "query") == 0) assert_int_equal(lego_query_u64(sketch, key[i], &e), LEGO_OK);
            else assert_int_equal(lego_add_u64(sketch, key[i], 1), LEGO_OK);
        }
    lego_destroy(sketch);
    return 0;
}
