/* The body of posterior_signed(), compiled for the CPU and for a GPU: POSTERIOR_SIGNED is its name.
 *
 * A count may lie on either side of 0 and of each read; likely ones are near one of these. So the integers are cut
 * where bins around any of them begin, and each piece counts by its middle. There are up to two thousand pieces, and
 * none is kept: they are met in rising order, as often as is needed. */
#pragma once

#include <math.h>

#include "model/posterior.h"

#ifdef POSTERIOR_SIGNED

enum { CENTRES = 4, CUT_ROWS = 2 * CENTRES }; /* above a centre the cuts rise with the bins, below it they fall */

struct pieces {
    const struct learnt *learnt;
    const struct reading *reading;
    double absent, centre[CENTRES];
    unsigned bins, met[CUT_ROWS]; /* how many bins are in reach; how many cuts of each row came already, ... */
    double cut[CUT_ROWS];         /* ... and the one that comes next, infinity if there is none */
    double first, next;           /* of this piece, and of the next */
};

static inline double cut_of(const struct pieces *p, unsigned row)
{
    if (p->met[row] >= p->bins) return HUGE_VAL;
    unsigned bin = row % 2 ? p->bins - 1 - p->met[row] : p->met[row];
    double first = (double)bin_first(bin), centre = p->centre[row / 2];
    return row % 2 ? centre + 1 - first : centre + first;
}

/* False if this was the last piece. */
static inline bool pieces_go_on(struct pieces *p)
{
    unsigned least = 0;
    for (unsigned row = 1; row < CUT_ROWS; row++) least = p->cut[row] < p->cut[least] ? row : least;
    p->first = p->next;
    p->next = p->cut[least];
    p->met[least]++;
    p->cut[least] = cut_of(p, least);
    return p->next < HUGE_VAL;
}

static inline void pieces_start(struct pieces *p)
{
    for (unsigned row = 0; row < CUT_ROWS; row++) p->met[row] = 0;
    for (unsigned row = 0; row < CUT_ROWS; row++) p->cut[row] = cut_of(p, row);
    pieces_go_on(p);
}

static inline double with_sign(const struct learnt *learnt, double x)
{
    double negative = fmin(fmax((double)learnt->negative, 1e-3), 1 - 1e-3);
    return x == 0 ? 1 : x < 0 ? negative : 1 - negative;
}

static inline double noise_of_read(const struct pieces *p, unsigned k, double count)
{
    double noise = (double)p->reading->value[k] - count;
    const float *table = p->learnt->noise[k == 2][__builtin_ctz(p->reading->width[k]) - LEARN_NARROWEST];
    return (double)table[bin_of((float)fabs(noise))] * with_sign(p->learnt, noise);
}

static inline double piece_count(const struct pieces *p)
{
    return p->first + floor((p->next - p->first - 1) / 2);
}

/* How likely a piece is before reads are known. */
static inline double piece_prior(const struct pieces *p, double count)
{
    double length = p->next - p->first;
    if (length < 1) return 0;
    if (count == 0) return p->absent;
    return (double)p->learnt->density[bin_of((float)fabs(count))] * length * with_sign(p->learnt, count);
}

/* ... with the reads of the rows, and of all three. */
static inline double piece_in_rows(const struct pieces *p, double count)
{
    return piece_prior(p, count) * noise_of_read(p, 0, count) * noise_of_read(p, 1, count);
}

static inline double piece_likely(const struct pieces *p, double count, double z)
{
    double twin = (double)p->learnt->twin * z * piece_prior(p, count);
    return (piece_in_rows(p, count) + twin) * noise_of_read(p, 2, count);
}

static inline double piece_weight(double likely, double count, const struct weighing *w)
{
    return likely * ((double)w->absolute + (double)w->relative / fmax(1.0, fabs(count)));
}

void POSTERIOR_SIGNED(const struct learnt *learnt, const struct reading *reading, float absent,
                      const struct weighing weighing[], unsigned n, double answer[])
{
    struct pieces p = {learnt, reading, (double)absent, {0}, 0, {0}, {0}, 0, 0};
    double reach = 1, z = 0, all[SIGNED_WEIGHINGS] = {0}, below[SIGNED_WEIGHINGS] = {0};
    for (unsigned k = 0; k < 3; k++) p.centre[k + 1] = (double)reading->value[k];
    for (unsigned k = 0; k < 3; k++) reach = fmax(reach, 2 * fabs(p.centre[k + 1]));
    while (p.bins < LEARN_BINS && (double)bin_first(p.bins) <= reach) p.bins++;
    for (pieces_start(&p); pieces_go_on(&p);) z += piece_in_rows(&p, piece_count(&p));
    for (pieces_start(&p); pieces_go_on(&p);) {
        double count = piece_count(&p), likely = piece_likely(&p, count, z);
        for (unsigned i = 0; i < n; i++) all[i] += piece_weight(likely, count, &weighing[i]);
    }
    for (unsigned i = 0; i < n; i++) answer[i] = 0;
    for (pieces_start(&p); pieces_go_on(&p);) {
        double count = piece_count(&p), likely = piece_likely(&p, count, z);
        for (unsigned i = 0; i < n; i++) {
            if (likely == 0 || !(below[i] <= (double)weighing[i].share * all[i])) continue;
            below[i] += piece_weight(likely, count, &weighing[i]);
            answer[i] = count;
        }
    }
}

#endif
