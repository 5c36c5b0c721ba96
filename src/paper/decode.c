/* decode: see decode.h for the network and the choice. */
#include "paper/decode.h"

#include <math.h>

#include "model/network.h"

double decode_network(const struct lego_model *model, const struct reads *reads, const struct stream *stream)
{
    uint32_t rows = reads->rows;
    double scale = (double)rows / model->quantum, rule = INFINITY, joined[24] = {0};
    for (uint32_t k = 0; k < rows; k++) {
        double pair[2] = {(double)reads->value[k] * scale, reads->weight[k] * scale}, a[8], b[16], y[16];
        network_layer(model, DEC_PAIR_0, NETWORK_RELU, pair, a);
        network_layer(model, DEC_PAIR_1, NETWORK_RELU, a, b);
        network_layer(model, DEC_PAIR_2, NETWORK_RELU, b, y);
        for (int i = 0; i < 16; i++) joined[i] += y[i] / rows;
        rule = fmin(rule, (double)reads->value[k] / reads->weight[k]);
    }
    const double facts[4] = {rule, (double)reads->total, stream->skew, stream->distinct};
    memcpy(joined + 16, stream->implicit, sizeof stream->implicit);
    memcpy(joined + 20, facts, sizeof facts);

    double wide[32], mixed[20], a[8], b[4], answer;
    network_layer(model, DEC_MIX_0, NETWORK_LEAKY, joined, wide);
    network_layer(model, DEC_MIX_1, NETWORK_LEAKY, wide, mixed);
    memcpy(mixed + 16, facts, sizeof facts);
    network_layer(model, DEC_OUT_0, NETWORK_LEAKY, mixed, a);
    network_layer(model, DEC_OUT_1, NETWORK_LEAKY, a, b);
    network_layer(model, DEC_OUT_2, NETWORK_LINEAR, b, &answer);
    return answer;
}

lego_estimate decode_item(const struct lego_model *model, const struct reads *reads, const struct stream *stream)
{
    lego_estimate estimate = decode_rule(reads);
    if (estimate.upper > 0 && stream->distinct > model->distinct_min && stream->skew < model->skew_max)
        decode_lower(&estimate, decode_network(model, reads, stream));
    return estimate;
}
