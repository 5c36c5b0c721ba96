/* ms_net: one task of the meta-sketch, forward and backward. Included after real, LANES and the tiles are defined (see
 * layers.h): floats for training, doubles where gradients are checked against differences. ms_train.h draws the whole.
 *
 * Items lie in blocks, [feature][item]; the last block is padded with items of frequency 0, which no sum counts. Batch
 * norm needs sums over all items before anything can go on, and so does the memory, so a task is a row of stages with
 * sums between them; a stage goes over all blocks:
 *
 *     forward   embed_0 | embed_1 | embed_2, refine_0 | refine_1 | refine_2, address, store |
 *     both      read, decode, loss, and back to what was read |
 *     backward  store, address, refine_2 | refine_1 | refine_0, embed_2 | embed_1 | embed_0
 *
 * Blocks are dealt out to MS_PARTS parts; each has a gradient and a memory of its own, which are added in order. Only
 * what is needed across stages is kept for each item (struct items); what is cheap to compute again goes to a thread's
 * scratch. Gradients have a d before the name of what they are the gradient of. */
#include "layers.h"
#include "ms_cpu.h"

#include <math.h>

/* Items of a block: 15 vectors of 64 bytes, an odd number of cache lines, so that columns of a product's 256 rows do
 * not all fall into the same sets of the cache. */
#ifndef MS_BLOCK
#define MS_BLOCK 240
#endif
enum { BLOCK = MS_BLOCK, PAIRS = MS_DEPTH * MS_EMBED };
_Static_assert(BLOCK % LANES == 0, "blocks are whole vectors");

static const real norm_epsilon = (real)1e-5, least_z = (real)1e-4, least_gap = (real)1e-4;

struct items {
    real f[1][BLOCK];
    real u0[64][BLOCK], u1[43][BLOCK], v0[32][BLOCK], v1[18][BLOCK];     /* what batch norm gets */
    real du0[64][BLOCK], du1[43][BLOCK], dv0[32][BLOCK], dv1[18][BLOCK]; /* of what it gives, then of that */
    real z[MS_EMBED][BLOCK], q[MS_REFINED][BLOCK], a[MS_DEPTH][MS_SLOTS][BLOCK];
    real dz[MS_EMBED][BLOCK], da[MS_DEPTH][MS_SLOTS][BLOCK];
};

struct scratch {
    real x[MS_BITS][BLOCK], h0[64][BLOCK], h1[43][BLOCK], r0[32][BLOCK], r1[18][BLOCK];
    real fz[MS_EMBED][BLOCK], part[MS_SLOTS][BLOCK], dq[MS_REFINED][BLOCK];
    real in[MS_IN][BLOCK], e[MS_HIDDEN][BLOCK], g[MS_IN][BLOCK], k[MS_HALF][BLOCK], answer[1][BLOCK];
    real din[MS_IN][BLOCK], de[MS_HIDDEN][BLOCK], dg[MS_IN][BLOCK], dk[MS_HALF][BLOCK], danswer[1][BLOCK];
    real read[PAIRS][BLOCK], scale[MS_DEPTH][BLOCK], dread[MS_EMBED][BLOCK];
};

struct slots {
    real m[MS_DEPTH][MS_SLOTS * MS_EMBED];
};

struct part {
    real gradient[MS_PARAMETERS];
    struct slots memory, dmemory;
};

/* Sums over a block: of u and u^2 forward, of dy and dy x backward; and of the errors. */
struct sums {
    double one[MS_NORMED], two[MS_NORMED], mse, are, aae;
};

struct workspace {
    const real *w;
    const uint64_t *bits;
    uint32_t n, blocks;
    double total;                            /* N */
    double mean[MS_NORMED], rest[MS_NORMED]; /* of batch norm: mean, 1 / sqrt(variance + epsilon) */
    double sum_dy[MS_NORMED], sum_dyx[MS_NORMED];
    struct slots memory, dmemory;
    struct part part[MS_PARTS];
    struct sums *sums;       /* of each block */
    struct items *block;
    struct scratch *scratch; /* of each worker */
};

