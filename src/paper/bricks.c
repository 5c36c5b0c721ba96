/* bricks: see bricks.h for the layout. */
#include "paper/bricks.h"

#include <math.h>

#include "core/parallel.h"
#include "paper/decode.h"
#include "paper/embed.h"

/* ---- shape and life ---------------------------------------------------------------------------------------------- */

static uint64_t row_bytes(uint32_t columns)
{
    return 4 * (uint64_t)columns;
}

/* Of one brick: its cells, total and mark. */
static uint64_t brick_bytes(const lego_model *model, uint32_t columns)
{
    return model->rows * row_bytes(columns) + 8 + 1;
}

uint64_t bricks_bytes(const lego_model *model, uint32_t bricks, uint32_t columns)
{
    return (bricks * brick_bytes(model, columns) + 7) / 8 * 8;
}

uint64_t bricks_cache_bytes(const lego_model *model, uint32_t bricks)
{
    return bricks * scan_bytes(model->rows);
}

bool bricks_valid_shape(const lego_model *model, uint32_t bricks, uint32_t columns)
{
    return bricks >= 1 && bricks <= BRICKS_MAX && columns >= ROW_COLUMNS_MIN && columns <= ROW_COLUMNS_MAX &&
           columns % 2 == 0 && bricks_bytes(model, bricks, columns) <= LEGO_BUDGET_MAX;
}

/* The most columns with which so many bricks fit, rounded; 0 if there are too few. */
static uint32_t columns_within(const lego_model *model, uint64_t bytes, uint32_t bricks)
{
    uint64_t brick = bytes / bricks, fixed = brick_bytes(model, 0), step = 2;
    uint64_t columns = brick < fixed ? 0 : (brick - fixed) / (model->rows * row_bytes(1));
    if (columns > ROW_COLUMNS_MAX) columns = ROW_COLUMNS_MAX;
    while (columns / step >= 200) step *= 2;
    columns -= columns % step;
    return columns < ROW_COLUMNS_MIN ? 0 : (uint32_t)columns;
}

/* Whether so many bytes are for more than `few` bricks: then those have, in ratio, columns nearer to the trained
 * ones. */
static bool is_for_more(const lego_model *model, uint64_t bytes, uint64_t few)
{
    lego_u128 brick = brick_bytes(model, model->columns);
    return (lego_u128)bytes * bytes > brick * brick * few * (few + 1);
}

bool bricks_fit(const lego_model *model, uint64_t bytes, uint32_t *bricks, uint32_t *columns)
{
    uint64_t few = bytes / brick_bytes(model, model->columns); /* with at least the columns as trained */
    if (few >= BRICKS_MAX) few = BRICKS_MAX - 1;
    *bricks = (uint32_t)few + is_for_more(model, bytes, few);
    for (*columns = 0; *columns == 0 && *bricks > 0; *bricks -= *columns == 0)
        *columns = columns_within(model, bytes - bytes % 8, *bricks); /* fewer bricks where these would be too narrow */
    return *columns > 0;
}

uint64_t bricks_least(const lego_model *model, uint32_t bricks, uint32_t columns)
{
    double brick = (double)brick_bytes(model, model->columns);
    uint64_t bytes = bricks_bytes(model, bricks, columns), few = bricks - 1;
    if (is_for_more(model, bytes, few)) return bytes;
    bytes = (uint64_t)(brick * sqrt((double)few * (double)bricks) * (1 - 1e-9));
    while (!is_for_more(model, bytes, few)) bytes++;
    return bytes;
}

/* The layout over these bytes, whatever is in them. */
static void attach(struct bricks *self, const lego_model *model, uint32_t bricks, uint32_t columns,
                   unsigned char *bytes)
{
    *self = (struct bricks){.model = model, .bricks = divisor_of(bricks), .columns = divisor_of(columns)};
    self->cells = bytes; /* first, so that rows start where the allocation does: on a cache line if that does */
    self->totals = bytes + bricks * model->rows * row_bytes(columns);
    self->marks = self->totals + 8 * (size_t)bricks;
    self->scans = bytes + bricks_bytes(model, bricks, columns);
}

void bricks_init(struct bricks *self, const lego_model *model, uint32_t bricks, uint32_t columns, void *bytes)
{
    attach(self, model, bricks, columns, bytes);
    bricks_clear(self);
}

