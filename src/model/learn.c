/* learn: see learn.h. */
#include "model/learn.h"

#include <math.h>
#include <string.h>

/* ---- the cells --------------------------------------------------------------------------------------------------- */

static void see_cells(struct seen *seen, unsigned cap, const int64_t value[], unsigned n, unsigned width)
{
    uint32_t *cells = seen->cells[cap][__builtin_ctz(width) - LEARN_NARROWEST];
    for (unsigned i = 0; i < n; i++) {
        float size = fabsf((float)value[i]);
        unsigned bin = bin_of(size);
        cells[bin]++;
        if (seen->number[bin]++ == 0 || size < seen->least[bin]) seen->least[bin] = size;
        if (size > seen->most[bin]) seen->most[bin] = size;
        seen->sum[bin] += (double)size;
        seen->positive += value[i] > 0;
        seen->negative += value[i] < 0;
    }
}

/* Of a row, those cells that two have become are in the middle: step_width(). */
static void see_row(struct seen *seen, unsigned cap, const int64_t value[], struct row row)
{
    unsigned half = row.from / 2, first = row.cells - half;
    see_cells(seen, cap, value, first, row.from);
    see_cells(seen, cap, value + first, half - first, half);
    see_cells(seen, cap, value + half, first, row.from);
}

static void see_blocks(const struct blocks *blocks, struct seen *seen)
{
    struct content content;
    uint32_t end = blocks->blocks < LEARN_AMONG ? blocks->blocks : LEARN_AMONG, caps = 0;
    for (uint32_t i = 0; i < end && seen->blocks < LEARN_BLOCKS; i++) {
        if (step_lists(block_step(&blocks->block[i]))) continue;
        blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
        seen->step[seen->blocks++] = (uint8_t)content.step;
        see_row(seen, 0, content.value, step_row(content.step, 0));
        see_row(seen, 0, content.value + step_row(content.step, 0).cells, step_row(content.step, 1));
        if (cap_index(blocks, i) < caps) continue; /* it was seen */
        caps = cap_index(blocks, i) + 1;
        blocks->kernels->open(cap_of(blocks, i), blocks->whole, &content); /* the cap of a block that shares counts */
        seen->cap_step[seen->caps++] = (uint8_t)content.step;
        see_row(seen, 1, content.value, step_row(content.step, 0));
    }
}

/* ---- distributions ----------------------------------------------------------------------------------------------- */

/* Of masses by bins the shares, `tail` more mass among them that is spread as 1 / v^2 from bin `first` on. */
static void share_out(const double mass[LEARN_BINS], double tail, unsigned first, double share[LEARN_BINS])
{
    double sum = tail, tails = 0;
    for (unsigned b = first; b < LEARN_BINS; b++) {
        double v = (double)bin_first(b) + 1;
        share[b] = (double)bin_length(b) / v / v;
        tails += share[b];
        sum += mass[b];
    }
    for (unsigned b = first; b < LEARN_BINS; b++) share[b] = (mass[b] + tail / tails * share[b]) / sum;
}

/* A quarter of what few cells show goes to the bins beside: the next cell might have been there. */
static void smooth(const uint32_t cells[LEARN_BINS], double mass[LEARN_BINS])
{
    memset(mass, 0, LEARN_BINS * sizeof *mass);
    for (unsigned b = 0; b < LEARN_BINS; b++) {
        double aside = b >= 8 && b + 1 < LEARN_BINS && cells[b] <= 20 ? 0.25 * cells[b] : 0;
        mass[b] += cells[b] - 2 * aside;
        if (aside > 0) mass[b - 1] += aside, mass[b + 1] += aside;
    }
}

static void learn_noise(const struct seen *seen, struct learnt *learnt)
{
    double mass[LEARN_BINS], share[LEARN_BINS];
    for (unsigned cap = 0; cap < 2; cap++)
        for (unsigned w = 0; w < LEARN_WIDTHS; w++) {
            smooth(seen->cells[cap][w], mass);
            share_out(mass, 0.5, 0, share);
            for (unsigned b = 0; b < LEARN_BINS; b++)
                learnt->noise[cap][w][b] = (float)(share[b] / (double)bin_length(b));
        }
}