#define FORWARD(layer, slope, x, y) \
    dense_forward(MS_IN_##layer, MS_OUT_##layer, slope, s->w + MS_AT_##layer, &(x)[0][0], &(y)[0][0], BLOCK)
#define BACKWARD(layer, below, x, dy, dx)                                                                    \
    dense_backward(MS_IN_##layer, MS_OUT_##layer, 0, MS_IN_##layer, below, s->w + MS_AT_##layer, &(x)[0][0], \
                   &(dy)[0][0], &(dx)[0][0], BLOCK)
#define BACKWARD_WEIGHTS(layer, x, dy) \
    matrix_backward(MS_IN_##layer, MS_OUT_##layer, &(x)[0][0], &(dy)[0][0], p->gradient + MS_AT_##layer)
#define BACKWARD_BIAS(layer, dy) bias_backward(MS_OUT_##layer, &(dy)[0][0], p->gradient + MS_BIAS_##layer)

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

INLINE real add_lanes(vec x)
{
    real lane[LANES];
    memcpy(lane, &x, sizeof lane);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

/* dw [out][in] += dy x^T, as layers.h does it, but the lanes are added up here: there are too many weights to keep a
 * vector for each. */
INLINE void matrix_tile(const int in, const int R, const int C, int o, int i, const real *x, const real *dy, real *dw)
{
    vec sum[4][4];
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int c = 0; c < C; c++) sum[r][c] = (vec){0};
    for (int at = 0; at < BLOCK; at += LANES) {
        vec down[4];
        UNROLL for (int r = 0; r < R; r++) down[r] = vec_load(dy + (o + r) * BLOCK + at);
        UNROLL for (int c = 0; c < C; c++) {
            vec up = vec_load(x + (i + c) * BLOCK + at);
            UNROLL for (int r = 0; r < R; r++) sum[r][c] += down[r] * up;
        }
    }
    UNROLL for (int r = 0; r < R; r++)
        UNROLL for (int c = 0; c < C; c++) dw[(o + r) * in + i + c] += add_lanes(sum[r][c]);
}

INLINE void matrix_rows(const int in, const int R, int o, const real *x, const real *dy, real *dw)
{
    const int whole = in - in % TILE_IN;
    for (int i = 0; i < whole; i += TILE_IN) matrix_tile(in, R, TILE_IN, o, i, x, dy, dw);
    for (int i = whole; i < in; i++) matrix_tile(in, R, 1, o, i, x, dy, dw);
}

INLINE void matrix_backward(const int in, const int out, const real *x, const real *dy, real *dw)
{
    const int whole = out - out % TILE_OUT;
    for (int o = 0; o < whole; o += TILE_OUT) matrix_rows(in, TILE_OUT, o, x, dy, dw);
    for (int o = whole; o < out; o++) matrix_rows(in, 1, o, x, dy, dw);
}

INLINE void bias_backward(const int out, const real *dy, real *db)
{
    for (int o = 0; o < out; o++) {
        vec sum = {0};
        for (int at = 0; at < BLOCK; at += LANES) sum += vec_load(dy + o * BLOCK + at);
        db[o] += add_lanes(sum);
    }
}

/* Sums of x and of x y over the first `count` items, in doubles. */
static void add_products(const real *restrict x, const real *restrict y, uint32_t count, double *one, double *two)
{
    double a[8] = {0}, b[8] = {0};
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (uint32_t l = 0; l < 8; l++) a[l] += (double)x[i + l], b[l] += (double)x[i + l] * (double)y[i + l];
    for (; i < count; i++) a[0] += (double)x[i], b[0] += (double)x[i] * (double)y[i];
    for (int l = 1; l < 8; l++) a[0] += a[l], b[0] += b[l];
    *one = a[0];
    *two = b[0];
}

/* ---- batch norm: y = act(gamma x + beta), x = (u - mean) / sqrt(variance + epsilon), over all items of the task -- */

struct norm {
    int at, features; /* among means */
    int bias, gamma;  /* among parameters */
    real slope;
};
#define NORM(layer, slope) \
    (struct norm) { MS_NORM_##layer, MS_OUT_##layer, MS_BIAS_##layer, MS_GAMMA_##layer, slope }

/* Sums of u and u^2 of a block. */
static void norm_measure(const struct norm norm, real (*u)[BLOCK], uint32_t count, struct sums *sums)
{
    for (int o = 0; o < norm.features; o++)
        add_products(u[o], u[o], count, &sums->one[norm.at + o], &sums->two[norm.at + o]);
}

/* All blocks' sums -> mean and 1 / sqrt(variance + epsilon) */
static void norm_settle(const struct norm norm, struct workspace *s)
{
    for (int i = norm.at; i < norm.at + norm.features; i++) {
        double one = 0, two = 0;
        for (uint32_t b = 0; b < s->blocks; b++) one += s->sums[b].one[i], two += s->sums[b].two[i];
        s->mean[i] = one / s->n;
        double variance = two / s->n - s->mean[i] * s->mean[i];
        s->rest[i] = 1 / sqrt((variance > 0 ? variance : 0) + (double)norm_epsilon);
    }
}

static void norm_forward(const struct norm norm, struct workspace *s, real (*restrict u)[BLOCK],
                         real (*restrict y)[BLOCK])
{
    for (int o = 0; o < norm.features; o++) {
        double scale = (double)s->w[norm.gamma + o] * s->rest[norm.at + o];
        real a = (real)scale, b = (real)((double)s->w[norm.bias + o] - scale * s->mean[norm.at + o]);
        for (int c = 0; c < BLOCK; c++) {
            real t = a * u[o][c] + b;
            y[o][c] = t > 0 ? t : norm.slope * t;
        }
    }
}

/* Sums of dy and dy x of a block, dy being before the activation; products with u, from which those with x follow. */
static void norm_measure_backward(const struct norm norm, real (*dy)[BLOCK], real (*u)[BLOCK], uint32_t count,
                                  struct sums *sums)
{
    for (int o = 0; o < norm.features; o++)
        add_products(dy[o], u[o], count, &sums->one[norm.at + o], &sums->two[norm.at + o]);
}

/* All blocks' sums -> sum_dy and sum_dyx, which are the gradients of beta and gamma too */
static void norm_settle_backward(const struct norm norm, struct workspace *s)
{
    for (int o = 0; o < norm.features; o++) {
        int i = norm.at + o;
        double one = 0, two = 0;
        for (uint32_t b = 0; b < s->blocks; b++) one += s->sums[b].one[i], two += s->sums[b].two[i];
        s->sum_dy[i] = one;
        s->sum_dyx[i] = (two - s->mean[i] * one) * s->rest[i];
        s->part[0].gradient[norm.bias + o] = (real)s->sum_dy[i];
        s->part[0].gradient[norm.gamma + o] = (real)s->sum_dyx[i];
    }
}

/* du = gamma rest (dy - mean of dy - x mean of dy x), in place; 0 for items that are padding */
static void norm_backward(const struct norm norm, struct workspace *s, real (*restrict u)[BLOCK], uint32_t count,
                          real (*restrict du)[BLOCK])
{
    for (int o = 0; o < norm.features; o++) {
        int i = norm.at + o;
        double scale = (double)s->w[norm.gamma + o] * s->rest[i], slope = s->sum_dyx[i] / s->n * s->rest[i];
        real by = (real)scale, x = (real)(scale * slope);
        real one = (real)(scale * (s->sum_dy[i] / s->n - s->mean[i] * slope));
        for (int c = 0; c < BLOCK; c++) du[o][c] = by * du[o][c] - x * u[o][c] - one;
        for (uint32_t c = count; c < BLOCK; c++) du[o][c] = 0;
    }
}

/* ---- sparsemax (Martins, Astudillo 2016): the nearest point of the simplex --------------------------------------- */

/* a [slots], in place: a = max(a - tau, 0) with tau such that they sum to 1. Taken off the largest first, tau is at
 * least -1; from there, the tau that those above the last one would need, until no slot drops out (Michelot 1986). */
static void sparsemax_forward(real (*a)[BLOCK])
{
    for (int c = 0; c < BLOCK; c += LANES) {
        vec top = vec_load(a[0] + c);
        for (int s = 1; s < MS_SLOTS; s++) {
            vec x = vec_load(a[s] + c);
            top = select_lanes(x > top, x, top);
        }
        for (int s = 0; s < MS_SLOTS; s++) vec_store(a[s] + c, vec_load(a[s] + c) - top);
        vec tau = splat(-1), before;
        for (int round = 0; round < MS_SLOTS; round++) {
            vec sum = {0}, count = {0};
            for (int s = 0; s < MS_SLOTS; s++) {
                vec x = vec_load(a[s] + c);
                sum += select_lanes(x > tau, x, (vec){0});
                count += select_lanes(x > tau, splat(1), (vec){0});
            }
            before = tau;
            tau = (sum - 1) / count; /* the largest, 0, is always above tau, so count is at least 1 */
            tau = select_lanes(tau > before, tau, before);
            lanes_mask moved = tau > before;
            bool any = false;
            for (int l = 0; l < LANES; l++) any = any || moved[l] != 0;
            if (!any) break;
        }
        for (int s = 0; s < MS_SLOTS; s++) {
            vec x = vec_load(a[s] + c) - tau;
            vec_store(a[s] + c, select_lanes(x > (vec){0}, x, (vec){0}));
        }
    }
}

/* da -> the gradient of what sparsemax got, in place: da - its mean over the slots that are not 0, and 0 elsewhere */
static void sparsemax_backward(real (*a)[BLOCK], real (*da)[BLOCK])
{
    for (int c = 0; c < BLOCK; c += LANES) {
        vec sum = {0}, count = {0};
        for (int s = 0; s < MS_SLOTS; s++) {
            lanes_mask in = vec_load(a[s] + c) > (vec){0};
            sum += select_lanes(in, vec_load(da[s] + c), (vec){0});
            count += select_lanes(in, splat(1), (vec){0});
        }
        vec mean = sum / count;
        for (int s = 0; s < MS_SLOTS; s++)
            vec_store(da[s] + c, select_lanes(vec_load(a[s] + c) > (vec){0}, vec_load(da[s] + c) - mean, (vec){0}));
    }
}

/* ---- memory: products with the address, forward and backward ----------------------------------------------------- */

/* y [23] = m^T a */
static void slots_read(const real *m, real (*a)[BLOCK], real (*y)[BLOCK])
{
    product((struct product){m, NULL, 1, MS_SLOTS, MS_EMBED, a[0], y[0], NULL, SLOPE_LINEAR, BLOCK}, MS_EMBED);
}

/* y [50] = m x */
static void slots_match(const real *m, real (*x)[BLOCK], real (*y)[BLOCK])
{
    product((struct product){m, NULL, MS_EMBED, MS_EMBED, 1, x[0], y[0], NULL, SLOPE_LINEAR, BLOCK}, MS_SLOTS);
}

/* m += a x^T */
static void slots_add(real *m, real (*a)[BLOCK], real (*x)[BLOCK])
{
    matrix_backward(MS_EMBED, MS_SLOTS, x[0], a[0], m);
}

/* ---- features of what was read ----------------------------------------------------------------------------------- */

/* Rows of the decoder's input. */
enum { IN_READ = 0, IN_RATIO = PAIRS, IN_LEAST = IN_RATIO + MS_DEPTH, IN_GAP = IN_LEAST + MS_DEPTH, IN_Z = MS_FEATURES,
       IN_TOTAL = IN_Z + MS_EMBED };

/* The minima of one depth: over z_k above 1e-4 of read_k / z_k, of all reads, and of (read_k - least) / z_k where that
 * is not 0. The slots of the winners are found again by the backward, from the same numbers. */
INLINE void minima(real (*read)[BLOCK], real (*z)[BLOCK], int c, vec *ratio, vec *least, vec *gap,
                   vec winner[3])
{
    const vec far = splat((real)1e30);
    vec low = vec_load(read[0] + c), best[2] = {far, far};
    winner[0] = winner[1] = winner[2] = splat(-1);
    vec at = {0};
    for (int k = 1; k < MS_EMBED; k++) {
        vec x = vec_load(read[k] + c);
        at = select_lanes(x < low, splat((real)k), at);
        low = select_lanes(x < low, x, low);
    }
    winner[1] = at;
    for (int k = 0; k < MS_EMBED; k++) {
        vec x = vec_load(read[k] + c), weight = vec_load(z[k] + c);
        lanes_mask in = weight > splat(least_z), above = in & (x - low > splat(least_gap));
        vec t = select_lanes(in, x, far) / select_lanes(in, weight, splat(1));
        vec u = select_lanes(above, x - low, far) / select_lanes(above, weight, splat(1));
        winner[0] = select_lanes(t < best[0], splat((real)k), winner[0]);
        best[0] = select_lanes(t < best[0], t, best[0]);
        winner[2] = select_lanes(u < best[1], splat((real)k), winner[2]);
        best[1] = select_lanes(u < best[1], u, best[1]);
    }
    *ratio = select_lanes(best[0] < far, best[0], (vec){0});
    *least = low;
    *gap = select_lanes(best[1] < far, best[1], (vec){0});
}

/* in [76] of a block, from address, memory and z; N of every item is the task's */
static void read_forward(struct workspace *s, struct items *b, struct scratch *t)
{
    for (int d = 0; d < MS_DEPTH; d++) {
        real (*in)[BLOCK] = t->in + IN_READ + d * MS_EMBED;
        slots_read(s->memory.m[d], b->a[d], t->read + d * MS_EMBED);
        for (int c = 0; c < BLOCK; c += LANES) {
            vec square = {0};
            for (int i = 0; i < MS_SLOTS; i++) square += vec_load(b->a[d][i] + c) * vec_load(b->a[d][i] + c);
            vec scale = 1 / square;
            vec_store(t->scale[d] + c, scale);
            for (int k = 0; k < MS_EMBED; k++) vec_store(in[k] + c, vec_load(t->read[d * MS_EMBED + k] + c) * scale);
            vec ratio, least, gap, winner[3];
            minima(in, b->z, c, &ratio, &least, &gap, winner);
            vec_store(t->in[IN_RATIO + d] + c, ratio);
            vec_store(t->in[IN_LEAST + d] + c, least);
            vec_store(t->in[IN_GAP + d] + c, gap);
        }
    }
    memcpy(t->in[IN_Z], b->z, sizeof b->z);
    for (int c = 0; c < BLOCK; c++) t->in[IN_TOTAL][c] = (real)s->total;
}

/* The gradient of the minima of one depth, into that of reads and z. */
INLINE void minima_backward(int d, struct items *b, int c, struct scratch *t, real (*dz)[BLOCK])
{
    real (*read)[BLOCK] = t->in + IN_READ + d * MS_EMBED;
    real (*dread)[BLOCK] = t->din + IN_READ + d * MS_EMBED;
    vec ratio, low, gap, winner[3];
    minima(read, b->z, c, &ratio, &low, &gap, winner);
    vec dratio = vec_load(t->din[IN_RATIO + d] + c), dgap = vec_load(t->din[IN_GAP + d] + c);
    vec dlow = vec_load(t->din[IN_LEAST + d] + c);
    for (int k = 0; k < MS_EMBED; k++) {
        vec weight = vec_load(b->z[k] + c), one = select_lanes(weight > splat(least_z), 1 / weight, (vec){0});
        vec from_ratio = select_lanes(winner[0] == splat((real)k), dratio * one, (vec){0});
        vec from_gap = select_lanes(winner[2] == splat((real)k), dgap * one, (vec){0});
        dlow -= from_gap;
        vec_store(dread[k] + c, vec_load(dread[k] + c) + from_ratio + from_gap);
        vec_store(dz[k] + c, vec_load(dz[k] + c) - from_ratio * ratio - from_gap * gap);
    }
    for (int k = 0; k < MS_EMBED; k++)
        vec_store(dread[k] + c, vec_load(dread[k] + c) + select_lanes(winner[1] == splat((real)k), dlow, (vec){0}));
}

/* din -> da, dz (both afresh) and the part's gradient of memory */
static void read_backward(struct workspace *s, struct items *b, struct scratch *t, struct part *p)
{
    memcpy(b->dz, t->din[IN_Z], sizeof b->dz);
    for (int d = 0; d < MS_DEPTH; d++) {
        real (*din)[BLOCK] = t->din + IN_READ + d * MS_EMBED;
        for (int c = 0; c < BLOCK; c += LANES) {
            minima_backward(d, b, c, t, b->dz);
            vec scale = vec_load(t->scale[d] + c), dscale = {0};
            for (int k = 0; k < MS_EMBED; k++) {
                dscale += vec_load(din[k] + c) * vec_load(t->read[d * MS_EMBED + k] + c);
                vec_store(t->dread[k] + c, vec_load(din[k] + c) * scale);
            }
            vec_store(t->part[0] + c, -2 * dscale * scale * scale); /* of scale = 1 / sum of a^2, by a, over a */
        }
        slots_match(s->memory.m[d], t->dread, b->da[d]);
        slots_add(p->dmemory.m[d], b->a[d], t->dread);
        for (int i = 0; i < MS_SLOTS; i++)
            for (int c = 0; c < BLOCK; c++) b->da[d][i][c] += t->part[0][c] * b->a[d][i][c];
    }
}

/* ---- the decoder ------------------------------------------------------------------------------------------------- */

/* in -> answer */
static void decode_forward(struct workspace *s, struct scratch *t)
{
    FORWARD(DECODE_0, SLOPE_RELU, t->in, t->e);
    FORWARD(DECODE_1, SLOPE_LINEAR, t->e, t->g);
    for (int i = 0; i < MS_IN; i++)
        for (int c = 0; c < BLOCK; c++) {
            real sum = t->g[i][c] + t->in[i][c];
            t->g[i][c] = sum > 0 ? sum : 0;
        }
    FORWARD(DECODE_2, SLOPE_RELU, t->g, t->k);
    FORWARD(DECODE_3, SLOPE_LINEAR, t->k, t->answer);
}

/* danswer -> din, and the part's gradient */
static void decode_backward(struct workspace *s, struct scratch *t, struct part *p)
{
    BACKWARD_WEIGHTS(DECODE_3, t->k, t->danswer);
    BACKWARD_BIAS(DECODE_3, t->danswer);
    BACKWARD(DECODE_3, SLOPE_RELU, t->k, t->danswer, t->dk);
    BACKWARD_WEIGHTS(DECODE_2, t->g, t->dk);
    BACKWARD_BIAS(DECODE_2, t->dk);
    BACKWARD(DECODE_2, SLOPE_RELU, t->g, t->dk, t->dg);
    BACKWARD_WEIGHTS(DECODE_1, t->e, t->dg);
    BACKWARD_BIAS(DECODE_1, t->dg);
    BACKWARD(DECODE_1, SLOPE_RELU, t->e, t->dg, t->de);
    BACKWARD_WEIGHTS(DECODE_0, t->in, t->de);
    BACKWARD_BIAS(DECODE_0, t->de);
    BACKWARD(DECODE_0, SLOPE_LINEAR, t->in, t->de, t->din);
    for (int i = 0; i < MS_IN; i++)
        for (int c = 0; c < BLOCK; c++) t->din[i][c] += t->dg[i][c];
}

/* ---- the loss: LW(MSE, ARE) -------------------------------------------------------------------------------------- */

/* The errors of a block, and danswer. Both metrics are means over items, so their slopes need no sum. */
static void loss_block(struct workspace *s, struct items *b, uint32_t count, struct scratch *t,
                       struct sums *sums)
{
    double w0 = (double)s->w[MS_AT_LOSS], w1 = (double)s->w[MS_AT_LOSS + 1];
    real mse = (real)(1 / (w0 * w0) / s->n), are = (real)(0.5 / (w1 * w1) / s->n);
    sums->mse = sums->are = sums->aae = 0;
    for (uint32_t c = 0; c < count; c++) {
        double f = (double)b->f[0][c], e = (double)t->answer[0][c] - f;
        sums->mse += e * e;
        sums->are += fabs(e) / f;
        sums->aae += fabs(e);
    }
    memset(t->danswer, 0, sizeof t->danswer);
    for (uint32_t c = 0; c < count; c++) {
        real f = b->f[0][c], e = t->answer[0][c] - f;
        t->danswer[0][c] = mse * e + (e > 0 ? are / f : e < 0 ? -are / f : 0);
    }
}

/* All blocks' errors -> the loss, and the gradient of its weights */
static struct ms_losses loss_settle(struct workspace *s, real dweights[2])
{
    double metric[2] = {0}, aae = 0, total = 0;
    for (uint32_t b = 0; b < s->blocks; b++)
        metric[0] += s->sums[b].mse / s->n, metric[1] += s->sums[b].are / s->n, aae += s->sums[b].aae / s->n;
    for (int i = 0; i < 2; i++) {
        double w = (double)s->w[MS_AT_LOSS + i];
        total += 0.5 / (w * w) * metric[i] + log(1 + w * w);
        dweights[i] = (real)(-metric[i] / (w * w * w) + 2 * w / (1 + w * w));
    }
    return (struct ms_losses){total, metric[0], metric[1], aae};
}

/* ---- the stages, for one block each ------------------------------------------------------------------------------ */

struct at_work { /* of a block at work */
    struct workspace *s;
    struct items *b;
    struct scratch *t;
    struct part *p;
    struct sums *sums;
    uint32_t first, count;
};

static void bits_to_x(const struct at_work *at)
{
    for (uint32_t c = 0; c < BLOCK; c++) {
        uint64_t bits = c < at->count ? at->s->bits[at->first + c] : 0;
        for (int i = 0; i < MS_BITS; i++) at->t->x[i][c] = (real)(bits >> i & 1);
    }
}

#define NORM_EMBED_0 NORM(EMBED_0, SLOPE_RELU)
#define NORM_EMBED_1 NORM(EMBED_1, SLOPE_RELU)
#define NORM_REFINE_0 NORM(REFINE_0, SLOPE_LEAKY)
#define NORM_REFINE_1 NORM(REFINE_1, SLOPE_LEAKY)
/* A layer that batch norm follows: no bias. */
#define FORWARD_BARE(layer, x, y)                                                                                \
    product((struct product){s->w + MS_AT_##layer, NULL, MS_IN_##layer, MS_IN_##layer, 1, &(x)[0][0], &(y)[0][0], \
                             NULL, SLOPE_LINEAR, BLOCK},                                                         \
            MS_OUT_##layer)

static void embed_0_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    bits_to_x(at);
    FORWARD_BARE(EMBED_0, at->t->x, at->b->u0);
    norm_measure(NORM_EMBED_0, at->b->u0, at->count, at->sums);
}

static void embed_1_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    norm_forward(NORM_EMBED_0, s, at->b->u0, at->t->h0);
    FORWARD_BARE(EMBED_1, at->t->h0, at->b->u1);
    norm_measure(NORM_EMBED_1, at->b->u1, at->count, at->sums);
}

static void embed_2_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    norm_forward(NORM_EMBED_1, s, at->b->u1, at->t->h1);
    FORWARD(EMBED_2, SLOPE_RELU, at->t->h1, at->b->z);
    FORWARD_BARE(REFINE_0, at->b->z, at->b->v0);
    norm_measure(NORM_REFINE_0, at->b->v0, at->count, at->sums);
}

static void refine_1_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    norm_forward(NORM_REFINE_0, s, at->b->v0, at->t->r0);
    FORWARD_BARE(REFINE_1, at->t->r0, at->b->v1);
    norm_measure(NORM_REFINE_1, at->b->v1, at->count, at->sums);
}

