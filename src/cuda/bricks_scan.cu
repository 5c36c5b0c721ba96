/* bricks_scan: memory scanning (paper/stream.h) of all bricks, and which rows are wide. A block of threads a brick, a
 * warp a row.
 *
 * It repeats paper/stream.c operation by operation, in double and unfused (nvcc -fmad=false): what is seen in a brick
 * is the same to the bit. Sums over cells are of integers there, so they may be taken in any order here. */
#include "cuda/bricks_item.cuh"

namespace
{

constexpr unsigned SET = WARP;    /* numbers that g_scan makes of a cell, SCAN_SET: a lane has one of them */
constexpr unsigned ROOM = 16 + 1; /* of a layer; the odd one puts those of all lanes into different banks */

#define SHAPE(layer, name, in, out) {name, in, out, layer##_AT},
constexpr layer_shape shapes[LAYERS] = {MODEL_LAYERS(SHAPE)};

/* ---- which rows are wide ----------------------------------------------------------------------------------------- */

__device__ bool leaves_32_bits(int64_t x)
{
    return x != (int32_t)x;
}

/* Marks the pairs of a wide row; those that were stay. */
__device__ void mark_pairs(const device_bricks &b, const int64_t *row, uint32_t *pairs, unsigned lane)
{
    uint32_t n = b.columns.d - b.tail;
    for (uint32_t w = 0; w < b.words; w++) {
        uint32_t i = 2 * (w * WARP + lane);
        bool is_pair = i < n && (leaves_32_bits(wide_sum(b, row, i)) || leaves_32_bits(wide_sum(b, row, i + 1)));
        uint32_t word = __ballot_sync(~0u, is_pair);
        if (lane == 0) pairs[w] |= word;
    }
    __syncwarp();
}

/* Whether row k is wide by now. */
__device__ bool settle_row(const device_bricks &b, uint32_t brick, unsigned k, unsigned lane)
{
    const int64_t *row = b.content.cells + row_start(b, brick, b.rows, k);
    bool wide = b.content.wide[brick] >> k & 1;
    for (uint32_t i = lane; i < b.columns.d; i += WARP) wide |= leaves_32_bits(row[i]);
    wide = __any_sync(~0u, wide);
    if (wide) mark_pairs(b, row, b.content.pairs + ((size_t)brick * b.rows + k) * b.words, lane);
    return wide;
}

/* ---- sums over a row --------------------------------------------------------------------------------------------- */

/* A sum below 2^127 of whole numbers. */
struct sum128 {
    uint64_t low, high;

