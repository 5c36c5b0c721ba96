/* posterior, where counts of both signs share cells. */
#include <math.h>
#include <stdlib.h>

#include "model/posterior.h"

/* A count may lie on either side of 0 and of each read; likely ones are near one of these. So the integers are cut
 * where bins around any of them begin, and each piece counts by its middle. */
enum { CUTS = 4 * (2 * LEARN_BINS) };

struct pieces {
    unsigned cuts, n;
    double cut[CUTS], count[CUTS], likely[CUTS];
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

static void weigh_pieces(const struct learnt *learnt, const struct reading *reading, double absent, struct pieces *p)
{
    double z = 0, prior[CUTS];
    p->n = 0;
    for (unsigned i = 0; i + 1 < p->cuts; i++) {
        double length = p->cut[i + 1] - p->cut[i], count = p->cut[i] + floor((length - 1) / 2);
        unsigned bin = bin_of((float)fabs(count));
        if (length < 1) continue;
        p->count[p->n] = count;
        prior[p->n] = count == 0
                          ? absent
                          : (double)learnt->count[bin] / (double)bin_length(bin) * length * with_sign(learnt, count);
        p->likely[p->n] = prior[p->n] * noise_of(learnt, reading, 0, count) * noise_of(learnt, reading, 1, count);
        z += p->likely[p->n++];
    }
    for (unsigned i = 0; i < p->n; i++)
        p->likely[i] = (p->likely[i] + (double)learnt->twin * z * prior[i]) * noise_of(learnt, reading, 2, p->count[i]);
}

static double find_piece(const struct pieces *p, const struct weighing *w)
{
    double all = 0, below = 0, last = 0;
    for (unsigned i = 0; i < p->n; i++)
        all += p->likely[i] * ((double)w->absolute + (double)w->relative / fmax(1, fabs(p->count[i])));
    for (unsigned i = 0; i < p->n && below <= (double)w->share * all; i++) {
        below += p->likely[i] * ((double)w->absolute + (double)w->relative / fmax(1, fabs(p->count[i])));
        last = p->count[i];
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
