/* The body of posterior_alike(), compiled for each kind of CPU, and for a GPU: POSTERIOR is its name, WIDE how many
 * floats a vector has, 8, 4 or, on a GPU, 1. Sums are taken in one order, as vectors of 8 or pairs of vectors of 4 add
 * up: all give the same bits. A thread of a GPU has no memory to speak of, and computes again what others keep. */
#pragma once

#include "model/posterior.h"

#ifdef POSTERIOR

enum { QUAD = 4, CHUNK = 8, ROOM = CHUNK + LEARN_ROOM, TABLES = 3 };

#if WIDE > 1
typedef float floats __attribute__((vector_size(WIDE * sizeof(float))));
typedef int32_t integers __attribute__((vector_size(WIDE * sizeof(int32_t))));
typedef float quad __attribute__((vector_size(QUAD * sizeof(float))));
#else
typedef float floats; /* and whoever includes this has a quad: four floats that are added by + */
#endif

/* Where the noise of the three reads is looked up, and by what it is multiplied so that products stay in range. */
struct lookup {
    const float *table[TABLES];
    float above[TABLES]; /* the read, over the bound */
    float scale[TABLES];
};

/* Counts that are weighed, each of which stands for some integers around it. The first chunk are the last bins of the
 * lower half of all counts; from the second on come, by the steps of what is missing to the bound, all of the upper
 * half, the largest count first. What is beyond has prior 0. Below them are the counts that are so small beside the
 * reads that each leaves the same noise: these are known by sums alone. Where bins have one integer, all are lower. */
struct candidates {
    const struct learnt *learnt;
    struct lookup lookup;
    unsigned low;            /* the first bin that is not among the small */
    unsigned lower, end;     /* where, in whole quads, the lower half ends, and the upper */
    float bound, half, rest; /* the most of the lower half; the most that is missing in the upper */
    double whole_bound;      /* floats have no more than 24 bits of it */
#if WIDE > 1
    float missing[ROOM]; /* to the bound */
    float inverse[ROOM]; /* of the count */
    float rows[ROOM];    /* how likely the noise is in the rows */
    float likely[ROOM];  /* ... in the cap, times prior: how likely the count is, before reads are known */
    float alone[ROOM];   /* what each weighs, if no other item has the same print, ... */
    float twinned[ROOM]; /* ... and 1 of twins more */
#endif
};

/* A vector of them. */
struct some {
    floats missing, inverse, rows, likely, z; /* z: their part of Z */
};

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

static inline floats load(const float *x)
{
    floats v;
    __builtin_memcpy(&v, x, sizeof v);
    return v;
}

#if WIDE > 1

static inline void store(float *x, floats v)
{
    __builtin_memcpy(x, &v, sizeof v);
}

static inline floats choose(integers which, floats a, floats b)
{
    return (floats)(((integers)a & which) | ((integers)b & ~which));
}

static inline floats least_of(floats a, floats b)
{
    return choose(a < b, a, b);
}

static inline floats most_of(floats a, floats b)
{
    return choose(a > b, a, b);
}

/* What a table has for bin_of() each. */
static inline floats look_up(const float table[LEARN_ROOM], floats sum)
{
    integers exact = __builtin_convertvector(sum, integers), small = sum < 4;
    integers bin = (exact & small) | ((((integers)sum >> 21) - 512) & ~small);
#if WIDE == 8
    return (floats)_mm256_i32gather_ps(table, (__m256i)bin, sizeof *table);
#else
    return (floats){table[bin[0]], table[bin[1]], table[bin[2]], table[bin[3]]};
#endif
}

#else

static inline float least_of(float a, float b)
{
    return a < b ? a : b;
}

static inline float most_of(float a, float b)
{
    return a > b ? a : b;
}

static inline float look_up(const float table[LEARN_ROOM], float sum)
{
    return table[bin_of(sum)];
}

#endif

/* Sums by place in a chunk. */
struct sums {
    floats part[CHUNK / WIDE];
};

static inline float sum_quad(quad x)
{
    return (x[0] + x[2]) + (x[1] + x[3]);
}

