/* lego_relocate(): a sketch whose memory was moved is the same sketch, wherever on a cache line it comes to lie. */
#include "support.h"

enum { LINE = 64, STEPS = 4, HEAD = 16 };

/* An allocator whose memory starts at each place of a line in turn, and is filled with what was there before. */
struct places {
    unsigned turn;
    size_t out; /* allocations that are not freed */
};

static void *place_alloc(void *context, size_t size)
{
    struct places *places = context;
    unsigned char *base = aligned_alloc(LINE, (size + 2 * LINE + LINE - 1) / LINE * LINE);
    assert_non_null(base);
    unsigned char *memory = base + HEAD * (1 + places->turn++ % STEPS);
    memcpy(memory - HEAD, &base, sizeof base);
    places->out++;
    return memory;
}

static void place_free(void *context, void *memory, size_t size)
{
    struct places *places = context;
    void *base;
    if (!memory) return;
    memset(memory, 0xA5, size); /* whoever still reads it reads nonsense */
    memcpy(&base, (unsigned char *)memory - HEAD, sizeof base);
    free(base);
    places->out--;
}

static void *place_move(void *context, void *memory, size_t size)
{
    void *moved = place_alloc(context, size);
    memcpy(moved, memory, size);
    place_free(context, memory, size);
    return moved;
}

static void *add_size(void *context, void *memory, size_t size)
{
    *(size_t *)context += size;
    return memory;
}

static lego_sketch *make_in(struct places *places, const char *model, uint64_t top)
{
    lego_allocator allocator = {place_alloc, place_free, places};
    lego_options options = {.budget = 20000, .top = top, .model = lego_model_builtin(model), .allocator = &allocator};
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    return sketch;
}

static void check(const char *model, uint64_t top, unsigned items)
{
    struct places places = {0};
    lego_sketch *moved = make_in(&places, model, top), *still = make_in(&places, model, top);
    for (unsigned round = 0; round < 2 * STEPS; round++) {
        for (uint64_t i = 0; i < items; i++) {
            assert_int_equal(lego_add_u64(moved, i * i % 7919, 1), LEGO_OK);
            assert_int_equal(lego_add_u64(still, i * i % 7919, 1), LEGO_OK);
        }
        size_t before = places.out, size = 0;
        lego_info info;
        moved = lego_relocate(moved, place_move, &places);
        assert_int_equal(places.out, before);
        assert_same(moved, still);
        lego_estimate a, b;
        assert_int_equal(lego_query_u64(moved, 1, &a), LEGO_OK);
        assert_int_equal(lego_query_u64(still, 1, &b), LEGO_OK);
        assert_true(a.value == b.value && a.lower == b.lower && a.upper == b.upper);
        assert_ptr_equal(lego_relocate(moved, add_size, &size), moved);
        lego_measure(moved, &info);
        assert_int_equal(size, info.bytes + info.cache_bytes);
    }
    lego_destroy(moved);
    lego_destroy(still);
    assert_int_equal(places.out, 0);
}

static void test_every_kind(void **state)
{
    (void)state;
    const char *models[] = {"compact", "paper"};
    for (unsigned m = 0; m < 2; m++)
        for (unsigned top = 0; top < 2; top++) {
            check(models[m], top * 4000, 20);
            check(models[m], top * 4000, 20000);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
