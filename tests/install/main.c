/* The example of legosketch.h, as a C and as a C++ program that has only the installed package. */
#include <legosketch.h>
#include <stdio.h>

int main(void)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = 300 * 1024;
    lego_sketch *sketch;
    if (lego_create(&options, &sketch) != LEGO_OK) return 1;
    lego_add(sketch, "apple", 5, 3);
    lego_estimate e;
    if (lego_query(sketch, "apple", 5, &e) != LEGO_OK) return 1;
    lego_info info;
    lego_describe(sketch, &info);
    lego_destroy(sketch);
    printf("legosketch %s: apple %g, %lld to %lld\n", LEGO_VERSION, e.value, (long long)e.lower, (long long)e.upper);
    return e.value == 3 && e.lower <= 3 && e.upper == 3 && info.bytes <= options.budget && info.total == 3 ? 0 : 1;
}
