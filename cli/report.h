/* The report: results of the lab as one page. A view says which fields of an experiment's rows are a figure; a pivot is
 * a figure's numbers, made from the rows; each becomes a plot and a table.
 *
 *     report.c            the command: reads the results, writes the page
 *     report_views.c      views and pivots         report_plot.c   a pivot through gnuplot, as SVG
 *     report_reference.c  published figures        report_page.c   HTML */
#pragma once

#include "text.h"

#include <cjson/cJSON.h>

typedef struct view {
    const char *experiment;
    const char *panel;  /* rows that differ in this field are figures of their own; NULL: there is one figure */
    const char *series; /* the field that tells lines apart */
    const char *x, *y;  /* fields */
    const char *title, *x_label, *y_label;
    bool bars;   /* x is text */
    bool sizes;  /* x is bytes */
    bool linear; /* y is not logarithmic */
} view;

/* All of them, those of an experiment one after another; one without an experiment ends the list. */
extern const view report_views[];

/* The first view of an experiment, or NULL if there is no such experiment, or no name. */
const view *report_first(const char *experiment);

enum { PIVOT_SERIES = 40, PIVOT_POINTS = 64, PIVOT_NAME = 80 };

typedef struct pivot {
    size_t series_count, point_count;
    char series[PIVOT_SERIES][PIVOT_NAME];
    bool published[PIVOT_SERIES]; /* it is not ours */
    bool hidden[PIVOT_SERIES];    /* in the table only */
    char label[PIVOT_POINTS][PIVOT_NAME];
    double x[PIVOT_POINTS];
    double y[PIVOT_SERIES][PIVOT_POINTS]; /* NAN: not measured */
    bool cut;                             /* there were more series or points than fit */
} pivot;

/* A field, and its text; NULL if it has none. */
static inline const cJSON *report_get(const cJSON *object, const char *field)
{
    return cJSON_GetObjectItemCaseSensitive(object, field);
}

static inline const char *report_text(const cJSON *object, const char *field)
{
    return cJSON_GetStringValue(report_get(object, field));
}

/* No file that is read for a report is as large. */
enum { REPORT_FILE_MOST = 256 << 20 };

/* A field of a row as text; false if it has none. Numbers as %g has them. */
bool report_field(const cJSON *row, const char *field, char name[PIVOT_NAME]);

/* The numbers of a figure: of those rows whose panel is this one (NULL: all). False if there are none. */
bool pivot_make(pivot *made, const view *what, const cJSON *rows, const char *panel);
void pivot_put(pivot *made, const view *what, const char *series, bool published, bool hidden, double x,
               const char *label, double y);

/* Adds the published figures that belong there. `references` is an object of file names and what is in the files. */
void reference_add(pivot *made, const view *what, const cJSON *rows, const char *panel, const cJSON *references);

/* The plot as SVG; number and label tell it from others on the page. False if there is no gnuplot or it failed:
 * said. */
bool plot_add(text *page, const view *what, const pivot *data, int number, const char *label);

void page_begin(text *page, int results);

/* Text from outside between two pieces of HTML. */
void page_put(text *page, const char *before, const char *from, const char *after);

/* The section of one result, after which *plots is larger by its plots. */
bool page_result(text *page, const cJSON *result, const cJSON *references, int *plots);
