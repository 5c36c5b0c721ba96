/* ms_file: the model that comes out of training a meta-sketch, as ms_train.h lays it out. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ms_train.h"

#include <math.h>
#include <string.h>

static const char magic[8] = {'L', 'E', 'G', 'O', 'M', 'E', 'T', 'A'};

/* gamma (W x - mean) / sqrt(variance + epsilon) + beta is a layer with other weights. Returns where the next one goes.
 * */
static float *fold(const float *w, int in, int out, const double *mean, const double *variance, float *to)
{
    const float *bias = w + in * out, *gamma = bias + out;
    for (int o = 0; o < out; o++) {
        double scale = mean ? (double)gamma[o] / sqrt(variance[o] + 1e-5) : 1;
        for (int i = 0; i < in; i++) to[i * out + o] = (float)(scale * (double)w[o * in + i]);
        to[in * out + o] = (float)((double)bias[o] - (mean ? scale * mean[o] : 0));
    }
    return to + (in + 1) * out;
}

void ms_fold(const struct ms_state *state, float numbers[MS_NUMBERS])
{
    const double *mean = state->mean, *variance = state->variance;
    float *to = numbers;
#define MS_LAYER_FOLD(layer, in, out, norm)                                                                          \
    to = fold(state->parameters + MS_AT_##layer, in, out, (norm) ? mean : NULL, (norm) ? variance : NULL, to);       \
    if (norm) mean += (out), variance += (out);
    MS_LAYERS(MS_LAYER_FOLD)
    memcpy(to, state->parameters + MS_AT_ADDRESS, (MS_AT_LOSS - MS_AT_ADDRESS) * sizeof *to);
}

void ms_export(const struct ms_recipe *recipe, const struct ms_state *state, unsigned char bytes[MS_FILE])
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "model files are little-endian: swap the bytes here"
#endif
    float numbers[MS_NUMBERS];
    uint32_t head[2] = {1, MS_NUMBERS};
    uint64_t tasks = state->step * recipe->batch;
    if (tasks > recipe->tasks) tasks = recipe->tasks; /* the last step may have fewer */
    ms_fold(state, numbers);
    memcpy(bytes, magic, sizeof magic);
    memcpy(bytes + 8, head, sizeof head);
    memcpy(bytes + 16, &tasks, sizeof tasks);
    memcpy(bytes + 24, numbers, sizeof numbers);
    uint64_t checksum = XXH3_64bits(bytes, MS_FILE - 8);
    memcpy(bytes + MS_FILE - 8, &checksum, sizeof checksum);
}
