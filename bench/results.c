/* Results as JSON; see results.h.
 *
 * SPDX-License-Identifier: MIT */
#include "results.h"

#include "countmin.h"
#include "targets.h"

static void add_path(record *into, const struct path_list *list, const struct path *path, double peak_flops)
{
    struct rate rate = path_rate(path);
    double wall[REPEATS_MOST], cpu[REPEATS_MOST];
    for (unsigned i = 0; i < path->count; i++) {
        wall[i] = path->samples[i].wall;
        cpu[i] = path->samples[i].cpu;
    }
    json_line row = record_row(into);
    json_text(&row, "row", "path");
    json_text(&row, "growth_by", path->axis);
    json_text(&row, "method", path->method->name);
    json_text(&row, "operation", operation_names[path->operation]);
    json_text(&row, "calls", calls_names[path->calls]);
    json_text(&row, "keys", key_names[path->keys]);
    json_u64(&row, "threads", path->threads);
    json_u64(&row, "budget", path->setting.budget);
    json_u64(&row, "bytes", path->bytes);
    json_u64(&row, "length", path->setting.length);
    json_u64(&row, "ranks", path->setting.ranks);
    json_u64(&row, "distinct", path->distinct);
    json_u64(&row, "items", path->items);
    json_bool(&row, "right", path->status == LEGO_OK && !path->wrong);
    json_real(&row, "millions_per_second", rate.median);
    json_real(&row, "least", rate.least);
    json_real(&row, "most", rate.most);
    json_real(&row, "by_cpu", rate.by_cpu);
    json_real(&row, "cpu_per_wall", path_cpu(path));
    json_real(&row, "x_yardstick", path_ratio(list, path));
    json_real(&row, "of_limit", path_share(list, path, peak_flops));
    json_reals(&row, "wall", wall, (int)path->count);
    json_reals(&row, "cpu", cpu, (int)path->count);
    record_add(into, &row);
    if (path->status != LEGO_OK || path->wrong) record_failure(into, path->method->name);
}

static void add_target(record *into, const struct target *target, struct reached measured)
{
    json_line row = record_row(into);
    json_text(&row, "row", "target");
    json_text(&row, "target", target->what);
    json_u64(&row, "budget", target->budget);
    json_text(&row, "times", target->than != NULL ? target->than->name : NULL);
    json_real(&row, "wanted", target->needed);
    json_real(&row, "measured", measured.by_clock);
    json_real(&row, "by_cpu", measured.by_cpu);
    json_bool(&row, "reached", measured.by_clock >= target->needed);
    record_add(into, &row);
}

void results_add(record *into, const struct plan *plan, const struct path_list *list, const struct limits *limits,
                 bool huge_pages)
{
    json_text(&into->top, "compiler", __VERSION__);
    json_text(&into->top, "yardstick_instructions", countmin_best()->name);
    json_text(&into->top, "peak_instructions", limits->instructions);
    json_real(&into->top, "peak_flops", limits->flops);
    json_real(&into->top, "bytes_per_second", limits->bandwidth);
    json_text(&into->top, "pages", huge_pages ? "huge" : "normal");
    json_u64(&into->top, "batch", plan->batch);
    json_u64(&into->top, "repeats", plan->repeats);
    for (size_t i = 0; i < list->count; i++) add_path(into, list, &list->paths[i], limits->flops);
    for (size_t i = 0; i < target_count; i++) {
        struct reached measured = target_reached(&targets[i], list, plan->threads);
        if (measured.by_clock > 0) add_target(into, &targets[i], measured);
    }
}
