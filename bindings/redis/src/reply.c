/* What commands reply; see reply.h.
 *
 * SPDX-License-Identifier: MIT */
#include "reply.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int reply_refused(RedisModuleCtx *ctx, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return RedisModule_ReplyWithError(ctx, text);
}

int reply_status(RedisModuleCtx *ctx, lego_status status)
{
    /* OOM is what the server's own commands begin with then, and what clients look for. */
    return reply_refused(ctx, "%s %s", status == LEGO_ERR_MEMORY ? "OOM" : "ERR", lego_status_message(status));
}

int reply_ok(RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

long long rounded(const lego_estimate *estimate)
{
    long long nearest = llround(estimate->value);          /* at most 2^63 / Q, so within 64 bits */
    if (nearest > estimate->upper) return estimate->upper; /* from 2^53 on a double may be above what it stands for */
    return nearest < estimate->lower ? estimate->lower : nearest;
}
