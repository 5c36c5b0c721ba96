/* paper_task: one task of the paper's networks, from its key to its part of the gradient. Compiled
 * for each kind of vector register.
 *
 * The error sums are needed before the first gradient, so queries go through twice: forward for the sums, then forward
 * again and backward. That costs less than to write the activations of 50,000 items to memory and read them back. */
#include "lanes.h"

#include "cpu.h"
#include "core/hash.h"
#include "layers.h"
#include "loss.h"
#include "paper_net.h"

KERNELS_OF_LEVEL(LEVEL)

enum { FLUSH_BLOCKS = 16 }; /* so often the lanes of dw go into doubles: 2048 items, so that no float sum is long */

/* Items of a task, one array for each field; padded to whole blocks. */
struct items {
    uint16_t *column[TRAIN_ROWS];
    uint8_t *index[TRAIN_ROWS]; /* into V */
    real *scale;                /* v_k = scale * V[index_k] */
    real *frequency;
};

struct workspace {
    struct decoder decoder;
    struct scanner scanner;
    real cells[TRAIN_ROWS][TRAIN_COLUMNS];
    vec dw[TRAIN_PARAMETERS];
    real best[BLOCK]; /* the row that f'' is from */
    double total;     /* N */
    int64_t sums[TRAIN_ROWS][TRAIN_COLUMNS];
    struct items items;
};

static size_t padded(uint32_t n)
{
    return ((size_t)n + BLOCK - 1) / BLOCK * BLOCK;
}

size_t OF_LEVEL(paper_workspace)(const struct recipe *recipe)
{
    size_t item = TRAIN_ROWS * (sizeof(uint16_t) + sizeof(uint8_t)) + 2 * sizeof(real);
    return sizeof(struct workspace) + padded(recipe->n_max) * item;
}

/* Divides the room behind the workspace; padded(n) keeps everything aligned. */
static void lay_out(struct workspace *s, uint32_t n)
{
    unsigned char *at = (unsigned char *)(s + 1);
    s->items.scale = (real *)at, at += padded(n) * sizeof(real);
    s->items.frequency = (real *)at, at += padded(n) * sizeof(real);
    for (int k = 0; k < TRAIN_ROWS; k++) s->items.column[k] = (uint16_t *)at, at += padded(n) * sizeof(uint16_t);
    for (int k = 0; k < TRAIN_ROWS; k++) s->items.index[k] = at, at += padded(n);
}

/* ---- store ------------------------------------------------------------------------------------------------------ */

