/* Counts the words of its input in 64 KB, then answers for the words on its command line.
 *
 *     cc examples/wordcount.c $(pkg-config --cflags --libs legosketch) -o wordcount
 *     ./wordcount the whale < moby-dick.txt */
#include <ctype.h>
#include <legosketch.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = 64 * 1024;
    lego_sketch *sketch;
    lego_status status = lego_create(&options, &sketch);
    if (status != LEGO_OK) {
        fprintf(stderr, "wordcount: %s\n", lego_status_message(status));
        return 1;
    }

    char word[256];
    size_t size = 0;
    for (int c; (c = getchar()) != EOF || size > 0;) {
        if (c != EOF && isalpha(c) && size < sizeof word) {
            word[size++] = (char)tolower(c);
        } else if (size > 0) {
            lego_add(sketch, word, size, 1);
            size = 0;
        }
    }

    for (int i = 1; i < argc; i++) {
        lego_estimate e;
        lego_query(sketch, argv[i], strlen(argv[i]), &e);
        printf("%s\t%.0f\t(%lld to %lld)\n", argv[i], e.value, (long long)e.lower, (long long)e.upper);
    }
    lego_destroy(sketch);
    return 0;
}
