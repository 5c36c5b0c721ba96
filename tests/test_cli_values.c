/* Numbers that the command writes without printf() are what printf() would write. */
#include "support.h"

#include "values.h"

#include <inttypes.h>
#include <math.h>

static void same_estimate(double value)
{
    char wanted[64], text[VALUE_TEXT];
    bool whole = fabs(value - round(value)) < 0.0005;
    int length = snprintf(wanted, sizeof wanted, "%.*f", whole ? 0 : 3, value);
    assert_int_equal(value_print_estimate(text, value), length);
    assert_string_equal(text, wanted);
}

static void estimates(void **unused)
{
    (void)unused;
    static const double edges[] = {0,          0.0004999, 0.0005, 0.00050001, 0.0625,  0.1875,  0.9994999,
                                   0.9995,     0.99951,   1.5,    2.0005,     0x1p-60, 0x1p-11, 0x1p52 + 0.5,
                                   0x1p53 - 1, 0x1p53,    0x1p62, 0x1p63,     1e18};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        same_estimate(edges[i]);
        same_estimate(-edges[i]);
        same_estimate(nextafter(edges[i], 0));
        same_estimate(nextafter(edges[i], INFINITY));
    }
    uint64_t state = 3;
    for (unsigned i = 0; i < (unsigned)ROUNDS(500000); i++) {
        double value = ldexp((double)(draw(&state) >> 11), -(int)(draw(&state) % 70));
        same_estimate(value);
        same_estimate((double)(draw(&state) % 1000000) / 1000); /* as near to three digits as can be */
        same_estimate((double)(draw(&state) % 1000000) / 16);   /* halves of a thousandth are there exactly */
        same_estimate((double)(draw(&state) % 100) + 0.0005 * (double)(draw(&state) % 3));
    }
}

static void whole_numbers(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    for (unsigned i = 0; i < (unsigned)ROUNDS(200000); i++) {
        static const uint64_t edges[] = {0, 9, 10, 99, 100, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
        uint64_t value = i < 8 ? edges[i] : draw(&state) >> draw(&state) % 64;
        char wanted[32], text[VALUE_TEXT + 1];
        snprintf(wanted, sizeof wanted, "%" PRIu64, value);
        text[value_write_u64(text, value)] = '\0';
        assert_string_equal(text, wanted);
        snprintf(wanted, sizeof wanted, "%" PRId64, (int64_t)value);
        text[value_write_i64(text, (int64_t)value)] = '\0';
        assert_string_equal(text, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates),
        cmocka_unit_test(whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