/* 2^x for x from 0 to 64, to 1e-12: a whole power, and a polynomial for what is left, which is at most 1/2. */
INLINE double power_of_2(double x)
{
    int32_t whole = (int32_t)(x + 0.5);
    double y = (x - whole) * 0.693147180559945309417, sum = 1;
    for (int i = 11; i > 0; i--) sum = 1 + y / i * sum;
    int64_t bits = (int64_t)(whole + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power * sum;
}

/* frequency, and N */
static void task_frequencies(const struct task *task, struct workspace *s)
{
    double alpha = (double)task->alpha, scale = (double)task->scale, top = log2(task->n + 1.0);
    for (uint32_t i = 0; i < task->n; i++)
        s->items.frequency[i] = (real)(scale * power_of_2(alpha * (top - log2(i + 2.0))));
    s->total = 0;
    for (uint32_t i = 0; i < task->n; i++) s->total += (double)s->items.frequency[i];
    for (size_t i = task->n; i < padded(task->n); i++) s->items.frequency[i] = 1;
}

/* column and index of every item, and scale: d1 / S, or 1 without normalisation */
static void task_places(const struct recipe *recipe, const struct task *task, const real *table, struct workspace *s)
{
    for (uint32_t i = 0; i < task->n; i++) {
        struct place place;
        struct hash hash = {split_mix(task->key, 4 + 2 * (uint64_t)i), split_mix(task->key, 5 + 2 * (uint64_t)i)};
        hash_place(hash, TRAIN_ROWS, TRAIN_TABLE, &place);
        real sum = 0;
        for (int k = 0; k < TRAIN_ROWS; k++) {
            s->items.column[k][i] = (uint16_t)(place.column[k] % TRAIN_COLUMNS);
            s->items.index[k][i] = (uint8_t)place.index[k];
            sum += table[place.index[k]];
        }
        s->items.scale[i] = recipe->no_norm ? 1 : TRAIN_ROWS / sum;
    }
    for (size_t i = task->n; i < padded(task->n); i++) {
        for (int k = 0; k < TRAIN_ROWS; k++) s->items.column[k][i] = 0, s->items.index[k][i] = 0;
        s->items.scale[i] = 1;
    }
}

/* cells */
static void task_store(const struct task *task, const real *table, struct workspace *s)
{
    memset(s->sums, 0, sizeof s->sums);
    for (int k = 0; k < TRAIN_ROWS; k++) {
        for (uint32_t i = 0; i < task->n; i++) {
            real v = s->items.scale[i] * table[s->items.index[k][i]];
            double addend = (double)s->items.frequency[i] * (double)v * TRAIN_UNIT;
            s->sums[k][s->items.column[k][i]] += (int64_t)(addend + 0.5);
        }
        for (int c = 0; c < TRAIN_COLUMNS; c++) s->cells[k][c] = (real)((double)s->sums[k][c] / TRAIN_UNIT);
    }
}

/* ---- query ------------------------------------------------------------------------------------------------------ */

/* m_k and v_k of the items from `first` on, which is what a row of the decoder's pairs is. */
static void query_row(const struct items *items, const real *restrict cells, const real *restrict table, size_t first,
                      int k, real *restrict m, real *restrict v)
{
    const uint16_t *restrict column = items->column[k] + first;
    const uint8_t *restrict index = items->index[k] + first;
    const real *restrict scale = items->scale + first;
    for (int c = 0; c < BLOCK; c++) m[c] = cells[column[c]];
    for (int c = 0; c < BLOCK; c++) v[c] = scale[c] * table[index[c]];
}

/* f'' = m / v of the least row, and which row that is: of those that tie, the one of least weight (see TRAIN_TIE). */
static void query_rule(struct decoder *d, real *best)
{
    for (int c = 0; c < BLOCK; c += LANES) {
        vec ratio[TRAIN_ROWS], least = {0}, weight = splat((real)(2 * TRAIN_ROWS)),
                               row = {0}; /* all weights are below */
        for (int k = 0; k < TRAIN_ROWS; k++) {
            ratio[k] = vec_load(d->pair[k][0] + c) / vec_load(d->pair[k][1] + c);
            least = k == 0 ? ratio[0] : select_lanes(ratio[k] < least, ratio[k], least);
        }
        vec bound = least * splat((real)TRAIN_TIE);
        for (int k = 0; k < TRAIN_ROWS; k++) {
            vec v = vec_load(d->pair[k][1] + c);
            lanes_mask tied = ratio[k] <= bound, better = tied & (v < weight);
            least = select_lanes(better, ratio[k], least);
            weight = select_lanes(better, v, weight);
            row = select_lanes(better, splat((real)k), row);
        }
        vec_store(d->joined[JOINED_RULE] + c, least);
        vec_store(best + c, row);
    }
}

static void query_read(const real *table, size_t first, struct workspace *s)
{
    struct decoder *d = &s->decoder;
    for (int k = 0; k < TRAIN_ROWS; k++)
        query_row(&s->items, s->cells[k], table, first, k, d->pair[k][0], d->pair[k][1]);
    query_rule(d, s->best);
}

/* Adds |e|, |e| / f and e^2 of n estimates; eight sums side by side keep a vector unit busy. */
static void add_errors(const double *restrict estimate, const real *restrict truth, size_t n, double sums[3])
{
    double lane[3][8] = {{0}};
    for (size_t c = 0; c < n; c += 8) {
        for (size_t l = 0; l < 8; l++) {
            double e = estimate[c + l] - (double)truth[c + l];
            e = c + l < n ? fabs(e) : 0;
            lane[0][l] += e;
            lane[1][l] += e / (double)truth[c + l];
            lane[2][l] += e * e;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < 8; l++) sums[i] += lane[i][l];
}

/* f'' once more in doubles, from the exact cell. Where most items are alone in a cell the guide is close to 0, and the
 * rounding of floats, beside the 0.001 that is added to it, would be noise of 1e-3 in the loss. */
static void query_exact_rule(size_t first, const struct workspace *s, double *restrict rule)
{
    for (size_t c = 0; c < BLOCK; c++) {
        int k = (int)s->best[c];
        double m = (double)s->sums[k][s->items.column[k][first + c]] / TRAIN_UNIT;
        rule[c] = m / (double)s->decoder.pair[k][1][c];
    }
}

static void query_forward(const struct task *task, const real *w, struct workspace *s, struct losses *losses)
{
    for (size_t first = 0; first < task->n; first += BLOCK) {
        size_t count = task->n - first < BLOCK ? task->n - first : BLOCK;
        double estimate[BLOCK];
        query_read(w + AT_TABLE, first, s);
        query_exact_rule(first, s, estimate);
        add_errors(estimate, s->items.frequency + first, count, losses->guide);
        decode_forward(w, &s->decoder);
        for (int c = 0; c < BLOCK; c++) estimate[c] = (double)s->decoder.answer[0][c];
        add_errors(estimate, s->items.frequency + first, count, losses->error);
    }
    for (int i = 0; i < 3; i++) losses->error[i] /= task->n, losses->guide[i] /= task->n;
}

/* danswer: the gradient of the errors, each a mean over all items, of which this block has `count`. */
static void query_slopes(const struct task *task, size_t first, size_t count, const double derror[3],
                         struct workspace *s)
{
    const real *truth = s->items.frequency + first, *answer = s->decoder.answer[0];
    real aae = (real)(derror[0] / task->n), are = (real)(derror[1] / task->n), mse = (real)(2 * derror[2] / task->n);
    real *danswer = s->decoder.danswer[0];
    for (size_t c = 0; c < BLOCK; c++) {
        real e = answer[c] - truth[c], slope = aae + are / truth[c];
        real d = (e > 0 ? slope : e < 0 ? -slope : 0) + mse * e;
        danswer[c] = c < count ? d : 0;
    }
}

/* The gradient of V: v_k is an input of the decoder, and f'' = m / v of the least row. S is a constant. */
static void query_table_backward(size_t first, size_t count, struct workspace *s, double *restrict dtable)
{
    const struct decoder *d = &s->decoder;
    for (int k = 0; k < TRAIN_ROWS; k++) {
        const uint8_t *restrict index = s->items.index[k] + first;
        real dv[BLOCK] __attribute__((aligned(64)));
        for (int c = 0; c < BLOCK; c += LANES) {
            vec m = vec_load(d->pair[k][0] + c), v = vec_load(d->pair[k][1] + c), rule = vec_load(d->drule[0] + c);
            lanes_mask least = vec_load(s->best + c) == splat((real)k);
            vec through_rule = select_lanes(least, rule * m / (v * v), (vec){0});
            vec_store(dv + c, (vec_load(d->dv[k][0] + c) - through_rule) * vec_load(s->items.scale + first + c));
        }
        for (size_t c = 0; c < count; c++) dtable[index[c]] += (double)dv[c];
    }
}

static double add_lanes(vec x)
{
    double sum = 0;
    for (int i = 0; i < LANES; i++) sum += (double)x[i];
    return sum;
}

/* The lanes of dw into the gradient. */
static void flush_lanes(struct workspace *s, int from, int to, double *gradient)
{
    for (int i = from; i < to; i++) gradient[i] += add_lanes(s->dw[i]);
    memset(s->dw + from, 0, (size_t)(to - from) * sizeof *s->dw);
}

static void query_backward(const struct task *task, const real *w, const double derror[3], struct workspace *s,
                           double *gradient)
{
    unsigned block = 0;
    for (size_t first = 0; first < task->n; first += BLOCK) {
        size_t count = task->n - first < BLOCK ? task->n - first : BLOCK;
        query_read(w + AT_TABLE, first, s);
        decode_forward(w, &s->decoder);
        query_slopes(task, first, count, derror, s);
        decode_backward(w, &s->decoder, s->dw);
        query_table_backward(first, count, s, gradient + AT_TABLE);
        if (++block % FLUSH_BLOCKS == 0) flush_lanes(s, AT_DEC_PAIR_0, AT_LOSS, gradient);
    }
    flush_lanes(s, AT_DEC_PAIR_0, AT_LOSS, gradient);
}

/* ---- a task ----------------------------------------------------------------------------------------------------- */

/* All items share the implicit values, so their gradient is W^T times the sum of dz, and that sum is the bias's. A
 * scout's is 0. */
static void implicit_backward(const real *w, const double *gradient, real dimplicit[IMPLICIT])
{
    const double *dbias = gradient + AT_DEC_MIX_0 + IN_DEC_MIX_0 * OUT_DEC_MIX_0;
    for (int i = 0; i < IMPLICIT; i++) {
        double sum = 0;
        for (int o = 0; o < OUT_DEC_MIX_0; o++) sum += (double)w[AT_DEC_MIX_0 + o * IN_DEC_MIX_0 + 16 + i] * dbias[o];
        dimplicit[i] = (real)sum;
    }
}

void OF_LEVEL(paper_task)(const struct cpu_step *step, uint32_t slot, void *workspace, struct cpu_result *result)
{
    const struct recipe *recipe = step->recipe;
    const struct task drawn = task_draw(recipe, step->step, slot), *task = &drawn;
    const float *w = step->parameters;
    struct workspace *s = workspace;
    double *gradient = result->gradient;
    struct losses losses = {0};
    memset(gradient, 0, TRAIN_PARAMETERS * sizeof *gradient);
    memset(s->dw, 0, sizeof s->dw);

    lay_out(s, task->n);
    task_frequencies(task, s);
    task_places(recipe, task, w + AT_TABLE, s);
    task_store(task, w + AT_TABLE, s);
    struct scanned scanned = {0};
    if (!recipe->no_scan) scanned = scan_forward(w, &s->scanner, s->cells[0], TRAIN_COLUMNS);
    if (!task->scout) {
        decode_prepare(&s->decoder, &scanned, (real)s->total);
        query_forward(task, w, s, &losses);
    }

    const double off[2] = {(double)scanned.skew - (double)task->alpha, (double)scanned.distinct - task->n};
    double derror[3], doff[2];
    loss_task_forward(recipe, off, &losses);
    loss_task_backward(recipe, w + AT_LOSS, &losses, off, derror, doff);

    if (!task->scout) query_backward(task, w, derror, s, gradient);
    if (!recipe->no_scan) {
        struct scanned d = {.skew = (real)doff[0], .distinct = (real)doff[1]};
        implicit_backward(w, gradient, d.implicit);
        scan_backward(w, &s->scanner, s->cells[0], TRAIN_COLUMNS, &d, s->dw);
        flush_lanes(s, AT_SCAN_CELL_0, AT_DEC_PAIR_0, gradient);
    }
    if (recipe->fixed_table) memset(gradient + AT_TABLE, 0, TRAIN_TABLE * sizeof *gradient);
    memcpy(result->losses, &losses, sizeof losses);
    result->clip = 1;
}

double OF_LEVEL(multiply_add)(uint64_t count)
{
    vec sum[12], factor = splat((real)0.5), addend = splat((real)0.25);
    for (int i = 0; i < 12; i++) sum[i] = splat((real)i);
    for (uint64_t i = 0; i < count; i += 12 * LANES) {
        UNROLL for (int j = 0; j < 12; j++) sum[j] = sum[j] * factor + addend;
    }
    for (int i = 1; i < 12; i++) sum[0] += sum[i];
    return add_lanes(sum[0]);
}
