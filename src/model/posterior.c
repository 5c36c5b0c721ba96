/* posterior, where counts are above 0. Loops go over whole chunks of LANES, so that the compiler can make vectors of
 * them, and sums are taken in an order that does not depend on what vectors there are. */
#include "model/posterior.h"

enum { LANES = 16, ROOM = 2 * (LEARN_BINS + 4) + 2 * LANES, TABLES = 3 };

/* Counts in rising order. Each stands for some integers around it: the lower half of all counts by the bins of the
 * count, the upper half by the bins of what is missing to the bound. Below them all are the counts that are so small
 * beside the reads that each leaves the same noise: these are known by sums alone. */
struct candidates {
    unsigned low;       /* the first bin that is not among the small */
    unsigned lower, n;  /* of the lower half; of all, with enough behind to fill a chunk */
    double whole_bound; /* floats have no more than 24 bits of it */
    float bound;
    float missing[ROOM];         /* to the bound */
    float inverse[ROOM];         /* of the count */
    float prior[ROOM];           /* how likely, before reads are known */
    float rows[ROOM], cap[ROOM]; /* ... times how likely the noise is in the rows; and that in the cap */
};

/* Where the noise of the three reads is looked up, and by what it is multiplied so that products stay in range. */
struct lookup {
    const float *table[TABLES];
    float above[TABLES]; /* the read, over the bound */
    float scale[TABLES];
};

static inline float look(const struct lookup *lookup, unsigned k, float missing)
{
    return lookup->table[k][bin_of(missing + lookup->above[k])] * lookup->scale[k];
}

static float least_of(float a, float b)
{
    return a < b ? a : b;
}

static void lookup_start(const struct learnt *learnt, const struct reading *reading, int64_t bound,
                         struct lookup *lookup)
{
    for (unsigned k = 0; k < TABLES; k++) {
        const float *table = learnt->noise[k == 2][__builtin_ctz(reading->width[k]) - LEARN_NARROWEST];
        lookup->table[k] = table;
        lookup->above[k] = (float)(reading->value[k] - bound);
        lookup->scale[k] = 1 / __builtin_sqrtf(table[0] * table[bin_of((float)reading->value[k])]);
    }
}

/* The lower half. Its last bin may go beyond: then it counts in part. */
static void put_lower(const struct learnt *learnt, float half, struct candidates *c)
{
    unsigned last = bin_of(half);
    c->lower = half >= 1 ? last + 1 - c->low : 0;
    for (unsigned i = 0; i < c->lower; i++) {
        float count = learnt->middle[c->low + i];
        c->missing[i] = c->bound - count;
        c->inverse[i] = 1 / count;
        c->prior[i] = learnt->count[c->low + i];
    }
    if (c->lower == 0) return;
    float part = half + 1 - learnt->first[last], count = least_of(learnt->middle[last], half);
    c->prior[c->lower - 1] *= least_of(part / learnt->length[last], 1);
    c->missing[c->lower - 1] = c->bound - count;
    c->inverse[c->lower - 1] = 1 / count;
}

/* The upper half, from the most that may be missing down to 0. */
static void put_upper(const struct learnt *learnt, float rest, struct candidates *c)
{
    unsigned last = bin_of(rest);
    c->n = c->lower + last + 1;
    for (unsigned i = 0; i <= last; i++) {
        unsigned bin = last - i, at = c->lower + i;
        float length = i > 0 ? learnt->length[bin] : rest + 1 - learnt->first[bin];
        float missing = learnt->first[bin] + (length - 1) / 2, count = c->bound - missing;
        unsigned of = bin_of(count);
        c->missing[at] = missing;
        c->inverse[at] = 1 / count;
        c->prior[at] = learnt->count[of] / learnt->length[of] * length;
    }
    for (; c->n % LANES; c->n++) c->missing[c->n] = c->inverse[c->n] = c->prior[c->n] = 0;
}

