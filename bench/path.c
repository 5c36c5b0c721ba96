/* The list of paths; see path.h.
 *
 * SPDX-License-Identifier: MIT */
#include "path.h"

#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const operation_names[OPERATIONS] = {"store", "query", "pairs"};
const char *const calls_names[CALLS] = {"single", "batch"};
const char *const key_names[KEY_KINDS] = {"u64", "text"};

bool same_setting(const struct path *a, const struct path *b)
{
    return a->axis == b->axis && a->setting.budget == b->setting.budget && a->setting.ranks == b->setting.ranks &&
           a->setting.length == b->setting.length;
}

bool same_work(const struct path *a, const struct path *b)
{
    return same_setting(a, b) && a->operation == b->operation && a->calls == b->calls && a->keys == b->keys;
}

void path_list_add(struct path_list *self, struct path path)
{
    /* Queries of networks take longer than stores, pairs of both more: where a store spoils what is cached. */
    static const size_t divisors[OPERATIONS] = {1, 8, 64};
    path.items = path.setting.length / divisors[path.operation];
    if (self->count == self->room) {
        size_t room = self->room > 0 ? 2 * self->room : 64;
        struct path *more = realloc(self->paths, room * sizeof *more);
        self->ok = self->ok && more != NULL;
        if (more == NULL) return;
        self->paths = more;
        self->room = room;
    }
    self->paths[self->count++] = path;
}

void path_list_free(struct path_list *self)
{
    free(self->paths);
    *self = (struct path_list){0};
}

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
    value_print_size(size, self->setting.budget);
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

/* Whether there is such a path, and we want to know: texts differ from numbers in how they are hashed alone, so they
 * need no pairs and no threads. */
static bool exists(const struct path *self)
{
    const struct method *method = self->method;
    if (self->threads > 1 && (!method->threads || self->calls == SINGLE || self->keys == TEXTS)) return false;
    if (self->operation == PAIRS && self->keys == TEXTS) return false;
    if (method->limit && (self->operation == PAIRS || self->keys == TEXTS)) return false;
    return self->calls == BATCH ? method->batches : !method->limit && !method->prefetch;
}

static void add_if_exists(struct path_list *list, const struct path *path)
{
    if (exists(path)) path_list_add(list, *path);
}

/* Every path of the plan, whatever the filter says. */
static struct path_list list_all(const struct plan *plan)
{
    struct path_list all = {.ok = true};
    struct path one = {0};
    for (size_t i = 0; i < plan->size_count; i++) {
        one.setting = (struct setting){plan->sizes[i], keys_for_budget(plan->sizes[i]), plan->length};
        for (int kind = 0; kind < KEY_KINDS * OPERATIONS * CALLS; kind++) {
            one.keys = (enum key_kind)(kind / (OPERATIONS * CALLS));
            one.operation = (enum operation)(kind / CALLS % OPERATIONS);
            one.calls = (enum calls)(kind % CALLS);
            for (const struct method *const *method = methods; *method != NULL; method++) {
                one.method = *method;
                one.threads = 1;
                add_if_exists(&all, &one);
                one.threads = plan->threads;
                if (plan->threads > 1) add_if_exists(&all, &one);
            }
        }
    }
    return all;
}

/* A yardstick is needed beside the same work, a limit in the same setting. */
static bool is_needed(const struct path_list *all, const struct path *one, const char *filter)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct path *other = &all->paths[i];
        bool beside = one->method->yardstick ? same_work(one, other) : one->method->limit && same_setting(one, other);
        if (beside && passes(other, filter)) return true;
    }
    return false;
}

void path_list_fill(struct path_list *self, const struct plan *plan)
{
    struct path_list all = list_all(plan);
    self->ok = self->ok && all.ok;
    for (size_t i = 0; i < all.count; i++) {
        const struct path *one = &all.paths[i];
        if (passes(one, plan->filter) || is_needed(&all, one, plan->filter)) path_list_add(self, *one);
    }
    path_list_free(&all);
}

/* ---- what grows ------------------------------------------------------------------------------------------------- */

