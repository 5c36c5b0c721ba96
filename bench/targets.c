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

struct reached target_reached(const struct target *self, const struct path_list *list, unsigned threads)
{
    struct path like = {.operation = self->operation, .calls = self->calls, .keys = NUMBERS};
    for (size_t i = 0; i < list->count; i++) { /* of that size, whatever its stream */
        if (list->paths[i].axis == NULL && list->paths[i].setting.budget == self->budget)
            like.setting = list->paths[i].setting;
    }
    const struct path *path = NULL, *than = NULL;
    if (!self->two_threads || threads == 2) path = path_of(list, &like, self->method, self->two_threads ? 2 : 1);
    if (self->than != NULL) than = path_of(list, &like, self->than, 1);
    if (path == NULL || path->count == 0 || (self->than != NULL && (than == NULL || than->count == 0)))
        return (struct reached){0, 0};
    struct rate rate = path_rate(path), base = {.median = 1, .by_cpu = 1};
    if (than != NULL) base = path_rate(than);
    return (struct reached){rate.median / base.median, self->two_threads ? 0 : rate.by_cpu / base.by_cpu};
}
