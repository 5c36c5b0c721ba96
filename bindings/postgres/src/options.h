/* options: what a sketch is to be like, out of a function's arguments.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

/* What there is without arguments: with the secret seed of the database, if settings do not say otherwise. */
lego_options options_default(void);

/* The arguments from number `first` to the one before `end`: a budget, a seed, a model, as many as there are; the seed
 * may be null, as if it were not given. top: an eighth of the budget keeps the most frequent items. */
lego_options options_read(FunctionCallInfo fcinfo, int first, int end, bool top);

/* Rows of one group ask for one sketch. */
void options_require_same(const lego_options *a, const lego_options *b);