/* A point of a series: storing and asking in batches. */
static void add_point(struct path_list *list, const char *axis, struct setting setting, unsigned threads)
{
    static const struct method *const growing[] = {&method_countmin, &method_dense, &method_flat, &method_paper};
    for (int operation = STORE; operation <= QUERY; operation++) {
        for (size_t i = 0; i < sizeof growing / sizeof *growing; i++) {
            if (strcmp(axis, "threads") == 0 && !growing[i]->threads) continue;
            path_list_add(list, (struct path){.axis = axis,
                                              .method = growing[i],
                                              .setting = setting,
                                              .operation = (enum operation)operation,
                                              .calls = BATCH,
                                              .threads = threads});
        }
    }
}

void path_list_grow(struct path_list *self, const struct plan *plan, bool quick)
{
    const uint64_t budget = plan->sizes[0];
    const uint32_t ranks = keys_for_budget(budget);
    const size_t least = plan->length / (quick ? 4 : 64); /* so many times fewer items, then ever four times as many */
    for (size_t length = least; length <= plan->length; length *= 4)
        add_point(self, "length", (struct setting){budget, ranks, length}, 1);
    for (uint32_t few = ranks / (quick ? 16 : 4096); few <= ranks; few *= 16)
        add_point(self, "distinct", (struct setting){budget, few, plan->length / 4}, 1);
    for (size_t i = 0; i < plan->size_count; i++)
        add_point(self, "budget", (struct setting){plan->sizes[i], keys_for_budget(plan->sizes[i]), plan->length / 4},
                  1);
    for (unsigned threads = 1; threads <= plan->threads;
         threads = threads < plan->threads / 2 ? 2 * threads : threads + 1)
        add_point(self, "threads", (struct setting){budget, ranks, plan->length / 4}, threads);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

const struct path *path_of(const struct path_list *list, const struct path *like, const struct method *method,
                           unsigned threads)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct path *one = &list->paths[i];
        if (one->method == method && one->threads == threads && same_work(one, like)) return one;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

struct rate path_rate(const struct path *self)
{
    double rates[REPEATS_MOST], by_cpu[REPEATS_MOST];
    if (self->count == 0) return (struct rate){0};
    for (unsigned i = 0; i < self->count; i++) {
        rates[i] = (double)self->items / self->samples[i].wall / 1e6;
        by_cpu[i] = (double)self->items / self->samples[i].cpu / 1e6;
    }
    double median = median_of(rates, self->count);
    return (struct rate){median, rates[0], rates[self->count - 1], median_of(by_cpu, self->count)};
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

double path_speed(const struct path *self)
{
    struct rate rate = path_rate(self);
    return self->threads == 1 ? rate.by_cpu : rate.median;
}

double path_ratio(const struct path_list *list, const struct path *self)
{
    double most = 0;
    for (const struct method *const *method = methods; *method != NULL; method++) {
        const struct path *yard = (*method)->yardstick ? path_of(list, self, *method, 1) : NULL;
        most = yard != NULL ? fmax(most, path_speed(yard)) : most;
    }
    return most > 0 ? path_speed(self) / most : 0;
}

double path_share(const struct path_list *list, const struct path *self, double peak_flops)
{
    double rate = path_speed(self) * 1e6 / self->threads;
    if (self->operation == QUERY && self->method->flops > 0)
        return peak_flops > 0 ? rate * self->method->flops / peak_flops : 0;
    /* A pair touches the lines of two items. */
    struct path like = *self;
    like.operation = self->operation == QUERY ? QUERY : STORE;
    like.calls = BATCH;
    like.keys = NUMBERS;
    double most = 0;
    for (const struct method *const *method = methods; *method != NULL; method++) {
        const struct path *limit = (*method)->limit ? path_of(list, &like, *method, 1) : NULL;
        most = limit != NULL ? fmax(most, path_speed(limit) * 1e6) : most;
    }
    double lines = self->method->lines * (self->operation == PAIRS ? 2 : 1);
    return most > 0 ? rate * lines / most : 0;
}