static inline float sum_of(const struct sums *sums)
{
    quad half[2];
    __builtin_memcpy(half, sums, sizeof half);
    return sum_quad(half[0] + half[1]);
}

/* ---- what is likely ---------------------------------------------------------------------------------------------- */

static inline float look(const struct lookup *lookup, unsigned k, float missing)
{
    return lookup->table[k][bin_of(missing + lookup->above[k])] * lookup->scale[k];
}

/* By what noise from 0 to a read is multiplied to be around 1: a power of two, for which exponents alone are looked at;
 * the product of two rows must be finite. */
static inline float scale_of(const float table[LEARN_ROOM], int64_t read)
{
    enum { BIAS = 127, SHIFT = 23, MOST = 62 };
    uint32_t first, last, scale;
    __builtin_memcpy(&first, &table[0], sizeof first);
    __builtin_memcpy(&last, &table[bin_of((float)read)], sizeof last);
    scale = 2 * BIAS - ((first >> SHIFT) + (last >> SHIFT)) / 2;
    scale = (scale < BIAS + MOST ? scale : BIAS + MOST) << SHIFT;
    float factor;
    __builtin_memcpy(&factor, &scale, sizeof factor);
    return factor;
}

static inline void lookup_start(const struct learnt *learnt, const struct reading *reading, int64_t bound,
                                struct lookup *lookup)
{
    for (unsigned k = 0; k < TABLES; k++) {
        unsigned width = (unsigned)__builtin_ctz(reading->width[k]) - LEARN_NARROWEST;
        lookup->table[k] = learnt->noise[k == 2][width];
        lookup->above[k] = (float)(reading->value[k] - bound);
        lookup->scale[k] = scale_of(lookup->table[k], reading->value[k]);
    }
}

static inline floats look_at(const struct lookup *lookup, unsigned k, floats missing)
{
    return look_up(lookup->table[k], missing + lookup->above[k]) * lookup->scale[k];
}

/* Candidates, and how likely the reads are if it is these. */
static inline struct some some_of(const struct lookup *lookup, floats count, floats missing, floats prior)
{
    floats rows = look_at(lookup, 0, missing) * look_at(lookup, 1, missing);
    struct some some = {missing, 1 / count, rows, look_at(lookup, 2, missing) * prior, rows * prior};
    return some;
}

/* How many integers of these bins are not above the most. */
static inline floats part_of(floats first, floats length, float most)
{
    const floats zero = {0};
    return least_of(length, most_of(most + 1 - first, zero));
}

static inline struct some some_lower(const struct candidates *c, unsigned at)
{
    const struct learnt *learnt = c->learnt;
    const unsigned bin = c->low + at;
    const floats zero = {0};
    floats count = most_of(least_of(load(learnt->middle + bin), zero + c->half), zero + 1);
    floats prior =
        load(learnt->density + bin) * part_of(load(learnt->first + bin), load(learnt->length + bin), c->half);
    return some_of(&c->lookup, count, c->bound - count, prior);
}

static inline struct some some_upper(const struct candidates *c, unsigned at)
{
    const struct learnt *learnt = c->learnt;
    const unsigned step = at - CHUNK;
    const floats zero = {0}, first = load(learnt->step_first + step);
    const floats part = part_of(first, load(learnt->step_length + step), c->rest);
    floats missing = least_of(first + most_of((part - 1) * 0.5f, zero), zero + c->rest);
    floats count = c->bound - missing;
    return some_of(&c->lookup, count, missing, look_up(learnt->density, count) * part);
}

/* ---- what is kept, or computed again ----------------------------------------------------------------------------- */

#if WIDE > 1

static inline floats keep(struct candidates *c, unsigned at, struct some some)
{
    store(c->missing + at, some.missing);
    store(c->inverse + at, some.inverse);
    store(c->rows + at, some.rows);
    store(c->likely + at, some.likely);
    return some.z;
}

/* All that weighing needs. */
static inline struct some kept(const struct candidates *c, unsigned at)
{
    struct some some = {.inverse = load(c->inverse + at), .rows = load(c->rows + at), .likely = load(c->likely + at)};
    return some;
}

