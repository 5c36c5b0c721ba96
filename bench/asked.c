/* bench asked: the figures that issues 19 and 34 ask for, and what came of them. */
#include "bench.h"

#include "values.h"

#include <stdio.h>
#include <stdlib.h>

enum { YOUNG = 1000, YOUNG_SKETCHES = 256 };

struct asked {
    const char *name;
    enum operation operation;
    enum calls calls;
    enum key_kind keys;
    bool two_threads; /* the gain over one */
    bool of_plain;    /* the speed by that of numbers without counts, where blocks list all of their items */
    bool full;        /* the blocks are so full that they keep only their heaviest items */
    size_t batch, fresh;
    double least[ASKED_SIZES]; /* what is asked for, at 1.2 MB and 134 MB; 0: nothing */
};

/* Where several are of one path, it is measured once. */
static const struct asked rows[] = {
    {"store, batch, all in one call", STORE, BATCH, .least = {110, 40}},
    {"store, batch, calls of 1 M", STORE, BATCH, .batch = 1 << 20, .least = {65, 30}},
    {"store, batch, calls of 65,536", STORE, BATCH, .batch = 1 << 16, .least = {30, 20}},
    {"query, batch, blocks list", QUERY, BATCH, .least = {40, 22}},
    {"query, batch, full blocks: of blocks that list", QUERY, BATCH, .of_plain = true, .full = true,
     .least = {0.9, 0.9}},
    {"store, batch, full blocks", STORE, BATCH, .full = true, .least = {45, 20}},
    {"store, one a call, full blocks", STORE, SINGLE, .full = true, .least = {10, 10}},
    {"store, one a call", STORE, SINGLE, .least = {16}},
    {"query, one a call", QUERY, SINGLE, .least = {22}},
    {"pairs, one a call", PAIRS, SINGLE, .least = {8}},
    {"store, one a call, young sketches of 1,000 items", STORE, SINGLE, .fresh = YOUNG, .least = {20}},
    {"store, batch, texts of 8 bytes: of u64", STORE, BATCH, TEXTS, .of_plain = true, .least = {0.7, 0.7}},
    {"store, batch, with counts: of u64", STORE, BATCH, COUNTED, .of_plain = true, .least = {0.7, 0.7}},
    {"query, batch, texts of 8 bytes: of u64", QUERY, BATCH, TEXTS, .of_plain = true, .least = {0.7, 0.7}},
    {"store, batch, two threads: over one", STORE, BATCH, .two_threads = true, .least = {1.8, 1.8}},
    {"query, batch, two threads: over one", QUERY, BATCH, .two_threads = true, .least = {1.8, 1.8}},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- the list ---------------------------------------------------------------------------------------------------- */

/* How many items a sketch of full blocks has for every byte. */
#define CROWD 1.0

static struct path path_of(const struct asked *row, const struct plan *plan, size_t size, const struct method *method)
{
    uint64_t budget = plan->sizes[size];
    uint32_t ranks = plan->distinct > 0 ? plan->distinct : keys_for_budget(budget);
    size_t items = row->operation == STORE ? plan->length : plan->length / (row->operation == QUERY ? 8 : 64);
    if (row->fresh > 0 && row->fresh * YOUNG_SKETCHES < items) items = row->fresh * YOUNG_SKETCHES;
    return (struct path){.method = method,
                         .operation = row->operation,
                         .calls = row->calls,
                         .keys = row->keys,
                         .threads = row->two_threads ? 2 : 1,
                         .batch = row->batch,
                         .fresh = row->fresh,
                         .budget = budget,
                         .length = plan->length,
                         .ranks = ranks,
                         .crowd = row->full ? (uint64_t)((double)budget * CROWD) : 0,
                         .items = items};
}

static const struct path *find(const struct path_list *list, const struct path *like)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct path *one = &list->paths[i];
        if (same_work(one, like) && one->method == like->method && one->threads == like->threads) return one;
    }
    return NULL;
}

static void add(struct path_list *list, const struct path *path)
{
    if (path_exists(path) && find(list, path) == NULL) list->paths[list->count++] = *path;
}

/* Young sketches are the same whatever they may grow to: they are measured in the smaller size alone. */
bool asked_fill(struct path_list *list, const struct plan *plan)
{
    static const struct method *const methods[] = {&method_countmin, &method_countmin_prefetch, &method_compact};
    list->paths = malloc(ASKED_SIZES * ROWS * 3 * sizeof *list->paths);
    for (size_t i = 0; i < plan->size_count * 2 * ROWS && list->paths != NULL; i++) {
        const struct asked *row = &rows[i % ROWS];
        size_t size = i / (2 * ROWS);
        bool full = i / ROWS % 2; /* paths of one stream stand together */
        if (row->full != full || (row->fresh > 0 && size > 0)) continue;
        for (size_t m = 0; m < 3; m++) {
            struct path path = path_of(row, plan, size, methods[m]);
            add(list, &path);
        }
    }
    return list->paths != NULL;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static double measured(const struct path_list *list, const struct asked *row, const struct path *path)
{
    if (row->two_threads) return path_gain(list, path);
    if (!row->of_plain) return path_speed(path);
    struct path like = *path;
    like.keys = NUMBERS;
    like.crowd = 0;
    const struct path *plain = find(list, &like);
    return plain != NULL && plain->count > 0 ? path_speed(path) / path_speed(plain) : 0;
}

static void print_number(double value)
{
    if (value > 0) printf("%.3g", value);
    else printf("-");
}

/* One number for each size. */
static void print_numbers(const double *values, size_t count)
{
    printf(" | ");
    for (size_t i = 0; i < count; i++) {
        printf("%s", i > 0 ? " / " : "");
        print_number(values[i]);
    }
}

static void print_row(const struct path_list *list, const struct plan *plan, const struct asked *row)
{
    double speed[ASKED_SIZES] = {0}, ratio[ASKED_SIZES] = {0};
    for (size_t size = 0; size < plan->size_count; size++) {
        struct path like = path_of(row, plan, size, &method_compact);
        const struct path *path = find(list, &like);
        if (path == NULL) continue;
        speed[size] = measured(list, row, path);
        ratio[size] = path_ratio(list, path);
    }
    printf("| %s", row->name);
    print_numbers(row->least, plan->size_count);
    print_numbers(speed, plan->size_count);
    print_numbers(ratio, plan->size_count);
    printf(" |\n");
}

void asked_show(const struct path_list *list, const struct plan *plan, double small)
{
    char first[VALUE_TEXT], second[VALUE_TEXT] = "";
    printf("| M/s at %s", value_print_size(first, plan->sizes[0]));
    if (plan->size_count > 1) printf(" / %s", value_print_size(second, plan->sizes[1]));
    printf(" | asked | measured | x count-min |\n|---|---|---|---|\n");
    for (size_t i = 0; i < ROWS; i++) print_row(list, plan, &rows[i]);
    printf("| a million sketches of 20 items: make, fill, save; us an item | 1 or less | %.2f | - |\n", small);
}
