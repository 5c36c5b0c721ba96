/* A figure through gnuplot, as SVG to put into a page; see report.h.
 *
 * gnuplot gets a script in a file without a name, and no word from outside but names that are cut down to letters,
 * digits and a few signs. What it draws in black becomes currentColor, so that it is light on a dark page. */
#include "report.h"

#include "say.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* To be told apart on white and on black. */
static const char *const colours[] = {"#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd",
                                      "#17a2b8", "#b8860b", "#e377c2", "#8c8c8c", "#8c564b"};
enum { COLOURS = sizeof colours / sizeof *colours, MARKS = COLOURS + 1 }; /* so that two of a colour differ in marks */

/* ---- the script ------------------------------------------------------------------------------------------------- */

/* A name between single quotes, where nothing but these characters gets through. */
static void add_name(text *script, const char *name)
{
    text_print(script, "'");
    for (; *name != '\0'; name++) {
        bool plain = isalnum((unsigned char)*name) || strchr(" -_.,/=+()", *name) != NULL;
        text_print(script, "%c", plain ? *name : '?');
    }
    text_print(script, "'");
}

static bool drawn(const view *what, double y)
{
    return isfinite(y) && (what->linear || y > 0); /* a logarithm has no 0 */
}

static bool has_points(const view *what, const pivot *data, size_t series)
{
    for (size_t i = 0; i < data->point_count; i++)
        if (drawn(what, data->y[series][i])) return what->bars || !data->hidden[series];
    return false;
}

/* A tic has its label unless that of one before it is so near, as a part of the axis, that they would overlap. */
static void add_tics(text *script, const view *what, const pivot *data)
{
    const double nearest = 0.045;
    double span = log(data->x[data->point_count - 1]) - log(data->x[0]), last = -INFINITY;
    text_print(script, what->bars ? "set xtics rotate by 90 right (" : "set xtics rotate by -40 (");
    for (size_t i = 0; i < data->point_count; i++) {
        bool labelled = what->bars || log(data->x[i]) - last >= nearest * span;
        if (labelled && !what->bars) last = log(data->x[i]);
        text_print(script, "%s", i > 0 ? ", " : "");
        add_name(script, labelled ? data->label[i] : "");
        text_print(script, " %.9g", what->bars ? (double)i : data->x[i]);
    }
    text_print(script, ")\n");
}

/* Bars stand side by side, so many parts of 1 wide. */
static double bar_width(const pivot *data)
{
    return 0.8 / (double)data->series_count;
}

static void add_data(text *script, const view *what, const pivot *data, size_t s)
{
    text_print(script, "$data%zu << EOD\n", s);
    for (size_t i = 0; i < data->point_count; i++) {
        double x = what->bars ? (double)i + ((double)s + 0.5) * bar_width(data) - 0.4 : data->x[i];
        if (drawn(what, data->y[s][i])) text_print(script, "%.9g %.9g\n", x, data->y[s][i]);
    }
    text_print(script, "EOD\n");
}

static void add_series(text *script, const view *what, const pivot *data)
{
    for (size_t s = 0; s < data->series_count; s++)
        if (has_points(what, data, s)) add_data(script, what, data, s);
    const char *before = "plot";
    for (size_t s = 0; s < data->series_count; s++) {
        if (!has_points(what, data, s)) continue;
        text_print(script, "%s $data%zu with ", before, s);
        if (what->bars) text_print(script, "boxes");
        else text_print(script, "linespoints lw 1.6 ps 0.6 pt %zu dt %d", 4 + s % MARKS, data->published[s] ? 2 : 1);
        text_print(script, " lc rgb '%s' title ", colours[s % COLOURS]);
        add_name(script, data->series[s]);
        before = ",";
    }
    text_print(script, "\n");
}

/* ---- names beside their lines ----------------------------------------------------------------------------------- */

