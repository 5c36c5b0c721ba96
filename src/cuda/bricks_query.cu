/* bricks_query: keys to estimates, a thread two items, the weights in shared memory.
 *
 * The rule and the bounds (model/bounds.c) are those of the CPU, in integers and unfused doubles (nvcc -fmad=false).
 * The networks take 3,233 multiply-adds an item and do them in float, fused: in double a GPU is too slow for that. A
 * weight is loaded for four multiplications at once, and used for all rows of an item or for both items. */
#include "cuda/bricks_item.cuh"

namespace
{

constexpr unsigned ASK_THREADS = 128, TOGETHER = 2, ASK_ITEMS = ASK_THREADS * TOGETHER, MIX = BIASES_OF_MIX;

/* ---- reading, the rule and the bounds ---------------------------------------------------------------------------- */

/* What an item reads, and what is known of it then. */
template <unsigned R> struct reading {
    float value[R], weight[R], rule;
    int64_t lower, upper;
    uint32_t brick;
    bool decodes;
};

__device__ __forceinline__ int64_t floor_divide(int64_t value, uint32_t weight)
{
    if ((uint64_t)value >> 32 == 0) return (uint32_t)value / weight; /* several times faster */
    return value / (int64_t)weight - (value % (int64_t)weight < 0);
}

/* decode_slack(). */
template <unsigned R> __device__ __forceinline__ double slack_of(double (&noise)[R])
{
#pragma unroll
    for (unsigned k = 1; k < R; k++)
#pragma unroll
        for (unsigned i = k; i > 0; i--) {
            double a = noise[i - 1], b = noise[i];
            noise[i - 1] = a < b ? a : b;
            noise[i] = a < b ? b : a;
        }
    double product = 20 * noise[0];
    unsigned rows = 1;
#pragma unroll
    for (unsigned j = 1; j < R; j++) {
        double e = noise[j], power = e;
#pragma unroll
        for (unsigned i = 1; i < j; i++) power *= e;
        if (rows < j || power >= product) continue; /* a row before was too noisy, or this one is */
        product *= e;
        rows = j + 1;
    }
    return rows == 1 ? product : rows == 2 ? sqrt(product) : pow(product, 1.0 / rows);
}

/* The lower bound of decode_rule(). */
template <unsigned R> __device__ __forceinline__ int64_t lower_of(int64_t upper, double (&noise)[R])
{
    if (upper <= 0) return upper;
    double t = slack_of(noise);
    return t < (double)upper ? upper - (int64_t)t : 0;
}

/* The values in wide rows. */
template <unsigned R>
__device__ __forceinline__ void read_wide(const device_bricks &b, const item<R> &it, uint32_t wide, int64_t (&value)[R])
{
    uint32_t n = b.columns.d - b.tail;
#pragma unroll
    for (unsigned k = 0; k < R; k++)
        if (wide >> k & 1) value[k] = wide_cell(b, it.brick, k, it.column[k] < n ? it.column[k] : it.column[k] - n);
}

template <unsigned R>
__device__ __forceinline__ void read(const device_bricks &b, const uint32_t table16[], const hash_way &way,
                                     uint64_t key, reading<R> &made)
{
    item<R> it(b, table16, way, key);
    const brick_view &view = b.views[it.brick];
    int64_t value[R], upper = INT64_MAX;
    double noise[R];
#pragma unroll
    for (unsigned k = 0; k < R; k++) value[k] = b.content.cells[row_start(b, it.brick, R, k) + it.column[k]];
    const uint32_t wide = view.wide;
    if (wide) read_wide(b, it, wide, value); /* apart, so that the loads above do not wait for one another */
    made.rule = INFINITY;
#pragma unroll
    for (unsigned k = 0; k < R; k++) {
        upper = min(upper, floor_divide(value[k], it.weight[k]));
        noise[k] = view.noise[wide >> k & 1] / it.weight[k];
        made.value[k] = (float)value[k];
        made.weight[k] = (float)it.weight[k];
        made.rule = fminf(made.rule, made.value[k] / made.weight[k]);
    }
    made.brick = it.brick;
    made.lower = lower_of(upper, noise);
    made.upper = upper;
    made.decodes = upper > 0 && view.decodes;
}

/* ---- the networks ------------------------------------------------------------------------------------------------ */

__device__ __forceinline__ float relu(float x)
{
    return fmaxf(x, 0.0f);
}

__device__ __forceinline__ float leaky(float x)
{
    return fmaxf(x, 0.01f * x);
}

/* N numbers of shared or global memory, four a load. */
template <unsigned N> __device__ __forceinline__ void load(const float *from, float (&to)[N])
{
#pragma unroll
    for (unsigned i = 0; i < N; i += 4) {
        float4 four = *reinterpret_cast<const float4 *>(from + i);
        to[i] = four.x, to[i + 1] = four.y, to[i + 2] = four.z, to[i + 3] = four.w;
    }
}

/* sum + w x. */
template <unsigned N> __device__ __forceinline__ float dot(const float (&w)[N], const float (&x)[N], float sum)
{
#pragma unroll
    for (unsigned i = 0; i < N; i++) sum = fmaf(w[i], x[i], sum);
    return sum;
}

/* y += w x, of a unit's output x to all units of the next layer. */
template <unsigned N> __device__ __forceinline__ void spread(const float (&w)[N], float x, float (&y)[N])
{
#pragma unroll
    for (unsigned i = 0; i < N; i++) y[i] = fmaf(w[i], x, y[i]);
}

/* The three layers of a row, 2 -> 8 -> 16 -> 16, summed over the rows. */
template <unsigned R>
__device__ __forceinline__ void see_rows(const decoder &d, const reading<R> &item, float (&joined)[16])
{
    float a[R][8], y[R][16];
#pragma unroll
    for (unsigned o = 0; o < 8; o++) {
        float w[4];
        load(d.pair0[o], w);
#pragma unroll
        for (unsigned k = 0; k < R; k++) a[k][o] = relu(fmaf(w[0], item.value[k], fmaf(w[1], item.weight[k], w[2])));
    }
#pragma unroll
    for (unsigned k = 0; k < R; k++) load(d.pair2_bias, y[k]);
#pragma unroll 2
    for (unsigned o = 0; o < 16; o++) {
        float w[8], next[16], bias = d.pair1_bias[o];
        load(d.pair1[o], w);
        load(d.pair2[o], next);
#pragma unroll
        for (unsigned k = 0; k < R; k++) spread(next, relu(dot(w, a[k], bias)), y[k]);
    }
#pragma unroll
    for (unsigned o = 0; o < 16; o++) {
        joined[o] = 0;
#pragma unroll
        for (unsigned k = 0; k < R; k++) joined[o] += relu(y[k][o]);
    }
}

/* What is left of an item when its rows were seen. */
struct joint {
    float joined[16], rule;
    int64_t lower, upper;
    uint32_t brick;
    bool decodes;
};

/* 24 -> 32 -> 16, of which what the brick brings is in its biases. */
__device__ __forceinline__ void mix(const decoder &d, const brick_view *views, const joint (&of)[TOGETHER],
                                    float (&mixed)[TOGETHER][16])
{
    float bias[TOGETHER][4], ahead[TOGETHER][4];
#pragma unroll
    for (unsigned t = 0; t < TOGETHER; t++) {
        load(d.mix1_bias, mixed[t]);
        load(views[of[t].brick].bias, ahead[t]);
    }
#pragma unroll 1
    for (unsigned first = 0; first < MIX; first += 4) {
        float rule[4];
        load(d.mix0_rule + first, rule);
#pragma unroll
        for (unsigned t = 0; t < TOGETHER; t++) {
            memcpy(bias[t], ahead[t], sizeof ahead[t]);
            load(views[of[t].brick].bias + first + 4, ahead[t]); /* at the end it is of the next layer, and not used */
        }
#pragma unroll
        for (unsigned o = 0; o < 4; o++) {
            float w[16], next[16];
            load(d.mix0[first + o], w);
            load(d.mix1[first + o], next);
#pragma unroll
            for (unsigned t = 0; t < TOGETHER; t++)
                spread(next, leaky(dot(w, of[t].joined, fmaf(rule[o], of[t].rule, bias[t][o]))), mixed[t]);
        }
    }
#pragma unroll
    for (unsigned t = 0; t < TOGETHER; t++)
#pragma unroll
        for (unsigned o = 0; o < 16; o++) mixed[t][o] = leaky(mixed[t][o]);
}

/* 20 -> 8 -> 4 -> 1. */
__device__ __forceinline__ void finish(const decoder &d, const brick_view *views, const joint (&of)[TOGETHER],
                                       const float (&mixed)[TOGETHER][16], float (&answer)[TOGETHER])
{
    float bias[TOGETHER][8], y[TOGETHER][4], last[4];
#pragma unroll
    for (unsigned t = 0; t < TOGETHER; t++) {
        load(views[of[t].brick].bias + MIX, bias[t]);
        load(d.out1_bias, y[t]);
    }
#pragma unroll
    for (unsigned o = 0; o < 8; o++) {
        float w[16], next[4], rule = d.out0_rule[o];
        load(d.out0[o], w);
        load(d.out1[o], next);
#pragma unroll
        for (unsigned t = 0; t < TOGETHER; t++)
            spread(next, leaky(dot(w, mixed[t], fmaf(rule, of[t].rule, bias[t][o]))), y[t]);
    }
    load(d.out2, last);
#pragma unroll
    for (unsigned t = 0; t < TOGETHER; t++) {
        answer[t] = d.out2_bias;
#pragma unroll
        for (unsigned i = 0; i < 4; i++) answer[t] = fmaf(last[i], leaky(y[t][i]), answer[t]);
    }
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* decode_lower(), where the network has decoded. */
__device__ __forceinline__ lego_estimate answer_of(const joint &item, double decoded)
{
    lego_estimate estimate = {(double)item.upper, item.lower, item.upper, item.upper};
    if (!item.decodes || !(decoded < estimate.value)) return estimate;
    estimate.value = decoded > 0 ? decoded : 0;
    if (estimate.value < (double)estimate.lower) estimate.lower = (int64_t)estimate.value;
    return estimate;
}

/* Reads an item, and sees its rows if one of the warp's items needs that; returns whether. */
template <unsigned R>
__device__ __forceinline__ bool begin(const device_bricks &b, const decoder &d, const hash_way &way, uint64_t key,
                                      joint &made)
{
    reading<R> item;
    read(b, d.table16, way, key, item);
    made.rule = item.rule;
    made.lower = item.lower;
    made.upper = item.upper;
    made.brick = item.brick;
    made.decodes = item.decodes;
    bool needed = __any_sync(~0u, item.decodes);
    if (needed) see_rows(d, item, made.joined);
    return needed;
}

template <unsigned R>
__global__ void __launch_bounds__(ASK_THREADS, R <= 5 ? 3 : 2)
    ask(const __grid_constant__ device_bricks b, const __grid_constant__ hash_way way, const uint64_t *keys, size_t n,
        lego_estimate *estimates)
{
    __shared__ decoder d;
    static_assert(sizeof d % sizeof(uint4) == 0, "copied in pieces of 16 bytes");
    for (unsigned i = threadIdx.x; i < sizeof d / sizeof(uint4); i += ASK_THREADS)
        reinterpret_cast<uint4 *>(&d)[i] = reinterpret_cast<const uint4 *>(b.decoder)[i];
    __syncthreads();
    for (size_t first = (size_t)blockIdx.x * ASK_ITEMS; first < n; first += (size_t)gridDim.x * ASK_ITEMS) {
        joint of[TOGETHER] = {};
        float mixed[TOGETHER][16], decoded[TOGETHER] = {};
        bool needed = false;
#pragma unroll 1
        for (unsigned t = 0; t < TOGETHER; t++) {
            size_t i = first + t * ASK_THREADS + threadIdx.x;
            of[0] = of[1];                                                 /* what is in registers can not be of[t] */
            needed |= begin<R>(b, d, way, keys[i < n ? i : n - 1], of[1]); /* past the end the last item again */
        }
        if (needed) {
            mix(d, b.views, of, mixed);
            finish(d, b.views, of, mixed, decoded);
        }
#pragma unroll
        for (unsigned t = 0; t < TOGETHER; t++) {
            size_t i = first + t * ASK_THREADS + threadIdx.x;
            if (i < n) estimates[i] = answer_of(of[t], (double)decoded[t]);
        }
    }
}

template <unsigned R>
cudaError_t start(const device_bricks &b, const hash_way &way, const uint64_t *keys, size_t n, lego_estimate *estimates,
                  cudaStream_t stream)
{
    unsigned grid = grid_for(ask<R>, ASK_THREADS, 0, n, ASK_ITEMS);
    return launch(ask<R>, grid, ASK_THREADS, 0, stream, b, way, keys, n, estimates);
}

} // namespace

cudaError_t device_query(const device_bricks *bricks, hash_way way, const uint64_t *keys, size_t n,
                         lego_estimate *estimates, cudaStream_t stream)
{
    switch (bricks->rows) {
    case 1: return start<1>(*bricks, way, keys, n, estimates, stream);
    case 2: return start<2>(*bricks, way, keys, n, estimates, stream);
    case 3: return start<3>(*bricks, way, keys, n, estimates, stream);
    case 4: return start<4>(*bricks, way, keys, n, estimates, stream);
    case 5: return start<5>(*bricks, way, keys, n, estimates, stream);
    case 6: return start<6>(*bricks, way, keys, n, estimates, stream);
    case 7: return start<7>(*bricks, way, keys, n, estimates, stream);
    default: return start<8>(*bricks, way, keys, n, estimates, stream);
    }
}
