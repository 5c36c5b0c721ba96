/* What was measured, as tables and as JSON. */
#include "bench.h"

#include "countmin.h"
#include "values.h"

#include <stdio.h>
#include <string.h>

/* CPU seconds a second below this: somebody else was there. */
#define BUSY 0.95

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static void print_number(double value, int decimals)
{
    if (value > 0) printf("  %8.*f", decimals, value);
    else printf("  %8s", "-");
}

/* The CPU seconds a second that paths on one thread had. */
static double cpu_share(const struct path_list *list)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool counts = list->paths[i].threads == 1 && list->paths[i].count > 0;
        sum += counts ? path_cpu(&list->paths[i]) : 0;
        count += counts;
    }
    return count > 0 ? sum / count : 1;
}

static void print_head(const struct path *path)
{
    static const char *const what[OPERATIONS] = {"items stored", "items asked for", "pairs of a store and a query"};
    static const char *const how[CALLS] = {"one a call", "in batches"};
    char size[VALUE_TEXT];
    printf("\n%s: million %s a second, %s, %s keys (%.2f M, of a stream with %.2f M distinct)\n",
           value_print_size(size, path->budget), what[path->operation], how[path->calls], key_names[path->keys],
           (double)path->items / 1e6, (double)path->distinct / 1e6);
    printf("  %-20s %7s  %8s  %8s    %8s  %8s  %8s  %8s  %8s  %8s\n", "", "threads", "median", "least", "most",
           "x yard", "of limit", "x one", "cpu/wall", "by cpu");
}

static void print_path(const struct path_list *list, const struct path *path, const struct limits *limits)
{
    struct rate rate = path_rate(path);
    printf("  %-20s %7u", path->method->name, path->threads);
    print_number(rate.median, 2);
    printf("  %8.2f .. %8.2f", rate.least, rate.most);
    print_number(path_ratio(list, path), 3);
    print_number(path_share(list, path, limits->flops), 3);
    print_number(path_gain(list, path), 2);
    print_number(path_cpu(path), 2);
    print_number(rate.by_cpu, 2);
    if (path->status != LEGO_OK) printf("  %s", lego_status_message(path->status));
    printf("%s\n", path->wrong ? "  WRONG" : "");
}

void show_machine(const struct path_list *list, const struct limits *limits)
{
    printf("One core: %.0f GFLOP/s of 32-bit multiply-adds (%s), %.1f GB/s read in order; %.2f CPU seconds a second.\n",
           limits->flops / 1e9, limits->instructions, limits->bandwidth / 1e9, cpu_share(list));
    if (cpu_share(list) < BUSY) printf("THE MACHINE IS BUSY: what follows is slower than it is on a quiet one.\n");
}

void show_tables(const struct path_list *list, const struct limits *limits)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct path *path = &list->paths[i];
        if (i == 0 || !same_work(path, path - 1)) print_head(path);
        print_path(list, path, limits);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

/* What grows, and where it is. */
static void add_place(json_line *row, const struct path *path)
{
    json_text(row, "grows", path->by + strlen("by_"));
    json_u64(row, path->by, path->x);
}

/* The line of a plot that a point belongs to: where threads grow, there is one for each size. */
static void add_growth(json_line *row, const struct path *path)
{
    char size[VALUE_TEXT], name[64];
    value_print_size(size, path->budget);
    snprintf(name, sizeof name, "%s %s %s", path->method->role == SKETCH ? "lego" : path->method->name,
             operation_names[path->operation], strcmp(path->by, "by_threads") == 0 ? size : calls_names[path->calls]);
    add_place(row, path);
    json_text(row, "path", name);
    json_real(row, "nanoseconds", 1e3 / growth_speed(path));
}

/* Errors are a row of their own: of the answers of a method, and of the answer 1. */
static void add_error(record *into, const struct path *path, const char *answers, double aae)
{
    json_line row = json_begin();
    json_text(&row, "answers", answers);
    add_place(&row, path);
    json_u64(&row, "budget", path->budget);
    json_u64(&row, "length", path->length);
    json_u64(&row, "distinct", path->distinct);
    json_real(&row, "aae", aae);
    record_add(into, &row);
}

static void add_path(record *into, const struct path_list *list, const struct path *path, double peak_flops)
{
    struct rate rate = path_rate(path);
    json_line row = json_begin();
    json_text(&row, "method", path->method->name);
    json_text(&row, "operation", operation_names[path->operation]);
    json_text(&row, "calls", calls_names[path->calls]);
    json_text(&row, "keys", key_names[path->keys]);
    json_u64(&row, "threads", path->threads);
    json_u64(&row, "budget", path->budget);
    json_u64(&row, "bytes", path->bytes);
    json_u64(&row, "ranks", path->ranks);
    json_u64(&row, "distinct", path->distinct);
    json_u64(&row, "crowd", path->crowd);
    json_u64(&row, "length", path->length);
    json_u64(&row, "items", path->items);
    json_u64(&row, "batch", path->batch);
    json_u64(&row, "fresh", path->fresh);
    json_bool(&row, "right", path->status == LEGO_OK && !path->wrong);
    json_real(&row, "millions_per_second", rate.median);
    json_real(&row, "least", rate.least);
    json_real(&row, "most", rate.most);
    json_real(&row, "by_cpu", rate.by_cpu);
    json_real(&row, "cpu_per_wall", path_cpu(path));
    json_real(&row, "x_yardstick", path_ratio(list, path));
    json_real(&row, "of_limit", path_share(list, path, peak_flops));
    json_real(&row, "x_one_thread", path_gain(list, path));
    json_reals(&row, "wall", path->wall, (int)path->count);
    json_reals(&row, "cpu", path->cpu, (int)path->count);
    if (path->by != NULL) add_growth(&row, path);
    record_add(into, &row);
    if (path->errors) add_error(into, path, path->method->name, path->aae);
    if (path->errors && path->method->role == SKETCH) add_error(into, path, "the answer 1", path_aae_of_one(path));
    if (path->status != LEGO_OK || path->wrong) record_failure(into, path->method->name);
}

void show_results(record *into, const struct plan *plan, const struct path_list *list, const struct limits *limits)
{
    json_text(&into->top, "compiler", __VERSION__);
    json_text(&into->top, "yardstick_instructions", countmin_best()->name);
    json_text(&into->top, "peak_instructions", limits->instructions);
    json_real(&into->top, "peak_flops", limits->flops);
    json_real(&into->top, "bytes_per_second", limits->bandwidth);
    json_u64(&into->top, "length", plan->length);
    json_u64(&into->top, "repeats", plan->repeats);
    for (size_t i = 0; i < list->count; i++) add_path(into, list, &list->paths[i], limits->flops);
}
