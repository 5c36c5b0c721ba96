/* Tables of plain counters: the yardstick of countmin.h, and what the machine can do at most.
 *
 * That is one counter for every item, in as many bytes as the sketches have, with nothing to hash, since where the
 * counters are is known before the clock starts. The keys are those of the stream, so that as many are near and far as
 * for the others. An operation that touches so many cache lines can be as fast as this divided by their number, if
 * nothing else takes time. (Lines that it shares with others make it a little faster.) */
#define _DEFAULT_SOURCE
#define XXH_INLINE_ALL
#include "countmin.h"
#include "method.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

extern const countmin_kernel countmin_v3, countmin_v4, countmin_plain; /* the first two on x86-64 */

const countmin_kernel *countmin_best(void)
{
#if defined(__x86_64__)
    if (countmin_v4.supported()) return &countmin_v4;
    if (countmin_v3.supported()) return &countmin_v3;
#endif
    return &countmin_plain;
}

enum { LARGE_PAGE = 2 << 20 };
enum { AHEAD = 32 }; /* items that the limit is ahead of itself: a core can wait for some 16 to 48 lines */

typedef struct counters {
    countmin table;
    void *mapped; /* where the cells are, from the next large page on */
    const countmin_kernel *kernel;
    bool prefetch;
    unsigned additions; /* for an item */
    uint32_t *places;   /* of a limit: the cell of every item of the stream, and AHEAD more */
} counters;

static size_t size_of(const countmin *table)
{
    return (size_t)COUNTMIN_ROWS * table->columns * sizeof *table->cells;
}

static void destroy(void *made)
{
    counters *self = made;
    if (self->mapped != MAP_FAILED) munmap(self->mapped, size_of(&self->table) + LARGE_PAGE);
    free(self->places);
    free(self);
}

/* Fresh memory in large pages, where the system gives them on request: the library asks for the same. */
static bool map_cells(counters *self)
{
    size_t size = size_of(&self->table);
    self->mapped = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (self->mapped == MAP_FAILED) return false;
    unsigned char *start = self->mapped;
    self->table.cells = (uint32_t *)(void *)(start + (LARGE_PAGE - (uintptr_t)start % LARGE_PAGE) % LARGE_PAGE);
#ifdef MADV_HUGEPAGE
    (void)madvise(self->table.cells, size, MADV_HUGEPAGE);
#endif
    return true;
}

static bool find_places(counters *self, const struct keys *stream)
{
    uint32_t cells = COUNTMIN_ROWS * self->table.columns;
    self->places = calloc(stream->length + AHEAD, sizeof *self->places);
    for (size_t i = 0; i < stream->length && self->places != NULL; i++)
        self->places[i] = countmin_column(countmin_mix(stream->numbers[i]), 0, cells);
    return self->places != NULL;
}

static lego_status create(const struct method *method, uint64_t bytes, const struct keys *stream, void **made)
{
    counters *self = malloc(sizeof *self);
    if (self == NULL) return LEGO_ERR_MEMORY;
    *self = (counters){.table.columns = (uint32_t)(bytes / (COUNTMIN_ROWS * sizeof *self->table.cells)),
                       .kernel = countmin_best(),
                       .prefetch = method->prefetch,
                       .additions = method->role == LIMIT ? 1 : COUNTMIN_ROWS};
    if (!map_cells(self) || (method->role == LIMIT && !find_places(self, stream))) {
        destroy(self);
        return LEGO_ERR_MEMORY;
    }
    *made = self;
    return LEGO_OK;
}

static void clear(void *made)
{
    counters *self = made;
    memset(self->table.cells, 0, size_of(&self->table));
}

static void describe(const void *made, uint64_t *bytes, uint64_t *total)
{
    const counters *self = made;
    uint64_t sum = 0;
    for (size_t i = 0; i < size_of(&self->table) / sizeof *self->table.cells; i++) sum += self->table.cells[i];
    *bytes = size_of(&self->table);
    *total = sum / self->additions;
}

static double upper(const void *answers, size_t i)
{
    return ((const uint32_t *)answers)[i];
}

/* ---- the yardstick ----------------------------------------------------------------------------------------------- */

