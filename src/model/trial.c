/* trial: how much relative errors are worth beside absolute ones, and what errors to expect of items of blocks that
 * share. Items are drawn from what was learnt, meet noise as the cells have it, and are answered. */
#include <math.h>

#include "model/posterior.h"

/* Draws of every count, and of all more in proportion to how likely they are; the worths that are tried. */
enum { DRAWS_LEAST = 4, DRAWS = 1200, WORTHS = 10 };

struct trial {
    const struct learnt *learnt;
    const struct seen *seen;
    struct weighing weighing[WORTHS];
    unsigned drawn;
    uint32_t below[2][LEARN_WIDTHS][LEARN_ROOM]; /* of seen->cells: the sum of the bins before */
    double aae[WORTHS], are[WORTHS], rule;
};

/* Number i of some that are spread evenly between 0 and 1, in five independent ways. */
static double even(unsigned i, unsigned way)
{
    static const double root[5] = {1.4142135623730951, 1.7320508075688772, 2.23606797749979, 2.6457513110645907,
                                   3.3166247903554}; /* of primes */
    double x = 0.5 + (i + 1) * root[way];
    return x - floor(x);
}

/* An integer of a bin, of which this share is below it: as far as both sides of the middle of what was seen reach. */
static double inside(const struct trial *trial, unsigned bin, double share)
{
    const double middle = (double)trial->learnt->middle[bin], below = middle - (double)bin_first(bin);
    if (trial->seen->number[bin] == 0) return floor(middle);
    double reach = fmin(below, (double)bin_length(bin) - 1 - below);
    return floor(middle + (2 * share - 1) * reach + 0.5);
}

static double draw_noise(const struct trial *trial, unsigned cap, unsigned width, double u)
{
    const uint32_t *below = trial->below[cap][__builtin_ctz(width) - LEARN_NARROWEST];
    const double at = u * below[LEARN_BINS];
    const uint32_t whole = (uint32_t)at;
    unsigned bin = 0;
    if (below[LEARN_BINS] == 0) return 0;
    for (unsigned half = 128; half > 0; half /= 2) /* without branches, which nothing could foresee */
        bin += half & -(unsigned)((bin + half < LEARN_BINS) & (below[bin + half] <= whole));
    return inside(trial, bin, (at - below[bin]) / (below[bin + 1] - below[bin]));
}

static double draw_count(const struct trial *trial, double u)
{
    const struct learnt *learnt = trial->learnt;
    unsigned b = 1;
    while (b + 2 < LEARN_BINS && (double)learnt->below[b + 1] <= u) b++;
    return inside(trial, b, (u - (double)learnt->below[b]) / (double)learnt->count[b]);
}

/* What an item of this count reads. */
static void draw_reading(struct trial *trial, double count, struct reading *reading)
{
    const struct seen *seen = trial->seen;
    unsigned i = trial->drawn++, cap = seen->cap_step[i % seen->caps];
    uint64_t key = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    double twin = even(i, 3) < (double)trial->learnt->twin ? draw_count(trial, even(i, 4)) : 0;
    *reading = (struct reading){.step = seen->step[i % seen->blocks], .values = 3};
    for (unsigned k = 0; k < 3; k++) {
        reading->width[k] = k < 2 ? step_width(reading->step, k, key) : step_width(cap, 0, key);
        double noise = draw_noise(trial, k == 2, reading->width[k], even(i, k));
        reading->value[k] = (int64_t)fmin(count + noise + (k < 2 ? twin : 0), 0x1p62);
    }
}

/* An item that stands for this share of all. */
static void try_item(struct trial *trial, double count, double share)
{
    struct reading reading;
    double answer[WORTHS];
    draw_reading(trial, count, &reading);
    posterior_alike(trial->learnt, &reading, 0, trial->weighing, WORTHS, answer);
    for (unsigned k = 0; k < WORTHS; k++) {
        double error = fabs(answer[k] - count);
        trial->aae[k] += share * error;
        trial->are[k] += share * error / count;
    }
    trial->rule += share * ((double)reading_upper(&reading) - count);
}

static double mean_count(const struct learnt *learnt)
{
    double sum = 0;
    for (unsigned b = 1; b < LEARN_BINS; b++)
        if (learnt->count[b] > 1e-7f) sum += (double)learnt->count[b] * (double)learnt->middle[b];
    return sum;
}

/* How far a worth is too high, from 1 on. At the right one, kappa is half of what absolute errors are over relative
 * ones: then, each over what it is, absolute errors weigh twice. And they are not to be above the rule's. */
static double excess(const struct trial *trial, unsigned k)
{
    double errors = trial->aae[k] / (2 * trial->are[k] + 1e-30), rule = trial->aae[k] / (0.97 * trial->rule + 1e-30);
    rule *= rule;
    return fmax((double)trial->weighing[k].relative / (errors + 1e-30), rule * rule);
}

/* The first place, from the least worth up, where it becomes too high. What the errors are there changes slowly, and so
 * does the place, from one budget to the next. */
static void trial_end(const struct trial *trial, struct learnt *learnt)
{
    unsigned k = 0;
    while (k + 2 < WORTHS && excess(trial, k + 1) < 1) k++;
    double low = excess(trial, k), high = excess(trial, k + 1);
    double part = high <= 1 ? 1 : low >= 1 ? 0 : (1 - low) / (high - low);
    double here = (double)trial->weighing[k].relative, next = (double)trial->weighing[k + 1].relative;
    learnt->worth = (float)(here + part * (next - here));
    learnt->aae = (float)(trial->aae[k] + part * (trial->aae[k + 1] - trial->aae[k]));
    learnt->are = (float)(trial->are[k] + part * (trial->are[k + 1] - trial->are[k]));
}

static void add_up(struct trial *trial)
{
    for (unsigned cap = 0; cap < 2; cap++)
        for (unsigned w = 0; w < LEARN_WIDTHS; w++)
            for (unsigned b = 0; b < LEARN_BINS; b++)
                trial->below[cap][w][b + 1] = trial->below[cap][w][b] + trial->seen->cells[cap][w][b];
}

void learn_worth(const struct seen *seen, struct learnt *learnt)
{
    struct trial trial = {.learnt = learnt, .seen = seen};
    add_up(&trial);
    double worth = mean_count(learnt) / 64;
    trial.weighing[0] = (struct weighing){1, 0, 0.5f};
    for (unsigned k = 1; k < WORTHS; k++, worth *= 2) trial.weighing[k] = (struct weighing){1, (float)worth, 0.5f};
    for (unsigned b = 1; b < LEARN_BINS; b++) {
        double share = (double)learnt->count[b];
        if (share < 1e-7) continue;
        unsigned draws = DRAWS_LEAST + (unsigned)(share * DRAWS);
        for (unsigned i = 0; i < draws; i++) try_item(&trial, inside(&trial, b, (i + 0.5) / draws), share / draws);
    }
    trial_end(&trial, learnt);
}
