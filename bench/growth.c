/* bench growth: how speed and errors grow with one thing at a time, each point twice or four times the one before. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1258291, LARGE = 134 << 20, RANKS = 1 << 23, POINTS_MOST = 16 };

/* At each point: both methods, stores and queries, one a call and in batches. */
enum { AT_A_POINT = 2 * 2 * 2 };

static void add_point(struct path_list *list, struct path point)
{
    for (int i = 0; i < AT_A_POINT; i++) {
        struct path path = point;
        path.method = i & 4 ? &method_countmin : &method_compact;
        path.operation = i & 2 ? QUERY : STORE;
        path.calls = i & 1 ? BATCH : SINGLE;
        path.errors = path.operation == QUERY && path.calls == BATCH;
        path.items = path.operation == STORE ? path.length : path.length / 8;
        if (path_exists(&path)) list->paths[list->count++] = path;
    }
}

/* Threads are of batches alone. */
static void add_threads(struct path_list *list, const struct plan *plan, uint64_t budget)
{
    for (uint32_t threads = 1; threads <= plan->threads; threads *= 2) {
        for (int query = 0; query < 2; query++)
            list->paths[list->count++] = (struct path){.by = "by_threads",
                                                       .x = threads,
                                                       .method = &method_compact,
                                                       .operation = query ? QUERY : STORE,
                                                       .calls = BATCH,
                                                       .budget = budget,
                                                       .length = plan->length,
                                                       .ranks = keys_for_budget(budget),
                                                       .threads = threads,
                                                       .items = plan->length / (query ? 8 : 1)};
    }
}

bool growth_fill(struct path_list *list, const struct plan *plan)
{
    const struct path base = {.budget = SMALL, .length = plan->length, .ranks = RANKS, .threads = 1};
    unsigned step = plan->quick ? 6 : 1, large = plan->quick ? 6 : 2; /* doublings */
    list->paths = malloc((3 * AT_A_POINT + 4) * POINTS_MOST * sizeof *list->paths);
    if (list->paths == NULL) return false;
    struct path point = base;
    for (point.by = "by_length", point.x = plan->length >> 9; point.x <= plan->length * 4; point.x <<= step)
        point.length = point.x, add_point(list, point);
    for (point = base, point.by = "by_distinct", point.x = 1 << 11; point.x <= 1 << 23; point.x <<= large)
        point.ranks = (uint32_t)point.x, add_point(list, point);
    for (point = base, point.by = "by_bytes", point.x = 1 << 15; point.x <= 1 << 27; point.x <<= large)
        point.budget = point.x, add_point(list, point);
    add_threads(list, plan, SMALL);
    add_threads(list, plan, LARGE);
    return true;
}

double growth_speed(const struct path *path)
{
    return strcmp(path->by, "by_threads") == 0 ? path_rate(path).median : path_speed(path);
}

void growth_show(const struct path_list *list)
{
    printf("grows\tto\tmethod\toperation\tcalls\tbudget\tmillions_per_second\taae\taae_of_1\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct path *path = &list->paths[i];
        printf("%s\t%ju\t%s\t%s\t%s\t%ju\t%.2f", path->by + strlen("by_"), (uintmax_t)path->x, path->method->name,
               operation_names[path->operation], calls_names[path->calls], (uintmax_t)path->budget, growth_speed(path));
        if (path->errors) printf("\t%.6g\t%.6g\n", path->aae, path_aae_of_one(path));
        else printf("\t\t\n");
    }
}