    __device__ void add(double whole)
    {
        uint64_t up = whole < 0x1p63 ? 0 : (uint64_t)(whole * 0x1p-64);
        uint64_t rest = (uint64_t)(whole - (double)up * 0x1p64);
        low += rest;
        high += up + (low < rest);
    }
    __device__ double get() const /* rounded once */
    {
        if (high == 0) return (double)low;
        int shift = 64 - __clzll((long long)high);
        uint64_t top = high << (64 - shift) | low >> shift;
        return ldexp((double)(top | (low << (64 - shift) != 0)), shift); /* the bit says that something is below */
    }
};

/* y = act(W x + b), of one thread. */
template <layer L> __device__ void dense(const float *weights, const double x[], double y[])
{
    constexpr unsigned in = shapes[L].in, out = shapes[L].out;
    const float *matrix = weights + shapes[L].at;
#pragma unroll
    for (unsigned o = 0; o < out; o++) {
        double sum = matrix[in * out + o];
#pragma unroll
        for (unsigned i = 0; i < in; i++) sum += matrix[o * in + i] * x[i];
        y[o] = sum < 0 ? 0 * sum : sum;
    }
}

/* The lane's number of the set, summed over the cells that are looked at. Two layers are a lane's own for its cell, the
 * third is the lane's own for all cells of the warp. */
__device__ double sum_row(const device_bricks &b, uint32_t brick, unsigned k, bool wide, uint32_t cells, unsigned lane,
                          double (*hidden)[ROOM])
{
    const float *matrix = b.weights + SCAN_CELL_2_AT + 16 * lane;
    const int64_t *row = b.content.cells + row_start(b, brick, b.rows, k);
    double bias = b.weights[SCAN_CELL_2_AT + 16 * SET + lane], own[16];
#pragma unroll
    for (unsigned i = 0; i < 16; i++) own[i] = matrix[i];
    sum128 sum = {0, 0};
    for (uint32_t first = 0; first < cells; first += WARP) {
        uint32_t c = first + lane < cells ? first + lane : cells - 1, there = min(WARP, cells - first);
        double x = (double)(wide ? wide_cell(b, brick, k, c) : row[c]) * ((double)b.rows / b.quantum), a[8];
        dense<SCAN_CELL_0>(b.weights, &x, a);
        dense<SCAN_CELL_1>(b.weights, a, hidden[lane]);
        __syncwarp();
#pragma unroll 4
        for (uint32_t j = 0; j < there; j++) {
            double y = bias;
#pragma unroll
            for (unsigned i = 0; i < 16; i++) y += own[i] * hidden[j][i];
            y = y < 0 ? 0 * y : y;
            sum.add(rint((y < 0x1p90 ? y : 0x1p90) * 0x1p20));
        }
        __syncwarp();
    }
    return sum.get();
}

/* ---- what is seen ------------------------------------------------------------------------------------------------ */

/* y = act(W x + b), of a warp. */
template <layer L>
__device__ void dense_of_warp(const float *weights, double slope, const double x[], double y[], unsigned lane)
{
    constexpr unsigned in = shapes[L].in, out = shapes[L].out;
    const float *matrix = weights + shapes[L].at;
    static_assert(out <= WARP, "an output a lane");
    if (lane < out) {
        double sum = matrix[in * out + lane];
#pragma unroll
        for (unsigned i = 0; i < in; i++) sum += matrix[lane * in + i] * x[i];
        y[lane] = sum < 0 ? slope * sum : sum;
    }
    __syncwarp();
}

enum { SEEN_SKEW = SCAN_IMPLICIT, SEEN_DISTINCT, SEEN }; /* behind what only the decoder understands */

constexpr double LEAKY = 0.01, LINEAR = 1;

/* The head that starts at this layer: 32 -> 16 -> 16 -> 8 -> 1. */
template <layer L>
__device__ void see_head(const float *weights, const double mean[], double (*room)[ROOM], double *y, unsigned lane)
{
    dense_of_warp<L>(weights, LEAKY, mean, room[0], lane);
    dense_of_warp<layer(L + 1)>(weights, LEAKY, room[0], room[1], lane);
    dense_of_warp<layer(L + 2)>(weights, LEAKY, room[1], room[2], lane);
    dense_of_warp<layer(L + 3)>(weights, LINEAR, room[2], y, lane);
}

/* What the networks make of a row's sums; room: three layers and the means. */
__device__ void see_row(const float *weights, double sum, uint32_t cells, double (*room)[ROOM], double seen[SEEN],
                        unsigned lane)
{
    double *mean = room[3];
    mean[lane] = sum / 0x1p20 / cells;
    __syncwarp();
    dense_of_warp<SCAN_IMPLICIT_0>(weights, LEAKY, mean, room[0], lane);
    dense_of_warp<SCAN_IMPLICIT_1>(weights, LEAKY, room[0], room[1], lane);
    dense_of_warp<SCAN_IMPLICIT_2>(weights, LEAKY, room[1], seen, lane);
    see_head<SCAN_SKEW_0>(weights, mean, room, seen + SEEN_SKEW, lane);
    see_head<SCAN_DISTINCT_0>(weights, mean, room, seen + SEEN_DISTINCT, lane);
}

/* The bias of unit o of a layer with what the brick's stream adds, whose weights start at `at` in each row. */
template <layer L> __device__ float bias_of(const float *weights, unsigned o, unsigned at, unsigned n, const double x[])
{
    const float *matrix = weights + shapes[L].at, *row = matrix + shapes[L].in * o + at;
    double sum = matrix[shapes[L].in * shapes[L].out + o];
    for (unsigned i = 0; i < n; i++) sum += row[i] * x[i];
    return (float)sum;
}

__device__ void make_view(const device_bricks &b, uint32_t brick, uint32_t wide, const double stream[SEEN])
{
    brick_view &view = b.views[brick];
    double total = (double)b.content.totals[brick], mass = fmax(0.0, total) * b.mean_weight;
    /* DEC_MIX_0 sees 16 of the rows, implicit, f'', N, s(alpha), s(n); DEC_OUT_0 16 of the mix, and the last four. */
    const double facts[] = {stream[0], stream[1], stream[2],         stream[3],
                            0,         total,     stream[SEEN_SKEW], stream[SEEN_DISTINCT]};
    for (unsigned o = threadIdx.x; o < BIASES; o += blockDim.x)
        view.bias[o] = o < BIASES_OF_MIX ? bias_of<DEC_MIX_0>(b.weights, o, 16, 8, facts)
                                         : bias_of<DEC_OUT_0>(b.weights, o - BIASES_OF_MIX, 16, 4, facts + 4);
    if (threadIdx.x > 0) return;
    view.noise[0] = mass / b.columns.d;
    view.noise[1] = mass / (b.columns.d - b.tail);
    view.wide = wide;
    view.decodes = stream[SEEN_DISTINCT] > b.distinct_min && stream[SEEN_SKEW] < b.skew_max;
    b.content.wide[brick] = (uint8_t)wide;
}

__global__ void __launch_bounds__(ROWS_MAX *WARP) scan(const __grid_constant__ device_bricks b)
{
    __shared__ double hidden[ROWS_MAX][WARP][ROOM], seen[ROWS_MAX][SEEN], stream[SEEN];
    __shared__ uint32_t wide_rows;
    uint32_t brick = blockIdx.x, k = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (threadIdx.x == 0) wide_rows = 0;
    __syncthreads();
    bool wide = settle_row(b, brick, k, lane);
    if (wide && lane == 0) atomicOr(&wide_rows, 1u << k);
    uint32_t n = wide ? b.columns.d - b.tail : b.columns.d, cells = n < 10 ? 1 : n / 10; /* as scan_cells() */
    double sum = sum_row(b, brick, k, wide, cells, lane, hidden[k]);
    see_row(b.weights, sum, cells, hidden[k], seen[k], lane);
    __syncthreads();
    if (threadIdx.x < SEEN) {
        double mean = 0;
        for (unsigned r = 0; r < b.rows; r++) mean += seen[r][threadIdx.x] / b.rows;
        stream[threadIdx.x] = mean;
    }
    __syncthreads();
    make_view(b, brick, wide_rows, stream);
}

} // namespace

cudaError_t device_scan(const device_bricks *bricks, cudaStream_t stream)
{
    return launch(scan, bricks->bricks.d, bricks->rows * WARP, 0, stream, *bricks);
}
