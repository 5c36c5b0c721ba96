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
#pragma once

#include "model/bounds.h"
#include "paper/stream.h"

/* f' of the network alone. */
double decode_network(const struct lego_model *model, const struct reads *reads, const struct stream *stream);

/* The choice of branch, and the bounds. */
lego_estimate decode_item(const struct lego_model *model, const struct reads *reads, const struct stream *stream);