/* A [5][50] of a depth is read as [50][5]: row step 1, inner step 50. */
static void address_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    norm_forward(NORM_REFINE_1, s, b->v1, at->t->r1);
    FORWARD(REFINE_2, SLOPE_LINEAR, at->t->r1, b->q);
    for (int d = 0; d < MS_DEPTH; d++) {
        const real *address = s->w + MS_AT_ADDRESS + d * MS_REFINED * MS_SLOTS;
        product((struct product){address, NULL, 1, MS_REFINED, MS_SLOTS, b->q[0], b->a[d][0], NULL, SLOPE_LINEAR,
                                 BLOCK},
                MS_SLOTS);
        sparsemax_forward(b->a[d]);
    }
    for (int k = 0; k < MS_EMBED; k++)
        for (int c = 0; c < BLOCK; c++) at->t->fz[k][c] = b->f[0][c] * b->z[k][c];
    for (int d = 0; d < MS_DEPTH; d++) slots_add(at->p->memory.m[d], b->a[d], at->t->fz);
}

static void query_both(const struct at_work *at)
{
    read_forward(at->s, at->b, at->t);
    decode_forward(at->s, at->t);
    loss_block(at->s, at->b, at->count, at->t, at->sums);
    decode_backward(at->s, at->t, at->p);
    read_backward(at->s, at->b, at->t, at->p);
}

