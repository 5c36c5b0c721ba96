/* The table of methods: the limit first, then the yardstick.
 *
 * SPDX-License-Identifier: MIT */
#include "method.h"

const struct method *const methods[] = {
    &method_touch, &method_touch_prefetch, &method_countmin, &method_countmin_prefetch, &method_dense, &method_flat,
    &method_paper, &method_rule,           &method_cu,       &method_elastic,           NULL,
};
