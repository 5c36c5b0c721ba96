/* posterior: what src/model/posterior_body.h and posterior_signed.c compute, by one thread and without memory: what
 * they keep in arrays is computed twice. Sums are taken in their order, so that the bits are the same. */
#pragma once

#include "cuda/device.cuh"

enum { PLACES = 8, QUAD = 4, TABLES = 3 }; /* of posterior_body.h: sums by place in a chunk of 8 */

struct posterior {
    const struct learnt *learnt;
    struct weighing weighing;
    unsigned low, lower, end; /* as in struct candidates there */
    float bound, half, rest;
    const float *table[TABLES];
    float above[TABLES], scale[TABLES];
};

/* What a candidate weighs. */
struct candidate {
    float missing, z, alone, twinned;
};

DEVICE float posterior_look(const struct posterior &p, unsigned k, float missing)
{
    return p.table[k][bin_of(missing + p.above[k])] * p.scale[k];
}

DEVICE float posterior_rows(const struct posterior &p, float missing)
{
    return posterior_look(p, 0, missing) * posterior_look(p, 1, missing);
}

DEVICE float least_float(float a, float b)
{
    return a < b ? a : b;
}

DEVICE float most_float(float a, float b)
{
    return a > b ? a : b;
}

DEVICE float part_of(float first, float length, float most)
{
    return least_float(length, most_float(most + 1 - first, 0));
}

DEVICE struct candidate posterior_at(const struct posterior &p, unsigned at)
{
    const struct learnt *learnt = p.learnt;
    float count, missing, prior;
    if (at < PLACES) {
        const unsigned bin = p.low + at;
        count = most_float(least_float(learnt->middle[bin], p.half), 1);
        prior = learnt->density[bin] * part_of(learnt->first[bin], learnt->length[bin], p.half);
        missing = p.bound - count;
    } else {
        const float first = learnt->step_first[at - PLACES];
        const float part = part_of(first, learnt->step_length[at - PLACES], p.rest);
        missing = least_float(first + most_float((part - 1) * 0.5f, 0), p.rest);
        count = p.bound - missing;
        prior = learnt->density[bin_of(count)] * part;
    }
    float rows = posterior_rows(p, missing), likely = posterior_look(p, 2, missing) * prior;
    float weight = likely * (p.weighing.absolute + p.weighing.relative * (1 / count));
    return {missing, rows * prior, rows * weight, weight};
}