/* dmemory, da, dz -> da and dz with what was stored counted too, then back to the last batch norm */
static void address_backward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    struct scratch *t = at->t;
    struct part *p = at->p;
    memset(t->dq, 0, sizeof t->dq);
    for (int d = 0; d < MS_DEPTH; d++) {
        const int place = MS_AT_ADDRESS + d * MS_REFINED * MS_SLOTS;
        slots_match(s->dmemory.m[d], b->z, t->part);
        slots_read(s->dmemory.m[d], b->a[d], t->dread);
        for (int i = 0; i < MS_SLOTS; i++)
            for (int c = 0; c < BLOCK; c++) b->da[d][i][c] += b->f[0][c] * t->part[i][c];
        for (int k = 0; k < MS_EMBED; k++)
            for (int c = 0; c < BLOCK; c++) b->dz[k][c] += b->f[0][c] * t->dread[k][c];
        sparsemax_backward(b->a[d], b->da[d]);
        matrix_backward(MS_SLOTS, MS_REFINED, b->da[d][0], b->q[0], p->gradient + place);
        product((struct product){s->w + place, NULL, MS_SLOTS, MS_SLOTS, 1, b->da[d][0], t->part[0], NULL, SLOPE_LINEAR,
                                 BLOCK},
                MS_REFINED);
        for (int r = 0; r < MS_REFINED; r++)
            for (int c = 0; c < BLOCK; c++) t->dq[r][c] += t->part[r][c];
    }
    norm_forward(NORM_REFINE_1, s, b->v1, t->r1);
    BACKWARD_WEIGHTS(REFINE_2, t->r1, t->dq);
    BACKWARD_BIAS(REFINE_2, t->dq);
    BACKWARD(REFINE_2, SLOPE_LEAKY, t->r1, t->dq, b->dv1);
    norm_measure_backward(NORM_REFINE_1, b->dv1, b->v1, at->count, at->sums);
}