static inline void keep_weights(struct candidates *c, unsigned at, floats alone, floats twinned)
{
    store(c->alone + at, alone);
    store(c->twinned + at, twinned);
}

/* What four candidates weigh. */
static inline quad weights(const struct candidates *c, unsigned at, float twins, const struct weighing *w)
{
    quad alone, twinned;
    (void)w;
    __builtin_memcpy(&alone, c->alone + at, sizeof alone);
    __builtin_memcpy(&twinned, c->twinned + at, sizeof twinned);
    return alone + twins * twinned;
}

static inline float missing_at(const struct candidates *c, unsigned at)
{
    return c->missing[at];
}

#else

static inline struct some kept(const struct candidates *c, unsigned at)
{
    return at < CHUNK ? some_lower(c, at) : some_upper(c, at);
}

static inline float keep(struct candidates *c, unsigned at, struct some some)
{
    (void)c, (void)at;
    return some.z;
}

static inline void keep_weights(struct candidates *c, unsigned at, float alone, float twinned)
{
    (void)c, (void)at, (void)alone, (void)twinned;
}

static inline quad weights(const struct candidates *c, unsigned at, float twins, const struct weighing *w)
{
    quad x;
    for (unsigned k = 0; k < QUAD; k++) {
        struct some some = kept(c, at + k);
        float weight = some.likely * (w->absolute + w->relative * some.inverse);
        x[k] = some.rows * weight + twins * weight;
    }
    return x;
}

static inline float missing_at(const struct candidates *c, unsigned at)
{
    return kept(c, at).missing;
}

#endif

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static inline void weigh_some(struct candidates *c, unsigned at, const struct weighing *w, floats *alone,
                              floats *twinned)
{
    struct some some = kept(c, at);
    floats weight = some.likely * (w->absolute + w->relative * some.inverse), rows = some.rows * weight;
    keep_weights(c, at, rows, weight);
    *alone += rows;
    *twinned += weight;
}

/* What all candidates weigh. */
static inline float weigh(struct candidates *c, float twins, const struct weighing *w)
{
    struct sums alone = {0}, twinned = {0};
    for (unsigned k = 0; k < CHUNK / WIDE && k * WIDE < c->lower; k++)
        weigh_some(c, k * WIDE, w, &alone.part[k], &twinned.part[k]);
    for (unsigned i = CHUNK; i < c->end; i += CHUNK)
        for (unsigned k = 0; k < CHUNK / WIDE && i + k * WIDE < c->end; k++)
            weigh_some(c, i + k * WIDE, w, &alone.part[k], &twinned.part[k]);
    return sum_of(&alone) + twins * sum_of(&twinned);
}

/* What lies below the candidates: an item that never came, and small counts. */
struct beneath {
    float absent, small; /* what 1 of prior weighs; 0 if there is none */
};

/* The bin of small counts up to which there is more than this weight. */
static inline double find_small(const struct learnt *learnt, const struct weighing *w, float weight, unsigned end)
{
    for (unsigned b = 1; b + 1 < end; b++)
        if (w->absolute * learnt->below[b + 1] + w->relative * learnt->below_inverse[b + 1] > weight)
            return (double)learnt->middle[b];
    return (double)learnt->middle[end - 1];
}

/* What is missing in the candidate up to which there is more than this weight, which is taken from `below` if there is
 * none: from the least count up in the lower half, ... */
static inline bool find_lower(const struct candidates *c, float twins, const struct weighing *w, float *below,
                              float *missing)
{
    for (unsigned at = 0; at < c->lower; at += QUAD) {
        quad weight = weights(c, at, twins, w);
        float sum = sum_quad(weight);
        unsigned found = at, last = c->half < CHUNK ? (unsigned)c->half - 1 : CHUNK - 1;
        if (*below >= sum && (at + QUAD < c->lower || c->end > CHUNK)) {
            *below -= sum;
            continue;
        }
        for (unsigned k = 0; k < QUAD; k++) *below -= weight[k], found += *below >= 0;
        *missing = missing_at(c, found < last ? found : last); /* rounding may lead beyond the last */
        return true;
    }
    return false;
}

