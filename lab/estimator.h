/* One interface for every way to estimate how often an item occurred, so that all of them are measured by the same
 * code on the same items. To add a method, write one file with one estimator_kind and name it in estimators.c.
 *
 * Items come as bytes; an integer comes as its 8 little-endian bytes. add() may be called once an item with its whole
 * count; a method whose answers depend on the order (in_order) is to get every occurrence with count 1, as they came.
 *
 * SPDX-License-Identifier: MIT */
#ifndef LAB_ESTIMATOR_H
#define LAB_ESTIMATOR_H

#include "legosketch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct estimator_kind {
    const char *name;
    bool uses_model;  /* the model given to create matters */
    bool uses_seed;   /* it hashes, so a mean over several seeds makes sense */
    bool in_order;    /* its answers depend on the order of the stream: it wants one occurrence after another */
    bool insert_only; /* it cannot delete: LEGO_ERR_ARGUMENT for a negative count */
    lego_status (*create)(const lego_options *wanted, void **self); /* budget, seed, model and packing count */
    void (*tell)(void *self, uint64_t distinct); /* how many distinct items there are, for one that is told; or NULL */
    lego_status (*add)(void *self, const void *item, size_t size, int64_t count);
    lego_status (*estimate)(const void *self, const void *item, size_t size, double *value);
    uint64_t (*bytes)(const void *self); /* all that it uses, which may differ from the budget */
    void (*destroy)(void *self);
    const char *model; /* the built-in model to create it with if none is asked for; NULL: the default */
} estimator_kind;

extern const estimator_kind estimator_lego;        /* the sketch with its model's decoder */
extern const estimator_kind estimator_rule;        /* the same sketch, answering with the rule min floor(m/w) */
extern const estimator_kind estimator_lego_paper;  /* as the paper has it: its model, 100 KB bricks, 4-byte cells */
extern const estimator_kind estimator_d_lego;      /* the paper's filter in front of the sketch */
extern const estimator_kind estimator_cms;         /* Count-Min */
extern const estimator_kind estimator_cs;          /* Count sketch */
extern const estimator_kind estimator_cs_clipped;  /* the same, answering at least 1 */
extern const estimator_kind estimator_lcs;         /* learned C-sketch without predictions */
extern const estimator_kind estimator_d_cms;       /* the paper's filter in front of Count-Min */
extern const estimator_kind estimator_cu;          /* Count-Min with conservative update */
extern const estimator_kind estimator_cmm;         /* Count-Mean-Min */
extern const estimator_kind estimator_tower_cm;    /* rows of 4, 8, 16 and 32 bits */
extern const estimator_kind estimator_tower_cu;    /* the same with conservative update */
extern const estimator_kind estimator_salsa_cu;    /* counters that merge as they grow, conservative update */
extern const estimator_kind estimator_elastic;     /* the Elastic sketch */
extern const estimator_kind estimator_fingerprint; /* a table of fingerprints and counts */
extern const estimator_kind estimator_ms;          /* the meta-sketch, a neural one */
extern const estimator_kind estimator_one;         /* answers 1 whatever is asked */
extern const estimator_kind estimator_exact;       /* a hash table of every item */

/* Every kind in the order of a table, ended by NULL. */
extern const estimator_kind *const estimator_kinds[];

/* The kind of that name, or NULL; the name need not end with a zero byte. */
const estimator_kind *estimator_find(const char *name, size_t length);

#endif
