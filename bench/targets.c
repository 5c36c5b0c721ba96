/* The targets; see targets.h. They are those of the issue "Speed: as close to the machine as we can get".
 *
 * SPDX-License-Identifier: MIT */
#include "targets.h"

/* 1.2M and 134M, as --sizes reads them. */
#define SMALL ((uint64_t)(1.2 * (1 << 20)))
#define LARGE ((uint64_t)134 << 20)

const struct target targets[] = {
    {"flat store, batch", SMALL, &method_flat, STORE, BATCH, false, &method_countmin, 0.45},
    {"flat store, batch", LARGE, &method_flat, STORE, BATCH, false, &method_countmin_prefetch, 1.2},
    {"dense store, batch", SMALL, &method_dense, STORE, BATCH, false, NULL, 30},
    {"dense store, batch", LARGE, &method_dense, STORE, BATCH, false, NULL, 20},
    {"dense query, batch", SMALL, &method_dense, QUERY, BATCH, false, NULL, 12},
    {"dense query, batch", LARGE, &method_dense, QUERY, BATCH, false, NULL, 8},
    {"flat query, batch", SMALL, &method_flat, QUERY, BATCH, false, NULL, 12},
    {"flat query, batch", LARGE, &method_flat, QUERY, BATCH, false, NULL, 8},
    {"flat store, single", SMALL, &method_flat, STORE, SINGLE, false, NULL, 25},
    {"dense store, single", SMALL, &method_dense, STORE, SINGLE, false, NULL, 12},
    {"flat query, single", SMALL, &method_flat, QUERY, SINGLE, false, NULL, 3},
    {"dense query, single", SMALL, &method_dense, QUERY, SINGLE, false, NULL, 3},
    {"flat pairs, single", SMALL, &method_flat, PAIRS, SINGLE, false, NULL, 3},
    {"dense pairs, single", SMALL, &method_dense, PAIRS, SINGLE, false, NULL, 3},
    {"flat store, two threads", SMALL, &method_flat, STORE, BATCH, true, &method_flat, 1.8},
    {"flat store, two threads", LARGE, &method_flat, STORE, BATCH, true, &method_flat, 1.8},
    {"dense store, two threads", SMALL, &method_dense, STORE, BATCH, true, &method_dense, 1.8},
    {"dense store, two threads", LARGE, &method_dense, STORE, BATCH, true, &method_dense, 1.8},
    {"dense query, two threads", SMALL, &method_dense, QUERY, BATCH, true, &method_dense, 1.8},
    {"dense query, two threads", LARGE, &method_dense, QUERY, BATCH, true, &method_dense, 1.8},
};
const size_t target_count = sizeof targets / sizeof *targets;

double target_reached(const struct target *self, const struct path_list *list, unsigned threads)
{
    struct path like = {.operation = self->operation, .calls = self->calls, .keys = NUMBERS};
    for (size_t i = 0; i < list->count; i++) { /* of that size, whatever its stream */
        if (list->paths[i].axis == NULL && list->paths[i].setting.budget == self->budget)
            like.setting = list->paths[i].setting;
    }
    if (self->all_threads && threads != 2) return 0;
    const struct path *path = path_of(list, &like, self->method, self->all_threads ? 2 : 1);
    const struct path *than = self->than != NULL ? path_of(list, &like, self->than, 1) : NULL;
    if (path == NULL || (self->than != NULL && (than == NULL || than->count == 0))) return 0;
    return than != NULL ? path_rate(path).median / path_rate(than).median : path_rate(path).median;
}