/* The range of what is drawn, a little wider. */
static void range_of(const view *what, const pivot *data, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (size_t s = 0; s < data->series_count; s++)
        for (size_t i = 0; i < data->point_count && has_points(what, data, s); i++) {
            if (!drawn(what, data->y[s][i])) continue;
            *low = fmin(*low, data->y[s][i]);
            *high = fmax(*high, data->y[s][i]);
        }
    double room = what->linear ? 0.03 * (*high - *low) + 1e-9 : pow(*high / *low, 0.03) * 1.01;
    *low = what->linear ? *low - room : *low / room;
    *high = what->linear ? *high + room : *high * room;
}

typedef struct name_place {
    size_t series, point; /* the last point of its line that is drawn */
    double height;        /* as a part of the plot's */
} name_place;

static int by_height(const void *a, const void *b)
{
    double x = ((const name_place *)a)->height, y = ((const name_place *)b)->height;
    return (x > y) - (x < y);
}

/* Moves names apart, from below and then from above. */
static void spread(name_place *names, size_t count, double gap)
{
    qsort(names, count, sizeof *names, by_height);
    for (size_t i = 0; i < count; i++) {
        double least = i > 0 ? names[i - 1].height + gap : 0;
        names[i].height = fmax(names[i].height, least);
    }
    for (size_t i = count; i-- > 0;) {
        double most = i + 1 < count ? names[i + 1].height - gap : 1;
        names[i].height = fmin(names[i].height, most);
    }
}

static void add_label(text *script, const pivot *data, const name_place *name)
{
    bool whole = name->point + 1 == data->point_count, zero = !whole && data->y[name->series][name->point + 1] == 0;
    char words[PIVOT_NAME + 16];
    snprintf(words, sizeof words, "%s%s", data->series[name->series], zero ? ", then 0" : "");
    text_print(script, "set label ");
    add_name(script, words);
    if (whole) text_print(script, " at graph 1.02,");
    else text_print(script, " at %.9g,", data->x[name->point]);
    text_print(script, "graph %.4f %sfont ',11' tc rgb '%s'\n", name->height, whole ? "" : "offset 0.8,0 ",
               colours[name->series % COLOURS]);
}

/* Every name stands at the right end of its line, in its colour; that of a line which ends earlier, where it ends. */
static void add_names(text *script, const view *what, const pivot *data, size_t pixels)
{
    enum { LINE = 13 };                                  /* pixels */
    name_place whole[PIVOT_SERIES], ended[PIVOT_SERIES]; /* of lines that go on to the right end, or do not */
    size_t wholes = 0, ends = 0, longest = 0;
    double low, high;
    range_of(what, data, &low, &high);
    for (size_t s = 0; s < data->series_count; s++) {
        if (!has_points(what, data, s)) continue;
        name_place name = {.series = s, .point = data->point_count - 1};
        while (!drawn(what, data->y[s][name.point])) name.point--;
        double y = data->y[s][name.point];
        name.height = what->linear ? (y - low) / (high - low) : log(y / low) / log(high / low);
        if (name.point + 1 < data->point_count) {
            ended[ends++] = name;
        } else {
            whole[wholes++] = name;
            longest = strlen(data->series[s]) > longest ? strlen(data->series[s]) : longest;
        }
    }
    spread(whole, wholes, (double)LINE / (double)pixels);
    spread(ended, ends, (double)LINE / (double)pixels);
    for (size_t i = 0; i < wholes; i++) add_label(script, data, &whole[i]);
    for (size_t i = 0; i < ends; i++) add_label(script, data, &ended[i]);
    text_print(script, "unset key\nset rmargin %zu\nset yrange [%.9g:%.9g]\n", 3 + longest * 7 / 8, low, high);
}

