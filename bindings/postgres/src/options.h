/* options: what a sketch is to be like, out of a function's arguments.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

/* The last arguments: that of number `budget`, and if there are two more, the seed and the model. top: an eighth of the
 * budget keeps the most frequent items. */
lego_options options_read(FunctionCallInfo fcinfo, int budget, bool top);

/* Rows of one group ask for one sketch. */
void options_require_same(const lego_options *a, const lego_options *b);