/* A text is counted as the key of its hash. */
static inline uint64_t key_of(const struct span *span, size_t i)
{
    size_t size;
    if (span->keys == NUMBERS) return span->stream->numbers[i];
    const char *text = text_of(span->stream, i, &size);
    return XXH3_64bits(text, size);
}

static inline uint32_t *cell_of(const countmin *table, uint64_t mixed, unsigned row)
{
    return &table->cells[row * table->columns + countmin_column(mixed, row, table->columns)];
}

/* One key a call is a call, as of any library. */
__attribute__((noinline)) static void add_one(const countmin *table, uint64_t key)
{
    uint64_t mixed = countmin_mix(key);
    for (unsigned row = 0; row < COUNTMIN_ROWS; row++) ++*cell_of(table, mixed, row);
}

__attribute__((noinline)) static uint32_t ask_one(const countmin *table, uint64_t key)
{
    uint64_t mixed = countmin_mix(key);
    uint32_t least = UINT32_MAX;
    for (unsigned row = 0; row < COUNTMIN_ROWS; row++) {
        uint32_t cell = *cell_of(table, mixed, row);
        least = cell < least ? cell : least;
    }
    return least;
}

/* Texts are hashed so many at a time, into a buffer that stays in the level-1 cache. */
enum { HASHED = 512 };

static void walk(const counters *self, const struct span *span, size_t from, uint32_t *answers)
{
    if (span->keys == NUMBERS) {
        self->kernel->walk(&self->table, span->stream->numbers + from, span->n, answers, self->prefetch);
        return;
    }
    uint64_t hashed[HASHED];
    for (size_t done = 0; done < span->n; done += HASHED) {
        size_t some = span->n - done < HASHED ? span->n - done : HASHED;
        for (size_t i = 0; i < some; i++) hashed[i] = key_of(span, from + done + i);
        self->kernel->walk(&self->table, hashed, some, answers != NULL ? answers + done : NULL, self->prefetch);
    }
}

static lego_status count(void *made, const struct span *span, void *answers)
{
    const counters *self = made;
    uint32_t *least = answers;
    if (span->calls == BATCH) {
        if (span->operation != QUERY) walk(self, span, span->from, NULL);
        if (span->operation != STORE) walk(self, span, span->ask_from, least);
        return LEGO_OK;
    }
    const struct span here = *span; /* by value: counters that change could otherwise be part of it */
    for (size_t i = 0; i < here.n; i++) {
        if (here.operation != QUERY) add_one(&self->table, key_of(&here, here.from + i));
        if (here.operation != STORE) least[i] = ask_one(&self->table, key_of(&here, here.ask_from + i));
    }
    return LEGO_OK;
}

/* ---- the limit --------------------------------------------------------------------------------------------------- */

/* Prefetching costs little where the table is small. There are no pairs of this. */
static lego_status touch(void *made, const struct span *span, void *answers)
{
    const counters *self = made;
    uint32_t *cells = self->table.cells, *counts = answers;
    if (span->operation == STORE) {
        for (const uint32_t *place = self->places + span->from, *end = place + span->n; place < end; place++) {
            __builtin_prefetch(&cells[place[AHEAD]]);
            cells[*place]++;
        }
    } else {
        for (const uint32_t *place = self->places + span->ask_from, *end = place + span->n; place < end; place++) {
            __builtin_prefetch(&cells[place[AHEAD]]);
            *counts++ = cells[*place];
        }
    }
    return LEGO_OK;
}

#define COUNTERS                                                                                                       \
    .create = create, .destroy = destroy, .clear = clear, .describe = describe, .upper = upper, .value = upper,        \
    .answer_size = sizeof(uint32_t)

const struct method method_touch = {.name = "one counter", .role = LIMIT, .lines = 1, .run = touch, COUNTERS};
const struct method method_countmin = {
    .name = "count-min", .role = YARDSTICK, .lines = COUNTMIN_ROWS, .run = count, COUNTERS};
const struct method method_countmin_prefetch = {
    .name = "count-min prefetch", .role = YARDSTICK, .lines = COUNTMIN_ROWS, .run = count, .prefetch = true, COUNTERS};
