/* Why two sketches do not merge, or one can not be read; see refusal.h.
 *
 * SPDX-License-Identifier: MIT */
#include "refusal.h"

#include "reply.h"
#include "secrets.h"

#include <inttypes.h>
#include <stdio.h>

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* A BUDGET that makes a sketch of this size, where any does: TOP takes an eighth of it, and the rest has its least. */
static uint64_t budget_of(const lego_info *info)
{
    uint64_t least = info->top_budget != 0 ? LEGO_BUDGET_MIN * 8 / 7 : LEGO_BUDGET_MIN;
    uint64_t budget = info->budget < 8 * info->top_budget ? 8 * info->top_budget : info->budget;
    return budget < least ? least : budget;
}

/* Neither of two sketches folds to the other: names what is in the way, and a BUDGET that would have fitted. To a
 * number of blocks, neither columns nor what is kept for TOP fold; nor is it advised where both would lose nearly
 * everything, which is all but an eighth of the smaller. */
int refuse_shapes(RedisModuleCtx *ctx, const struct value *one, const struct value *other)
{
    lego_info a, b;
    lego_describe(one->sketch, &a);
    lego_describe(other->sketch, &b);
    const char *what = "bytes for TOP";
    uint64_t of_a = a.top_budget, of_b = b.top_budget;
    if (a.columns != b.columns) what = "columns in a brick", of_a = a.columns, of_b = b.columns;
    else if (a.blocks % b.blocks != 0 && b.blocks % a.blocks != 0) what = "blocks", of_a = a.blocks, of_b = b.blocks;
    bool mixed = (one->top == 0) != (other->top == 0);
    bool first = mixed ? one->top != 0 : budget_of(&a) < budget_of(&b);
    char fold[48] = "";
    uint32_t common = common_divisor(a.blocks, b.blocks), smaller = a.blocks < b.blocks ? a.blocks : b.blocks;
    if (a.exact && a.blocks < b.blocks && one->top == 0 && other->top == 0) /* what is exact goes into any */
        snprintf(fold, sizeof fold, ", or name the other first");
    else if (a.columns == b.columns && (one->top == 0 || other->top == 0) && common >= smaller / 8)
        snprintf(fold, sizeof fold, ", or LEGO.FOLD both to %" PRIu32, common);
    return reply_refused(ctx,
                         "ERR sketches that have %" PRIu64 " and %" PRIu64
                         " %s do not merge, as neither folds to the other: "
                         "make both with BUDGET %" PRIu64 "%s%s",
                         of_a, of_b, what, budget_of(first ? &a : &b), mixed ? " and TOP" : "", fold);
}

int refuse_secret(RedisModuleCtx *ctx, uint64_t fingerprint)
{
    char shown[FINGERPRINT_TEXT];
    return reply_refused(ctx, "ERR " SECRET_UNKNOWN, fingerprint_show(fingerprint, shown));
}