/* Eight and eight, four and four, ...: the order in which vectors add up. */
static inline float sum_lanes(const float x[LANES])
{
    float sum[LANES / 2];
    for (unsigned i = 0; i < LANES / 2; i++) sum[i] = x[i] + x[i + LANES / 2];
    for (unsigned i = 0; i < LANES / 4; i++) sum[i] += sum[i + LANES / 4];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* How likely the reads are; returns Z. */
static float weigh_reads(const struct lookup *lookup, struct candidates *c)
{
    float lanes[LANES] = {0};
    for (unsigned at = 0; at < c->n; at += LANES)
        for (unsigned i = 0; i < LANES; i++) {
            float missing = c->missing[at + i];
            float rows = c->prior[at + i] * look(lookup, 0, missing) * look(lookup, 1, missing);
            c->rows[at + i] = rows;
            c->cap[at + i] = look(lookup, 2, missing);
            lanes[i] += rows;
        }
    return sum_lanes(lanes);
}

/* What lies below the candidates: an item that never came, and small counts. */
struct beneath {
    float absent, small; /* what 1 of prior weighs; 0 if there is none */
};

/* The bin of small counts up to which there is more than this weight. */
static double find_small(const struct learnt *learnt, const struct weighing *w, float weight, unsigned end)
{
    for (unsigned b = 1; b + 1 < end; b++)
        if (w->absolute * learnt->below[b + 1] + w->relative * learnt->below_inverse[b + 1] > weight)
            return (double)learnt->middle[b];
    return (double)learnt->middle[end - 1];
}

static double find(const struct learnt *learnt, const struct candidates *c, const struct beneath *beneath, float twins,
                   const struct weighing *w)
{
    float weight[ROOM], sum[ROOM / LANES];
    float absent = beneath->absent * (w->absolute + w->relative);
    float small = beneath->small * (w->absolute * learnt->below[c->low] + w->relative * learnt->below_inverse[c->low]);
    float all = absent + small;
    for (unsigned at = 0; at < c->n; at += LANES) {
        for (unsigned i = 0; i < LANES; i++)
            weight[at + i] = (c->rows[at + i] + twins * c->prior[at + i]) * c->cap[at + i] *
                             (w->absolute + w->relative * c->inverse[at + i]);
        sum[at / LANES] = sum_lanes(weight + at);
        all += sum[at / LANES];
    }
    float below = w->share * all;
    if (!(all > 0)) return c->whole_bound; /* nothing is likely at all */
    if (below < absent) return 0;
    below -= absent;
    if (below < small) return find_small(learnt, w, below / beneath->small, c->low);
    below -= small;
    unsigned at = 0;
    while (at + LANES < c->n && below >= sum[at / LANES]) below -= sum[at / LANES], at += LANES;
    while (at + 1 < c->n && (below >= weight[at] || weight[at] == 0)) below -= weight[at], at++;
    while (at > 0 && c->prior[at] == 0) at--; /* rounding may have gone beyond the last */
    return c->whole_bound - (double)c->missing[at];
}

void posterior_alike(const struct learnt *learnt, const struct reading *reading, float absent,
                     const struct weighing weighing[], unsigned n, double answer[])
{
    int64_t bound = reading_upper(reading), half = bound / 2;
    struct candidates c;
    struct lookup lookup;
    c.bound = (float)bound;
    c.whole_bound = (double)bound;
    c.low = bound > 32 ? bin_of((float)(bound / 16)) : 1;
    lookup_start(learnt, reading, bound, &lookup);
    put_lower(learnt, (float)half, &c);
    put_upper(learnt, (float)(bound - half - 1), &c);
    float z = weigh_reads(&lookup, &c);
    float none = look(&lookup, 0, c.bound) * look(&lookup, 1, c.bound), cap = look(&lookup, 2, c.bound);
    z += none * learnt->below[c.low];
    float twins = learnt->twin * z;
    struct beneath beneath = {absent * (none + twins) * cap, (none + twins) * cap};
    for (unsigned i = 0; i < n; i++) answer[i] = find(learnt, &c, &beneath, twins, &weighing[i]);
}
