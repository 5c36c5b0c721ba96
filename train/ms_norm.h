/* ms_norm: batch norm, y = act(gamma x + beta), x = (u - mean) / sqrt(variance + epsilon), over all items of a task. */
#pragma once

#include "ms_blocks.h"

struct norm {
    int at, features; /* among means */
    int bias, gamma;  /* among parameters */
    real slope;
};
#define NORM(layer, slope)                                                                                             \
    (struct norm)                                                                                                      \
    {                                                                                                                  \
        MS_NORM_##layer, MS_OUT_##layer, MS_BIAS_##layer, MS_GAMMA_##layer, slope                                      \
    }

/* Sums over a block: forward, y = u, of u and u^2; backward, y = dy before the activation, of dy and dy u, from which
 * those of dy x follow. */
static void norm_measure(const struct norm norm, real (*y)[BLOCK], real (*u)[BLOCK], struct items *b)
{
    for (int o = 0; o < norm.features; o++)
        add_products(y[o], u[o], b->count, &b->sums.one[norm.at + o], &b->sums.two[norm.at + o]);
}

/* All blocks' sums -> mean and 1 / sqrt(variance + epsilon) */
static void norm_settle(const struct norm norm, struct workspace *s)
{
    for (int i = norm.at; i < norm.at + norm.features; i++) {
        double one = 0, two = 0;
        for (uint32_t b = 0; b < s->blocks; b++) one += s->block[b].sums.one[i], two += s->block[b].sums.two[i];
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

/* All blocks' sums -> sum_dy and sum_dyx, which are the gradients of beta and gamma too */
static void norm_settle_backward(const struct norm norm, struct workspace *s)
{
    for (int o = 0; o < norm.features; o++) {
        int i = norm.at + o;
        double one = 0, two = 0;
        for (uint32_t b = 0; b < s->blocks; b++) one += s->block[b].sums.one[i], two += s->block[b].sums.two[i];
        s->sum_dy[i] = one;
        s->sum_dyx[i] = (two - s->mean[i] * one) * s->rest[i];
        s->gradient[norm.bias + o] = (real)s->sum_dy[i];
        s->gradient[norm.gamma + o] = (real)s->sum_dyx[i];
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
