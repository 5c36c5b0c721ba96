/* The tables; see table.h.
 *
 * SPDX-License-Identifier: MIT */
#include "table.h"

#include "targets.h"
#include "values.h"

#include <stdio.h>

/* CPU seconds a second below this: somebody else was there. */
#define BUSY 0.95

static void print_number(double value, int decimals)
{
    if (value > 0) printf("  %8.*f", decimals, value);
    else printf("  %8s", "-");
}

/* ---- the first screen ------------------------------------------------------------------------------------------- */

/* The CPU that paths on one thread had. */
static double cpu_share(const struct path_list *list)
{
    double wall = 0, cpu = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct path *path = &list->paths[i];
        for (unsigned j = 0; j < path->count && path->threads == 1; j++) {
            wall += path->samples[j].wall;
            cpu += path->samples[j].cpu;
        }
    }
    return wall > 0 ? cpu / wall : 1;
}

void table_targets(const struct path_list *list, const struct limits *limits, unsigned threads)
{
    printf("One core: %.0f GFLOP/s of 32-bit multiply-adds (%s), %.1f GB/s read in order; %.2f CPU seconds a second.\n",
           limits->flops / 1e9, limits->instructions, limits->bandwidth / 1e9, cpu_share(list));
    if (cpu_share(list) < BUSY) printf("THE MACHINE IS BUSY: what follows is slower than it is on a quiet one.\n");
    bool headed = false;
    for (size_t i = 0; i < target_count; i++) {
        const struct target *target = &targets[i];
        struct reached reached = target_reached(target, list, threads);
        if (reached.by_clock <= 0) continue;
        if (!headed) printf("\n%-26s %6s  %8s  %8s  %8s\n", "target", "size", "wanted", "measured", "by cpu");
        headed = true;
        char size[VALUE_TEXT];
        value_print_size(size, target->budget);
        printf("%-26s %6s  %8.2f  %8.2f", target->what, size, target->needed, reached.by_clock);
        print_number(reached.by_cpu, 2);
        printf("  %-14s  ", reached.by_clock >= target->needed ? "reached"
                            : reached.by_cpu >= target->needed ? "reached by cpu"
                                                               : "not reached");
        if (target->than == NULL) printf("million a second\n");
        else printf("times %s\n", target->than == target->method ? "one thread" : target->than->name);
    }
}

/* ---- every path ------------------------------------------------------------------------------------------------- */

static void print_head(const struct path *path)
{
    static const char *const what[OPERATIONS] = {"items stored", "items asked for", "pairs of a store and a query"};
    static const char *const how[CALLS] = {"one a call", "in batches"};
    char size[VALUE_TEXT];
    value_print_size(size, path->setting.budget);
    printf("\n%s: million %s a second, %s, %s keys (%.2f M, of a stream with %.2f M distinct)\n", size,
           what[path->operation], how[path->calls], key_names[path->keys], (double)path->items / 1e6,
           (double)path->distinct / 1e6);
    printf("  %-20s %7s  %8s  %8s    %8s  %8s  %8s  %8s  %8s\n", "", "threads", "median", "least", "most", "x yard",
           "of limit", "cpu/wall", "by cpu");
}

void table_paths(const struct path_list *list, const struct limits *limits)
{
    const struct path *last = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct path *path = &list->paths[i];
        if (path->axis != NULL) continue;
        if (last == NULL || !same_work(path, last)) print_head(path);
        last = path;
        struct rate rate = path_rate(path);
        printf("  %-20s %7u", path->method->name, path->threads);
        print_number(rate.median, 2);
        printf("  %8.2f .. %8.2f", rate.least, rate.most);
        print_number(path_ratio(list, path), 3);
        print_number(path_share(list, path, limits->flops), 3);
        print_number(path_cpu(path), 2);
        print_number(rate.by_cpu, 2);
        printf("%s%s\n",
               path->status != LEGO_OK ? "  "
               : path->wrong           ? "  WRONG"
                                       : "",
               path->status != LEGO_OK ? lego_status_message(path->status) : "");
    }
}

/* ---- what grows ------------------------------------------------------------------------------------------------- */

static void print_series_head(const struct path_list *list, const struct path *first)
{
    const struct path *end = first;
    while (end < list->paths + list->count && same_setting(end, first) && end->threads == first->threads) end++;
    printf("\nGrowth by %s: nanoseconds an item, in batches\n%34s", first->axis, "");
    for (const struct path *path = first; path < end; path++) printf(" %10s", operation_names[path->operation]);
    printf("\n%7s %9s %9s %7s", "size", "items", "distinct", "threads");
    for (const struct path *path = first; path < end; path++) printf(" %10s", path->method->name);
    printf("\n");
}

static bool same_point(const struct path *a, const struct path *b)
{
    return same_setting(a, b) && a->threads == b->threads;
}

void table_growth(const struct path_list *list)
{
    const struct path *end = list->paths + list->count, *last = NULL;
    for (const struct path *path = list->paths; path < end; path++) {
        if (path->axis == NULL) continue;
        if (last == NULL || last->axis != path->axis) print_series_head(list, path);
        if (last == NULL || !same_point(last, path)) {
            char size[VALUE_TEXT];
            value_print_size(size, path->setting.budget);
            printf("%s%7s %9zu %9u %7u", last != NULL && last->axis == path->axis ? "\n" : "", size,
                   path->setting.length, path->distinct, path->threads);
        }
        double rate = path_rate(path).median;
        printf(" %10.1f", rate > 0 ? 1e3 / rate : 0);
        if (path + 1 == end || path[1].axis != path->axis) printf("\n");
        last = path;
    }
}
