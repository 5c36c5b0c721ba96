/* decode: ensemble decoding (paper, section 3.1, Algorithm 2). An item's reads and the stream's shape -> estimate.
 *
 * The rule f'' = min over rows of m_k / w_k never underestimates. g_dec corrects it where the scan says that the brick
 * is loaded enough (s(n) above beta) and not too skewed (s(alpha) below the limit):
 *
 *     each row (m_k, v_k): 2 -> 8 -> 16 -> 16 (ReLU), mean over the rows
 *     joined with implicit[4], f'', N, s(alpha), s(n):  24 -> 32 -> 16 (LeakyReLU)
 *     joined with f'', N, s(alpha), s(n):               20 -> 8 -> 4 -> 1 (LeakyReLU between) = f'
 *
 * m and v enter in the paper's scale (value * R / Q). The answer is f' within [0, f'']. */
#ifndef LEGO_SRC_DECODE_H
#define LEGO_SRC_DECODE_H

#include "paper/scan.h"

struct reads {
    uint32_t rows;
    int64_t value[LEGO_ROWS_MAX];   /* m_k, exact */
    uint32_t weight[LEGO_ROWS_MAX]; /* w_k */
    double noise[LEGO_ROWS_MAX];    /* what other items add to m_k / w_k on average, at most */
    int64_t total;                  /* N of the brick */
};

/* f' of the network alone. */
double decode_network(const struct lego_model *model, const struct reads *reads, const struct stream *stream);

/* How far the rule is above the true count, for at least 95 % of the items; it follows from rows and noise. */
double decode_slack(const struct reads *reads);

/* The rule and its bounds: value and upper are the least m_k / w_k, rounded down. */
lego_estimate decode_rule(const struct reads *reads);

/* Makes the estimate smaller, as networks do: not below 0, and the lower bound not above it. NaN changes nothing. */
void decode_lower(lego_estimate *estimate, double value);

/* stream is NULL where the model has no networks. */
lego_estimate decode(const struct lego_model *model, const struct reads *reads, const struct stream *stream);

#endif
