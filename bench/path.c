/* The list of paths; see path.h.
 *
 * SPDX-License-Identifier: MIT */
#include "path.h"

#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const operation_names[OPERATIONS] = {"store", "query", "pairs"};
const char *const calls_names[CALLS] = {"single", "batch"};
const char *const key_names[KEY_KINDS] = {"u64", "text"};

/* ---- the filter ------------------------------------------------------------------------------------------------- */

/* Whether one of the words between bars, as in "dense|flat", is in the text. */
static bool has_one_of(const char *text, const char *words, size_t length)
{
    char word[64];
    for (size_t at = 0; at <= length;) {
        size_t size = 0;
        while (at + size < length && words[at + size] != '|') size++;
        snprintf(word, sizeof word, "%.*s", (int)size, words + at);
        if (strstr(text, word) != NULL) return true;
        at += size + 1;
    }
    return false;
}

static bool passes(const struct path *self, const char *filter)
{
    char size[VALUE_TEXT], text[200];
    value_print_size(size, self->budget);
    snprintf(text, sizeof text, "%s %s %s %s %s threads=%u", self->method->name, operation_names[self->operation],
             calls_names[self->calls], key_names[self->keys], size, self->threads);
    for (const char *word = filter != NULL ? filter : ""; *word != '\0';) {
        size_t length = strcspn(word, " ,");
        if (length > 0 && !has_one_of(text, word, length)) return false;
        word += length + strspn(word + length, " ,");
    }
    return true;
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

static bool exists(const struct path *self)
{
    const struct method *method = self->method;
    if (self->threads > 1 && (!method->threads || self->calls == SINGLE || self->keys == TEXTS)) return false;
    if (self->keys == TEXTS && self->operation == PAIRS) return false;
    return self->calls == BATCH ? method->batches : !method->prefetch;
}

static bool same_work(const struct path *a, const struct path *b)
{
    return a->budget == b->budget && a->operation == b->operation && a->calls == b->calls && a->keys == b->keys;
}

/* All paths, those that do not pass the filter with no items. */
static size_t list_all(const struct plan *plan, struct path *out)
{
    size_t count = 0;
    const size_t items[OPERATIONS] = {plan->length, plan->asked, plan->pairs};
    for (size_t i = 0; i < plan->size_count; i++)
        for (int keys = 0; keys < KEY_KINDS; keys++)
            for (int operation = 0; operation < OPERATIONS; operation++)
                for (int calls = 0; calls < CALLS; calls++)
                    for (const struct method *const *method = methods; *method != NULL; method++)
                        for (int all = 0; all <= (plan->threads > 1); all++) {
                            struct path one = {.method = *method,
                                               .budget = plan->sizes[i],
                                               .operation = operation,
                                               .calls = calls,
                                               .keys = keys,
                                               .threads = all ? plan->threads : 1};
                            if (!exists(&one)) continue;
                            one.items = passes(&one, plan->filter) ? items[operation] : 0;
                            if (out != NULL) out[count] = one;
                            count++;
                        }
    return count;
}

struct path_list path_list_make(const struct plan *plan)
{
    size_t count = list_all(plan, NULL);
    struct path_list all = {calloc(count, sizeof *all.paths), count}, list = {calloc(count, sizeof *list.paths), 0};
    if (all.paths == NULL || list.paths == NULL) {
        path_list_free(&all);
        path_list_free(&list);
        return (struct path_list){NULL, 0};
    }
    list_all(plan, all.paths);
    for (size_t i = 0; i < count; i++) {
        struct path *one = &all.paths[i];
        for (size_t j = 0; j < count && one->items == 0; j++) { /* a yardstick is there wherever somebody needs it */
            const struct path *other = &all.paths[j];
            if (one->method->yardstick && same_work(one, other)) one->items = other->items;
        }
        if (one->items > 0) list.paths[list.count++] = *one;
    }
    path_list_free(&all);
    return list;
}

void path_list_free(struct path_list *self)
{
    free(self->paths);
    *self = (struct path_list){NULL, 0};
}

const struct path *path_of(const struct path_list *list, const struct path *like, const struct method *method)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct path *one = &list->paths[i];
        if (one->method == method && one->threads == 1 && same_work(one, like)) return one;
    }
    return NULL;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

struct rate path_rate(const struct path *self)
{
    double rates[REPEATS_MOST];
    if (self->count == 0) return (struct rate){0, 0, 0};
    for (unsigned i = 0; i < self->count; i++) rates[i] = (double)self->items / self->samples[i].wall / 1e6;
    double median = median_of(rates, self->count);
    return (struct rate){median, rates[0], rates[self->count - 1]};
}

double path_cpu(const struct path *self)
{
    double wall = 0, cpu = 0;
    for (unsigned i = 0; i < self->count; i++) {
        wall += self->samples[i].wall;
        cpu += self->samples[i].cpu;
    }
    return wall > 0 ? cpu / wall / self->threads : 0;
}
