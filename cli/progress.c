/* The progress bar; see progress.h. There is one terminal, so there is one bar. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SHOW_AFTER 2.0
#define REDRAW_EVERY 0.1
enum { BAR_MOST = 40 };

static struct {
    bool active, drawn;
    const char *label, *unit, *remark;
    uint64_t total;
    double start, last;
} bar;

double progress_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void progress_begin(const char *label, uint64_t total, bool quiet)
{
    bar.active = !quiet && isatty(STDERR_FILENO);
    bar.drawn = false;
    bar.label = label;
    progress_describe("items", "");
    bar.total = total;
    bar.start = progress_clock();
    bar.last = bar.start;
}

void progress_describe(const char *unit, const char *remark)
{
    bar.unit = unit;
    bar.remark = remark;
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

/* 12.3 M and the like: three digits are as many as anyone reads while they change. */
static void short_number(char *text, size_t size, double value)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    snprintf(text, size, "%.*f%s", unit == 0 || value >= 99.95 ? 0 : 1, value, units[unit]);
}

static void draw(double time, uint64_t done, uint64_t items)
{
    double elapsed = time - bar.start;
    char count[16], rate[16], text[160], left[40] = "";
    short_number(count, sizeof count, (double)items);
    short_number(rate, sizeof rate, (double)items / elapsed);
    double share = bar.total > 0 && done <= bar.total ? (double)done / (double)bar.total : 0;
    if (share > 0) {
        double seconds = elapsed / share - elapsed;
        if (seconds < 360000) snprintf(left, sizeof left, "  %d:%02d left", (int)(seconds / 60), (int)seconds % 60);
    }
    char percent[16] = "";
    if (bar.total > 0) snprintf(percent, sizeof percent, "  %3d%%", (int)(share * 100));
    snprintf(text, sizeof text, "%s  %s %s  %s/s%s%s", percent, count, bar.unit, rate, left, bar.remark);

    int room = terminal_width() - 1; /* a line that wraps cannot be cleared */
    int cells = room - (int)(strlen(bar.label) + strlen(text)) - 4;
    cells = bar.total == 0 || cells < 5 ? 0 : cells > BAR_MOST ? BAR_MOST : cells;
    char line[2 * BAR_MOST + 240], drawing[2 * BAR_MOST + 5] = "";
    if (cells > 0) {
        int full = (int)(share * cells);
        snprintf(drawing, sizeof drawing, "  [%.*s%.*s]", full, "########################################",
                 cells - full, "........................................");
    }
    snprintf(line, sizeof line, "%s%s%s", bar.label, drawing, text);
    fprintf(stderr, "\r\033[K%.*s", room, line);
    fflush(stderr);
    bar.drawn = true;
}

void progress_update(uint64_t done, uint64_t items)
{
    if (!bar.active) return;
    double time = progress_clock();
    if (time - bar.start < SHOW_AFTER || time - bar.last < REDRAW_EVERY) return;
    bar.last = time;
    draw(time, done, items);
}

void progress_hide(void)
{
    if (bar.drawn) fprintf(stderr, "\r\033[K");
    bar.drawn = false;
}

void progress_end(void)
{
    progress_hide();
    bar.active = false;
}
