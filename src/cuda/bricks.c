/* bricks: see bricks.h. The host's part: memory, weights for the kernels, and rows both ways. */
#include "cuda/bricks.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/bricks_device.h"
#include "cuda/status.h"
#include "paper/bricks.h"

struct cuda_bricks {
    struct device_bricks on; /* the device */
    void *memory;            /* there: content, views, decoder and weights */
    size_t content_size;
    bool scanned; /* the views are of the content as it is */
};

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t aligned(size_t size)
{
    return (size + 255) / 256 * 256;
}

/* The shape of bricks for kernels, without memory. */
static struct device_bricks shape_of(const struct bricks *host)
{
    const lego_model *model = host->model;
    uint32_t columns = host->columns.d;
    return (struct device_bricks){.bricks = host->bricks,
                                  .columns = host->columns,
                                  .rows = model->rows,
                                  .quantum = model->quantum,
                                  .table_size = model->table_size,
                                  .tail = row_tail(columns),
                                  .words = (columns / 2 + 31) / 32,
                                  .mean_weight = model->mean_weight,
                                  .distinct_min = model->distinct_min,
                                  .skew_max = model->skew_max};
}

/* The layout of the content over these bytes, on either side; returns its size. */
static size_t place_content(const struct device_bricks *shape, unsigned char *bytes, struct bricks_content *content)
{
    size_t rows = (size_t)shape->bricks.d * shape->rows;
    size_t totals = aligned(rows * shape->columns.d * sizeof *content->cells);
    size_t pairs = totals + aligned(shape->bricks.d * sizeof *content->totals);
    size_t wide = pairs + aligned(rows * shape->words * sizeof *content->pairs);
    if (bytes) {
        content->cells = (int64_t *)(void *)bytes;
        content->totals = (int64_t *)(void *)(bytes + totals);
        content->pairs = (uint32_t *)(void *)(bytes + pairs);
        content->wide = bytes + wide;
    }
    return wide + aligned(shape->bricks.d);
}

/* What is in memory for kernels but for the content and the views, as the host makes it. */
struct constants {
    struct decoder decoder;
    float weights[MODEL_WEIGHTS];
};

static lego_status allocate(struct cuda_bricks *self)
{
    struct device_bricks *on = &self->on;
    self->content_size = place_content(on, NULL, NULL);
    size_t views = aligned(on->bricks.d * sizeof *on->views);
    lego_status status = cuda_status(cudaMalloc(&self->memory, self->content_size + views + sizeof(struct constants)));
    if (status != LEGO_OK) return status;
    unsigned char *bytes = self->memory;
    place_content(on, bytes, &on->content);
    on->views = (struct brick_view *)(void *)(bytes + self->content_size);
    const struct constants *constants = (const void *)(bytes + self->content_size + views);
    on->decoder = &constants->decoder;
    on->weights = constants->weights;
    return LEGO_OK;
}

/* ---- the decoder ------------------------------------------------------------------------------------------------- */

static const float *matrix_of(const lego_model *model, enum layer layer)
{
    return model->weights + model_layers[layer].at;
}

static void copy_bias(const lego_model *model, enum layer layer, float to[])
{
    const struct layer_shape *shape = &model_layers[layer];
    memcpy(to, model->weights + shape->at + shape->in * shape->out, shape->out * sizeof *to);
}

/* The matrix as it is, [to][from], or the other way round: of its first `in` columns. */
static void copy_matrix(const lego_model *model, enum layer layer, uint32_t in, bool turned, double factor, float to[])
{
    const struct layer_shape *shape = &model_layers[layer];
    for (uint32_t o = 0; o < shape->out; o++)
        for (uint32_t i = 0; i < in; i++)
            to[turned ? i * shape->out + o : o * in + i] =
                (float)(factor * (double)matrix_of(model, layer)[o * shape->in + i]);
}

