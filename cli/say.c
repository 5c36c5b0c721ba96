/* Messages to people; see say.h. */
#include "say.h"

#include "progress.h"
#include "shown.h"
#include "values.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A line on standard error. Names of files are in most of them, and may have any bytes. */
static void print_line(const char *title, const char *format, va_list values)
{
    enum { MOST = 3 * PATH_MAX };
    char message[MOST], shown[SHOWN_MOST * MOST];
    int length = vsnprintf(message, sizeof message, format, values);
    size_t size = length < 0 ? 0 : length < MOST ? (size_t)length : MOST - 1;
    size = shown_write(shown, message, size, SHOWN_IN_MESSAGE);
    progress_hide();
    fprintf(stderr, "%s%.*s\n", title, (int)size, shown);
}

bool say(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_line("legosketch: ", format, values);
    va_end(values);
    return false;
}

__attribute__((format(printf, 1, 2))) static bool say_untitled(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_line("", format, values);
    va_end(values);
    return false;
}

bool say_no_memory(void)
{
    return say("out of memory");
}

bool say_at(const char *file, uint64_t line, const char *what)
{
    return say_untitled("%s:%" PRIu64 ": %s", file, line, what);
}

bool say_unreadable(const char *path, const char *why)
{
    return say("cannot read %s: %s", strcmp(path, "-") == 0 ? "stdin" : path, why);
}

static const char *advice(lego_status status)
{
    switch (status) {
    case LEGO_ERR_BUDGET: return "; give a larger --budget";
    case LEGO_ERR_RANGE: return "; no sketch counts further";
    case LEGO_ERR_MODEL: return "; name the model file it was made with: --model FILE";
    case LEGO_ERR_SEED: return "; build them with the same --seed, or --seed-file";
    case LEGO_ERR_VERSION: return "; read it with that version, or build it again";
    case LEGO_ERR_TRUNCATED:
    case LEGO_ERR_CHECKSUM:
    case LEGO_ERR_CORRUPT: return "; copy it again, or build it again";
    default: return "";
    }
}

bool say_status(const char *what, lego_status status)
{
    return status == LEGO_OK || say("%s: %s%s", what, lego_status_message(status), advice(status));
}

const char *say_shape(char text[SHAPE_TEXT], const lego_sketch *sketch)
{
    lego_info info;
    lego_describe(sketch, &info);
    char size[VALUE_TEXT];
    uint64_t most = info.budget > info.bytes ? info.budget : info.bytes;
    snprintf(text, SHAPE_TEXT, "%" PRIu32 " %s%s, %s", info.blocks, info.columns > 0 ? "brick" : "block",
             info.blocks == 1 ? "" : "s", value_print_size(size, most));
    return text;
}

const char *say_kind(lego_kind kind)
{
    static const char *const names[] = {"nothing", "text", "integers", "text and integers"};
    return names[kind];
}

bool say_mixed(const char *first, lego_kind a, const char *second, lego_kind b)
{
    if ((a | b) != LEGO_ITEMS_MIXED || a == LEGO_ITEMS_MIXED || b == LEGO_ITEMS_MIXED) return true;
    return say("%s has %s and %s has %s: they do not go into one sketch", first, say_kind(a), second, say_kind(b));
}

const char *say_deviation(char text[DEVIATION_TEXT], double standard_error)
{
    char error[VALUE_TEXT];
    bool shown = standard_error > 0; /* which is not true of NaN */
    snprintf(text, DEVIATION_TEXT, "%s%s", shown ? " +- " : "", shown ? value_print_rough(error, standard_error) : "");
    return text;
}

const char *say_errors(char text[ERRORS_TEXT], const lego_info *info)
{
    char absolute[VALUE_TEXT], relative[VALUE_TEXT], a[DEVIATION_TEXT], r[DEVIATION_TEXT];
    if (info->exact) snprintf(text, ERRORS_TEXT, "every count is exact");
    else if (info->columns > 0) snprintf(text, ERRORS_TEXT, "bricks do not tell what error to expect");
    else if (isnan(info->expected_aae)) snprintf(text, ERRORS_TEXT, "expected error cannot be told");
    else
        snprintf(text, ERRORS_TEXT, "expected error %s%s an item, %s%s %% of a count",
                 value_print_rough(absolute, info->expected_aae), say_deviation(a, info->expected_aae_error),
                 value_print_rough(relative, 100 * info->expected_are),
                 say_deviation(r, 100 * info->expected_are_error));
    return text;
}

const char *say_distinct(char text[DISTINCT_TEXT], const lego_info *info)
{
    /* An item of the top may have been counted below it as well; then their number is not known exactly. */
    bool known = info->exact != 0 && (info->top_bytes == 0 || info->top_total == info->total);
    char deviation[DEVIATION_TEXT];
    snprintf(text, DISTINCT_TEXT, "%s%.0f%s distinct", known ? "" : "about ", info->distinct,
             say_deviation(deviation, info->distinct_error));
    return text;
}
