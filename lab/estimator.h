/* One interface for every way to estimate how often an item occurred, so that all of them are measured by the same code
 * on the same items. To add a method, write one file with one estimator_kind, and name that below and in estimators.c.
 *
 * Items come as bytes; an integer comes as its 8 little-endian bytes. add() may be called once an item with its whole
 * count; a method whose answers depend on the order (in_order) is to get every occurrence with count 1, as it came. */
#pragma once

#include "legosketch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct estimator_kind {
    const char *name;
    const char *model; /* the built-in model to create it with if none is asked for; NULL: the default */
    bool uses_model;   /* the model given to create matters */
    bool seedless;     /* it does not hash, so a mean over several seeds makes no sense */
    bool in_order;     /* its answers depend on the order of the stream: it wants one occurrence after another */
    bool insert_only;  /* it cannot delete: LEGO_ERR_ARGUMENT for a negative count */
    bool by_name_only; /* the lab measures it only where it is named */

    /* A method that is one table, which begins with an estimator_table, has these sizes and none of the next three
     * functions: it is made of zeros, with as many units behind the header as the rest of the budget holds. Without
     * either, a method keeps nothing. */
    size_t header, unit;
    uint64_t least; /* units that it needs, if more than one */

    lego_status (*create)(const lego_options *wanted, void **self); /* budget, seed and model count */
    uint64_t (*bytes)(const void *self);                            /* all that it uses, at most the budget */
    void (*destroy)(void *self);
    void (*tell)(void *self, uint64_t distinct); /* how many distinct items there are, for one that is told; or NULL */
    lego_status (*add)(void *self, const void *item, size_t size, int64_t count);
    /* Chooses its widths for all that was added, in hindsight; LEGO_ERR_BUDGET if that does not fit in any. A method
     * that has it is asked, and tells its bytes, only after it; it is a simulation, whose speed means nothing. */
    lego_status (*settle)(void *self);
    lego_status (*estimate)(const void *self, const void *item, size_t size, double *value);
} estimator_kind;

typedef struct estimator_table {
    uint64_t seed, units;
} estimator_table;

#define ESTIMATOR_TABLE(type, size) .header = sizeof(type), .unit = (size)

extern const estimator_kind estimator_lego, estimator_rule, estimator_lego_paper, estimator_rule_paper,
    estimator_d_lego, estimator_d_lego_paper, estimator_d_lego_quarter, estimator_cms, estimator_cs,
    estimator_cs_clipped, estimator_lcs, estimator_d_cms, estimator_d_cms_quarter, estimator_cu, estimator_cmm,
    estimator_tower_cm, estimator_tower_cu, estimator_salsa_cu, estimator_elastic, estimator_heavy_keeper,
    estimator_space_saving, estimator_misra_gries, estimator_fingerprint, estimator_cqf, estimator_ideal_top,
    estimator_ms, estimator_one, estimator_exact;

/* Every kind, in the order of a table, ended by NULL. */
extern const estimator_kind *const estimator_kinds[];

/* The kind of that name, or NULL; the name need not end with a zero byte. */
const estimator_kind *estimator_find(const char *name, size_t length);

/* The model of the kind: the one wanted, or its own if that is NULL; NULL if it uses none. */
const lego_model *estimator_model(const estimator_kind *kind, const lego_model *wanted);

lego_status estimator_create(const estimator_kind *kind, const lego_options *wanted, void **self);
lego_status estimator_settle(const estimator_kind *kind, void *self);
uint64_t estimator_bytes(const estimator_kind *kind, const void *self);
void estimator_destroy(const estimator_kind *kind, void *self);

/* The table of a kind that has one, for a create() that does more. */
lego_status estimator_create_table(const estimator_kind *kind, uint64_t budget, uint64_t seed, void **self);