static void refine_1_backward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    struct part *p = at->p;
    norm_backward(NORM_REFINE_1, s, b->v1, at->count, b->dv1);
    norm_forward(NORM_REFINE_0, s, b->v0, at->t->r0);
    BACKWARD_WEIGHTS(REFINE_1, at->t->r0, b->dv1);
    BACKWARD(REFINE_1, SLOPE_LEAKY, at->t->r0, b->dv1, b->dv0);
    norm_measure_backward(NORM_REFINE_0, b->dv0, b->v0, at->count, at->sums);
}

static void embed_2_backward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    struct part *p = at->p;
    norm_backward(NORM_REFINE_0, s, b->v0, at->count, b->dv0);
    BACKWARD_WEIGHTS(REFINE_0, b->z, b->dv0);
    BACKWARD(REFINE_0, SLOPE_LINEAR, b->z, b->dv0, at->t->fz);
    for (int k = 0; k < MS_EMBED; k++)
        for (int c = 0; c < BLOCK; c++) b->dz[k][c] = b->z[k][c] > 0 ? b->dz[k][c] + at->t->fz[k][c] : 0;
    norm_forward(NORM_EMBED_1, s, b->u1, at->t->h1);
    BACKWARD_WEIGHTS(EMBED_2, at->t->h1, b->dz);
    BACKWARD_BIAS(EMBED_2, b->dz);
    BACKWARD(EMBED_2, SLOPE_RELU, at->t->h1, b->dz, b->du1);
    norm_measure_backward(NORM_EMBED_1, b->du1, b->u1, at->count, at->sums);
}

