/* legosketch lab synthetic: errors on Zipf streams by skewness and budget, as in Figures 5 and 9 of the paper.
 *
 * SPDX-License-Identifier: MIT */
#include "lab.h"

#include <stdio.h>

static const double alphas[] = {0.5, 0.7, 0.9, 1.1, 1.3, 1.5};
#define KB UINT64_C(1024)
static const uint64_t budgets[] = {300 * KB, 600 * KB, 900 * KB, 1200 * KB, 1500 * KB, 1800 * KB, 2100 * KB};
static const uint64_t quick_budgets[] = {300 * KB, 900 * KB, 2100 * KB};

static lab_result run(const lab_plan *plan, record *into)
{
    size_t count = plan->alpha_count > 0 ? plan->alpha_count : sizeof alphas / sizeof *alphas;
    lab_result result = LAB_DONE;
    for (size_t i = 0; i < count; i++) {
        double alpha = plan->alpha_count > 0 ? plan->alphas[i] : alphas[i];
        char name[64];
        snprintf(name, sizeof name, "zipf %g", alpha);
        lab_stream source;
        if (!lab_stream_zipf(&source, name, plan->distinct > 0 ? plan->distinct : 100000, alpha)) {
            record_failure(into, name);
            result = lab_worse(result, LAB_PARTIAL);
            continue;
        }
        if (plan->quick)
            result = lab_worse(result, lab_compare_at(plan, into, &source, quick_budgets,
                                                      sizeof quick_budgets / sizeof *quick_budgets));
        else
            result = lab_worse(result, lab_compare_at(plan, into, &source, budgets, sizeof budgets / sizeof *budgets));
        lab_stream_free(&source);
    }
    return result;
}

const lab_experiment lab_synthetic = {"synthetic", "Errors on Zipf streams, by skewness and budget", "Figures 5 and 9",
                                      run};