static struct scan *scan_of(const struct bricks *self, uint32_t brick)
{
    return (struct scan *)(void *)(self->scans + brick * scan_bytes(self->model->rows));
}

static void forget_all(struct bricks *self)
{
    for (uint32_t b = 0; b < self->bricks.d; b++) scan_forget(scan_of(self, b));
}

static uint64_t saved_size(const struct bricks *self)
{
    return bricks_saved_size(self->model, self->bricks.d, self->columns.d);
}

void bricks_clear(struct bricks *self)
{
    memset(self->cells, 0, (size_t)saved_size(self));
    self->total = 0;
    forget_all(self);
}

void bricks_copy(struct bricks *into, const struct bricks *from)
{
    bricks_load(into, from->cells, from->total);
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static struct cells row_of(const struct bricks *self, uint32_t brick, uint32_t k)
{
    bool wide = self->marks[brick] >> k & 1;
    uint32_t columns = self->columns.d;
    return (struct cells){self->cells + ((uint64_t)brick * self->model->rows + k) * row_bytes(columns),
                          wide ? columns - row_tail(columns) : columns, wide};
}

/* Whether the row has just become wide. */
static bool mark_row(struct bricks *self, uint32_t brick, uint32_t k, const struct cells *cells)
{
    if (!cells->wide || self->marks[brick] >> k & 1) return false;
    self->marks[brick] |= (unsigned char)(1u << k);
    return true;
}

static void add_total(struct bricks *self, uint32_t brick, int64_t count)
{
    unsigned char *p = self->totals + 8 * (size_t)brick;
    row_set64(p, row_get64(p) + count);
}

static void add_to_brick(struct bricks *self, uint32_t brick, struct hash hash, int64_t count)
{
    const lego_model *model = self->model;
    struct scan *scan = scan_of(self, brick);
    struct place place;
    uint32_t weight[ROWS_MAX];
    hash_place(hash, model->rows, model->table_size, &place);
    embed_weights(model, place.index, weight);
    add_total(self, brick, count);
    bool follows = scan_follows(scan);
    for (uint32_t k = 0; k < model->rows; k++) {
        struct cells cells = row_of(self, brick, k);
        uint32_t column = divisor_mod(self->columns, place.column[k]), cell = row_cell(&cells, column);
        int64_t value = count * (int64_t)weight[k], before = follows ? row_get(&cells, cell) : 0;
        row_add(&cells, column, value);
        if (mark_row(self, brick, k, &cells) || row_is_pair(&cells, cell)) {
            scan_forget(scan); /* more than one cell has changed */
            follows = false;
        } else if (follows && cell < scan_cells(cells.n)) {
            scan_follow(model, scan, k, before, before + value);
        }
    }
}

void bricks_add(struct bricks *self, struct hash hash, int64_t count)
{
    self->total += count;
    add_to_brick(self, divisor_mod(self->bricks, hash_brick(hash)), hash, count);
}

struct adding {
    struct bricks *bricks;
    const lego_items *items;
    struct seed seed;
};

static void add_own(void *context, struct team *team, unsigned index, unsigned members)
{
    (void)team;
    const struct adding *job = context;
    const lego_items *items = job->items;
    for (size_t i = 0; i < items->n; i++) {
        struct hash hash = items_hash(items, i, job->seed);
        uint32_t brick = divisor_mod(job->bricks->bricks, hash_brick(hash));
        if (brick % members == index) add_to_brick(job->bricks, brick, hash, items->counts ? items->counts[i] : 1);
    }
}

void bricks_add_items(struct bricks *self, const lego_items *items, struct seed seed, unsigned threads)
{
    struct adding job = {self, items, seed};
    for (size_t i = 0; i < items->n; i++) self->total += items->counts ? items->counts[i] : 1;
    parallel_run(threads < self->bricks.d ? threads : self->bricks.d, add_own, &job);
}

/* A wide row goes to a wide row, and a pair to a pair: their sums can not be taken apart again. */
static void merge_row(struct cells *into, const struct cells *from, int sign)
{
    if (from->wide && !into->wide) row_widen(into);
    for (uint32_t i = 0; i < from->n; i++) {
        bool is_pair = row_is_pair(from, i);
        if (is_pair && i % 2) continue;
        if (is_pair) row_pair(into, i);
        row_add(into, i, sign * row_get(from, i));
    }
}

void bricks_merge(struct bricks *into, const struct bricks *from, int sign)
{
    for (uint32_t b = 0; b < from->bricks.d; b++) {
        uint32_t brick = divisor_mod(into->bricks, b);
        add_total(into, brick, sign * row_get64(from->totals + 8 * (size_t)b));
        for (uint32_t k = 0; k < into->model->rows; k++) {
            struct cells cells = row_of(into, brick, k), other = row_of(from, b, k);
            merge_row(&cells, &other, sign);
            mark_row(into, brick, k, &cells);
        }
    }
    into->total += sign * from->total;
    forget_all(into);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

int64_t bricks_scan(const struct bricks *self, uint32_t brick, struct stream *stream)
{
    struct cells rows[ROWS_MAX];
    for (uint32_t k = 0; k < ROWS_MAX && k < self->model->rows; k++) rows[k] = row_of(self, brick, k);
    *stream = scan_stream(self->model, rows, scan_of(self, brick));
    return row_get64(self->totals + 8 * (size_t)brick);
}

/* What an item reads, and in which brick. */
static uint32_t read_item(const struct bricks *self, struct hash hash, struct reads *reads)
{
    const lego_model *model = self->model;
    struct place place;
    *reads = (struct reads){.rows = model->rows};
    hash_place(hash, model->rows, model->table_size, &place);
    embed_weights(model, place.index, reads->weight);
    uint32_t brick = divisor_mod(self->bricks, place.brick);
    reads->total = row_get64(self->totals + 8 * (size_t)brick);
    double mass = fmax(0, (double)reads->total) * model->mean_weight;
    for (uint32_t k = 0; k < model->rows; k++) {
        struct cells cells = row_of(self, brick, k);
        reads->value[k] = row_get(&cells, row_cell(&cells, divisor_mod(self->columns, place.column[k])));
        reads->noise[k] = mass / cells.n / reads->weight[k];
    }
    return brick;
}

lego_estimate bricks_query(const struct bricks *self, struct hash hash)
{
    struct reads reads;
    struct stream stream;
    bricks_scan(self, read_item(self, hash, &reads), &stream);
    return decode_item(self->model, &reads, &stream);
}

int64_t bricks_upper(const struct bricks *self, struct hash hash)
{
    struct reads reads;
    read_item(self, hash, &reads);
    return decode_rule(&reads).upper;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

uint64_t bricks_saved_size(const lego_model *model, uint32_t bricks, uint32_t columns)
{
    return bricks * brick_bytes(model, columns);
}

const unsigned char *bricks_load(struct bricks *self, const unsigned char *p, int64_t total)
{
    memcpy(self->cells, p, (size_t)saved_size(self));
    self->total = total;
    forget_all(self);
    return p + saved_size(self);
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* The sum of |value| over row k of all bricks. */
static lego_u128 row_mass(const struct bricks *self, uint32_t k)
{
    lego_u128 sum = 0;
    for (uint32_t b = 0; b < self->bricks.d; b++) {
        struct cells cells = row_of(self, b, k);
        for (uint32_t i = 0; i < cells.n; i += 1 + row_is_pair(&cells, i)) sum += magnitude(row_get(&cells, i));
    }
    return sum;
}

/* Whether the maps of a brick's wide rows have zeros behind the bits of their cells, and the marks behind the rows'. */
static bool maps_valid(const struct bricks *self, uint32_t brick)
{
    for (uint32_t k = 0; k < self->model->rows; k++) {
        struct cells cells = row_of(self, brick, k);
        for (uint32_t i = cells.n; cells.wide && i < 64 * (self->columns.d - cells.n); i += 2)
            if (row_is_pair(&cells, i)) return false;
    }
    return self->marks[brick] >> self->model->rows == 0;
}

bool bricks_check(const struct bricks *self, uint64_t *mass)
{
    lego_u128 most = 0;
    uint64_t all = 0;
    for (uint32_t b = 0; b < self->bricks.d; b++) {
        int64_t one = row_get64(self->totals + 8 * (size_t)b);
        if (!maps_valid(self, b)) return false;
        most += magnitude(one);
        all += (uint64_t)one;
    }
    most *= self->model->quantum; /* as the counts would have been counted */
    for (uint32_t k = 0; k < self->model->rows; k++) {
        lego_u128 sum = row_mass(self, k);
        if (sum > most) most = sum;
    }
    *mass = (uint64_t)most;
    return most <= INT64_MAX && all == (uint64_t)self->total;
}
