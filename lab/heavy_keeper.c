/* HeavyKeeper (Yang, Gong, Zhang, Zou, Shi and Li, "HeavyKeeper: an accurate algorithm for finding top-k elephant
 * flows", USENIX ATC 2018): rows of cells with a fingerprint and a counter. Who meets its own fingerprint is counted
 * there; who meets another's wears its counter C off by one with odds 1.08^-C, and takes a cell that it has worn off
 * to 0.
 *
 *     cell   [ fingerprint 16 bits | counter 16 bits ]     2 rows of them, as in the authors' evaluation
 *     top    a Stream-Summary (summary.h), 44 bytes an item, in 1/64 of the budget
 *
 * Both of the paper's refinements are here. Who is not in the top and has a cell above the least count there is not
 * counted in it, nor let in: it is another item's. The top keeps the largest count that an item was seen with, and
 * goes on where a counter is full, so only items of one fingerprint make an answer too large. A larger top is worse
 * in the mean over all items: on five real streams an eighth of the budget has 1.05 to 1.14 times the AAE. Who is
 * neither in the top nor in a cell is answered with 1 if other items have its cells, else with 0.
 *
 * An addition of many occurrences draws how many of them pass before each step down, which is as if one came after
 * another. */
#include "counters.h"
#include "summary.h"

#include <math.h>

enum { ROWS_KEPT = 2, TOP_SHARE = 64 };
#define BASE 1.08

typedef struct cell {
    uint16_t print, count;
} cell;

typedef struct heavy_keeper {
    estimator_table of; /* its units are bytes of the top's cells and, behind them, the rows' */
    uint64_t draws;     /* of the generator */
    summary top;
} heavy_keeper;

typedef struct place {
    cell *cells[ROWS_KEPT];
    uint32_t key; /* in the top */
    uint16_t print;
} place;

static lego_status create(const lego_options *wanted, void **self)
{
    lego_status status = estimator_create_table(&estimator_heavy_keeper, wanted->budget, wanted->seed, self);
    if (status != LEGO_OK) return status;
    heavy_keeper *made = *self;
    made->draws = made->of.seed;
    made->top.size = (uint32_t)(made->of.units / TOP_SHARE / sizeof(summary_cell));
    if (made->top.size < 2) made->top.size = 2;
    return LEGO_OK;
}

static place locate(const heavy_keeper *table, const void *item, size_t size)
{
    XXH128_hash_t hash = hash_item(item, size, table->of.seed);
    uint64_t top = table->top.size * sizeof(summary_cell),
             columns = (table->of.units - top) / (ROWS_KEPT * sizeof(cell));
    cell *cells = (cell *)((summary_cell *)(&table->top + 1) + table->top.size);
    place found = {.key = (uint32_t)hash.low64, .print = (uint16_t)(hash.low64 >> 32)};
    for (unsigned row = 0; row < ROWS_KEPT; row++)
        found.cells[row] = &cells[row * columns + pick(hash_row(hash, row), columns)];
    return found;
}

/* Its count in the rows. */
static uint32_t most_of(const place *at)
{
    uint32_t most = 0;
    for (unsigned row = 0; row < ROWS_KEPT; row++)
        if (at->cells[row]->print == at->print && at->cells[row]->count > most) most = at->cells[row]->count;
    return most;
}

/* So many occurrences of a fingerprint meet another's cell: how many are counted, from the one that takes it. */
static uint64_t wear_off(heavy_keeper *table, cell *met, uint64_t occurrences)
{
    while (occurrences > 0) {
        double u = (double)(hash_row((XXH128_hash_t){table->draws++, UINT64_C(0x9e3779b97f4a7c15)}, 1) >> 11) * 0x1p-53;
        double odds = exp2(-(double)met->count * log2(BASE));
        double pass = u < odds ? 0 : occurrences == 1 ? 1 : floor(log1p(-u) / log1p(-odds));
        if (!(pass < (double)occurrences)) return 0;
        occurrences -= (uint64_t)pass;
        if (--met->count == 0) return occurrences;
        occurrences--;
    }
    return 0;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    heavy_keeper *table = self;
    if (count < 0) return LEGO_ERR_ARGUMENT;
    if (count == 0) return LEGO_OK;
    place at = locate(table, item, size);
    uint32_t before = most_of(&at), kept = summary_count(&table->top, at.key), least = summary_least(&table->top);
    uint32_t seen = before;
    for (unsigned row = 0; row < ROWS_KEPT; row++) {
        cell *met = at.cells[row];
        bool others = met->count > 0 && met->print != at.print;
        if (!others && kept == 0 && met->count > least) continue;
        uint32_t now =
            add_u32(others ? 0 : met->count, others ? (int64_t)wear_off(table, met, (uint64_t)count) : count);
        if (now > 0) *met = (cell){at.print, (uint16_t)(now < UINT16_MAX ? now : UINT16_MAX)};
        seen = now > seen ? now : seen;
    }
    if (kept > 0 && before == UINT16_MAX) seen = add_u32(kept, count);
    if (kept > 0 ? seen > kept : seen > least && before <= least) summary_raise(&table->top, at.key, seen);
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const heavy_keeper *table = self;
    place at = locate(table, item, size);
    uint32_t kept = summary_count(&table->top, at.key), count = kept > 0 ? kept : most_of(&at);
    *value = count > 0 ? count : 1;
    for (unsigned row = 0; row < ROWS_KEPT; row++)
        if (at.cells[row]->count == 0) *value = 0; /* it would have taken it */
    return LEGO_OK;
}

const estimator_kind estimator_heavy_keeper = {"heavy-keeper",
                                               ESTIMATOR_TABLE(heavy_keeper, 1),
                                               .least = 2 * sizeof(summary_cell) + ROWS_KEPT * sizeof(cell),
                                               .in_order = true,
                                               .insert_only = true,
                                               .create = create,
                                               .add = add,
                                               .estimate = estimate};
