/* The times of paths.
 *
 * A store starts from an empty sketch: it has all that happens while a stream comes in, cells that grow among it. A
 * query is asked of the sketch of the whole stream, after one that is not timed, so that what a sketch caches is there.
 * Pairs start from the sketch of the whole stream, or of that and earlier pairs. */
#include "bench.h"

#include "progress.h"
#include "say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOTHING = KEY_KINDS, MIXED };

/* One sketch of a method, and what is in it: the stream as a key_kind, nothing, or something else. */
struct subject {
    const struct method *method;
    void *made;
    lego_status status; /* why it could not be made */
    uint64_t bytes;
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

struct clocks clocks(void)
{
    struct timespec wall, cpu;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (struct clocks){(double)wall.tv_sec + (double)wall.tv_nsec * 1e-9,
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

/* Items of a span: the whole stream to be stored, if nothing else was asked for. */
static size_t batch_of(const struct bench *self, enum operation operation)
{
    size_t batch = self->plan->batch > 0 ? self->plan->batch : self->stream.length;
    return operation == STORE || batch < ASKED_TOGETHER ? batch : ASKED_TOGETHER;
}

/* All of the work, a batch after the other; the answers to the last one stay. */
static lego_status run(const struct bench *self, const struct subject *subject, const struct span *work)
{
    struct span span = *work;
    size_t batch = batch_of(self, work->operation);
    lego_status status = LEGO_OK;
    for (size_t at = 0; at < work->n && status == LEGO_OK; at += batch) {
        span.from = work->from + at;
        span.ask_from = work->ask_from + at;
        span.n = work->n - at < batch ? work->n - at : batch;
        status = subject->method->run(subject->made, &span, self->answers);
    }
    return status;
}

/* Brings the sketch into the state that the work starts from. */
static lego_status prepare(struct bench *self, struct subject *subject, const struct span *work)
{
    lego_status status = LEGO_OK;
    /* A few pairs more or less do not matter to pairs; only numbers have any. */
    bool filled = subject->content == (int)work->keys || (work->operation == PAIRS && subject->content == MIXED);
    if (work->operation == STORE || !filled) {
        subject->method->clear(subject->made);
        subject->content = NOTHING;
        subject->warm = false;
    }
    if (work->operation == STORE) return LEGO_OK;
    if (!filled) {
        struct span all = {&self->stream, STORE, BATCH, work->keys, 1, self->stream.length, 0, 0};
        status = run(self, subject, &all);
        if (status == LEGO_OK) subject->content = (int)work->keys;
    }
    if (work->operation == QUERY && !subject->warm && status == LEGO_OK) {
        status = run(self, subject, work);
        subject->warm = true;
    }
    return status;
}

/* Whether the first answers of the span are those that one item a call gets. */
static bool is_same_one_by_one(const struct bench *self, const struct subject *subject, struct span span)
{
    const struct method *method = subject->method;
    lego_estimate again[64];
    span.n = span.n < 64 ? span.n : 64;
    span.calls = SINGLE;
    if (method->run(subject->made, &span, again) != LEGO_OK) return false;
    return memcmp(self->answers, again, span.n * method->answer_size) == 0;
}

/* Whether the totals add up, no answer is below the truth, and answers are those that one item a call gets. */
static bool is_right(const struct bench *self, const struct subject *subject, const struct span *work)
{
    if (work->operation == STORE) {
        uint64_t bytes, total;
        subject->method->describe(subject->made, &bytes, &total);
        return total == self->stream.length;
    }
    size_t batch = batch_of(self, work->operation), before = (work->n - 1) / batch * batch;
    struct span last = *work; /* batch, whose answers are there */
    last.ask_from += before;
    last.n -= before;
    for (size_t i = 0; i < last.n; i++) {
        uint64_t rank = self->stream.numbers[last.ask_from + i];
        if (subject->method->upper(self->answers, i) < self->stream.truth[rank]) return false;
    }
    return work->operation == PAIRS || is_same_one_by_one(self, subject, last); /* pairs stored more since */
}

/* Fewer items where all of them would take longer than a quarter of a second, by the time of a few. Stores have them
 * all, since how fast they are depends on what came before. */
static lego_status fit_items(const struct bench *self, const struct subject *subject, struct path *path,
                             struct span *work)
{
    work->n = path->items / 1024 + 16;
    double before = clocks().cpu;
    lego_status status = run(self, subject, work);
    double fit = 0.25 / fmax(clocks().cpu - before, 1e-9) * (double)work->n;
    if (fit < (double)path->items) path->items = (size_t)fit + 1;
    work->n = path->items;
    return status;
}

static void take_sample(struct bench *self, struct path *path)
{
    struct subject *subject = subject_of(self, path->method);
    struct span work = {&self->stream, path->operation, path->calls, path->keys, path->threads, path->items, 0, 0};
    if (path->operation == PAIRS) work.ask_from = self->stream.length / 2; /* another than is stored */
    if (path->status != LEGO_OK) return;
    path->status = prepare(self, subject, &work);
    if (path->status == LEGO_OK && path->operation != STORE && path->count == 0)
        path->status = fit_items(self, subject, path, &work);
    struct clocks before = clocks();
    if (path->status == LEGO_OK) path->status = run(self, subject, &work);
    struct clocks after = clocks();
    if (path->status != LEGO_OK) return;
    if (path->operation != QUERY) {
        subject->content = path->operation == STORE ? (int)path->keys : MIXED;
        subject->warm = false;
    }
    path->wrong = path->wrong || !is_right(self, subject, &work);
    path->wall[path->count] = fmax(after.wall - before.wall, 1e-9);
    path->cpu[path->count++] = fmax(after.cpu - before.cpu, 1e-9);
}

static struct subject *open_subject(struct bench *self, const struct path *path)
{
    const struct method *method = path->method;
    struct subject *subject = &self->subjects[self->subject_count++];
    uint64_t total;
    *subject = (struct subject){.method = method, .content = NOTHING};
    subject->status = method->create(method, path->budget, &self->stream, &subject->made);
    if (subject->status == LEGO_OK) method->describe(subject->made, &subject->bytes, &total);
    else say_status(method->name, subject->status);
    return subject;
}

/* Makes the stream and the sketches that the paths from `first` to `end` need, which are of one size. */
static bool open_size(struct bench *self, struct path *first, const struct path *end)
{
    bool text = false;
    for (const struct path *path = first; path < end; path++) text = text || path->keys == TEXTS;
    if (!keys_make(&self->stream, first->ranks, self->plan->length, text)) return false;
    for (struct path *path = first; path < end; path++) {
        struct subject *subject = subject_of(self, path->method);
        if (subject == NULL) subject = open_subject(self, path);
        path->status = subject->status;
        path->bytes = subject->bytes;
        path->distinct = self->stream.distinct;
    }
    return true;
}

static void close_size(struct bench *self)
{
    for (size_t i = 0; i < self->subject_count; i++) {
        if (self->subjects[i].made != NULL) self->subjects[i].method->destroy(self->subjects[i].made);
    }
    self->subject_count = 0;
    keys_free(&self->stream);
}

bool measure(const struct plan *plan, struct path_list *list)
{
    struct bench self = {.plan = plan, .answers = malloc((size_t)ASKED_TOGETHER * sizeof(lego_estimate))};
    bool ok = self.answers != NULL;
    uint64_t done = 0;
    progress_begin("bench", list->count * plan->repeats, plan->quiet);
    progress_describe("runs", "");
    struct path *end = list->paths, *last = list->paths + list->count;
    for (struct path *first = end; first < last && ok; first = end) {
        while (end < last && end->budget == first->budget) end++;
        ok = open_size(&self, first, end);
        for (unsigned round = 0; round < plan->repeats && ok; round++) {
            for (struct path *path = first; path < end; path++) {
                take_sample(&self, path);
                done++;
                progress_update(done, done);
            }
        }
        close_size(&self);
    }
    progress_end();
    free(self.answers);
    return ok || say_no_memory();
}
