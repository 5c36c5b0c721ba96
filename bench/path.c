/* The list of paths; see path.h. */
#include "path.h"

#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const operation_names[OPERATIONS] = {"store", "query", "pairs"};
const char *const calls_names[CALLS] = {"single", "batch"};
const char *const key_names[KEY_KINDS] = {"u64", "text", "counted"};

static const struct method *const methods[] = {
    &method_touch,  &method_countmin, &method_countmin_prefetch, &method_compact, &method_top,
    &method_secret, &method_paper,
};

enum { METHODS = sizeof methods / sizeof *methods };

/* All but the size, the method and the threads. */
enum { KINDS = KEY_KINDS * OPERATIONS * CALLS };

bool same_work(const struct path *a, const struct path *b)
{
    return same_stream(a, b) && a->operation == b->operation && a->calls == b->calls && a->keys == b->keys &&
           a->batch == b->batch && a->fresh == b->fresh;
}

bool same_stream(const struct path *a, const struct path *b)
{
    return a->budget == b->budget && a->length == b->length && a->ranks == b->ranks && a->crowd == b->crowd;
}

/* ---- the filter ------------------------------------------------------------------------------------------------- */

/* Whether one of the words between bars, as in "store|query", is in the text. */
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
    snprintf(text, sizeof text, "%s %s %s %s %s threads=%u", self->method->name, operation_names[self->operation],
             calls_names[self->calls], key_names[self->keys], value_print_size(size, self->budget), self->threads);
    for (const char *word = filter != NULL ? filter : ""; *word != '\0';) {
        size_t length = strcspn(word, " ,");
        if (length > 0 && !has_one_of(text, word, length)) return false;
        word += length + strspn(word + length, " ,");
    }
    return true;
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

/* Texts differ from numbers in how they are hashed alone, so they need no pairs and no threads; the counts of items
 * matter to batches that are stored, and the tables have none; prefetching makes no difference to one item a call. */
bool path_exists(const struct path *self)
{
    const struct method *method = self->method;
    bool plain = self->keys == NUMBERS && self->calls == BATCH;
    if (self->threads > 1 && (!method->threads || !plain)) return false;
    if (self->operation == PAIRS && self->keys == TEXTS) return false;
    if (self->keys == COUNTED && (method->role != SKETCH || self->operation != STORE || self->calls == SINGLE))
        return false;
    if (method->role == LIMIT && (self->operation == PAIRS || !plain)) return false;
    return self->calls == BATCH || !method->prefetch;
}

/* Every path of the plan, whatever the filter says; the list has room for them. */
static void list_all(struct path_list *all, const struct plan *plan)
{
    /* Queries of networks take longer than stores, pairs of both more: where a store spoils what is cached. */
    static const size_t divisors[OPERATIONS] = {1, 8, 64};
    struct path one = {.length = plan->length, .batch = plan->batch};
    for (size_t kind = 0; kind < plan->size_count * KINDS; kind++) {
        one.budget = plan->sizes[kind / KINDS];
        one.ranks = plan->distinct > 0 ? plan->distinct : keys_for_budget(one.budget);
        one.keys = (enum key_kind)(kind / (OPERATIONS * CALLS) % KEY_KINDS);
        one.operation = (enum operation)(kind / CALLS % OPERATIONS);
        one.calls = (enum calls)(kind % CALLS);
        one.items = plan->length / divisors[one.operation];
        for (size_t i = 0; i < (plan->threads > 1 ? 2 : 1) * METHODS; i++) {
            one.method = methods[i % METHODS];
            one.threads = i < METHODS ? 1 : plan->threads;
            if (path_exists(&one)) all->paths[all->count++] = one;
        }
    }
}

/* A yardstick is needed beside the same work, a limit beside all of the same size. */
static bool is_needed(const struct path_list *all, const struct path *one, const char *filter)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct path *other = &all->paths[i];
        enum role role = one->method->role;
        bool beside = (role == YARDSTICK && same_work(one, other)) || (role == LIMIT && one->budget == other->budget);
        if ((beside || one == other) && passes(other, filter)) return true;
    }
    return false;
}

bool path_list_fill(struct path_list *self, const struct plan *plan)
{
    size_t most = plan->size_count * KINDS * METHODS * 2;
    struct path_list all = {.paths = malloc(most * sizeof *all.paths)};
    self->paths = malloc(most * sizeof *self->paths);
    bool ok = all.paths != NULL && self->paths != NULL;
    if (ok) list_all(&all, plan);
    for (size_t i = 0; i < all.count; i++) {
        if (is_needed(&all, &all.paths[i], plan->filter)) self->paths[self->count++] = all.paths[i];
    }
    free(all.paths);
    return ok;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

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
        rates[i] = (double)self->items / self->wall[i] / 1e6;
        by_cpu[i] = (double)self->items / self->cpu[i] / 1e6;
    }
    double median = median_of(rates, self->count);
    return (struct rate){median, rates[0], rates[self->count - 1], median_of(by_cpu, self->count)};
}

double path_cpu(const struct path *self)
{
    double wall = 0, cpu = 0;
    for (unsigned i = 0; i < self->count; i++) {
        wall += self->wall[i];
        cpu += self->cpu[i];
    }
    return wall > 0 ? cpu / wall / self->threads : 0;
}

double path_speed(const struct path *self)
{
    struct rate rate = path_rate(self);
    return self->threads == 1 ? rate.by_cpu : rate.median;
}

double path_aae_of_one(const struct path *self)
{
    return (double)self->length / self->distinct - 1;
}

/* The fastest method of that role at the same work; 0: none was measured. */
static double fastest(const struct path_list *list, const struct path *like, enum role role)
{
    double most = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct path *one = &list->paths[i];
        if (one->method->role == role && same_work(one, like)) most = fmax(most, path_speed(one));
    }
    return most;
}

double path_ratio(const struct path_list *list, const struct path *self)
{
    double most = fastest(list, self, YARDSTICK);
    return most > 0 ? path_speed(self) / most : 0;
}

double path_share(const struct path_list *list, const struct path *self, double peak_flops)
{
    double rate = path_speed(self) / self->threads;
    if (self->operation == QUERY && self->method->flops > 0)
        return peak_flops > 0 ? rate * 1e6 * self->method->flops / peak_flops : 0;
    struct path like = *self;
    like.operation = self->operation == QUERY ? QUERY : STORE;
    like.calls = BATCH;
    like.keys = NUMBERS;
    double most = fastest(list, &like, LIMIT);
    double lines = self->method->lines * (self->operation == PAIRS ? 2 : 1); /* a pair touches those of two items */
    return most > 0 ? rate * lines / most : 0;
}

double path_gain(const struct path_list *list, const struct path *self)
{
    for (size_t i = 0; i < list->count && self->threads > 1; i++) {
        const struct path *one = &list->paths[i];
        if (one->method == self->method && one->threads == 1 && same_work(one, self) && one->count > 0)
            return path_rate(self).median / path_rate(one).median;
    }
    return 0;
}
