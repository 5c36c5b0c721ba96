/* The page of a report: one HTML file that needs nothing else, for screens of any width, light and dark, and for paper.
 * It has no scripts, and its policy forbids any; see report.h.
 *
 * SPDX-License-Identifier: MIT */
#include "report.h"

#include "legosketch.h"
#include "say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n"
    "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=color-scheme content=\"light dark\">\n"
    "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
    "data:\">\n"
    "<link rel=icon href=\"data:,\">\n"
    "<title>legosketch: what was measured</title>\n<style>\n"
    ":root{--page:#fff;--text:#1b1f24;--soft:#59636e;--line:#d1d9e0;--band:#f6f8fa;--ours:#0a5}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#3d444d;--band:#"
    "151b23;"
    "--ours:#3fb97f}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--page);color:var(--text);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.3rem;margin:2.5rem 0 .5rem;border-top:1px solid var(--line);"
    "padding-top:1rem}h3{font-size:1.05rem;margin:1.5rem 0 .5rem}\n"
    "a{color:inherit}nav a{margin-right:1rem;display:inline-block}\n"
    ".soft,figcaption,dt{color:var(--soft);font-size:.85rem}\n"
    "code{font-size:.85rem;overflow-wrap:anywhere}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;margin:.5rem "
    "0}dd{margin:0;font-size:.85rem}\n"
    ".pair{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),1fr));gap:1.5rem}\n"
    "figure{margin:0;min-width:0;break-inside:avoid}svg{width:100%;height:auto;display:block;color:var(--text)}\n"
    "figcaption{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}\n"
    ".scroll{overflow-x:auto;margin:.5rem 0}\n"
    "table{border-collapse:collapse;font-size:.82rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--soft);padding:.2rem 0}\n"
    "th,td{padding:.15rem .5rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
    "th:first-child{text-align:left;position:sticky;left:0;background:var(--page)}\n"
    "tbody tr:nth-child(even){background:var(--band)}td.best{color:var(--ours);font-weight:600}\n"
    ".published{font-style:italic}.warning{border-left:4px solid #d97706;padding-left:.7rem}\n"
    "@media "
    "print{figcaption{white-space:normal}body{font-size:10pt;max-width:none;padding:0}nav{display:none}.scroll{"
    "overflow:visible}"
    "table{font-size:6.5pt}th,td{padding:.1rem .2rem;white-space:normal}h2{break-before:page}h3{break-after:avoid}}\n"
    "</style>\n";

void page_begin(text *page, int results)
{
    text_print(page, "%s<h1>legosketch: what was measured</h1>\n", head);
    text_print(page, "<p>%d experiment%s of <code>legosketch lab</code>, put together by legosketch %s. ", results,
               results == 1 ? "" : "s", LEGO_VERSION);
    text_print(page,
               "Errors are means over all distinct items of a stream, at equal total bytes: AAE is that of "
               "|estimate \u2212 count|, ARE that of |estimate \u2212 count| / count. <em>one</em> is the constant 1, "
               "which needs no memory: a method above it is worse than not measuring. "
               "Figures in <em class=published>italics</em>, dashed in plots, are those of others: published ones, or "
               "a reference. "
               "Axes are logarithmic unless said otherwise, and what is 0 is in the table only.</p>\n");
}

void page_notice(text *page, const char *what)
{
    text_print(page, "<p class=warning>");
    text_escaped(page, what);
    text_print(page, "</p>\n");
}

void page_end(text *page)
{
    text_print(page, "</html>\n");
}

/* ---- how it was measured ---------------------------------------------------------------------------------------- */

static const char *string_of(const cJSON *object, const char *field)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, field));
}

static void add_fact(text *page, const char *name, const char *value)
{
    text_print(page, "<dt>%s</dt><dd>", name);
    text_escaped(page, value);
    text_print(page, "</dd>\n");
}

static double number_of(const cJSON *object, const char *field)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, field);
    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

static void add_facts(text *page, const cJSON *result)
{
    const cJSON *machine = cJSON_GetObjectItemCaseSensitive(result, "machine");
    char line[512];
    text_print(page, "<dl>\n");
    add_fact(page, "in the paper", string_of(result, "figure"));
    text_print(page, "<dt>command</dt><dd><code>");
    text_escaped(page, string_of(result, "command"));
    text_print(page, "</code></dd>\n");
    const char *commit = string_of(result, "commit");
    snprintf(line, sizeof line, "%.40s, commit %.60s",
             string_of(result, "version") != NULL ? string_of(result, "version") : "?",
             commit != NULL ? commit : "unknown");
    add_fact(page, "version", line);
    snprintf(line, sizeof line, "%.60s, in %.1f s", string_of(result, "date") != NULL ? string_of(result, "date") : "?",
             number_of(result, "seconds"));
    add_fact(page, "date", line);
    const char *cpu = string_of(machine, "cpu"), *system = string_of(machine, "system");
    snprintf(line, sizeof line, "%.150s, %g cores, %.1f GB, %.150s", cpu != NULL ? cpu : "?",
             number_of(machine, "cores"), number_of(machine, "memory") / 0x1p30, system != NULL ? system : "?");
    add_fact(page, "machine", line);
    snprintf(line, sizeof line, "%g from %g", number_of(result, "seeds"), number_of(result, "seed"));
    add_fact(page, "seeds", line);
    text_print(page, "</dl>\n");
    const cJSON *failure;
    cJSON_ArrayForEach(failure, cJSON_GetObjectItemCaseSensitive(result, "failures"))
    {
        text_print(page, "<p class=warning>failed: ");
        text_escaped(page, cJSON_GetStringValue(failure));
        text_print(page, "</p>\n");
    }
}