static bool make_script(text *script, const view *what, const pivot *data, int number)
{
    enum { PLOT = 300, BELOW = 66, BARS = 185 }; /* pixels: of the plot, of an axis with its labels, of that of bars */
    size_t lines = 0;
    for (size_t s = 0; s < data->series_count; s++) lines += has_points(what, data, s);
    if (lines == 0) return false;
    size_t below = what->bars ? BARS + 15 * ((lines + 2) / 3) : BELOW;
    text_print(script, "set terminal svg size %d,%zu dynamic noenhanced font 'sans-serif,13' name 'plot%d'\n",
               what->bars ? 560 : 620, PLOT + below, number);
    text_print(script,
               "set encoding utf8\nset key above samplen 1.5 font ',11'\nset grid lc rgb '#999999' lw 0.5 dt 3\n"
               "set border 3\nset tics nomirror\nset format y '%%g'\nset ylabel '%s'\n",
               what->y_label);
    if (what->x_label[0] != '\0') text_print(script, "set xlabel '%s'\n", what->x_label);
    if (!what->linear) text_print(script, "set logscale y\n");
    add_tics(script, what, data);
    if (what->bars)
        text_print(script,
                   "set bmargin 13\nset boxwidth %.4f\nset style fill solid 0.85 noborder\nset xrange [-0.6:%.1f]\n",
                   bar_width(data), (double)data->point_count - 0.4);
    else
        text_print(script, "set logscale x\nset xrange [%.9g:%.9g]\n", data->x[0] * 0.93,
                   data->x[data->point_count - 1] * 1.08);
    if (!what->bars) add_names(script, what, data, PLOT);
    add_series(script, what, data);
    return true;
}

/* ---- the process ------------------------------------------------------------------------------------------------ */

/* Runs gnuplot on an open script; the state that it ended with, or -1. */
static int read_gnuplot(FILE *script, text *svg)
{
    char command[64]; /* -d: whatever the user's own settings are */
    snprintf(command, sizeof command, "exec gnuplot -d - </dev/fd/%d", fileno(script));
    FILE *output = popen(command, "r");
    if (output == NULL) return -1;
    int error = text_read(svg, fileno(output), REPORT_FILE_MOST), state = pclose(output);
    return error == 0 ? state : -1;
}

static bool run_gnuplot(const text *script, text *svg)
{
    enum { NOT_FOUND = 127 }; /* as a shell says it */
    FILE *file = tmpfile();   /* not a pipe too: with two of them each side could wait for the other */
    int state = -1;
    if (file != NULL && fwrite(script->bytes, 1, script->size, file) == script->size && fflush(file) == 0)
        state = read_gnuplot(file, svg);
    int error = errno;
    if (file != NULL) fclose(file);
    if (state == -1) say("cannot start gnuplot: %s", strerror(error));
    else if (WIFEXITED(state) && WEXITSTATUS(state) == NOT_FOUND)
        say("the plots are drawn by gnuplot, which is not installed: apt-get install gnuplot-nox");
    else if (state != 0 || svg->size == 0) say("gnuplot failed; what it said is above");
    return state == 0 && svg->size > 0;
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

/* Copies SVG with names that no other plot of the page has, and black made the colour of the page's text. */
static void add_adapted(text *page, const char *svg, int number)
{
    static const char *const local[] = {"gnuplot_canvas", "gpPt", "gpDot", "textbox", "greybox"};
    while (*svg != '\0') {
        size_t which = 0, locals = sizeof local / sizeof *local;
        while (which < locals && strncmp(svg, local[which], strlen(local[which])) != 0) which++;
        if (which < locals) {
            text_print(page, "plot%d_%s", number, local[which]);
            svg += strlen(local[which]);
        } else if ((*svg == '"' || *svg == '\'') && strncmp(svg + 1, "black", 5) == 0 && svg[6] == *svg) {
            text_print(page, "%ccurrentColor%c", *svg, *svg);
            svg += 7;
        } else {
            text_bytes(page, svg++, 1);
        }
    }
}

bool plot_add(text *page, const view *what, const pivot *data, int number, const char *label)
{
    text script = {0}, svg = {0};
    if (!make_script(&script, what, data, number)) {
        text_print(page, "<p class=none>Nothing to draw: every value is 0.</p>\n");
        return true;
    }
    bool ok = script.failed ? say_no_memory() : run_gnuplot(&script, &svg);
    const char *start = ok ? strstr(svg.bytes, "<svg") : NULL;
    if (start != NULL) {
        page_put(page, "<svg role=\"img\" aria-label=\"", label, "\"");
        add_adapted(page, start + 4, number);
    }
    text_free(&script);
    text_free(&svg);
    return start != NULL;
}
