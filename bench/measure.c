/* Timing; see measure.h.
 *
 * A store starts from an empty sketch: it has all that happens while a stream comes in, cells that grow among it. A
 * query is asked of the sketch of the whole stream, after one that is not timed, so that what a sketch caches is there.
 * Pairs start from the sketch of the whole stream, or of that and earlier pairs. Methods that cannot be cleared go on
 * from where they are, after a store that is not timed and makes the kernel give them their pages.
 *
 * SPDX-License-Identifier: MIT */
#include "measure.h"

#include "progress.h"
#include "say.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { NOTHING = KEY_KINDS, MIXED };

/* One sketch of a method, and what is in it: the stream as a key_kind, nothing, or something else. */
struct subject {
    const struct method *method;
    void *made;
    int content;
    bool warm; /* it was asked for all the items since it was filled */
};

enum { SUBJECTS_MOST = 16 };

struct bench {
    const struct plan *plan;
    struct keys stream;
    struct subject subjects[SUBJECTS_MOST];
    size_t subject_count;
    void *answers;
};

struct sample clocks(void)
{
    struct timespec wall, cpu;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (struct sample){(double)wall.tv_sec + (double)wall.tv_nsec * 1e-9,
                           (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9};
}

static struct subject *subject_of(struct bench *self, const struct method *method)
{
    for (size_t i = 0; i < self->subject_count; i++) {
        if (self->subjects[i].method == method) return &self->subjects[i];
    }
    return NULL;
}

/* Answers that a caller would look at while they are in the cache. */
enum { ASKED_TOGETHER = 1 << 16 };

/* Items of a call: the whole stream to be stored, if nothing else was asked for. */
static size_t batch_of(const struct bench *self, enum operation operation)
{
    size_t batch = self->plan->batch > 0 ? self->plan->batch : self->stream.length;
    return operation == STORE || batch < ASKED_TOGETHER ? batch : ASKED_TOGETHER;
}

static lego_status fill(struct bench *self, struct subject *subject, enum key_kind keys)
{
    struct work all = {.stream = &self->stream,
                       .items = self->stream.length,
                       .keys = keys,
                       .batch = batch_of(self, STORE),
                       .calls = subject->method->batches ? BATCH : SINGLE,
                       .threads = 1,
                       .answers = self->answers};
    if (subject->method->clear != NULL) subject->method->clear(subject->made);
    subject->content = (int)keys;
    subject->warm = false;
    return subject->method->run(subject->made, STORE, &all);
}

/* Brings the sketch into the state that the path starts from. */
static lego_status prepare(struct bench *self, struct subject *subject, const struct path *path,
                           const struct work *work)
{
    lego_status status = LEGO_OK;
    if (path->operation == STORE && subject->method->clear != NULL) {
        subject->method->clear(subject->made);
        return LEGO_OK;
    }
    /* A few pairs more or less do not matter to pairs; only numbers have any. */
    bool filled = subject->content == (int)path->keys || (path->operation == PAIRS && subject->content == MIXED);
    if (!filled) status = fill(self, subject, path->keys);
    if (path->operation == QUERY && !subject->warm && status == LEGO_OK) {
        status = subject->method->run(subject->made, QUERY, work);
        subject->warm = true;
    }
    return status;
}

/* Whether the totals add up, no answer is below the truth, and answers are those that one item a call gets. */
static bool is_right(const struct bench *self, const struct subject *subject, const struct work *work,
                     enum operation operation)
{
    const struct method *method = subject->method;
    if (operation == STORE) return method->total == NULL || method->total(subject->made) == self->stream.length;
    size_t start = (work->items - 1) / work->batch * work->batch; /* of the last batch, whose answers are there */
    for (size_t i = start; i < work->items; i++) {
        uint64_t rank = self->stream.numbers[work->ask_from + i];
        if (!method->may_miss && method->read(work->answers, i - start).upper < self->stream.truth[rank]) return false;
    }
    if (operation == PAIRS) return true; /* more was stored since */
    lego_estimate again[64];             /* no answer is larger */
    struct work one_by_one = *work;
    one_by_one.items = work->items - start < 64 ? work->items - start : 64;
    one_by_one.ask_from = work->ask_from + start;
    one_by_one.calls = SINGLE;
    one_by_one.answers = again;
    if (method->run(subject->made, QUERY, &one_by_one) != LEGO_OK) return false;
    for (size_t i = 0; i < one_by_one.items; i++) {
        struct answer got = method->read(work->answers, i), same = method->read(again, i);
        if (got.value != same.value || got.upper != same.upper) return false;
    }
    return true;
}

/* Fewer items where all of them would take longer than a quarter of a second, by the time of a few. Stores have them
 * all, since how fast they are depends on what came before. */
static lego_status fit_items(const struct subject *subject, struct path *path, struct work *work)
{
    work->items = path->items / 1024 + 16;
    double before = clocks().cpu;
    lego_status status = subject->method->run(subject->made, path->operation, work);
    double fit = 0.25 / fmax(clocks().cpu - before, 1e-9) * (double)work->items;
    if (fit < (double)path->items) path->items = (size_t)fit + 1;
    work->items = path->items;
    return status;
}

static void take_sample(struct bench *self, struct path *path)
{
    struct subject *subject = subject_of(self, path->method);
    struct work work = {.stream = &self->stream,
                        .items = path->items,
                        .ask_from = path->operation == PAIRS ? self->stream.length / 2 : 0,
                        .keys = path->keys,
                        .calls = path->calls,
                        .batch = batch_of(self, path->operation),
                        .threads = path->threads,
                        .answers = self->answers};
    path->distinct = self->stream.distinct;
    if (path->status != LEGO_OK) return;
    path->bytes = path->method->bytes(subject->made);
    if (path->method->ready != NULL) path->status = path->method->ready(subject->made, &work);
    if (path->status == LEGO_OK) path->status = prepare(self, subject, path, &work);
    if (path->status == LEGO_OK && path->operation != STORE && path->count == 0)
        path->status = fit_items(subject, path, &work);
    struct sample before = clocks();
    if (path->status == LEGO_OK) path->status = path->method->run(subject->made, path->operation, &work);
    struct sample after = clocks();
    if (path->status != LEGO_OK) return;
    if (path->operation != QUERY) {
        subject->content = path->operation == STORE ? (int)path->keys : MIXED;
        subject->warm = false;
    }
    path->wrong = path->wrong || !is_right(self, subject, &work, path->operation);
    path->samples[path->count++] =
        (struct sample){fmax(after.wall - before.wall, 1e-9), fmax(after.cpu - before.cpu, 1e-9)};
}

/* Makes the stream and the sketches that the paths from `first` to `end` need, which are of one setting. */
static bool open_setting(struct bench *self, struct path *first, const struct path *end)
{
    bool text = false;
    for (struct path *path = first; path < end; path++) {
        text = text || path->keys == TEXTS;
        if (subject_of(self, path->method) != NULL) continue;
        struct subject *subject = &self->subjects[self->subject_count++];
        *subject = (struct subject){.method = path->method, .content = NOTHING};
        lego_status status =
            path->method->create(path->method, path->setting.budget, &self->plan->allocator, &subject->made);
        if (status != LEGO_OK) say_status(path->method->name, status);
        for (struct path *same = path; same < end; same++) {
            if (same->method == path->method) same->status = status;
        }
    }
    return keys_make(&self->stream, first->setting.ranks, first->setting.length, text);
}

static void close_setting(struct bench *self)
{
    for (size_t i = 0; i < self->subject_count; i++) {
        if (self->subjects[i].made != NULL) self->subjects[i].method->destroy(self->subjects[i].made);
    }
    self->subject_count = 0;
    keys_free(&self->stream);
}

bool measure(const struct plan *plan, struct path_list *list, bool quiet)
{
    struct bench self = {.plan = plan, .answers = malloc(ASKED_TOGETHER * ANSWER_BYTES_MOST)};
    bool ok = self.answers != NULL;
    uint64_t done = 0;
    progress_begin("bench", list->count * plan->repeats, quiet);
    progress_describe("runs", "");
    struct path *end = list->paths, *last = list->paths + list->count;
    for (struct path *first = end; first < last && ok; first = end) {
        for (end = first; end < last && same_setting(end, first);) end++;
        ok = open_setting(&self, first, end);
        for (unsigned round = 0; round < plan->repeats && ok; round++) {
            for (struct path *path = first; path < end; path++) {
                take_sample(&self, path);
                done++;
                progress_update(done, done);
            }
        }
        close_setting(&self);
    }
    progress_end();
    free(self.answers);
    if (!ok) say_no_memory();
    return ok;
}