/* ---- figures ---------------------------------------------------------------------------------------------------- */

/* The least error at a point among the methods measured, for there smaller is better. */
static double least(const pivot *data, size_t point)
{
    double best = INFINITY;
    for (size_t s = 0; s < data->series_count; s++)
        if (!data->published[s] && data->y[s][point] < best) best = data->y[s][point];
    return best;
}

static void add_table(text *page, const view *what, const pivot *data, const char *panel)
{
    bool errors = strcmp(what->series, "method") == 0;
    text_print(page, "<div class=scroll><table data-experiment=\"%s\" data-y=\"%s\" data-panel=\"", what->experiment,
               what->y);
    text_escaped(page, panel != NULL ? panel : "");
    text_print(page, "\"><caption>%s</caption><thead><tr><th>%s</th>", what->title,
               what->x_label[0] != '\0' ? what->x_label : what->x);
    for (size_t s = 0; s < data->series_count; s++) {
        text_print(page, data->published[s] ? "<th class=published>" : "<th>");
        text_escaped(page, data->series[s]);
        text_print(page, "</th>");
    }
    text_print(page, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < data->point_count; i++) {
        text_print(page, "<tr><th>");
        text_escaped(page, data->label[i]);
        text_print(page, "</th>");
        for (size_t s = 0; s < data->series_count; s++) {
            bool best = errors && !data->published[s] && data->y[s][i] == least(data, i);
            if (isnan(data->y[s][i])) text_print(page, "<td>\u2013</td>");
            else
                text_print(page, "<td%s>%.4g</td>",
                           data->published[s] ? " class=published"
                           : best             ? " class=best"
                                              : "",
                           data->y[s][i]);
        }
        text_print(page, "</tr>\n");
    }
    text_print(page, "</tbody></table></div>\n");
    if (data->cut)
        text_print(page, "<p class=warning>There were more columns or rows than a table here has room for.</p>\n");
}

static bool add_figure(text *page, const view *what, const cJSON *result, const char *panel, const cJSON *references,
                       int *plots)
{
    static pivot data;
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(result, "rows");
    if (!pivot_make(&data, what, rows, panel)) return true;
    if (references != NULL) reference_add(&data, what, rows, panel, references);
    char label[2 * PIVOT_NAME + 64];
    snprintf(label, sizeof label, "%s, %s%s%s", what->title, what->experiment, panel != NULL ? ", " : "",
             panel != NULL ? panel : "");
    text_print(page, "<figure>\n");
    if (!plot_add(page, what, &data, ++*plots, label)) return false;
    text_print(page, "<figcaption title=\"");
    text_escaped(page, string_of(result, "command"));
    text_print(page, "\">%s%s; ", what->title, what->linear ? " (not logarithmic)" : "");
    text_print(page, "commit ");
    const char *commit = string_of(result, "commit");
    text_escaped(page, commit != NULL ? commit : "unknown");
    text_print(page, "; <code>");
    text_escaped(page, string_of(result, "command"));
    text_print(page, "</code></figcaption>\n");
    add_table(page, what, &data, panel);
    text_print(page, "</figure>\n");
    return true;
}

/* The heading of a panel: what it is, and how large the stream is if its rows say so. */
static void add_heading(text *page, const view *what, const cJSON *row, const char *panel)
{
    text_print(page, "<h3>");
    if (strcmp(what->panel, "alpha") == 0 || strcmp(what->panel, "skewness") == 0) text_print(page, "skewness ");
    else if (strcmp(what->panel, "model") == 0) text_print(page, "model ");
    text_escaped(page, panel);
    double n = number_of(row, "n"), total = number_of(row, "N");
    if (n > 0 && total > 0) text_print(page, " <span class=soft>N = %.0f items, n = %.0f distinct</span>", total, n);
    text_print(page, "</h3>\n");
}

/* Every view of the experiment for one panel. */
static bool add_panel(text *page, const cJSON *result, const char *panel, const cJSON *references, int *plots)
{
    bool ok = true;
    text_print(page, "<div class=pair>\n");
    for (const view *what = report_views; what->experiment != NULL && ok; what++)
        if (strcmp(what->experiment, string_of(result, "experiment")) == 0)
            ok = add_figure(page, what, result, panel, references, plots);
    text_print(page, "</div>\n");
    return ok;
}

/* Whether an earlier row has this panel. */
static bool seen(const cJSON *rows, const cJSON *until, const char *field, const char *panel)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        char here[PIVOT_NAME];
        if (row == until) return false;
        if (report_field(row, field, here) && strcmp(here, panel) == 0) return true;
    }
    return false;
}

bool page_result(text *page, const cJSON *result, const cJSON *references, int *plots)
{
    const char *experiment = string_of(result, "experiment");
    const view *what = report_views;
    while (what->experiment != NULL && strcmp(what->experiment, experiment) != 0) what++;
    text_print(page, "<section id=\"%s\">\n<h2>", what->experiment);
    text_escaped(page, string_of(result, "title"));
    text_print(page, "</h2>\n");
    add_facts(page, result);
    bool ok = true;
    const cJSON *row, *rows = cJSON_GetObjectItemCaseSensitive(result, "rows");
    if (what->panel == NULL) ok = add_panel(page, result, NULL, references, plots);
    else cJSON_ArrayForEach(row, rows)
        {
            char panel[PIVOT_NAME];
            if (!report_field(row, what->panel, panel) || seen(rows, row, what->panel, panel)) continue;
            add_heading(page, what, row, panel);
            ok = add_panel(page, result, panel, references, plots);
            if (!ok) break;
        }
    text_print(page, "</section>\n");
    return ok;
}
