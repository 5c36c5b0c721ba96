/* Messages to people; see say.h.
 *
 * SPDX-License-Identifier: MIT */
#include "say.h"

#include "progress.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 2, 0))) static void print(const char *before, const char *format, va_list values)
{
    progress_hide();
    fputs(before, stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print("legosketch: ", format, values);
    va_end(values);
}

void say_bare(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print("", format, values);
    va_end(values);
}

void say_no_memory(void)
{
    say("out of memory");
}

static const char *advice(lego_status status)
{
    switch (status) {
    case LEGO_ERR_ARGUMENT:
        return "the manual page has the limits of --bricks, --columns and --cell-bits";
    case LEGO_ERR_BUDGET:
        return "give a larger --budget, or fewer bricks";
    case LEGO_ERR_RANGE:
        return "no sketch counts further";
    case LEGO_ERR_MODEL:
        return "name the model file it was made with: --model FILE";
    case LEGO_ERR_SEED:
        return "build them with the same --seed";
    case LEGO_ERR_SHAPE:
        return "'legosketch info' shows the bricks of a sketch";
    case LEGO_ERR_UNTRAINED:
        return "name a trained model: --model FILE";
    case LEGO_ERR_VERSION:
        return "a newer legosketch reads it";
    case LEGO_ERR_TRUNCATED:
    case LEGO_ERR_CHECKSUM:
    case LEGO_ERR_CORRUPT:
        return "copy it again, or build it again";
    default:
        return NULL;
    }
}

void say_status(const char *what, lego_status status)
{
    const char *hint = advice(status);
    say("%s: %s%s%s", what, lego_status_message(status), hint != NULL ? "; " : "", hint != NULL ? hint : "");
}

void say_if_untrained(const lego_model *model)
{
    lego_model_info info;
    lego_model_describe(model, &info);
    if (!info.trained)
        say("the model '%s' has no trained networks yet: every estimate is the rule, the smallest m/w", info.name);
}
