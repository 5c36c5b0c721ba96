/* ms_decode: what the memory says of the items of a block, the decoder, the loss, and back to what was read. */
#pragma once

#include "loss.h"
#include "ms_slots.h"

/* ---- features of what was read ----------------------------------------------------------------------------------- */

/* Rows of the decoder's input. */
enum {
    IN_READ = 0,
    IN_RATIO = PAIRS,
    IN_LEAST = IN_RATIO + MS_DEPTH,
    IN_GAP = IN_LEAST + MS_DEPTH,
    IN_Z = MS_FEATURES,
    IN_TOTAL = IN_Z + MS_EMBED
};

/* The minima of one depth: over z_k above 1e-4 of read_k / z_k, of all reads, and of (read_k - least) / z_k where that
 * is not 0. The slots of the winners are found again by the backward, from the same numbers. */
INLINE void minima(real (*read)[BLOCK], real (*z)[BLOCK], int c, vec *ratio, vec *least, vec *gap, vec winner[3])
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
        real(*in)[BLOCK] = t->in + IN_READ + d * MS_EMBED;
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
    real(*read)[BLOCK] = t->in + IN_READ + d * MS_EMBED;
    real(*dread)[BLOCK] = t->din + IN_READ + d * MS_EMBED;
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

/* din -> da, dz (both afresh) and the gradient of memory */
static void read_backward(struct workspace *s, struct items *b, struct scratch *t)
{
    memcpy(b->dz, t->din[IN_Z], sizeof b->dz);
    for (int d = 0; d < MS_DEPTH; d++) {
        real(*din)[BLOCK] = t->din + IN_READ + d * MS_EMBED;
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
        slots_add(s->dmemory.m[d], b->a[d], t->dread);
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

/* danswer -> din, and the gradient of the layers */
static void decode_backward(struct workspace *s, struct scratch *t)
{
    BACKWARD(DECODE_3, SLOPE_RELU, t->k, t->danswer, t->dk);
    BACKWARD(DECODE_2, SLOPE_RELU, t->g, t->dk, t->dg);
    BACKWARD(DECODE_1, SLOPE_RELU, t->e, t->dg, t->de);
    BACKWARD(DECODE_0, SLOPE_LINEAR, t->in, t->de, t->din);
    for (int i = 0; i < MS_IN; i++)
        for (int c = 0; c < BLOCK; c++) t->din[i][c] += t->dg[i][c];
}

/* ---- the loss: LW(MSE, ARE) -------------------------------------------------------------------------------------- */

/* The errors of a block, and danswer. Both metrics are means over items, so their slopes need no sum. */
static void loss_block(const struct workspace *s, struct items *b, struct scratch *t)
{
    double w0 = (double)s->w[MS_AT_LOSS], w1 = (double)s->w[MS_AT_LOSS + 1];
    real mse = (real)(1 / (w0 * w0) / s->n), are = (real)(0.5 / (w1 * w1) / s->n);
    struct sums *sums = &b->sums;
    sums->mse = sums->are = sums->aae = 0;
    for (uint32_t c = 0; c < b->count; c++) {
        double f = (double)b->f[0][c], e = (double)t->answer[0][c] - f;
        sums->mse += e * e;
        sums->are += fabs(e) / f;
        sums->aae += fabs(e);
    }
    memset(t->danswer, 0, sizeof t->danswer);
    for (uint32_t c = 0; c < b->count; c++) {
        real f = b->f[0][c], e = t->answer[0][c] - f;
        t->danswer[0][c] = mse * e + (e > 0 ? are / f : e < 0 ? -are / f : 0);
    }
}

/* All blocks' errors -> the loss, and the gradient of its weights */
static struct ms_losses loss_settle(struct workspace *s)
{
    double metric[2] = {0}, aae = 0, total = 0;
    for (uint32_t b = 0; b < s->blocks; b++) {
        const struct sums *sums = &s->block[b].sums;
        metric[0] += sums->mse / s->n, metric[1] += sums->are / s->n, aae += sums->aae / s->n;
    }
    for (int i = 0; i < 2; i++) {
        double w = (double)s->w[MS_AT_LOSS + i];
        total += loss_weigh(metric[i], w);
        s->gradient[MS_AT_LOSS + i] = (real)loss_weigh_backward(metric[i], w);
    }
    return (struct ms_losses){total, metric[0], metric[1], aae};
}