static void embed_1_backward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    struct part *p = at->p;
    norm_backward(NORM_EMBED_1, s, b->u1, at->count, b->du1);
    norm_forward(NORM_EMBED_0, s, b->u0, at->t->h0);
    BACKWARD_WEIGHTS(EMBED_1, at->t->h0, b->du1);
    BACKWARD(EMBED_1, SLOPE_RELU, at->t->h0, b->du1, b->du0);
    norm_measure_backward(NORM_EMBED_0, b->du0, b->u0, at->count, at->sums);
}

static void embed_0_backward(const struct at_work *at)
{
    struct part *p = at->p;
    norm_backward(NORM_EMBED_0, at->s, at->b->u0, at->count, at->b->du0);
    bits_to_x(at);
    BACKWARD_WEIGHTS(EMBED_0, at->t->x, at->b->du0);
}

/* ---- a task: the stages, and the sums between them --------------------------------------------------------------- */

struct over_blocks {
    struct workspace *s;
    void (*stage)(const struct at_work *at);
};

/* Part p has blocks p, p + MS_PARTS, ..., in that order. */
static void do_part(void *context, unsigned part, unsigned worker)
{
    const struct over_blocks *over = context;
    struct workspace *s = over->s;
    for (uint32_t b = part; b < s->blocks; b += MS_PARTS) {
        uint32_t first = b * BLOCK, count = s->n - first < BLOCK ? s->n - first : BLOCK;
        over->stage(&(struct at_work){s, &s->block[b], &s->scratch[worker], &s->part[part], &s->sums[b], first, count});
    }
}