static void copy_column(const lego_model *model, enum layer layer, uint32_t column, float to[])
{
    const struct layer_shape *shape = &model_layers[layer];
    for (uint32_t o = 0; o < shape->out; o++) to[o] = matrix_of(model, layer)[o * shape->in + column];
}

static void fill_decoder(const lego_model *model, struct decoder *to)
{
    double scale = (double)model->rows / model->quantum; /* to the paper's */
    float bias[8];
    copy_bias(model, DEC_PAIR_0, bias);
    for (int o = 0; o < 8; o++) {
        const float *w = matrix_of(model, DEC_PAIR_0) + 2 * o;
        float four[4] = {(float)(scale * (double)w[0]), (float)(scale * (double)w[1]), bias[o], 0};
        memcpy(to->pair0[o], four, sizeof four);
    }
    copy_matrix(model, DEC_PAIR_1, 8, false, 1, to->pair1[0]);
    copy_bias(model, DEC_PAIR_1, to->pair1_bias);
    copy_matrix(model, DEC_PAIR_2, 16, true, 1, to->pair2[0]);
    copy_bias(model, DEC_PAIR_2, to->pair2_bias);
    copy_matrix(model, DEC_MIX_0, 16, false, 1.0 / model->rows, to->mix0[0]);
    copy_column(model, DEC_MIX_0, 20, to->mix0_rule);
    copy_matrix(model, DEC_MIX_1, 32, true, 1, to->mix1[0]);
    copy_bias(model, DEC_MIX_1, to->mix1_bias);
    copy_matrix(model, DEC_OUT_0, 16, false, 1, to->out0[0]);
    copy_column(model, DEC_OUT_0, 16, to->out0_rule);
    copy_matrix(model, DEC_OUT_1, 8, true, 1, to->out1[0]);
    copy_bias(model, DEC_OUT_1, to->out1_bias);
    copy_matrix(model, DEC_OUT_2, 4, false, 1, to->out2);
    copy_bias(model, DEC_OUT_2, &to->out2_bias);
    memcpy(to->table16, model->table16, sizeof to->table16);
}

static lego_status upload_constants(const lego_model *model, const struct device_bricks *on)
{
    struct constants constants = {0};
    fill_decoder(model, &constants.decoder);
    memcpy(constants.weights, model->weights, sizeof constants.weights);
    return cuda_status(
        cudaMemcpy((void *)(uintptr_t)on->decoder, &constants, sizeof constants, cudaMemcpyHostToDevice));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static struct cells host_row(const struct bricks *host, uint32_t brick, uint32_t k)
{
    uint32_t columns = host->columns.d;
    bool wide = host->marks[brick] >> k & 1;
    return (struct cells){host->cells + ((uint64_t)brick * host->model->rows + k) * 4 * columns,
                          wide ? columns - row_tail(columns) : columns, wide};
}

/* Where row k of a brick is in the content. */
struct sums {
    int64_t *cells;
    uint32_t *pairs;
};

static struct sums sums_of(const struct device_bricks *shape, const struct bricks_content *content, uint32_t brick,
                           uint32_t k)
{
    size_t row = (size_t)brick * shape->rows + k;
    return (struct sums){content->cells + row * shape->columns.d, content->pairs + row * shape->words};
}

/* Into sums that are 0. What cells share is in the first of them. */
static void take_row(struct sums to, const struct cells *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        bool is_pair = row_is_pair(from, i);
        if (is_pair) to.pairs[i / 64] |= 1u << i / 2 % 32;
        if (!is_pair || i % 2 == 0) to.cells[i] = row_get(from, i);
    }
}

/* Into an empty row. */
static void give_row(struct sums from, bool wide, uint32_t columns, struct cells *to)
{
    if (wide) row_widen(to);
    for (uint32_t i = 0; wide && i < to->n; i += 2)
        if (from.pairs[i / 64] >> i / 2 % 32 & 1) row_pair(to, i);
    for (uint32_t c = 0; c < columns; c++) row_add(to, c, from.cells[c]);
}

