/* learn: see learn.h. */
#include "model/learn.h"

#include <math.h>
#include <string.h>

/* ---- distributions ----------------------------------------------------------------------------------------------- */

/* Of masses by bins the shares, `tail` more mass among them: of noise, from bin 0 on, spread as 1 / v, since nothing is
 * known of it; of counts, which begin with bin 1, as 1 / v^2. */
static void share_out(const double mass[LEARN_BINS], double tail, unsigned first, double share[LEARN_BINS])
{
    double sum = tail, tails = 0;
    for (unsigned b = first; b < LEARN_BINS; b++) {
        double v = (double)bin_first(b) + 1;
        share[b] = (double)bin_length(b) / (first ? v * v : v);
        tails += share[b];
        sum += mass[b];
    }
    for (unsigned b = first; b < LEARN_BINS; b++) share[b] = (mass[b] + tail / tails * share[b]) / sum;
}

/* A quarter of what few cells show goes to the bins beside: the next cell might have been there. Returns how many cells
 * there are. */
static double smooth(const uint32_t cells[LEARN_BINS], double mass[LEARN_BINS])
{
    double all = 0;
    memset(mass, 0, LEARN_BINS * sizeof *mass);
    for (unsigned b = 0; b < LEARN_BINS; b++) {
        double aside = b >= 8 && b + 1 < LEARN_BINS && cells[b] <= 20 ? 0.25 * cells[b] : 0;
        mass[b] += cells[b] - 2 * aside;
        if (aside > 0) mass[b - 1] += aside, mass[b + 1] += aside;
        all += cells[b];
    }
    return all;
}

