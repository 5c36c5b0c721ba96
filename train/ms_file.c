/* ms_file: the model that comes out of training a meta-sketch, as ms_train.h lays it out. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ms_train.h"

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

void ms_fold(const float *parameters, const double *statistics, float numbers[MS_NUMBERS])
{
    const double *mean = statistics, *variance = statistics + MS_NORMED;
    float *to = numbers;
#define MS_LAYER_FOLD(layer, in, out, norm)                                                                            \
    to = fold(parameters + MS_AT_##layer, in, out, (norm) ? mean : NULL, (norm) ? variance : NULL, to);                \
    if (norm) mean += (out), variance += (out);
    MS_LAYERS(MS_LAYER_FOLD)
    memcpy(to, parameters + MS_AT_ADDRESS, (MS_AT_LOSS - MS_AT_ADDRESS) * sizeof *to);
}

lego_status ms_save(const struct recipe *recipe, const struct state *state, const char *name, lego_write write,
                    void *context)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "model files are little-endian: swap the bytes here"
#endif
    (void)name; /* the file has none */
    float numbers[MS_NUMBERS];
    unsigned char bytes[MS_FILE];
    uint32_t head[2] = {1, MS_NUMBERS};
    uint64_t tasks = recipe_tasks(recipe, state->step);
    ms_fold(state->average, state->statistics, numbers);
    memcpy(bytes, magic, sizeof magic);
    memcpy(bytes + 8, head, sizeof head);
    memcpy(bytes + 16, &tasks, sizeof tasks);
    memcpy(bytes + 24, numbers, sizeof numbers);
    uint64_t checksum = XXH3_64bits(bytes, MS_FILE - 8);
    memcpy(bytes + MS_FILE - 8, &checksum, sizeof checksum);
    return write(context, bytes, sizeof bytes) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}
