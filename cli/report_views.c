/* Which figures an experiment has, and their numbers; see report.h. */
#include "report.h"

#include "values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AAE "mean absolute error"
#define ARE "mean relative error"
#define ERRORS(...)                                                                                                    \
    {.y = "aae", .title = "AAE", .y_label = AAE, __VA_ARGS__},                                                         \
    {                                                                                                                  \
        .y = "are", .title = "ARE", .y_label = ARE, __VA_ARGS__                                                        \
    }
#define BY_METHOD(name, field) .experiment = name, .panel = field, .series = "method"
#define BY_BUDGET .x = "budget", .x_label = "bytes of memory", .sizes = true
/* Of bench: what grows is a panel, which has a field of its own for where it is. */
#define TIME_BY(field, ...)                                                                                            \
    {                                                                                                                  \
        .experiment = "growth", .panel = "grows", .series = "path", .x = field, .y = "nanoseconds", .title = "Time",   \
        .y_label = "nanoseconds an item", __VA_ARGS__                                                                  \
    }
#define ERROR_BY(field, ...)                                                                                           \
    {                                                                                                                  \
        .experiment = "growth", .panel = "grows", .series = "answers", .x = field, .y = "aae", .title = "AAE",         \
        .y_label = AAE, __VA_ARGS__                                                                                    \
    }
#define TIME_AND_ERROR_BY(...) TIME_BY(__VA_ARGS__), ERROR_BY(__VA_ARGS__)

const view report_views[] = {
    ERRORS(BY_METHOD("real", "stream"), BY_BUDGET),
    ERRORS(BY_METHOD("space", "stream"), BY_BUDGET),
    ERRORS(BY_METHOD("synthetic", "alpha"), BY_BUDGET),
    {.experiment = "speed",
     .panel = "device",
     .series = "operation",
     .x = "method",
     .y = "millions_per_second",
     .title = "Speed",
     .x_label = "",
     .y_label = "million items a second",
     .bars = true},
    ERRORS(.experiment = "ablations", .panel = "alpha", .series = "variant", BY_BUDGET),
    {"skew", "how", "series", "rank", "ratio", "Sub-skewness", "rank of the item in its brick", "times alpha",
     .linear = true},
    {"bound", "model", "stream", "times", "share", "Share of items beyond", "eps, in multiples of 1 / d2",
     .y_label = "share of items"},
    ERRORS(BY_METHOD("scaling", "stream"), BY_BUDGET),
    ERRORS(BY_METHOD("bytes", "alpha"), .x = "bytes_per_key", .x_label = "bytes a distinct item"),
    TIME_AND_ERROR_BY("by_length", .x_label = "items of the stream", .sizes = true),
    TIME_AND_ERROR_BY("by_distinct", .x_label = "items that the stream is drawn from", .sizes = true),
    TIME_AND_ERROR_BY("by_bytes", .x_label = "bytes of memory", .sizes = true),
    TIME_BY("by_threads", .x_label = "threads"),
    {0},
};

const view *report_first(const char *experiment)
{
    for (const view *what = report_views; experiment != NULL && what->experiment != NULL; what++)
        if (strcmp(what->experiment, experiment) == 0) return what;
    return NULL;
}

bool report_field(const cJSON *row, const char *field, char name[PIVOT_NAME])
{
    const cJSON *value = report_get(row, field);
    if (cJSON_IsNumber(value)) snprintf(name, PIVOT_NAME, "%g", value->valuedouble);
    else if (cJSON_IsString(value)) snprintf(name, PIVOT_NAME, "%s", value->valuestring);
    return cJSON_IsNumber(value) || cJSON_IsString(value);
}

/* ---- pivots ----------------------------------------------------------------------------------------------------- */

/* The place of a series, which it gets if it is new; PIVOT_SERIES if there is no room. */
static size_t find_series(pivot *made, const char *name)
{
    size_t i = 0;
    while (i < made->series_count && strcmp(made->series[i], name) != 0) i++;
    if (i < made->series_count || i == PIVOT_SERIES) return i;
    snprintf(made->series[i], PIVOT_NAME, "%s", name);
    for (size_t point = 0; point < PIVOT_POINTS; point++) made->y[i][point] = NAN;
    made->published[i] = made->hidden[i] = false;
    made->series_count++;
    return i;
}

/* The same of a point. Numbers are kept in rising order, so what comes behind a new one moves. */
static size_t find_point(pivot *made, bool ordered, double x, const char *label)
{
    size_t i = 0;
    while (i < made->point_count && (ordered ? made->x[i] < x : strcmp(made->label[i], label) != 0)) i++;
    if (i < made->point_count && (!ordered || made->x[i] == x)) return i;
    if (made->point_count == PIVOT_POINTS) return PIVOT_POINTS;
    size_t behind = made->point_count - i;
    memmove(made->x + i + 1, made->x + i, behind * sizeof *made->x);
    memmove(made->label + i + 1, made->label + i, behind * sizeof *made->label);
    for (size_t s = 0; s < PIVOT_SERIES; s++) {
        memmove(made->y[s] + i + 1, made->y[s] + i, behind * sizeof **made->y);
        made->y[s][i] = NAN;
    }
    made->x[i] = x;
    snprintf(made->label[i], PIVOT_NAME, "%s", label);
    made->point_count++;
    return i;
}

void pivot_put(pivot *made, const view *what, const char *series, bool published, bool hidden, double x,
               const char *label, double y)
{
    size_t point = find_point(made, !what->bars, x, label);
    size_t at = point < PIVOT_POINTS ? find_series(made, series) : PIVOT_SERIES;
    if (at == PIVOT_SERIES) {
        made->cut = true;
        return;
    }
    made->published[at] = published;
    made->hidden[at] = hidden;
    made->y[at][point] = y;
}

bool pivot_make(pivot *made, const view *what, const cJSON *rows, const char *panel)
{
    made->series_count = made->point_count = 0;
    made->cut = false;
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        char here[PIVOT_NAME], series[PIVOT_NAME], label[PIVOT_NAME];
        if (panel != NULL && (!report_field(row, what->panel, here) || strcmp(here, panel) != 0)) continue;
        const cJSON *x = report_get(row, what->x), *y = report_get(row, what->y);
        if (report_field(row, what->series, series))
            find_series(made, series); /* also if it failed here: a method has its place and colour in every figure */
        if (!cJSON_IsNumber(y) || !report_field(row, what->series, series) || !report_field(row, what->x, label) ||
            cJSON_IsNumber(x) == what->bars || !(fabs(y->valuedouble) < 1e30))
            continue;
        if (!what->bars && !(x->valuedouble > 0 && x->valuedouble < 1e18)) /* the axis is logarithmic */
            continue;
        if (what->sizes && x->valuedouble < 0x1p60) value_print_size(label, (uint64_t)x->valuedouble);
        pivot_put(made, what, series, false, false, what->bars ? (double)made->point_count : x->valuedouble, label,
                  y->valuedouble);
    }
    return made->point_count > 0;
}
