/* The times of paths.
 *
 * A store starts from an empty sketch: it has all that happens while a stream comes in, cells that grow among it; or
 * from a full one, into which it is stored again and again. A
 * query is asked of the sketch of the whole stream, after one that is not timed, so that what a sketch caches is there.
 * Pairs start from the sketch of the whole stream, or of that and earlier pairs. */
#include "bench.h"

#include "progress.h"
#include "say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOTHING = KEY_KINDS, FULL, MIXED };

/* One sketch of a method, and what is in it: the stream as a key_kind, nothing, a crowd and some of the stream, or
 * something else. */
struct subject {
    const struct method *method;
    void *made;
    lego_status status;    /* why it could not be made */
    uint64_t bytes, total; /* total: before the work, of stores */
    int content;
    bool warm; /* it was asked for all the items since it was filled */
};

enum { SUBJECTS_MOST = 16 };

struct bench {
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

/* Items of a call: the whole stream to be stored, if nothing else was asked for. */
static size_t batch_of(const struct path *path)
{
    size_t batch = path->batch > 0 ? path->batch : path->length;
    return path->operation == STORE || batch < ASKED_TOGETHER ? batch : ASKED_TOGETHER;
}

/* All of the work, a batch after the other; the answers to the last one stay. */
static lego_status run(const struct bench *self, const struct subject *subject, const struct span *work, size_t batch)
{
    struct span span = *work;
    lego_status status = LEGO_OK;
    for (size_t at = 0; at < work->n && status == LEGO_OK; at += batch) {
        span.from = work->from + at;
        span.ask_from = work->ask_from + at;
        span.n = work->n - at < batch ? work->n - at : batch;
        status = subject->method->run(subject->made, &span, self->answers);
    }
    return status;
}

/* The items that are there beside those of the stream. */
static lego_status add_crowd(const struct subject *subject, uint64_t count)
{
    enum { TOGETHER = 1 << 20 };
    static const bool kinds[KEY_KINDS] = {[COUNTED] = true};
    struct keys crowd;
    if (count == 0 || subject->method->role != SKETCH) return LEGO_OK;
    if (!keys_make(&crowd, 1, TOGETHER, kinds)) return LEGO_ERR_MEMORY;
    lego_status status = LEGO_OK;
    for (uint64_t at = 0; at < count && status == LEGO_OK; at += TOGETHER) {
        struct span some = {&crowd, STORE, BATCH, COUNTED, 1, count - at < TOGETHER ? count - at : TOGETHER, 0, 0};
        keys_crowd(&crowd, at);
        status = subject->method->run(subject->made, &some, NULL);
    }
    keys_free(&crowd);
    return status;
}

/* Brings the sketch into the state that the work starts from. */
static lego_status prepare(struct bench *self, struct subject *subject, const struct path *path,
                           const struct span *work)
{
    lego_status status = LEGO_OK;
    /* A few pairs more or less do not matter to pairs; only numbers have any. */
    bool filled = subject->content == (int)work->keys || (work->operation == PAIRS && subject->content == MIXED);
    if (work->operation == STORE) filled = path->crowd > 0 && subject->content == FULL;
    if (!filled) {
        subject->method->clear(subject->made);
        subject->content = NOTHING;
        subject->warm = false;
    }
    if (work->operation == STORE) {
        subject->total = 0;
        if (!filled) status = add_crowd(subject, path->crowd);
        if (path->crowd > 0) subject->method->describe(subject->made, &subject->bytes, &subject->total);
        return status;
    }
    if (!filled) {
        struct span all = {&self->stream, STORE, BATCH, work->keys, 1, self->stream.length, 0, 0};
        status = add_crowd(subject, path->crowd);
        if (status == LEGO_OK) status = subject->method->run(subject->made, &all, NULL);
        if (status == LEGO_OK) subject->content = (int)work->keys;
        uint64_t total;
        subject->method->describe(subject->made, &subject->bytes, &total);
    }
    if (work->operation == QUERY && !subject->warm && status == LEGO_OK) {
        status = run(self, subject, work, batch_of(path));
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

static uint64_t weight_of(const struct span *stored)
{
    uint64_t sum = 0;
    if (stored->keys != COUNTED) return stored->n;
    for (size_t i = 0; i < stored->n; i++) sum += (uint64_t)stored->stream->counts[stored->from + i];
    return sum;
}

/* Whether the total is what was stored, no answer is below the truth, and answers are those that one item a call
 * gets. */
static bool is_right(const struct bench *self, struct subject *subject, const struct span *work, size_t batch)
{
    if (work->operation == STORE) {
        uint64_t total;
        subject->method->describe(subject->made, &subject->bytes, &total);
        return total - subject->total == weight_of(work);
    }
    size_t before = (work->n - 1) / batch * batch;
    struct span last = *work; /* batch, whose answers are there */
    last.ask_from += before;
    last.n -= before;
    for (size_t i = 0; i < last.n; i++) {
        uint64_t rank = self->stream.numbers[last.ask_from + i];
        if (subject->method->upper(self->answers, i) < self->stream.truth[rank]) return false;
    }
    return work->operation == PAIRS || is_same_one_by_one(self, subject, last); /* pairs stored more since */
}

/* The mean absolute error over the distinct items of the stream. */
static lego_status find_errors(const struct bench *self, const struct subject *subject, struct path *path)
{
    struct keys asked = {.numbers = malloc(ASKED_TOGETHER * sizeof *asked.numbers)};
    lego_status status = asked.numbers != NULL ? LEGO_OK : LEGO_ERR_MEMORY;
    const uint32_t *truth = self->stream.truth;
    double sum = 0;
    for (uint32_t rank = 1; rank <= path->ranks && status == LEGO_OK;) {
        struct span all = {&asked, QUERY, BATCH, NUMBERS, 1, 0, 0, 0};
        for (; rank <= path->ranks && all.n < ASKED_TOGETHER; rank++)
            if (truth[rank] > 0) asked.numbers[all.n++] = rank;
        status = subject->method->run(subject->made, &all, self->answers);
        for (size_t i = 0; i < all.n; i++)
            sum += fabs(subject->method->value(self->answers, i) - (double)truth[asked.numbers[i]]);
    }
    free(asked.numbers);
    path->aae = sum / path->distinct;
    return status;
}

/* Fewer items where all of them would take longer than a quarter of a second, by the time of a few. Stores have them
 * all, since how fast they are depends on what came before. */
static lego_status fit_items(struct bench *self, struct subject *subject, struct path *path, struct span *work)
{
    lego_status status = prepare(self, subject, path, work);
    work->n = path->items / 1024 + 16;
    double before = clocks().cpu;
    if (status == LEGO_OK) status = run(self, subject, work, batch_of(path));
    double fit = 0.25 / fmax(clocks().cpu - before, 1e-9) * (double)work->n;
    if (fit < (double)path->items) path->items = (size_t)fit + 1;
    work->n = path->items;
    return status;
}

/* Does a part of the work and adds the time that it takes, but for what comes before. */
static lego_status time_part(struct bench *self, struct subject *subject, const struct path *path,
                             const struct span *part, struct clocks *spent)
{
    lego_status status = prepare(self, subject, path, part);
    struct clocks before = clocks();
    if (status == LEGO_OK) status = run(self, subject, part, batch_of(path));
    struct clocks after = clocks();
    spent->wall += after.wall - before.wall;
    spent->cpu += after.cpu - before.cpu;
    if (path->operation == QUERY) return status;
    bool whole = path->operation == STORE && part->n == path->length && path->keys != COUNTED;
    subject->content = path->operation == STORE && path->crowd > 0 ? FULL : whole ? (int)path->keys : MIXED;
    subject->warm = false;
    return status;
}

static void take_sample(struct bench *self, struct path *path)
{
    struct subject *subject = subject_of(self, path->method);
    struct span work = {&self->stream, path->operation, path->calls, path->keys, path->threads, path->items, 0, 0};
    if (path->operation == PAIRS) work.ask_from = self->stream.length / 2; /* another than is stored */
    if (path->status == LEGO_OK && path->operation != STORE && path->count == 0)
        path->status = fit_items(self, subject, path, &work);
    struct clocks spent = {0};
    size_t part = path->fresh > 0 ? path->fresh : path->items;
    for (; work.from < path->items && path->status == LEGO_OK; work.from += part) {
        work.n = path->items - work.from < part ? path->items - work.from : part;
        path->status = time_part(self, subject, path, &work, &spent);
        path->wrong = path->wrong || (path->status == LEGO_OK && !is_right(self, subject, &work, batch_of(path)));
    }
    if (path->errors && path->count == 0 && path->status == LEGO_OK) path->status = find_errors(self, subject, path);
    if (path->status != LEGO_OK) return;
    path->bytes = subject->bytes;
    path->wall[path->count] = fmax(spent.wall, 1e-9);
    path->cpu[path->count++] = fmax(spent.cpu, 1e-9);
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

/* Makes the stream and the sketches that the paths from `first` to `end` need, which are of one stream and size. */
static bool open_stream(struct bench *self, struct path *first, const struct path *end)
{
    bool kinds[KEY_KINDS] = {false};
    for (const struct path *path = first; path < end; path++) kinds[path->keys] = true;
    if (!keys_make(&self->stream, first->ranks, first->length, kinds)) return false;
    for (struct path *path = first; path < end; path++) {
        struct subject *subject = subject_of(self, path->method);
        if (subject == NULL) subject = open_subject(self, path);
        path->status = subject->status;
        path->distinct = self->stream.distinct;
    }
    return true;
}

static void close_stream(struct bench *self)
{
    for (size_t i = 0; i < self->subject_count; i++) {
        if (self->subjects[i].made != NULL) self->subjects[i].method->destroy(self->subjects[i].made);
    }
    self->subject_count = 0;
    keys_free(&self->stream);
}

bool measure(const struct plan *plan, struct path_list *list)
{
    struct bench self = {.answers = malloc((size_t)ASKED_TOGETHER * sizeof(lego_estimate))};
    bool ok = self.answers != NULL;
    uint64_t done = 0;
    progress_begin("bench", list->count * plan->repeats, plan->quiet);
    progress_describe("runs", "");
    struct path *end = list->paths, *last = list->paths + list->count;
    for (struct path *first = end; first < last && ok; first = end) {
        while (end < last && same_stream(end, first)) end++;
        ok = open_stream(&self, first, end);
        for (unsigned round = 0; round < plan->repeats && ok; round++) {
            for (struct path *path = first; path < end; path++) {
                take_sample(&self, path);
                done++;
                progress_update(done, done);
            }
        }
        close_stream(&self);
    }
    progress_end();
    free(self.answers);
    return ok || say_no_memory();
}
