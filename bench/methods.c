/* The table of methods: the yardstick first.
 *
 * SPDX-License-Identifier: MIT */
#include "method.h"

const struct method *const methods[] = {
    &method_countmin, &method_countmin_prefetch, &method_dense, &method_flat, &method_paper, &method_rule,
    &method_cu,       &method_elastic,           NULL,
};
