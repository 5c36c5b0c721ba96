/* The kinds by name, and what they have in common; see estimator.h. */
#include "estimator.h"

#include <stdlib.h>
#include <string.h>

const estimator_kind *const estimator_kinds[] = {&estimator_lego,
                                                 &estimator_rule,
                                                 &estimator_lego_paper,
                                                 &estimator_rule_paper,
                                                 &estimator_d_lego,
                                                 &estimator_d_lego_paper,
                                                 &estimator_d_lego_quarter,
                                                 &estimator_cms,
                                                 &estimator_cs,
                                                 &estimator_cs_clipped,
                                                 &estimator_lcs,
                                                 &estimator_d_cms,
                                                 &estimator_d_cms_quarter,
                                                 &estimator_cu,
                                                 &estimator_cmm,
                                                 &estimator_tower_cm,
                                                 &estimator_tower_cu,
                                                 &estimator_salsa_cu,
                                                 &estimator_elastic,
                                                 &estimator_heavy_keeper,
                                                 &estimator_space_saving,
                                                 &estimator_misra_gries,
                                                 &estimator_fingerprint,
                                                 &estimator_cqf,
                                                 &estimator_ideal_top,
                                                 &estimator_ms,
                                                 &estimator_one,
                                                 &estimator_exact,
                                                 NULL};

const estimator_kind *estimator_find(const char *name, size_t length)
{
    for (const estimator_kind *const *kind = estimator_kinds; *kind != NULL; kind++) {
        if (strlen((*kind)->name) == length && memcmp((*kind)->name, name, length) == 0) return *kind;
    }
    return NULL;
}

const lego_model *estimator_model(const estimator_kind *kind, const lego_model *wanted)
{
    if (!kind->uses_model) return NULL;
    return wanted != NULL ? wanted : lego_model_builtin(kind->model);
}

lego_status estimator_create_table(const estimator_kind *kind, uint64_t budget, uint64_t seed, void **self)
{
    if (budget < kind->header || budget > LEGO_BUDGET_MAX || budget > SIZE_MAX) return LEGO_ERR_BUDGET;
    uint64_t units = (budget - kind->header) / kind->unit;
    if (units < kind->least || units == 0) return LEGO_ERR_BUDGET;
    estimator_table *table = calloc(1, kind->header + (size_t)units * kind->unit);
    if (table == NULL) return LEGO_ERR_MEMORY;
    *table = (estimator_table){seed, units};
    *self = table;
    return LEGO_OK;
}

lego_status estimator_create(const estimator_kind *kind, const lego_options *wanted, void **self)
{
    if (kind->create == NULL && kind->unit == 0) { /* it keeps nothing */
        *self = NULL;
        return LEGO_OK;
    }
    if (kind->create == NULL) return estimator_create_table(kind, wanted->budget, wanted->seed, self);
    lego_options options = *wanted;
    options.model = estimator_model(kind, wanted->model);
    return kind->create(&options, self);
}

lego_status estimator_settle(const estimator_kind *kind, void *self)
{
    return kind->settle != NULL ? kind->settle(self) : LEGO_OK;
}

uint64_t estimator_bytes(const estimator_kind *kind, const void *self)
{
    if (kind->bytes != NULL) return kind->bytes(self);
    return self == NULL ? 0 : kind->header + ((const estimator_table *)self)->units * kind->unit;
}

void estimator_destroy(const estimator_kind *kind, void *self)
{
    if (kind->destroy != NULL) kind->destroy(self);
    else free(self);
}
