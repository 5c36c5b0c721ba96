/* ms_slots: addresses and the memory that they address, forward beside backward. */
#pragma once

#include "ms_blocks.h"

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
