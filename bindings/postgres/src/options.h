/* options: what a sketch is to be like, out of a function's arguments.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

/* The arguments from number `first` to the one before `end`: a budget, a seed, a model, as many as there are. top: an
 * eighth of the budget keeps the most frequent items. */
lego_options options_read(FunctionCallInfo fcinfo, int first, int end, bool top);

/* Rows of one group ask for one sketch. */
void options_require_same(const lego_options *a, const lego_options *b);
