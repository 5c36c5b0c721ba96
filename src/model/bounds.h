/* bounds: what an item's cells alone say of its count, whatever the networks make of it. */
#pragma once

#include "model/model.h"

struct reads {
    uint32_t rows;
    int64_t value[ROWS_MAX];   /* m_k, exact */
    uint32_t weight[ROWS_MAX]; /* w_k */
    double noise[ROWS_MAX];    /* what other items add to m_k / w_k on average, at most */
    int64_t total;             /* N of the brick */
};

/* How far the rule is above the true count, for at least 95 % of the items; it follows from rows and noise. */
double decode_slack(const struct reads *reads);

/* The rule and its bounds: value and upper are the least m_k / w_k, rounded down. */
lego_estimate decode_rule(const struct reads *reads);

/* Makes the estimate smaller, as networks do: not below 0, and the lower bound not above it. NaN changes nothing. */
void decode_lower(lego_estimate *estimate, double value);
