/* legosketch lab scaling: errors from one brick of 100 KB to 140 MB, on streams of the size of the paper's two largest.
 *
 * With a scale below 1 the streams and the largest budget get smaller by it, and the smallest budget stays one brick.
 *
 * SPDX-License-Identifier: MIT */
#include "lab.h"
#include "say.h"

#include <math.h>

static const struct {
    const char *name;
    double distinct, total;
} sizes[] = {{"wiki-like", 9379561, 24981163}, {"webdocs-like", 5267656, 299887139}};

enum { BUDGETS = 6, FIRST = 100 << 10, LAST = 140 << 20 };

static lab_result run(const lab_plan *plan, record *into)
{
    double scale = plan->scale > 0 ? plan->scale : plan->quick ? 0.01 : 1;
    double last = fmax(LAST * scale, 2 * FIRST);
    uint64_t budgets[BUDGETS];
    for (int b = 0; b < BUDGETS; b++) /* in equal ratios, whole KB */
        budgets[b] = (uint64_t)round(FIRST * pow(last / FIRST, b / (BUDGETS - 1.0)) / 1024) * 1024;
    lab_result result = LAB_DONE;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double distinct = fmax(round(sizes[i].distinct * scale), 1);
        lab_stream source;
        if (distinct >= 0x1p32 ||
            !lab_stream_sized(&source, sizes[i].name, (uint32_t)distinct, (uint64_t)round(sizes[i].total * scale))) {
            say("scaling: the stream %s cannot be made at a scale of %g", sizes[i].name, scale);
            record_failure(into, sizes[i].name);
            result = lab_worse(result, LAB_PARTIAL);
            continue;
        }
        result = lab_worse(result, lab_compare_at(plan, into, &source, budgets, BUDGETS));
        lab_stream_free(&source);
    }
    return result;
}

const lab_experiment lab_scaling = {"scaling", "Errors from one brick of 100 KB to 140 MB",
                                    "Figure 4, Wiki and Webdocs", run};
