/* The meta-sketch (Cao, Feng and Xie, "Meta-sketch: a neural data structure for estimating item frequencies of data
 * streams", AAAI 2023), with networks that we train (train/ms_train.h has the recipe, docs/training.md what came of
 * it). As many bricks of 2 x 50 slots x 23 floats as the budget holds, each with the length of its stream; an item has
 * its brick by hash, as the Lego paper evaluates it.
 *
 *     hash -> 60 bits -> embedding -> z [23] -> refine -> q [5] -> a = sparsemax(q A) [2][50]
 *     add: M += a (x) count z      estimate: decoder of (a M / sum a^2 with their minima, z, N)
 *
 * The networks, 208 KB, are no part of the budget, as those of the Lego sketch are not; their answers are given as they
 * come, with fractions and below 1 too. Slots are floats: sums beyond 2^24 round. */
#include "ms.h"

#include "counters.h"

#include <string.h>

enum { BITS = 60, EMBED = 23, REFINED = 5, DEPTH = 2, SLOTS = 50, IN = DEPTH * (EMBED + 3) + EMBED + 1, WIDEST = 256 };

/* Layers in the order of the file, W [in][out] and bias [out] each; then A [2][5][50]. */
static const struct layer {
    int in, out;
} layers[] = {{BITS, 64},    {64, 43},     {43, EMBED},  {EMBED, 32},        {32, 18},
              {18, REFINED}, {IN, WIDEST}, {WIDEST, IN}, {IN, (IN + 1) / 2}, {(IN + 1) / 2, 1}};
enum { EMBED_LAYERS = 3, DECODER = 6, LAYERS = 10, HEAD = 24, CHECKSUM = 8 }; /* DECODER: its first layer */

typedef struct brick {
    double total; /* N */
    float slots[DEPTH][SLOTS][EMBED];
} brick;

typedef struct ms {
    estimator_table of; /* its units are bricks */
    float *weights;
    brick bricks[];
} ms;

/* What the networks make of an item before any brick is looked at. */
typedef struct address {
    brick *brick;
    float z[EMBED], a[DEPTH][SLOTS];
} address;

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* Where the weights of a layer start; those of the address matrix behind the last. */
static size_t weights_before(int layer)
{
    size_t n = 0;
    for (int l = 0; l < layer; l++) n += (size_t)((layers[l].in + 1) * layers[l].out);
    return n;
}

static size_t weight_count(void)
{
    return weights_before(LAYERS) + DEPTH * REFINED * SLOTS;
}

/* A little-endian number. */
static uint64_t number_at(const unsigned char *bytes, size_t width)
{
    uint64_t x = 0;
    for (size_t i = 0; i < width; i++) x |= (uint64_t)bytes[i] << (8 * i);
    return x;
}

static bool is_model(const unsigned char *bytes, size_t size)
{
    static const unsigned char head[12] = "LEGOMETA\1"; /* and version 1 */
    if (size != HEAD + weight_count() * sizeof(float) + CHECKSUM || memcmp(bytes, head, sizeof head) != 0) return false;
    return number_at(bytes + size - CHECKSUM, CHECKSUM) == XXH3_64bits(bytes, size - CHECKSUM);
}

lego_status ms_create(const void *model, size_t size, const lego_options *wanted, void **self)
{
    void *made;
    if (!is_model(model, size)) return LEGO_ERR_CORRUPT;
    lego_status status = estimator_create_table(&estimator_ms, wanted->budget, wanted->seed, &made);
    if (status != LEGO_OK) return status;
    float *weights = malloc(weight_count() * sizeof *weights);
    if (weights == NULL) {
        free(made);
        return LEGO_ERR_MEMORY;
    }
    for (size_t i = 0; i < weight_count(); i++) {
        uint32_t bits = (uint32_t)number_at((const unsigned char *)model + HEAD + 4 * i, 4);
        memcpy(&weights[i], &bits, sizeof bits);
    }
    ((ms *)made)->weights = weights;
    *self = made;
    return LEGO_OK;
}

static lego_status create(const lego_options *wanted, void **self)
{
    return ms_create(ms_model, ms_model_size, wanted, self);
}

static void destroy(void *self)
{
    free(((ms *)self)->weights);
    free(self);
}

/* ---- the networks ------------------------------------------------------------------------------------------------ */

/* x becomes bend(x W + b), where bend() makes what is below 0 slope times as large. Inputs of 0, which ReLU and bits
 * have many of, are passed over. */
static void forward(const ms *sketch, int layer, float slope, float x[WIDEST])
{
    int in = layers[layer].in, out = layers[layer].out;
    const float *restrict w = sketch->weights + weights_before(layer);
    float y[WIDEST];
    memcpy(y, w + in * out, (size_t)out * sizeof *y);
    for (int i = 0; i < in; i++, w += out) {
        float factor = x[i];
        if (factor == 0) continue;
        for (int o = 0; o < out; o++) y[o] += factor * w[o];
    }
    for (int o = 0; o < out; o++) x[o] = y[o] > 0 ? y[o] : slope * y[o];
}

