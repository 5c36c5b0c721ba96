/* What budget would have been good for what a sketch has counted, where its own was not. */
#pragma once

#include "legosketch.h"

/* The expected error, as a share of a count, above which a budget is not good, and the one that a good one gives. */
#define ADVICE_LIMIT 0.1
#define ADVICE_ERROR 0.01

/* 0 where the budget is good, or nothing tells: of bricks, and where counts were deleted. It takes a fraction of a
 * second. */
uint64_t advice_budget(const lego_info *info);

/* "an error below 1 % of a count takes a budget of about 1.5M", or NULL. */
enum { ADVICE_TEXT = 96 };
const char *advice_say(char words[ADVICE_TEXT], const lego_info *info);
