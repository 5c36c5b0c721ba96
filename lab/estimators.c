/* The table of estimators by name.
 *
 * SPDX-License-Identifier: MIT */
#include "estimator.h"

#include <string.h>

const estimator_kind *const estimator_kinds[] = {
    &estimator_lego,
    &estimator_rule,
    &estimator_lego_paper,
    &estimator_d_lego,
    &estimator_cms,
    &estimator_cs,
    &estimator_cs_clipped,
    &estimator_lcs,
    &estimator_d_cms,
    &estimator_cu,
    &estimator_cmm,
    &estimator_tower_cm,
    &estimator_tower_cu,
    &estimator_salsa_cu,
    &estimator_elastic,
    &estimator_fingerprint,
    &estimator_ms,
    &estimator_one,
    &estimator_exact,
    NULL,
};

const estimator_kind *estimator_find(const char *name, size_t length)
{
    for (const estimator_kind *const *kind = estimator_kinds; *kind != NULL; kind++) {
        if (strlen((*kind)->name) == length && memcmp((*kind)->name, name, length) == 0)
            return *kind;
    }
    return NULL;
}
