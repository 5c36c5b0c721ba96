/* The tables; see table.h.
 *
 * SPDX-License-Identifier: MIT */
#include "table.h"

#include "values.h"

#include <math.h>
#include <stdio.h>

static void print_ratio(double value, double to)
{
    if (to > 0) printf("  %7.2f", value / to);
    else printf("  %7s", "-");
}

/* Of the yardstick's versions the faster one. */
static double yardstick_rate(const struct path_list *list, const struct path *like)
{
    double most = 0;
    for (const struct method *const *method = methods; *method != NULL; method++) {
        const struct path *yard = (*method)->yardstick ? path_of(list, like, *method) : NULL;
        most = yard != NULL ? fmax(most, path_rate(yard).median) : most;
    }
    return most;
}

static void print_head(const struct path *path)
{
    static const char *const what[OPERATIONS] = {"stored", "asked for", "pairs"};
    static const char *const how[CALLS] = {"one a call", "in batches"};
    char size[VALUE_TEXT];
    value_print_size(size, path->budget);
    printf("\n%s: M items/s %s %s, %s keys (%.1f M items, %.2f M distinct)\n", size, what[path->operation],
           how[path->calls], key_names[path->keys], (double)path->items / 1e6, (double)path->distinct / 1e6);
    printf("  %-20s %7s %9s  %9s    %9s  %7s  %7s\n", "", "threads", "median", "least", "most", "x yard", "cpu");
}

static bool same_table(const struct path *a, const struct path *b)
{
    return a->budget == b->budget && a->operation == b->operation && a->calls == b->calls && a->keys == b->keys;
}

void table_paths(const struct path_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct path *path = &list->paths[i];
        if (i == 0 || !same_table(path, path - 1)) print_head(path);
        struct rate rate = path_rate(path);
        printf("  %-20s %7u %9.2f  %9.2f .. %9.2f", path->method->name, path->threads, rate.median, rate.least,
               rate.most);
        print_ratio(rate.median, yardstick_rate(list, path));
        printf("  %7.2f%s\n", path_cpu(path), path->wrong ? "  WRONG ANSWERS" : "");
    }
}