static void each_block(struct ms_pool *pool, struct workspace *s, void (*stage)(const struct at_work *))
{
    ms_pool_run(pool, do_part, &(struct over_blocks){s, stage});
}

static void add_memories(const struct workspace *s, bool gradients, struct slots *sum)
{
    memset(sum, 0, sizeof *sum);
    for (int p = 0; p < MS_PARTS; p++) {
        const struct slots *memory = gradients ? &s->part[p].dmemory : &s->part[p].memory;
        for (int d = 0; d < MS_DEPTH; d++)
            for (int i = 0; i < MS_SLOTS * MS_EMBED; i++) sum->m[d][i] += memory->m[d][i];
    }
}

static struct ms_losses net_task(struct ms_pool *pool, struct workspace *s, real *gradient)
{
    memset(s->part, 0, sizeof s->part);

    each_block(pool, s, embed_0_forward);
    norm_settle(NORM_EMBED_0, s);
    each_block(pool, s, embed_1_forward);
    norm_settle(NORM_EMBED_1, s);
    each_block(pool, s, embed_2_forward);
    norm_settle(NORM_REFINE_0, s);
    each_block(pool, s, refine_1_forward);
    norm_settle(NORM_REFINE_1, s);
    each_block(pool, s, address_forward);
    add_memories(s, false, &s->memory);

