/* The page of a report: one HTML file that needs nothing else, for screens of any width, light and dark, and for paper.
 * It has no scripts, and its policy forbids any; see report.h. */
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
    "@media(prefers-color-scheme:dark){:root{--page:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#3d444d;--band:"
    "#151b23;--ours:#3fb97f}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--page);color:var(--text);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.3rem;margin:2.5rem 0 .5rem;border-top:1px solid var(--line);"
    "padding-top:1rem}h3{font-size:1.05rem;margin:1.5rem 0 .5rem}\n"
    "a{color:inherit}nav a{margin-right:1rem;display:inline-block}\n"
    ".soft,figcaption,dt{color:var(--soft);font-size:.85rem}\n"
    "code{font-size:.85rem;overflow-wrap:anywhere}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;margin:.5rem 0}"
    "dd{margin:0;font-size:.85rem}\n"
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
    "@media print{figcaption{white-space:normal}body{font-size:10pt;max-width:none;padding:0}nav{display:none}"
    ".scroll{overflow:visible}table{font-size:6.5pt}th,td{padding:.1rem .2rem;white-space:normal}"
    "h2{break-before:page}h3{break-after:avoid}}\n"
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
               "Figures in <em class=published>italics</em>, dashed in plots, are those of others: published, or a "
               "reference. Axes are logarithmic unless said otherwise, and what is 0 is in the table only.</p>\n");
}

void page_put(text *page, const char *before, const char *from, const char *after)
{
    text_print(page, "%s", before);
    text_escaped(page, from);
    text_print(page, "%s", after);
}

/* ---- how it was measured ---------------------------------------------------------------------------------------- */

/* The text of a field, or what stands for none. */
static const char *text_or(const cJSON *object, const char *field, const char *otherwise)
{
    const char *value = report_text(object, field);
    return value != NULL ? value : otherwise;
}

static void add_fact(text *page, const char *name, const char *value)
{
    text_print(page, "<dt>%s</dt>", name);
    page_put(page, "<dd>", value, "</dd>\n");
}

static double number_of(const cJSON *object, const char *field)
{
    const cJSON *value = report_get(object, field);
    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

static void add_facts(text *page, const cJSON *result)
{
    const cJSON *machine = report_get(result, "machine"), *failure;
    char line[512];
    text_print(page, "<dl>\n");
    add_fact(page, "in the paper", report_text(result, "figure"));
    page_put(page, "<dt>command</dt><dd><code>", report_text(result, "command"), "</code></dd>\n");
    snprintf(line, sizeof line, "%.40s, commit %.60s", text_or(result, "version", "?"),
             text_or(result, "commit", "unknown"));
    add_fact(page, "version", line);
    snprintf(line, sizeof line, "%.60s, in %.1f s", text_or(result, "date", "?"), number_of(result, "seconds"));
    add_fact(page, "date", line);
    snprintf(line, sizeof line, "%.150s, %g cores, %.1f GB, %.150s", text_or(machine, "cpu", "?"),
             number_of(machine, "cores"), number_of(machine, "memory") / 0x1p30, text_or(machine, "system", "?"));
    add_fact(page, "machine", line);
    snprintf(line, sizeof line, "%g from %g", number_of(result, "seeds"), number_of(result, "seed"));
    add_fact(page, "seeds", line);
    text_print(page, "</dl>\n");
    cJSON_ArrayForEach(failure, report_get(result, "failures"))
    {
        page_put(page, "<p class=warning>failed: ", cJSON_GetStringValue(failure), "</p>\n");
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

static void add_cell(text *page, const pivot *data, size_t series, size_t point, bool errors)
{
    double value = data->y[series][point];
    const char *kind = "";
    if (data->published[series]) kind = " class=published";
    else if (errors && value == least(data, point)) kind = " class=best";
    if (isnan(value)) text_print(page, "<td>\u2013</td>");
    else text_print(page, "<td%s>%.4g</td>", kind, value);
}

static void add_table(text *page, const view *what, const pivot *data, const char *panel)
{
    bool errors = strcmp(what->series, "method") == 0;
    text_print(page, "<div class=scroll><table data-experiment=\"%s\" data-y=\"%s\"", what->experiment, what->y);
    page_put(page, " data-panel=\"", panel != NULL ? panel : "", "\">");
    text_print(page, "<caption>%s</caption><thead><tr><th>%s</th>", what->title,
               what->x_label[0] != '\0' ? what->x_label : what->x);
    for (size_t s = 0; s < data->series_count; s++)
        page_put(page, data->published[s] ? "<th class=published>" : "<th>", data->series[s], "</th>");
    text_print(page, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < data->point_count; i++) {
        page_put(page, "<tr><th>", data->label[i], "</th>");
        for (size_t s = 0; s < data->series_count; s++) add_cell(page, data, s, i, errors);
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
    const cJSON *rows = report_get(result, "rows");
    if (!pivot_make(&data, what, rows, panel)) return true;
    if (references != NULL) reference_add(&data, what, rows, panel, references);
    char label[2 * PIVOT_NAME + 64];
    snprintf(label, sizeof label, "%s, %s%s%s", what->title, what->experiment, panel != NULL ? ", " : "",
             panel != NULL ? panel : "");
    text_print(page, "<figure>\n");
    if (!plot_add(page, what, &data, ++*plots, label)) return false;
    const char *command = report_text(result, "command");
    page_put(page, "<figcaption title=\"", command, "\">");
    text_print(page, "%s%s; ", what->title, what->linear ? " (not logarithmic)" : "");
    page_put(page, "commit ", text_or(result, "commit", "unknown"), "; ");
    page_put(page, "<code>", command, "</code></figcaption>\n");
    add_table(page, what, &data, panel);
    text_print(page, "</figure>\n");
    return true;
}

/* The heading of a panel: what it is, and how large the stream is if its rows say so. */
static void add_heading(text *page, const view *what, const cJSON *row, const char *panel)
{
    bool skewness = strcmp(what->panel, "alpha") == 0, model = strcmp(what->panel, "model") == 0;
    page_put(page, skewness ? "<h3>skewness " : model ? "<h3>model " : "<h3>", panel, "");
    double n = number_of(row, "n"), total = number_of(row, "N");
    if (n > 0 && total > 0) text_print(page, " <span class=soft>N = %.0f items, n = %.0f distinct</span>", total, n);
    text_print(page, "</h3>\n");
}

/* Every view of the experiment for one panel. */
static bool add_panel(text *page, const cJSON *result, const char *panel, const cJSON *references, int *plots)
{
    const view *first = report_first(report_text(result, "experiment")), *what = first;
    text_print(page, "<div class=pair>\n");
    bool ok = true;
    for (; ok && what->experiment != NULL && strcmp(what->experiment, first->experiment) == 0; what++)
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
    const view *what = report_first(report_text(result, "experiment"));
    const cJSON *row, *rows = report_get(result, "rows");
    text_print(page, "<section id=\"%s\">\n", what->experiment);
    page_put(page, "<h2>", report_text(result, "title"), "</h2>\n");
    add_facts(page, result);
    bool ok = what->panel != NULL || add_panel(page, result, NULL, references, plots);
    cJSON_ArrayForEach(row, rows)
    {
        char panel[PIVOT_NAME];
        if (!ok || what->panel == NULL || !report_field(row, what->panel, panel) || seen(rows, row, what->panel, panel))
            continue;
        add_heading(page, what, row, panel);
        ok = add_panel(page, result, panel, references, plots);
    }
    text_print(page, "</section>\n");
    return ok;
}