/* From how many items of each bin a block has, on average. */
static void counts_are(const double items[LEARN_BINS], const struct seen *seen, struct learnt *learnt)
{
    double all = 0, share[LEARN_BINS], below = 0, inverse = 0;
    for (unsigned b = 1; b < LEARN_BINS; b++) all += items[b];
    share_out(items, 1.0 / seen->blocks, 1, share);
    share[0] = 0;
    for (unsigned b = 0; b < LEARN_BINS; b++) {
        learnt->count[b] = (float)share[b];
        learnt->below[b] = (float)below;
        learnt->below_inverse[b] = (float)inverse;
        below += share[b];
        inverse += b > 0 ? share[b] / (double)learnt->middle[b] : 0;
    }
    double x = all / (1 << BLOCK_SHARED); /* 1 - exp(-x), nearly */
    learnt->items = (float)all;
    learnt->twin = (float)(1 - 1 / (1 + x * (1 + x / 2 * (1 + x / 3))));
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

enum { PARTS = 31, EMPTY_LEAST = 8 };

/* What expectation maximisation works on: the bins up to the last that has cells. */
struct search {
    unsigned n, widths;
    double all;   /* the weights' sum */
    double total; /* of g, if empty cells tell it; else 0 */
    double middle[LEARN_BINS];
    double width[LEARN_WIDTHS];                      /* those with cells, and for each of them: */
    double weight[LEARN_WIDTHS];                     /* how many cells, over the width */
    double share[LEARN_WIDTHS][LEARN_BINS];          /* h */
    double items[LEARN_BINS];                        /* g */
    double gain[LEARN_BINS];                         /* what g is to be multiplied by, times `all` */
    bool matters[LEARN_BINS];                        /* of g: neither the number nor the sum is next to nothing */
    uint8_t meet[LEARN_BINS * (LEARN_BINS + 1) / 2]; /* of bins i and k <= i: where_both() */
};

/* The sum of what two bins have in the middle, k <= i: it is between the middles of bin i + (code >> 5) and of the
 * next, (code & 31) / PARTS of the way. */
static uint8_t where_both(const struct search *search, unsigned i, unsigned k)
{
    const double *middle = search->middle;
    double sum = middle[i] + middle[k];
    unsigned j = i;
    while (j + 1 < search->n && j < i + 7 && middle[j + 1] <= sum) j++;
    double part = j + 1 < search->n ? (sum - middle[j]) / (middle[j + 1] - middle[j]) : 0;
    return (uint8_t)((j - i) << 5 | (unsigned)(fmin(part, 1) * PARTS + 0.5));
}

/* -ln x, of 0 < x <= 1. */
static double minus_ln(double x)
{
    int exponent;
    double m = frexp(x, &exponent), t = (m - 1) / (m + 1), sum = 0;
    for (int i = 19; i > 0; i -= 2) sum = sum * t * t + 1.0 / i;
    return -(2 * t * sum + exponent * 0.6931471805599453);
}

/* The cells of one width, if there are any. With n items a cell is empty with probability exp(-n / width); what that
 * tells of n weighs as there are empty ones. */
static void search_width(struct search *search, const uint32_t cells[LEARN_BINS], unsigned width, double *empty)
{
    double all = 0, *share = search->share[search->widths];
    for (unsigned b = 0; b < search->n; b++) all += cells[b];
    if (all == 0) return;
    for (unsigned b = 0; b < search->n; b++) share[b] = cells[b] / all;
    search->weight[search->widths] = all / width;
    search->width[search->widths++] = width;
    search->all += all / width;
    if (cells[0] == 0) return;
    *empty += cells[0];
    search->total += cells[0] * minus_ln(share[0]) * width;
}

static void search_start(struct search *search, const struct seen *seen, const struct learnt *learnt)
{
    double empty = 0;
    search->n = search->widths = 0;
    search->all = search->total = 0;
    for (unsigned w = 0; w < LEARN_WIDTHS; w++)
        for (unsigned b = search->n; b < LEARN_BINS; b++)
            if (seen->cells[0][w][b]) search->n = b + 1;
    for (unsigned b = 0; b < search->n; b++) search->middle[b] = (double)learnt->middle[b];
    for (unsigned w = 0; w < LEARN_WIDTHS; w++)
        search_width(search, seen->cells[0][w], 1u << (w + LEARN_NARROWEST), &empty);
    search->total = empty >= EMPTY_LEAST ? search->total / empty : 0;
    for (unsigned i = 0; i < search->n; i++)
        for (unsigned k = 0; k <= i; k++) search->meet[i * (i + 1) / 2 + k] = where_both(search, i, k);
}

/* 1 / v^2, for as many as empty cells tell or, if they do not, for the sum of all. Where fewer cells have this sum than
 * would have one such item for themselves, there are fewer. */
static void search_guess(struct search *search)
{
    double mass = 0, items = 0, sum = 0;
    for (unsigned w = 0; w < search->widths; w++)
        for (unsigned b = 0; b < search->n; b++)
            mass += search->weight[w] * search->width[w] * search->share[w][b] * search->middle[b];
    for (unsigned b = 1; b < search->n; b++) {
        search->items[b] = (double)bin_length(b) / (double)bin_first(b) / (double)bin_first(b);
        items += search->items[b];
        sum += search->items[b] * search->middle[b];
    }
    for (unsigned b = 1; b < search->n; b++) {
        double alone = 0, there = 0;
        search->items[b] *= search->total > 0 ? search->total / items : mass / search->all / sum;
        for (unsigned w = 0; w < search->widths; w++) {
            alone += search->weight[w] * search->items[b] * search->share[w][0];
            there += search->weight[w] * search->width[w] * search->share[w][b];
        }
        if (there < alone) search->items[b] *= (there + 0.5) / (alone + 0.5);
    }
}

static inline unsigned both(const struct search *search, unsigned i, unsigned k, double *part)
{
    unsigned far = i > k ? i : k, near = i > k ? k : i, code = search->meet[far * (far + 1) / 2 + near];
    *part = (code & 31) * (1.0 / PARTS);
    return far + (code >> 5);
}

/* What the cells of one width say of g: of each count, how its part in the sums is to what it should be. */
static void search_gain(struct search *search, unsigned w, const unsigned used[], unsigned n)
{
    const double *share = search->share[w];
    double expected[LEARN_BINS + 1] = {0}, ratio[LEARN_BINS + 1] = {0}, part;
    for (unsigned i = 1; i < search->n; i++) {
        double mass = search->items[i] * search->middle[i];
        if (!search->matters[i]) continue;
        for (unsigned k = 0; k < n; k++) {
            unsigned j = both(search, i, used[k], &part);
            expected[j] += mass * share[used[k]] * (1 - part);
            expected[j + 1] += mass * share[used[k]] * part;
        }
    }
    for (unsigned j = 0; j < search->n; j++)
        if (expected[j] > 0) ratio[j] = search->middle[j] * share[j] * search->width[w] / expected[j];
    for (unsigned i = 1; i < search->n; i++) {
        double sum = 0;
        if (!search->matters[i]) continue;
        for (unsigned k = 0; k < n; k++) {
            unsigned j = both(search, i, used[k], &part);
            sum += share[used[k]] * (ratio[j] + part * (ratio[j + 1] - ratio[j]));
        }
        search->gain[i] += search->weight[w] * sum;
    }
}

/* One round. Steps are taken 1.75 times as long as is sure to help: it takes half the rounds. */
static void search_round(struct search *search)
{
    double items = 0, inverse = 0, sum = 0;
    memset(search->gain, 0, sizeof search->gain);
    for (unsigned b = 1; b < search->n; b++) {
        items += search->items[b];
        inverse += search->items[b] / search->middle[b];
        sum += search->items[b] * search->middle[b];
    }
    for (unsigned b = 1; b < search->n; b++)
        search->matters[b] = search->items[b] > 1e-12 * items || search->items[b] * search->middle[b] > 1e-12 * sum;
    for (unsigned w = 0; w < search->widths; w++) {
        unsigned used[LEARN_BINS], n = 0;
        for (unsigned b = 0; b < search->n; b++)
            if (search->share[w][b] > 0) used[n++] = b;
        search_gain(search, w, used, n);
    }
    for (unsigned b = 1; b < search->n; b++) {
        double v = search->middle[b], x = search->gain[b] / search->all, small = items / inverse;
        if (search->total > 0)
            x = (v * x + small * search->total / items) / (v + small); /* the number is for the small */
        search->items[b] *= x * sqrt(x) * sqrt(sqrt(x));
    }
}

static void learn_counts(const struct seen *seen, struct learnt *learnt)
{
    struct search search;
    double items[LEARN_BINS] = {0};
    search_start(&search, seen, learnt);
    search_guess(&search);
    for (unsigned i = 0; i < LEARN_ROUNDS; i++) search_round(&search);
    for (unsigned b = 1; b < search.n; b++) items[b] = search.items[b];
    counts_are(items, seen, learnt);
    learnt->crowded = search.total == 0;
}

/* Where sums of both signs cancel, parts do not add up. Each cell then counts as if it had one item. */
static void learn_signed(const struct seen *seen, struct learnt *learnt)
{
    double items[LEARN_BINS] = {0};
    for (unsigned b = 1; b < LEARN_BINS; b++)
        for (unsigned w = 0; w < LEARN_WIDTHS; w++) items[b] += seen->cells[0][w][b] / 2.0 / seen->blocks;
    counts_are(items, seen, learnt);
    learnt->crowded = false;
}

void learn(const struct blocks *blocks, struct learnt *learnt)
{
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    see_blocks(blocks, &seen);
    uint32_t any = seen.positive + seen.negative;
    learnt->any = any > 0;
    if (!any) return;
    learnt->sign = seen.negative == 0 ? 1 : seen.positive == 0 ? -1 : 0;
    learnt->negative = (float)seen.negative / (float)any;
    for (unsigned b = 0; b < LEARN_BINS; b++) {
        learnt->first[b] = bin_first(b);
        learnt->length[b] = bin_length(b);
        learnt->middle[b] =
            seen.number[b] ? (float)(seen.sum[b] / seen.number[b]) : bin_first(b) + (bin_length(b) - 1) / 2;
    }
    learn_noise(&seen, learnt);
    if (learnt->sign) learn_counts(&seen, learnt);
    else learn_signed(&seen, learnt);
    learn_worth(&seen, learnt);
}
