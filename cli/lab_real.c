/* legosketch lab real: errors on real streams by budget, as in Figure 4 of the paper.
 *
 * SPDX-License-Identifier: MIT */
#include "lab.h"

#include <stdio.h>

/* Bytes a distinct item, so that streams of every size have the same load. The next whole KB, as in the reference
 * figures for some of these streams. */
static const double bytes_per_key[] = {0.5, 1, 2, 4};
enum { BUDGETS = sizeof bytes_per_key / sizeof *bytes_per_key };

static lab_result run(const lab_plan *plan, record *into)
{
    lab_result result = plan->file_count > 0 ? LAB_DONE : LAB_LEFT_OUT;
    for (int i = 0; i < plan->file_count; i++) {
        lab_stream source;
        if (!lab_stream_file(&source, plan, plan->files[i])) {
            char what[512];
            snprintf(what, sizeof what, "%s could not be used", plan->files[i]);
            record_failure(into, what);
            result = lab_worse(result, LAB_PARTIAL);
            continue;
        }
        uint64_t budgets[BUDGETS];
        for (size_t b = 0; b < BUDGETS; b++) {
            uint64_t bytes = (uint64_t)(bytes_per_key[b] * (double)exact_size(source.content.truth));
            budgets[b] = (bytes / 1024 + 1) * 1024;
            budgets[b] = budgets[b] < LEGO_BUDGET_MIN ? LEGO_BUDGET_MIN : budgets[b];
        }
        size_t count = 1; /* those of a small stream may all be the least budget */
        for (size_t b = 1; b < BUDGETS; b++)
            if (budgets[b] > budgets[count - 1])
                budgets[count++] = budgets[b];
        result = lab_worse(result, lab_compare_at(plan, into, &source, budgets, count));
        lab_stream_free(&source);
    }
    return result;
}

const lab_experiment lab_real = {"real", "Errors on real streams, by budget", "Figure 4", run};
