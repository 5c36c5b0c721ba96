/* Lists on the command lines of `lab` and `eval`: words between commas; see lab.h. */
#include "lab.h"

#include "values.h"

#include <stdio.h>
#include <string.h>

const char *lab_take_kind(lab_plan *plan, const char *word, size_t length)
{
    const estimator_kind *kind = estimator_find(word, length);
    if (kind == NULL) return "a method; 'legosketch help eval' names them";
    plan->kinds[plan->kind_count++] = kind;
    return NULL;
}

const char *lab_take_size(lab_plan *plan, const char *word, size_t length)
{
    if (!value_size(word, length, &plan->budgets[plan->budget_count])) return "a size such as 300K";
    plan->budget_count++;
    return NULL;
}

const char *lab_take_budget(lab_plan *plan, const char *word, size_t length)
{
    const char *wrong = lab_take_size(plan, word, length);
    if (wrong != NULL) return wrong;
    uint64_t bytes = plan->budgets[plan->budget_count - 1];
    return bytes < LEGO_BUDGET_MIN   ? "a budget: the least is 4K"
           : bytes > LEGO_BUDGET_MAX ? "a budget: the largest is 64G"
                                     : NULL;
}

const char *lab_take_alpha(lab_plan *plan, const char *word, size_t length)
{
    char text[32];
    double *value = &plan->alphas[plan->alpha_count];
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : 0), word);
    if (!value_real(text, value) || *value > 10) return "a skewness from 0 to 10";
    plan->alpha_count++;
    return NULL;
}

/* Their names live as long as the program. */
const char *lab_take_checkpoint(lab_plan *plan, const char *word, size_t length)
{
    char *copy = strndup(word, length);
    if (copy == NULL) return "kept: memory ran out";
    plan->checkpoints[plan->checkpoint_count++] = copy;
    return NULL;
}

bool lab_list(const command *self, lab_plan *plan, const char *list, lab_take *take)
{
    for (int words = 0; list != NULL; words++) {
        size_t length = strcspn(list, ",");
        const char *wrong = words < LAB_LIST_MAX ? take(plan, list, length) : "needed: the list is too long";
        if (wrong != NULL) {
            options_wrong(self, "'%.*s' is not %s", (int)length, list, wrong);
            return false;
        }
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return true;
}