    each_block(pool, s, query_both);
    struct ms_losses losses = loss_settle(s, s->part[0].gradient + MS_AT_LOSS);
    add_memories(s, true, &s->dmemory);

    each_block(pool, s, address_backward);
    norm_settle_backward(NORM_REFINE_1, s);
    each_block(pool, s, refine_1_backward);
    norm_settle_backward(NORM_REFINE_0, s);
    each_block(pool, s, embed_2_backward);
    norm_settle_backward(NORM_EMBED_1, s);
    each_block(pool, s, embed_1_backward);
    norm_settle_backward(NORM_EMBED_0, s);
    each_block(pool, s, embed_0_backward);

    for (int i = 0; i < MS_PARAMETERS; i++) {
        double sum = 0;
        for (int p = 0; p < MS_PARTS; p++) sum += (double)s->part[p].gradient[i];
        gradient[i] = (real)sum;
    }
    return losses;
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

static size_t whole_lines(size_t size)
{
    return (size + 63) / 64 * 64;
}

static uint32_t blocks_of(uint32_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static size_t workspace_size(uint32_t n, unsigned workers)
{
    return whole_lines(sizeof(struct workspace)) + whole_lines(blocks_of(n) * sizeof(struct sums)) +
           blocks_of(n) * sizeof(struct items) + workers * sizeof(struct scratch);
}

/* Divides the room, and takes the items in. */
static struct workspace *lay_out(void *room, uint32_t n, unsigned workers, const uint64_t *bits, const float *frequency,
                                 const real *w)
{
    unsigned char *at = room;
    struct workspace *s = room;
    s->w = w;
    s->bits = bits;
    s->n = n;
    s->blocks = blocks_of(n);
    s->total = 0;
    at += whole_lines(sizeof *s);
    s->scratch = (void *)at, at += workers * sizeof *s->scratch;
    s->block = (void *)at, at += s->blocks * sizeof *s->block;
    s->sums = (void *)at;
    for (uint32_t i = 0; i < s->blocks * BLOCK; i++) {
        real f = i < n ? (real)frequency[i] : 0;
        s->block[i / BLOCK].f[0][i % BLOCK] = f;
        s->total += (double)f;
    }
    return s;
}
