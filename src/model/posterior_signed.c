/* posterior, where counts of both signs share cells. */
#include <math.h>
#include <stdlib.h>

#include "model/posterior.h"

/* A count may lie on either side of 0 and of each read; likely ones are near one of these. So the integers are cut
 * where bins around any of them begin, and each piece counts by its middle. */
enum { CUTS = 4 * (2 * LEARN_BINS) };

struct pieces {
    unsigned cuts;                  /* the last piece begins with the last but one */
    double cut[CUTS], likely[CUTS]; /* where a piece begins, and how likely it is; 0 if it has no integer */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void cut_around(struct pieces *pieces, double centre, double reach)
{
    for (unsigned b = 0; b < LEARN_BINS && (double)bin_first(b) <= reach; b++) {
        pieces->cut[pieces->cuts++] = centre + (double)bin_first(b);
        pieces->cut[pieces->cuts++] = centre + 1 - (double)bin_first(b);
    }
}

static double with_sign(const struct learnt *learnt, double x)
{
    double negative = fmin(fmax((double)learnt->negative, 1e-3), 1 - 1e-3);
    return x == 0 ? 1 : x < 0 ? negative : 1 - negative;
}

static double noise_of(const struct learnt *learnt, const struct reading *reading, unsigned k, double count)
{
    double noise = (double)reading->value[k] - count;
    const float *table = learnt->noise[k == 2][__builtin_ctz(reading->width[k]) - LEARN_NARROWEST];
    return (double)table[bin_of((float)fabs(noise))] * with_sign(learnt, noise);
}

static double piece_length(const struct pieces *p, unsigned i)
{
    return p->cut[i + 1] - p->cut[i];
}

static double piece_count(const struct pieces *p, unsigned i)
{
    return p->cut[i] + floor((piece_length(p, i) - 1) / 2);
}

/* How likely a piece is before reads are known. */
static double piece_prior(const struct learnt *learnt, const struct pieces *p, unsigned i, double absent)
{
    double count = piece_count(p, i), length = piece_length(p, i);
    if (length < 1) return 0;
    if (count == 0) return absent;
    return (double)learnt->density[bin_of((float)fabs(count))] * length * with_sign(learnt, count);
}

static void weigh_pieces(const struct learnt *learnt, const struct reading *reading, double absent, struct pieces *p)
{
    double z = 0;
    for (unsigned i = 0; i + 1 < p->cuts; i++) {
        double count = piece_count(p, i);
        p->likely[i] = piece_prior(learnt, p, i, absent) * noise_of(learnt, reading, 0, count) *
                       noise_of(learnt, reading, 1, count);
        z += p->likely[i];
    }
    for (unsigned i = 0; i + 1 < p->cuts; i++) {
        double twin = (double)learnt->twin * z * piece_prior(learnt, p, i, absent);
        p->likely[i] = (p->likely[i] + twin) * noise_of(learnt, reading, 2, piece_count(p, i));
    }
}

static double piece_weight(const struct pieces *p, unsigned i, const struct weighing *w)
{
    return p->likely[i] * ((double)w->absolute + (double)w->relative / fmax(1, fabs(piece_count(p, i))));
}

static double find_piece(const struct pieces *p, const struct weighing *w)
{
    double all = 0, below = 0, last = 0;
    for (unsigned i = 0; i + 1 < p->cuts; i++) all += piece_weight(p, i, w);
    for (unsigned i = 0; i + 1 < p->cuts && below <= (double)w->share * all; i++) {
        if (p->likely[i] == 0) continue;
        below += piece_weight(p, i, w);
        last = piece_count(p, i);
    }
    return last;
}

void posterior_signed(const struct learnt *learnt, const struct reading *reading, float absent,
                      const struct weighing weighing[], unsigned n, double answer[])
{
    struct pieces pieces = {.cuts = 0};
    double reach = 1;
    for (unsigned k = 0; k < 3; k++) reach = fmax(reach, 2 * fabs((double)reading->value[k]));
    cut_around(&pieces, 0, reach);
    for (unsigned k = 0; k < 3; k++) cut_around(&pieces, (double)reading->value[k], reach);
    qsort(pieces.cut, pieces.cuts, sizeof *pieces.cut, by_value);
    weigh_pieces(learnt, reading, (double)absent, &pieces);
    for (unsigned i = 0; i < n; i++) answer[i] = find_piece(&pieces, &weighing[i]);
}
