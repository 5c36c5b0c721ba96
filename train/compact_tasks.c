/* compact_tasks: streams of many shapes in blocks, and what is asked of them. See compact_run.h. */
#include "compact_run.h"

#include <stdlib.h>

enum { BLOCKS_LEAST = 8, BLOCKS_MOST = 64, BLOCKS_CROWDED = 24, TOP = COMPACT_ITEMS / 8 };
static const double most = 3e7; /* a count, so that sums stay exact floats to 1e-7 */

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state)
{
    uint64_t x = split_mix(*state, 1);
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return x;
}

static double unit(uint64_t *state) /* never 0 and never 1 */
{
    return ((double)(next(state) >> 11) + 0.5) * 0x1p-53;
}

static double between(uint64_t *state, double a, double b)
{
    return a + (b - a) * unit(state);
}

static double between_logs(uint64_t *state, double a, double b)
{
    return a * pow(b / a, unit(state));
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(unit(state)));
    return radius * cos(6.283185307179586477 * unit(state));
}

static double poisson(uint64_t *state, double mean)
{
    if (mean > 50) return fmax(0, floor(mean + sqrt(mean) * normal(state) + 0.5)); /* near enough */
    double end = exp(-mean), product = 1;
    int n = -1;
    do {
        product *= unit(state);
        n++;
    } while (product > end);
    return n;
}

/* ---- the counts of a stream, largest first where there is an order ----------------------------------------------- */

/* In half of the streams only one item of up to 30 is here, as where these blocks are some of a large sketch. */
static void zipf(uint64_t *state, double *count, int n)
{
    double alpha = between(state, 0.2, 1.6), scale = next(state) % 2 ? 1 : between_logs(state, 1, 30);
    double one_of = next(state) % 2 ? 1 : between_logs(state, 1, 30);
    bool sampled = next(state) % 2;
    for (int j = 0; j < n; j++) {
        double rank = one_of > 1 ? one_of * (j + unit(state)) : j;
        double f = fmin(most, scale * pow((one_of * n + 1) / (rank + 2), alpha));
        count[j] = sampled ? poisson(state, f) : floor(f + 0.5);
    }
}

static void log_normal(uint64_t *state, double *count, int n)
{
    double sigma = between(state, 0.3, 2.6), mean = between(state, -0.5, 3);
    for (int j = 0; j < n; j++) count[j] = ceil(fmin(most, exp(sigma * normal(state) + mean)));
}

/* A log-normal body that goes over into a power law: the double Pareto-lognormal law of sizes, whose lower end is left
 * out (Reed, Jorgensen 2004). */
static void log_normal_with_tail(uint64_t *state, double *count, int n)
{
    double sigma = between(state, 0.2, 1.8), mean = between(state, -0.5, 3), alpha = between_logs(state, 0.8, 3);
    for (int j = 0; j < n; j++)
        count[j] = ceil(fmin(most, exp(sigma * normal(state) + mean - log(unit(state)) / alpha)));
}

static void flat_with_head(uint64_t *state, double *count, int n)
{
    double body = between_logs(state, 1, 100), alpha = between(state, 0.6, 1.5);
    int head = (int)(n * between_logs(state, 0.001, 0.3)) + 1;
    for (int j = 0; j < n; j++)
        count[j] =
            j < head ? floor(fmin(most, body * pow((head + 1.0) / (j + 1), alpha) + 1)) : poisson(state, body - 1) + 1;
}

static void geometric_with_head(uint64_t *state, double *count, int n)
{
    double p = between_logs(state, 0.02, 0.9), alpha = between(state, 0.7, 1.5);
    int head = n / (int)between_logs(state, 3, 50) + 1;
    for (int j = 0; j < n; j++)
        count[j] = j < head ? floor(fmin(most, pow((head + 1.0) / (j + 1), alpha) + 0.5))
                            : 1 + floor(log(unit(state)) / log(1 - p));
}

static void all_equal(uint64_t *state, double *count, int n)
{
    double each = floor(between_logs(state, 1, 10000));
    for (int j = 0; j < n; j++) count[j] = each;
}

/* Makes the most frequent item, which is the first, most of the stream. */
static void add_giant(uint64_t *state, double *count, int n)
{
    double sum = 0, share = between(state, 0.5, 0.99);
    for (int j = 1; j < n; j++) sum += count[j];
    count[0] = fmax(count[0], floor(fmin(most, sum * share / (1 - share))));
}

/* Draws the counts; returns how many are not 0, which come first. One stream in eight counts in larger units, as bytes
 * of packets or cents do. */
static int draw_counts(uint64_t *state, double *count, int n)
{
    uint64_t kind = next(state) % 12;
    double factor = next(state) % 8 == 0 ? floor(between_logs(state, 2, 1000)) : 1;
    if (kind < 4) zipf(state, count, n);
    else if (kind < 6) log_normal(state, count, n);
    else if (kind < 9) log_normal_with_tail(state, count, n);
    else if (kind == 9) flat_with_head(state, count, n);
    else if (kind == 10) geometric_with_head(state, count, n);
    else all_equal(state, count, n);
    int kept = 0;
    for (int j = 0; j < n; j++)
        if (count[j] > 0) count[kept++] = fmin(most, factor * count[j]);
    return kept;
}

static int more_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* ---- a task ------------------------------------------------------------------------------------------------------ */

static struct hash item_hash(uint64_t key, int j)
{
    return (struct hash){split_mix(key, 2 * (uint64_t)j + 1), split_mix(key, 2 * (uint64_t)j + 2)};
}

