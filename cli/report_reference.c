/* Published figures beside ours: synthetic.json, by skewness, and real_peers.json, by stream; see report.h. */
#include "report.h"

#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(pivot *made, const view *what, const char *method, const char *whose, bool hidden, double kilobytes,
                const cJSON *y)
{
    char series[PIVOT_NAME], label[VALUE_TEXT];
    if (!cJSON_IsNumber(y) || !(kilobytes > 0 && kilobytes < 1e12)) return;
    snprintf(series, sizeof series, "%.60s, %s", method, whose);
    pivot_put(made, what, series, true, hidden, kilobytes * 1024, value_print_size(label, (uint64_t)(kilobytes * 1024)),
              y->valuedouble);
}

/* {"0.9": {"budget_kb": [...], "lego_AAE": [...], ...}}: of streams of 100,000 items. */
static void add_synthetic(pivot *made, const view *what, const char *alpha, const cJSON *references)
{
    const cJSON *figures = report_get(report_get(references, "synthetic"), alpha);
    const char *ending = strcmp(what->y, "aae") == 0 ? "_AAE" : "_ARE";
    const cJSON *values;
    cJSON_ArrayForEach(values, figures)
    {
        size_t length = strlen(values->string);
        if (length <= 4 || length > 40 || strcmp(values->string + length - 4, ending) != 0 || !cJSON_IsArray(values))
            continue;
        char method[48], budgets[64];
        snprintf(method, sizeof method, "%.*s", (int)(length - 4), values->string);
        snprintf(budgets, sizeof budgets, "%s_budget_kb", method);
        const cJSON *at = report_get(figures, budgets);
        if (at == NULL) at = report_get(figures, "budget_kb");
        bool shown = strcmp(method, "lego") == 0 || strcmp(method, "d_lego") == 0; /* others crowd the plot */
        for (int i = 0; i < cJSON_GetArraySize(values); i++) {
            const cJSON *budget = cJSON_GetArrayItem(at, i);
            if (cJSON_IsNumber(budget))
                put(made, what, method, "published", !shown, budget->valuedouble, cJSON_GetArrayItem(values, i));
        }
    }
}

/* {"retail": {"N":, "n":, "budgets": {"9KB": {"cms": [AAE, ARE], ...}}}}: of the very same stream, if N and n agree. */
static void add_real(pivot *made, const view *what, const cJSON *row, const char *stream, const cJSON *references)
{
    const cJSON *known = report_get(report_get(references, "real_peers"), stream);
    for (const char *field = "Nn"; *field != '\0'; field++) {
        char name[2] = {*field, '\0'}, ours[PIVOT_NAME], theirs[PIVOT_NAME];
        if (!report_field(row, name, ours) || !report_field(known, name, theirs) || strcmp(ours, theirs) != 0) return;
    }
    const cJSON *budget, *pair;
    cJSON_ArrayForEach(budget, report_get(known, "budgets"))
    {
        double kilobytes = strtod(budget->string, NULL);
        cJSON_ArrayForEach(pair, budget) put(made, what, pair->string, "reference", true, kilobytes,
                                             cJSON_GetArrayItem(pair, strcmp(what->y, "are") == 0));
    }
}

void reference_add(pivot *made, const view *what, const cJSON *rows, const char *panel, const cJSON *references)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        char here[PIVOT_NAME], n[PIVOT_NAME];
        if (panel == NULL || !report_field(row, what->panel, here) || strcmp(here, panel) != 0 ||
            !report_field(row, "n", n))
            continue;
        if (strcmp(what->experiment, "real") == 0) add_real(made, what, row, panel, references);
        else if (strcmp(what->experiment, "synthetic") == 0 && strcmp(n, "100000") == 0)
            add_synthetic(made, what, panel, references);
        return;
    }
}
