/* layers: y = act(W x + b) and back, a thread an item, W [OUT][IN] in shared memory; and the gradients of W, by the
 * block. */
#pragma once

#include "device.cuh"

namespace
{

/* Keeps the compiler from loading all weights of a layer at once, for which there are no registers. */
__device__ void fence()
{
    asm volatile("" ::: "memory");
}

template <int L> __device__ void forward(const float *w, const float *x, float *y, float slope)
{
    constexpr int I = IN[L], O = OUT[L], TOGETHER = O % 4 == 0 ? 4 : 1; /* outputs at a time: sums that do not wait */
#pragma unroll
    for (int o = 0; o < O; o += TOGETHER) {
        float sum[TOGETHER];
#pragma unroll
        for (int j = 0; j < TOGETHER; j++) sum[j] = w[I * O + o + j];
        if constexpr (I % 4 == 0) {
#pragma unroll
            for (int i = 0; i < I; i += 4)
#pragma unroll
                for (int j = 0; j < TOGETHER; j++) {
                    float4 w4 = *reinterpret_cast<const float4 *>(w + (o + j) * I + i);
                    sum[j] += w4.x * x[i];
                    sum[j] += w4.y * x[i + 1];
                    sum[j] += w4.z * x[i + 2];
                    sum[j] += w4.w * x[i + 3];
                }
        } else {
#pragma unroll
            for (int i = 0; i < I; i++)
#pragma unroll
                for (int j = 0; j < TOGETHER; j++) sum[j] += w[(o + j) * I + i] * x[i];
        }
#pragma unroll
        for (int j = 0; j < TOGETHER; j++) y[o + j] = sum[j] < 0 ? slope * sum[j] : sum[j];
        fence();
    }
}

/* dy of the output before the activation; dx of the input. */
template <int L> __device__ void backward(const float *w, const float *dy, float *dx)
{
    constexpr int I = IN[L], O = OUT[L];
#pragma unroll
    for (int i = 0; i < I; i++) dx[i] = 0;
#pragma unroll
    for (int o = 0; o < O; o++) {
        if constexpr (I % 4 == 0) {
#pragma unroll
            for (int i = 0; i < I; i += 4) {
                float4 w4 = *reinterpret_cast<const float4 *>(w + o * I + i);
                dx[i] += w4.x * dy[o];
                dx[i + 1] += w4.y * dy[o];
                dx[i + 2] += w4.z * dy[o];
                dx[i + 3] += w4.w * dy[o];
            }
        } else {
#pragma unroll
            for (int i = 0; i < I; i++) dx[i] += w[o * I + i] * dy[o];
        }
        if (o % 2) fence();
    }
}

/* The gradient before an activation: y is the activation's output, whose sign is that of its input. */
template <int N> __device__ void through(float *dy, const float *y, float slope)
{
#pragma unroll
    for (int i = 0; i < N; i++) dy[i] *= y[i] > 0 ? 1.0f : slope;
}

/* ---- weight gradients: the sum over the block's 128 items of delta[o] * input[i] --------------------------------- */

constexpr int power_below(int n)
{
    int p = 1;
    while (2 * p <= n) p *= 2;
    return p;
}

template <int L> struct tiling { /* 4 x 4 weights a thread; the bias is the weight of an input that is always 1 */
    static constexpr int I = IN[L], O = OUT[L], XI = round4(I + 1), XO = round4(O), TI = XI / 4, TO = XO / 4,
                         TILES = TI * TO, GROUPS = power_below((TILES < 16 ? 48 : ITEMS) / TILES),
                         EACH = ITEMS / GROUPS,
                         ACTIVE = TILES * GROUPS; /* threads; small layers take fewer, for their sums take room */
};

/* Where the sums of a layer are, in floats, if those from `first` on follow each other. */
template <int FIRST, int L> constexpr int sums_at()
{
    if constexpr (L == FIRST) return 0;
    else return sums_at<FIRST, L - 1>() + 16 * tiling<L - 1>::ACTIVE;
}

/* Room for the items' inputs and deltas of a layer, in floats: the most, DEC_MIX_0, has 28 + 32. */
constexpr int STAGE = ITEMS * 60;

/* Adds the items' outer products to the thread's 16 sums, which lie at sums[16][ACTIVE]. All threads must call it. */
template <int L> __device__ void multiply(float *sums, float *stage, const float *x, const float *dy)
{
    using T = tiling<L>;
    float *sx = stage, *sd = stage + ITEMS * T::XI;
    int t = threadIdx.x;
#pragma unroll
    for (int i = 0; i < T::XI; i += 4) {
        float4 v;
        v.x = i < T::I ? x[i] : i == T::I ? 1.0f : 0.0f;
        v.y = i + 1 < T::I ? x[i + 1] : i + 1 == T::I ? 1.0f : 0.0f;
        v.z = i + 2 < T::I ? x[i + 2] : i + 2 == T::I ? 1.0f : 0.0f;
        v.w = i + 3 < T::I ? x[i + 3] : i + 3 == T::I ? 1.0f : 0.0f;
        *reinterpret_cast<float4 *>(sx + t * T::XI + i) = v;
    }
#pragma unroll
    for (int o = 0; o < T::XO; o += 4) {
        float4 v;
        v.x = dy[o];
        v.y = o + 1 < T::O ? dy[o + 1] : 0.0f;
        v.z = o + 2 < T::O ? dy[o + 2] : 0.0f;
        v.w = o + 3 < T::O ? dy[o + 3] : 0.0f;
        *reinterpret_cast<float4 *>(sd + t * T::XO + o) = v;
    }
    __syncthreads();
    if (t < T::ACTIVE) {
        int tile = t % T::TILES, group = t / T::TILES, ti = tile % T::TI, to = tile / T::TI;
        float c[16];
#pragma unroll
        for (int j = 0; j < 16; j++) c[j] = sums[j * T::ACTIVE + t];
#pragma unroll 4
        for (int e = 0; e < T::EACH; e++) {
            int it = e * T::GROUPS + group;
            float4 a = *reinterpret_cast<const float4 *>(sx + it * T::XI + 4 * ti);
            float4 d = *reinterpret_cast<const float4 *>(sd + it * T::XO + 4 * to);
            c[0] += d.x * a.x;
            c[1] += d.x * a.y;
            c[2] += d.x * a.z;
            c[3] += d.x * a.w;
            c[4] += d.y * a.x;
            c[5] += d.y * a.y;
            c[6] += d.y * a.z;
            c[7] += d.y * a.w;
            c[8] += d.z * a.x;
            c[9] += d.z * a.y;
            c[10] += d.z * a.z;
            c[11] += d.z * a.w;
            c[12] += d.w * a.x;
            c[13] += d.w * a.y;
            c[14] += d.w * a.z;
            c[15] += d.w * a.w;
        }
#pragma unroll
        for (int j = 0; j < 16; j++) sums[j * T::ACTIVE + t] = c[j];
    }
    __syncthreads();
}

/* One layer back: its outer products join the sums, which start with those of layer FIRST as w does with its weights;
 * dx is the gradient of its input, of which the first BENT numbers were made by an activation. */
template <int FIRST, int L, int BENT>
__device__ void back(const float *w, const float *x, const float *dy, float *dx, float slope, float *sums, float *stage)
{
    multiply<L>(sums + sums_at<FIRST, L>(), stage, x, dy);
    backward<L>(w + layer_at(L) - layer_at(FIRST), dy, dx);
    through<BENT>(dx, x, slope);
}

/* Writes the block's sums of a layer, groups added in order, where the layer's gradient starts. */
template <int L> __device__ void collect(const float *sums, float *gradient)
{
    using T = tiling<L>;
    for (int p = threadIdx.x; p < (T::I + 1) * T::O; p += blockDim.x) {
        int o = p < T::I * T::O ? p / T::I : p - T::I * T::O, i = p < T::I * T::O ? p % T::I : T::I;
        int tile = o / 4 * T::TI + i / 4, j = o % 4 * 4 + i % 4;
        float sum = 0;
        for (int g = 0; g < T::GROUPS; g++) sum += sums[j * T::ACTIVE + g * T::TILES + tile];
        gradient[p] = sum;
    }
}

/* The same of layers FIRST to LAST, of which L is the next. */
template <int FIRST, int LAST, int L = FIRST> __device__ void collect_all(const float *sums, float *gradient)
{
    collect<L>(sums + sums_at<FIRST, L>(), gradient + layer_at(L) - layer_at(FIRST));
    if constexpr (L < LAST) collect_all<FIRST, LAST, L + 1>(sums, gradient);
}

} // namespace