static void take_all(const struct bricks *host, const struct device_bricks *shape, struct bricks_content *content)
{
    for (uint32_t b = 0; b < shape->bricks.d; b++) {
        content->totals[b] = row_get64(host->totals + 8 * (size_t)b);
        content->wide[b] = host->marks[b];
        for (uint32_t k = 0; k < shape->rows; k++) {
            struct cells from = host_row(host, b, k);
            take_row(sums_of(shape, content, b, k), &from);
        }
    }
}

static void give_all(const struct device_bricks *shape, const struct bricks_content *content, struct bricks *host)
{
    bricks_clear(host);
    for (uint32_t b = 0; b < shape->bricks.d; b++) {
        row_set64(host->totals + 8 * (size_t)b, content->totals[b]);
        host->total += content->totals[b];
        for (uint32_t k = 0; k < shape->rows; k++) {
            struct cells to = host_row(host, b, k);
            give_row(sums_of(shape, content, b, k), content->wide[b] >> k & 1, shape->columns.d, &to);
            host->marks[b] |= (unsigned char)(to.wide << k);
        }
    }
}

/* ---- the seam ---------------------------------------------------------------------------------------------------- */

static lego_status upload_content(struct cuda_bricks *self, const struct bricks *host)
{
    struct bricks_content content;
    unsigned char *bytes = calloc(1, self->content_size);
    if (!bytes) return LEGO_ERR_MEMORY;
    place_content(&self->on, bytes, &content);
    take_all(host, &self->on, &content);
    lego_status status = cuda_status(cudaMemcpy(self->memory, bytes, self->content_size, cudaMemcpyHostToDevice));
    free(bytes);
    return status;
}

lego_status cuda_bricks_upload(const struct bricks *host, struct cuda_bricks **made)
{
    struct cuda_bricks *self = calloc(1, sizeof *self);
    if (!self) return LEGO_ERR_MEMORY;
    self->on = shape_of(host);
    lego_status status = allocate(self);
    if (status == LEGO_OK) status = upload_constants(host->model, &self->on);
    if (status == LEGO_OK) status = upload_content(self, host);
    if (status == LEGO_OK) *made = self;
    else cuda_bricks_free(self);
    return status;
}

void cuda_bricks_free(struct cuda_bricks *self)
{
    if (self) cudaFree(self->memory);
    free(self);
}

lego_status cuda_bricks_add(struct cuda_bricks *self, struct seed seed, const uint64_t *keys, const int64_t *counts,
                            size_t n, cudaStream_t stream)
{
    self->scanned = false;
    cudaError_t error = device_add(&self->on, hash_short_way(seed), keys, counts, n, stream);
    return error == cudaSuccess ? LEGO_OK : LEGO_ERR_DEVICE;
}

lego_status cuda_bricks_query(struct cuda_bricks *self, struct seed seed, const uint64_t *keys, size_t n,
                              lego_estimate *estimates, cudaStream_t stream)
{
    if (!self->scanned) { /* and waits, since the next question may come in another stream */
        self->scanned = device_scan(&self->on, stream) == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess;
        if (!self->scanned) return LEGO_ERR_DEVICE;
    }
    cudaError_t error = device_query(&self->on, hash_short_way(seed), keys, n, estimates, stream);
    return error == cudaSuccess ? LEGO_OK : LEGO_ERR_DEVICE;
}

lego_status cuda_bricks_download(const struct cuda_bricks *self, struct bricks *host)
{
    struct bricks_content content;
    unsigned char *bytes = malloc(self->content_size);
    if (!bytes) return LEGO_ERR_MEMORY;
    lego_status status = cuda_status(cudaMemcpy(bytes, self->memory, self->content_size, cudaMemcpyDeviceToHost));
    if (status == LEGO_OK) {
        place_content(&self->on, bytes, &content);
        give_all(&self->on, &content, host);
    }
    free(bytes);
    return status;
}