static void learn_noise(const struct seen *seen, struct learnt *learnt)
{
    double mass[LEARN_BINS], share[LEARN_BINS];
    for (unsigned cap = 0; cap < 2; cap++)
        for (unsigned w = 0; w < LEARN_WIDTHS; w++) {
            double cells = smooth(seen->cells[cap][w], mass);
            share_out(mass, cap ? 0.5 + 0.02 * cells : 0.5, 0, share);
            float *noise = learnt->noise[cap][w];
            for (unsigned b = 0; b < LEARN_BINS; b++) noise[b] = (float)(share[b] / (double)bin_length(b));
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
        learnt->density[b] = learnt->count[b] / learnt->length[b];
        learnt->below[b] = (float)below;
        learnt->below_inverse[b] = (float)inverse;
        learnt->below_mean[b] = below > 0 ? (float)(below / inverse) : 0;
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
    double slope[LEARN_BINS];                        /* 1 over how far the next middle is; 0 of the last */
    unsigned light[LEARN_BINS];                      /* the bins before this do not lead over the next middle */
    uint8_t meet[LEARN_BINS * (LEARN_BINS + 1) / 2]; /* of bins i and k <= i, if k is not light: where_both() */
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

/* Light bins are below i, and their middles are less than the way to the next middle: they lead in proportion. */
static void search_meet(struct search *search, unsigned i)
{
    const double *middle = search->middle, way = i + 1 < search->n ? middle[i + 1] - middle[i] : HUGE_VAL;
    unsigned k = 0;
    while (k < i && middle[k] < way) k++;
    search->light[i] = k;
    search->slope[i] = 1 / way;
    for (; k <= i; k++) search->meet[i * (i + 1) / 2 + k] = where_both(search, i, k);
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
    for (unsigned i = 0; i < search->n; i++) search_meet(search, i);
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
    unsigned code = search->meet[i * (i + 1) / 2 + k];
    *part = (code & 31) * (1.0 / PARTS);
    return i + (code >> 5);
}

/* Of the bins before one: sums of the cells' shares and of the masses v g(v), and of both times v. */
struct before {
    double share, share_middle, mass, mass_middle;
};

/* What cells of one width should be in each bin, y h(y), if g is right. Each pair of bins, k <= i, meets twice. */
static void search_expect(const struct search *search, const double share[], const double mass[],
                          struct before before[], double expected[])
{
    double part;
    for (unsigned i = 0; i < search->n; i++) {
        const double m = mass[i], h = share[i], v = search->middle[i];
        const struct before sum = before[i], *light = &before[search->light[i]];
        before[i + 1] = (struct before){sum.share + h, sum.share_middle + h * v, sum.mass + m, sum.mass_middle + m * v};
        if (m == 0 && h == 0) continue;
        double next = (m * light->share_middle + h * light->mass_middle) * search->slope[i];
        expected[i] += m * light->share + h * light->mass - next;
        expected[i + 1] += next;
        for (unsigned k = search->light[i]; k <= i; k++) {
            unsigned j = both(search, i, k, &part);
            double x = k < i ? m * share[k] + h * mass[k] : m * h;
            expected[j] += x * (1 - part);
            expected[j + 1] += x * part;
        }
    }
}

/* What g gains if sums are to be multiplied by these ratios: the mean of them over the cells that a count is in. */
static void search_spread(const struct search *search, const double share[], const double ratio[],
                          const struct before before[], double gain[])
{
    double part, constant[LEARN_BINS + 1] = {0}, slope[LEARN_BINS + 1] = {0}; /* for the bins before: what they gain */
    for (unsigned i = 0; i < search->n; i++) {
        const struct before *light = &before[search->light[i]];
        double rise = (ratio[i + 1] - ratio[i]) * search->slope[i];
        gain[i] += ratio[i] * light->share + rise * light->share_middle;
        constant[search->light[i]] += share[i] * ratio[i];
        slope[search->light[i]] += share[i] * rise;
        for (unsigned k = search->light[i]; k <= i; k++) {
            unsigned j = both(search, i, k, &part);
            double x = ratio[j] + part * (ratio[j + 1] - ratio[j]);
            gain[i] += share[k] * x;
            if (k < i) gain[k] += share[i] * x;
        }
    }
    for (unsigned i = search->n; i-- > 0;) {
        constant[i] += constant[i + 1];
        slope[i] += slope[i + 1];
        gain[i] += constant[i + 1] + slope[i + 1] * search->middle[i];
    }
}

/* What the cells of one width say of g: of each count, how its part in the sums is to what it should be. */
static void search_gain(struct search *search, unsigned w)
{
    const double *share = search->share[w], *middle = search->middle;
    double mass[LEARN_BINS], expected[LEARN_BINS + 1] = {0}, ratio[LEARN_BINS + 1] = {0}, gain[LEARN_BINS] = {0};
    struct before before[LEARN_BINS + 1] = {{0}};
    mass[0] = 0;
    for (unsigned i = 1; i < search->n; i++) mass[i] = search->matters[i] ? search->items[i] * middle[i] : 0;
    search_expect(search, share, mass, before, expected);
    for (unsigned j = 0; j < search->n; j++)
        if (expected[j] > 0) ratio[j] = middle[j] * share[j] * search->width[w] / expected[j];
    search_spread(search, share, ratio, before, gain);
    for (unsigned i = 1; i < search->n; i++) search->gain[i] += search->matters[i] ? search->weight[w] * gain[i] : 0;
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
    for (unsigned w = 0; w < search->widths; w++) search_gain(search, w);
    for (unsigned b = 1; b < search->n; b++) {
        double v = search->middle[b], x = search->gain[b] / search->all, small = items / inverse;
        if (search->total > 0)
            x = (v * x + small * search->total / items) / (v + small); /* the number is for the small */
        search->items[b] *= x * sqrt(x) * sqrt(sqrt(x));
    }
}

static void learn_counts(const struct seen *seen, struct search *search, struct learnt *learnt)
{
    double items[LEARN_BINS] = {0};
    search_start(search, seen, learnt);
    search_guess(search);
    for (unsigned i = 0; i < LEARN_ROUNDS; i++) search_round(search);
    for (unsigned b = 1; b < search->n; b++) items[b] = search->items[b];
    counts_are(items, seen, learnt);
    learnt->crowded = search->total == 0;
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

struct room {
    struct histogram histogram;
    struct seen seen;
    struct search search;
};

_Static_assert(sizeof(struct room) <= LEARN_BYTES, "the callers' room is enough");

/* What follows from bins alone, and where in its bins the cells are. */
static void learn_bins(const struct seen *seen, struct learnt *learnt)
{
    for (unsigned b = 0; b < LEARN_BINS; b++) {
        learnt->first[b] = bin_first(b);
        learnt->length[b] = bin_length(b);
        learnt->middle[b] = seen->middle[b];
        if (b < 12 || b % 2 == 0) learnt->step_first[step_of_bin(b)] = bin_first(b);
        learnt->step_length[step_of_bin(b)] += bin_length(b);
    }
}

void learn_from(const struct histogram *histogram, struct learnt *learnt, void *bytes)
{
    struct room *room = bytes;
    struct seen *seen = &room->seen;
    histogram_round(histogram, seen);
    const struct hash of = hash_bytes(seen, sizeof *seen, seed_of(0));
    if (of.lo == learnt->of.lo && of.hi == learnt->of.hi) return;
    memset(learnt, 0, sizeof *learnt);
    learnt->of = of;
    learnt->unit = seen->unit;
    uint32_t any = seen->positive + seen->negative;
    learnt->any = any > 0;
    if (!any) return;
    learnt->sign = seen->negative == 0 ? 1 : seen->positive == 0 ? -1 : 0;
    learnt->negative = (float)seen->negative / (float)any;
    learn_bins(seen, learnt);
    learn_noise(seen, learnt);
    if (learnt->sign) learn_counts(seen, &room->search, learnt);
    else learn_signed(seen, learnt);
    learn_worth(seen, learnt);
}

void learn(const struct blocks *blocks, struct learnt *learnt, void *bytes)
{
    struct room *room = bytes;
    learnt->of = (struct hash){0, 0};
    histogram_scan(blocks, &room->histogram);
    learn_from(&room->histogram, learnt, room);
}
