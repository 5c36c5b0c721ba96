/* The batch function of countmin.h, for the instructions that the including file is compiled for: it defines KERNEL,
 * KERNEL_NAME and SUPPORTED. */
#include "countmin.h"

typedef struct chunk {
    uint32_t columns[COUNTMIN_ROWS][COUNTMIN_CHUNK];
} chunk;

static inline void locate(const countmin *table, const uint64_t *keys, size_t n, chunk *out)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t mixed = countmin_mix(keys[i]);
        for (unsigned row = 0; row < COUNTMIN_ROWS; row++)
            out->columns[row][i] = row * table->columns + countmin_column(mixed, row, table->columns);
    }
}

static inline void fetch(const countmin *table, const chunk *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (unsigned row = 0; row < COUNTMIN_ROWS; row++) __builtin_prefetch(&table->cells[at->columns[row][i]]);
    }
}

static inline void add_chunk(const countmin *table, const chunk *at, size_t n)
{
    for (unsigned row = 0; row < COUNTMIN_ROWS; row++) { /* row by row: a tenth faster than key by key in 1.2 MB */
        for (size_t i = 0; i < n; i++) table->cells[at->columns[row][i]]++;
    }
}

static inline void least_chunk(const countmin *table, const chunk *at, size_t n, uint32_t *answers)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t least = UINT32_MAX;
        for (unsigned row = 0; row < COUNTMIN_ROWS; row++) {
            uint32_t cell = table->cells[at->columns[row][i]];
            least = cell < least ? cell : least;
        }
        answers[i] = least;
    }
}

static inline size_t chunk_size(size_t left)
{
    return left < COUNTMIN_CHUNK ? left : COUNTMIN_CHUNK;
}

/* It is always a chunk behind its hashes. */
static void walk(const countmin *table, const uint64_t *keys, size_t n, uint32_t *answers, bool prefetch)
{
    chunk at[2];
    size_t now = chunk_size(n);
    locate(table, keys, now, &at[0]);
    for (size_t done = 0, turn = 0; done < n; turn ^= 1) {
        size_t next = chunk_size(n - done - now);
        locate(table, keys + done + now, next, &at[turn ^ 1]);
        if (prefetch) fetch(table, &at[turn ^ 1], next);
        if (answers == NULL) add_chunk(table, &at[turn], now);
        else least_chunk(table, &at[turn], now, answers + done);
        done += now;
        now = next;
    }
}

static bool supported(void)
{
    return SUPPORTED;
}

extern const countmin_kernel KERNEL;
const countmin_kernel KERNEL = {KERNEL_NAME, supported, walk};