DEVICE float sum_places(const float x[PLACES])
{
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

DEVICE void posterior_start(struct posterior &p, const struct reading &reading, int64_t bound)
{
    const bool exact = bound < 8;
    int64_t half = exact ? bound : bound / 2;
    p.bound = (float)bound;
    p.half = (float)half;
    p.rest = (float)(bound - half - 1);
    unsigned last = bin_of(p.half);
    p.low = last > PLACES ? last - PLACES + 1 : 1;
    p.lower = (last - p.low) / QUAD * QUAD + QUAD;
    p.end = exact ? PLACES : PLACES + step_of_bin(bin_of(p.rest)) / QUAD * QUAD + QUAD;
#pragma unroll
    for (unsigned k = 0; k < TABLES; k++) {
        unsigned width = (unsigned)__builtin_ctz(reading.width[k]) - LEARN_NARROWEST;
        p.table[k] = p.learnt->noise[k == 2][width];
        p.above[k] = (float)(reading.value[k] - bound);
        p.scale[k] = p.learnt->scale[k == 2][width][bin_of((float)reading.value[k])];
    }
}

/* What four candidates weigh, and what is missing in each. */
struct quad {
    float weight[QUAD], missing[QUAD];
};

DEVICE struct quad posterior_quad(const struct posterior &p, unsigned at, float twins)
{
    struct quad quad;
#pragma unroll
    for (unsigned k = 0; k < QUAD; k++) {
        struct candidate c = posterior_at(p, at + k);
        quad.weight[k] = c.alone + twins * c.twinned;
        quad.missing[k] = c.missing;
    }
    return quad;
}

DEVICE float sum_quad(const struct quad &x)
{
    return (x.weight[0] + x.weight[2]) + (x.weight[1] + x.weight[3]);
}

/* What is missing in the candidate up to which there is more than this weight: in the lower half, or the upper. */
DEVICE float find_candidate(const struct posterior &p, float twins, float below)
{
    for (unsigned at = 0; at < p.lower; at += QUAD) {
        struct quad quad = posterior_quad(p, at, twins);
        float sum = sum_quad(quad);
        unsigned found = at, last = p.half < PLACES ? (unsigned)p.half - 1 : PLACES - 1;
        if (below >= sum && (at + QUAD < p.lower || p.end > PLACES)) {
            below -= sum;
            continue;
        }
        for (unsigned k = 0; k < QUAD; k++) below -= quad.weight[k], found += below >= 0;
        return posterior_at(p, found < last ? found : last).missing;
    }
    unsigned at = p.end - QUAD, left = QUAD;
    struct quad quad = posterior_quad(p, at, twins);
    for (float sum; at > PLACES && below >= (sum = sum_quad(quad)); quad = posterior_quad(p, at, twins))
        below -= sum, at -= QUAD;
    for (unsigned k = QUAD; k-- > 0;) below -= quad.weight[k], left -= below >= 0;
    return posterior_at(p, at + (left > 0 ? left - 1 : 0)).missing;
}

DEVICE double find_small(const struct learnt *learnt, const struct weighing &w, float weight, unsigned end)
{
    for (unsigned b = 1; b + 1 < end; b++)
        if (w.absolute * learnt->below[b + 1] + w.relative * learnt->below_inverse[b + 1] > weight)
            return (double)learnt->middle[b];
    return (double)learnt->middle[end - 1];
}

/* As posterior_alike(), for one weighing. */
DEVICE double posterior_one(const struct learnt *learnt, const struct reading &reading, float absent,
                            const struct weighing &w)
{
    struct posterior p;
    p.learnt = learnt;
    p.weighing = w;
    const int64_t bound = reading_upper(&reading);
    float z[PLACES] = {0}, alone[PLACES] = {0}, twinned[PLACES] = {0};
    posterior_start(p, reading, bound);
    for (unsigned first = 0; first < p.end; first += PLACES) {
#pragma unroll
        for (unsigned k = 0; k < PLACES; k++) {
            if (first + k >= (first ? p.end : p.lower)) break;
            struct candidate c = posterior_at(p, first + k);
            z[k] += c.z;
            alone[k] += c.alone;
            twinned[k] += c.twinned;
        }
    }
    float left = p.bound - learnt->below_mean[p.low], few = p.low > 1 ? posterior_rows(p, left) : 0;
    float twins = learnt->twin * (sum_places(z) + few * learnt->below[p.low]);
    float beneath_small = p.low > 1 ? (few + twins) * posterior_look(p, 2, left) : 0, beneath_absent = 0;
    if (absent > 0) beneath_absent = absent * (posterior_rows(p, p.bound) + twins) * posterior_look(p, 2, p.bound);
    float none = beneath_absent * (w.absolute + w.relative);
    float small = beneath_small * (w.absolute * learnt->below[p.low] + w.relative * learnt->below_inverse[p.low]);
    float all = none + small + (sum_places(alone) + twins * sum_places(twinned));
    float below = w.share * all;
    if (!(all > 0)) return (double)bound;
    if (below < none) return 0;
    below -= none;
    if (below < small) return find_small(learnt, w, below / beneath_small, p.low);
    return (double)bound - (double)find_candidate(p, twins, below - small);
}

/* ---- counts of both signs ---------------------------------------------------------------------------------------- */

/* The cuts of posterior_signed.c in rising order: eight rows of them, each in order, of which the least comes next. */
struct cuts {
    double centre[4];
    unsigned bins, at[8]; /* bins of a row; how many of it came */
};

DEVICE double cut_next(const struct cuts &cuts, unsigned row)
{
    unsigned b = row % 2 ? cuts.bins - 1 - cuts.at[row] : cuts.at[row];
    double first = (double)bin_first(b), centre = cuts.centre[row / 2];
    return row % 2 ? centre + 1 - first : centre + first;
}

/* False if there is none. */
DEVICE bool cuts_take(struct cuts &cuts, double &cut)
{
    unsigned least = 8;
    for (unsigned row = 0; row < 8; row++) {
        if (cuts.at[row] == cuts.bins) continue;
        double next = cut_next(cuts, row);
        if (least < 8 && !(next < cut)) continue;
        cut = next;
        least = row;
    }
    if (least < 8) cuts.at[least]++;
    return least < 8;
}

struct signed_question {
    const struct learnt *learnt;
    const struct reading *reading;
    double absent, z;
};

DEVICE double with_sign(const struct learnt *learnt, double x)
{
    double negative = fmin(fmax((double)learnt->negative, 1e-3), 1 - 1e-3);
    return x == 0 ? 1 : x < 0 ? negative : 1 - negative;
}

DEVICE double signed_noise(const struct signed_question &q, unsigned k, double count)
{
    double noise = (double)q.reading->value[k] - count;
    const float *table = q.learnt->noise[k == 2][__builtin_ctz(q.reading->width[k]) - LEARN_NARROWEST];
    return (double)table[bin_of((float)fabs(noise))] * with_sign(q.learnt, noise);
}

DEVICE double signed_prior(const struct signed_question &q, double count, double length)
{
    if (length < 1) return 0;
    if (count == 0) return q.absent;
    return (double)q.learnt->density[bin_of((float)fabs(count))] * length * with_sign(q.learnt, count);
}

/* Goes through all pieces: f(count, likely), before z is known the part of it, then how likely the piece is. */
template <class F> DEVICE void each_piece(const struct signed_question &q, const struct cuts &start, bool final, F f)
{
    struct cuts cuts = start;
    double cut = 0, next = 0;
    cuts_take(cuts, cut);
    for (; cuts_take(cuts, next); cut = next) {
        double length = next - cut, count = cut + floor((length - 1) / 2), prior = signed_prior(q, count, length);
        double likely = prior * signed_noise(q, 0, count) * signed_noise(q, 1, count);
        if (final) likely = (likely + (double)q.learnt->twin * q.z * prior) * signed_noise(q, 2, count);
        f(count, likely);
    }
}

/* As posterior_signed(), for three weighings. It takes a thread some hundred microseconds. */
DEVICE void posterior_three(const struct learnt *learnt, const struct reading &reading, float absent,
                            const struct weighing w[3], double answer[3])
{
    struct signed_question q = {learnt, &reading, (double)absent, 0};
    struct cuts cuts = {{0, (double)reading.value[0], (double)reading.value[1], (double)reading.value[2]}, 0, {0}};
    double reach = 1, all[3] = {0, 0, 0}, below[3] = {0, 0, 0};
    for (unsigned k = 0; k < 3; k++) reach = fmax(reach, 2 * fabs(cuts.centre[k + 1]));
    while (cuts.bins < LEARN_BINS && (double)bin_first(cuts.bins) <= reach) cuts.bins++;
    double z = 0;
    each_piece(q, cuts, false, [&](double, double likely) { z += likely; });
    q.z = z;
    each_piece(q, cuts, true, [&](double count, double likely) {
        for (unsigned i = 0; i < 3; i++)
            all[i] += likely * ((double)w[i].absolute + (double)w[i].relative / fmax(1.0, fabs(count)));
    });
    for (unsigned i = 0; i < 3; i++) answer[i] = 0;
    each_piece(q, cuts, true, [&](double count, double likely) {
        for (unsigned i = 0; i < 3; i++) {
            if (!(below[i] <= (double)w[i].share * all[i]) || likely == 0) continue;
            below[i] += likely * ((double)w[i].absolute + (double)w[i].relative / fmax(1.0, fabs(count)));
            answer[i] = count;
        }
    });
}