/* The answer of a list is its entry, or the cap's cell if that is less; the networks have no part in it. */
static void ask(const struct blocks *blocks, uint64_t key, int j, double count, double part, int i,
                struct compact_task *task)
{
    struct reading reading;
    float reads[COMPACT_READS] = {0};
    blocks_read(blocks, spot_of(blocks->blocks, item_hash(key, j)), &reading);
    int64_t least = reading.value[0];
    for (unsigned k = 1; k < reading.values; k++) least = reading.value[k] < least ? reading.value[k] : least;
    if (!step_lists(reading.step)) compact_reads(blocks, &reading, reads);
    for (int r = 0; r < COMPACT_READS; r++) task->reads[r][i] = reads[r];
    task->shares[i] = !step_lists(reading.step);
    task->least[i] = (float)least;
    task->count[i] = (float)count;
    task->part[i] = (float)part;
}

/* A stream in blocks. */
struct stream {
    uint64_t key;
    int n;
    double *count;
    struct blocks blocks;
    void *bytes;
    struct content *waiting; /* items that are not in their block yet, for each, and behind them the caps */
};

/* How many items, and how many blocks for them: in one task of six far too few. */
static int draw_load(uint64_t *state, uint32_t *number)
{
    bool crowded = next(state) % 6 == 0;
    *number =
        (uint32_t)fmin(between_logs(state, BLOCKS_LEAST, 2 * BLOCKS_MOST), crowded ? BLOCKS_CROWDED : BLOCKS_MOST);
    double bytes_each = crowded ? between_logs(state, 0.02, 0.25) : between_logs(state, 0.25, 2);
    return (int)(((double)blocks_bytes(*number, *number) - BLOCKS_LINE) / bytes_each);
}

static void flush(struct stream *stream, uint32_t block)
{
    blocks_join(&stream->blocks, block, &stream->waiting[block], 1);
    content_start(&stream->waiting[block], STEP_WHOLE);
}

/* One by one it would take about twice as long: a block that is nearly full is made anew for most items. */
static void store(struct stream *stream)
{
    struct blocks *blocks = &stream->blocks;
    struct content *waiting = stream->waiting, *cap = waiting + blocks->blocks;
    uint32_t caps = blocks_caps(blocks->blocks, blocks->most);
    for (uint32_t i = 0; i < blocks->blocks; i++) content_start(&waiting[i], STEP_WHOLE);
    for (uint32_t i = 0; i < caps; i++) content_start(&cap[i], STEP_CAP);
    for (int j = 0; j < stream->n; j++) {
        struct spot spot = spot_of(blocks->blocks, item_hash(stream->key, j));
        int64_t count = (int64_t)stream->count[j];
        if (waiting[spot.block].n == BLOCK_ENTRIES) flush(stream, spot.block);
        content_add(&waiting[spot.block], blocks->whole, spot.key, count);
        content_add(&cap[cap_index(blocks, spot.block)], blocks->whole, spot.key, count);
        blocks->total += count;
    }
    for (uint32_t i = 0; i < blocks->blocks; i++) flush(stream, i);
    for (uint32_t i = 0; i < caps; i++)
        if (cap_counts(&blocks->block[blocks->blocks + i]))
            blocks->kernels->settle(&blocks->block[blocks->blocks + i], blocks->whole, &cap[i]);
}

/* In one stream of four there are giants elsewhere: the blocks are some of a sketch whose mean is above theirs. */
static bool stream_make(uint64_t *state, struct stream *stream)
{
    uint32_t number;
    int n = draw_load(state, &number);
    stream->key = next(state);
    stream->count = malloc((size_t)n * sizeof *stream->count);
    stream->bytes = malloc((size_t)blocks_bytes(number, number));
    stream->waiting = malloc((number + blocks_caps(number, number)) * sizeof *stream->waiting);
    if (!stream->count || !stream->bytes || !stream->waiting) return false;
    do stream->n = draw_counts(state, stream->count, n);
    while (stream->n <= COMPACT_ITEMS);
    qsort(stream->count, (size_t)stream->n, sizeof *stream->count, more_first);
    if (next(state) % 16 == 0) add_giant(state, stream->count, stream->n);
    blocks_init(&stream->blocks, number, number, stream->bytes);
    store(stream);
    if (next(state) % 4 == 0)
        stream->blocks.total = (int64_t)((double)stream->blocks.total * between_logs(state, 1, 8));
    return true;
}

static void stream_free(struct stream *stream)
{
    free(stream->count);
    free(stream->bytes);
    free(stream->waiting);
}

static void ask_all(uint64_t *state, const struct stream *stream, struct compact_task *task)
{
    int n = stream->n;
    for (int i = 0; i < COMPACT_ITEMS; i++) {
        int j = i < TOP ? i : TOP + (int)(next(state) % (uint64_t)(n - TOP));
        double part = (i < TOP ? 1 : (double)(n - TOP) / (COMPACT_ITEMS - TOP)) / n;
        ask(&stream->blocks, stream->key, j, stream->count[j], part, i, task);
    }
}

/* Streams are drawn until one has blocks that share. */
bool compact_task_make(const struct recipe *recipe, uint32_t number, struct compact_task *task)
{
    uint64_t state = task_key(recipe->seed, number);
    bool shares = false, ok = true;
    while (ok && !shares) {
        struct stream stream;
        ok = stream_make(&state, &stream);
        shares = ok && compact_look(&stream.blocks, &task->view);
        if (shares) ask_all(&state, &stream, task);
        stream_free(&stream);
    }
    return ok;
}