/* The nearest point whose entries are at least 0 and sum to 1: those above a threshold, less that. */
static void sparsemax(float x[SLOTS])
{
    float top = x[0];
    for (int s = 1; s < SLOTS; s++) top = x[s] > top ? x[s] : top;
    float tau = -1, before; /* of what is left of the largest */
    do {                    /* tau rises until no slot drops below it (Michelot 1986) */
        float sum = 0, count = 0;
        for (int s = 0; s < SLOTS; s++) {
            sum += x[s] - top > tau ? x[s] - top : 0;
            count += x[s] - top > tau ? 1 : 0;
        }
        before = tau;
        tau = (sum - 1) / count;
    } while (tau > before);
    for (int s = 0; s < SLOTS; s++) x[s] = x[s] - top > before ? x[s] - top - before : 0;
}

static address locate(const ms *sketch, const void *item, size_t size)
{
    XXH128_hash_t hash = hash_item(item, size, sketch->of.seed);
    float x[WIDEST];
    address found = {.brick = (brick *)&sketch->bricks[pick(hash.high64, sketch->of.units)]};
    for (int i = 0; i < BITS; i++) x[i] = (float)(hash.low64 >> i & 1);
    for (int l = 0; l < EMBED_LAYERS; l++) forward(sketch, l, 0, x);
    memcpy(found.z, x, sizeof found.z);
    for (int l = EMBED_LAYERS; l < DECODER; l++) forward(sketch, l, l < DECODER - 1 ? 0.01F : 1, x);
    const float *at = sketch->weights + weights_before(LAYERS);
    for (int d = 0; d < DEPTH; d++) {
        for (int r = 0; r < REFINED; r++, at += SLOTS)
            for (int s = 0; s < SLOTS; s++) found.a[d][s] += x[r] * at[s];
        sparsemax(found.a[d]);
    }
    return found;
}

/* ---- bricks ------------------------------------------------------------------------------------------------------ */

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    address at = locate(self, item, size);
    at.brick->total += (double)count;
    for (int d = 0; d < DEPTH; d++)
        for (int s = 0; s < SLOTS; s++) {
            float part = at.a[d][s] * (float)count;
            if (part != 0)
                for (int k = 0; k < EMBED; k++) at.brick->slots[d][s][k] += part * at.z[k];
        }
    return LEGO_OK;
}

/* a M / sum of a^2 of one depth, and what is least of it: by z, as it is, and above that by z. z below 1e-4 takes no
 * part, nor does a read within 1e-4 of the least; where none is left it is 0. */
static void read_depth(const address *at, int d, float read[EMBED], float *ratio, float *least, float *gap)
{
    float square = 0;
    memset(read, 0, EMBED * sizeof *read);
    for (int s = 0; s < SLOTS; s++) {
        float a = at->a[d][s];
        square += a * a;
        if (a != 0)
            for (int k = 0; k < EMBED; k++) read[k] += a * at->brick->slots[d][s][k];
    }
    for (int k = 0; k < EMBED; k++) read[k] /= square;
    *least = read[0];
    for (int k = 1; k < EMBED; k++) *least = read[k] < *least ? read[k] : *least;
    const float far = 1e30F;
    *ratio = *gap = far;
    for (int k = 0; k < EMBED; k++) {
        if (!(at->z[k] > 1e-4F)) continue;
        float by_z = read[k] / at->z[k], above = read[k] - *least;
        *ratio = by_z < *ratio ? by_z : *ratio;
        if (above > 1e-4F && above / at->z[k] < *gap) *gap = above / at->z[k];
    }
    *ratio = *ratio < far ? *ratio : 0;
    *gap = *gap < far ? *gap : 0;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const ms *sketch = self;
    address at = locate(sketch, item, size);
    float in[IN], x[WIDEST], *features = in + DEPTH * EMBED;
    for (int d = 0; d < DEPTH; d++)
        read_depth(&at, d, in + d * EMBED, &features[d], &features[DEPTH + d], &features[2 * DEPTH + d]);
    memcpy(features + 3 * DEPTH, at.z, sizeof at.z);
    in[IN - 1] = (float)at.brick->total;
    memcpy(x, in, sizeof in);
    forward(sketch, DECODER, 0, x);
    forward(sketch, DECODER + 1, 1, x);
    for (int i = 0; i < IN; i++) x[i] = x[i] + in[i] > 0 ? x[i] + in[i] : 0;
    forward(sketch, DECODER + 2, 0, x);
    forward(sketch, DECODER + 3, 1, x);
    *value = (double)x[0];
    return LEGO_OK;
}

const estimator_kind estimator_ms = {
    "ms", ESTIMATOR_TABLE(ms, sizeof(brick)), .create = create, .destroy = destroy, .add = add, .estimate = estimate};
