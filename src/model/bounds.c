/* bounds: see bounds.h. */
#include "model/bounds.h"

#include <math.h>

/* How far the rule is above the true count, for at least 95 % of the items, whatever the stream.
 *
 * Row k reads too much by the weights of the others in the cell, over w_k: on average e_k, its noise, which for a row
 * of C cells is N * mean weight / (C * w_k). By Markov's inequality that is t or more with probability at most e_k / t;
 * rows have independent columns, so all of a set of rows do with at most the product. The rule takes the least row,
 * hence for any set of j rows t = (20 * product of their e_k)^(1/j) is exceeded by 5 % at most; the best sets are those
 * of the least noise. (The paper's Theorem 4.3 uses one Markov step on the mean row: t = 20 N / C.) */
double decode_slack(const struct reads *reads)
{
    double noise[ROWS_MAX] = {0};
    for (uint32_t k = 0; k < reads->rows; k++) { /* insertion sort, least first */
        uint32_t i = k;
        for (; i > 0 && noise[i - 1] > reads->noise[k]; i--) noise[i] = noise[i - 1];
        noise[i] = reads->noise[k];
    }
    double product = 20 * noise[0];
    uint32_t j = 1;
    for (; j < reads->rows; j++) { /* one more row lowers t while its e is below it: e^j < t^j = product */
        double e = noise[j], power = e;
        for (uint32_t i = 1; i < j; i++) power *= e;
        if (power >= product) break;
        product *= e;
    }
    return j == 1 ? product : j == 2 ? sqrt(product) : pow(product, 1.0 / j);
}

lego_estimate decode_rule(const struct reads *reads)
{
    int64_t upper = INT64_MAX;
    for (uint32_t k = 0; k < reads->rows; k++) {
        int64_t value = reads->value[k], weight = reads->weight[k], bound = value / weight - (value % weight < 0);
        if (bound < upper) upper = bound;
    }
    lego_estimate estimate = {(double)upper, upper, upper, upper};
    if (upper <= 0) return estimate; /* nothing below 0 is left to be unsure about */
    double t = decode_slack(reads);
    estimate.lower = t < (double)upper ? upper - (int64_t)t : 0;
    return estimate;
}

void decode_lower(lego_estimate *estimate, double value)
{
    if (!(value < estimate->value)) return;
    estimate->value = value > 0 ? value : 0;
    if (estimate->value < (double)estimate->lower) estimate->lower = (int64_t)estimate->value;
}