/* ... then from the most that is missing down in the upper one. */
static inline float find_upper(const struct candidates *c, float twins, const struct weighing *w, float below)
{
    unsigned at = c->end - QUAD, left = QUAD;
    quad weight = weights(c, at, twins, w);
    for (float sum; at > CHUNK && below >= (sum = sum_quad(weight)); weight = weights(c, at, twins, w))
        below -= sum, at -= QUAD;
    for (unsigned k = QUAD; k-- > 0;) below -= weight[k], left -= below >= 0;
    return missing_at(c, at + (left > 0 ? left - 1 : 0));
}

static inline float find_candidate(const struct candidates *c, float twins, const struct weighing *w, float below)
{
    float missing;
    return find_lower(c, twins, w, &below, &missing) ? missing : find_upper(c, twins, w, below);
}

static inline double find(struct candidates *c, const struct beneath *beneath, float twins, const struct weighing *w)
{
    const struct learnt *learnt = c->learnt;
    float absent = beneath->absent * (w->absolute + w->relative);
    float small = beneath->small * (w->absolute * learnt->below[c->low] + w->relative * learnt->below_inverse[c->low]);
    float all = absent + small + weigh(c, twins, w);
    float below = w->share * all;
    if (!(all > 0)) return c->whole_bound; /* nothing is likely at all */
    if (below < absent) return 0;
    below -= absent;
    if (below < small) return find_small(learnt, w, below / beneath->small, c->low);
    return c->whole_bound - (double)find_candidate(c, twins, w, below - small);
}

/* The lower half begins where it fills its chunk, or at 1. */
static inline void candidates_start(struct candidates *c, int64_t bound)
{
    const bool exact = bound < 8;
    int64_t half = exact ? bound : bound / 2;
    c->bound = (float)bound;
    c->whole_bound = (double)bound;
    c->half = (float)half;
    c->rest = (float)(bound - half - 1);
    unsigned last = bin_of(c->half);
    c->low = last > CHUNK ? last - CHUNK + 1 : 1;
    c->lower = (last - c->low) / QUAD * QUAD + QUAD;
    c->end = exact ? CHUNK : CHUNK + step_of_bin(bin_of(c->rest)) / QUAD * QUAD + QUAD;
}

/* How likely the reads of the rows are, apart from twins. */
static inline float rows_with(const struct lookup *lookup, float missing)
{
    return look(lookup, 0, missing) * look(lookup, 1, missing);
}

void POSTERIOR(const struct learnt *learnt, const struct reading *reading, float absent,
               const struct weighing weighing[], unsigned n, double answer[])
{
    struct candidates c;
    struct beneath beneath = {0, 0};
    struct sums z = {0};
    const struct lookup *lookup = &c.lookup;
    const int64_t *value = reading->value, rows = value[0] < value[1] ? value[0] : value[1];
    const int64_t bound = rows < value[2] ? rows : value[2];
    if (bound == 1 && absent == 0) { /* it came, and not more than once */
        for (unsigned i = 0; i < n; i++) answer[i] = 1;
        return;
    }
    c.learnt = learnt;
    candidates_start(&c, bound);
    lookup_start(learnt, reading, bound, &c.lookup);
    for (unsigned k = 0; k < CHUNK / WIDE && k * WIDE < c.lower; k++)
        z.part[k] += keep(&c, k * WIDE, some_lower(&c, k * WIDE));
    for (unsigned i = CHUNK; i < c.end; i += CHUNK)
        for (unsigned k = 0; k < CHUNK / WIDE && i + k * WIDE < c.end; k++)
            z.part[k] += keep(&c, i + k * WIDE, some_upper(&c, i + k * WIDE));
    float left = c.bound - learnt->below_mean[c.low], few = c.low > 1 ? rows_with(lookup, left) : 0;
    float twins = learnt->twin * (sum_of(&z) + few * learnt->below[c.low]);
    if (c.low > 1) beneath.small = (few + twins) * look(lookup, 2, left);
    if (absent > 0) beneath.absent = absent * (rows_with(lookup, c.bound) + twins) * look(lookup, 2, c.bound);
    for (unsigned i = 0; i < n; i++) answer[i] = find(&c, &beneath, twins, &weighing[i]);
}

#endif
