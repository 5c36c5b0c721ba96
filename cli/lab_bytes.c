/* legosketch lab bytes: errors against bytes a distinct item, from far too few to plenty. The paper's figures have
 * budgets of a given stream each; this is one scale for all.
 *
 * SPDX-License-Identifier: MIT */
#include "lab.h"

#include <stdio.h>

static const double alphas[] = {0.7, 1.1};
static const double bytes_per_key[] = {0.25, 0.5, 1, 2, 3, 4, 6, 8};
enum { BUDGETS = sizeof bytes_per_key / sizeof *bytes_per_key };

static lab_result run(const lab_plan *plan, record *into)
{
    uint32_t distinct = plan->distinct > 0 ? plan->distinct : 100000;
    size_t count = plan->alpha_count > 0 ? plan->alpha_count : sizeof alphas / sizeof *alphas;
    lab_result result = LAB_DONE;
    for (size_t i = 0; i < count; i++) {
        double alpha = plan->alpha_count > 0 ? plan->alphas[i] : alphas[i];
        char name[64];
        snprintf(name, sizeof name, "zipf %g", alpha);
        lab_stream source;
        if (!lab_stream_zipf(&source, name, distinct, alpha)) {
            record_failure(into, name);
            result = lab_worse(result, LAB_PARTIAL);
            continue;
        }
        uint64_t budgets[BUDGETS];
        for (size_t b = 0; b < BUDGETS; b++)
            budgets[b] = (uint64_t)(bytes_per_key[b] * distinct);
        result = lab_worse(result, lab_compare_at(plan, into, &source, budgets, BUDGETS));
        lab_stream_free(&source);
    }
    return result;
}

const lab_experiment lab_bytes = {"bytes", "Errors by bytes a distinct item", "no figure of the paper", run};
