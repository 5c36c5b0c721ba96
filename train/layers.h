/* layers: dense layers on batches, x_forward beside x_backward. A batch is [feature][column]: a column is an item, or a
 * cell, or a row of a brick; columns are a multiple of LANES, and a vector register holds LANES of them.
 *
 * This body is compiled several times. Whoever includes it defines first
 *
 *     real               float, or double where gradients are checked against differences
 *     LANES              reals in a vector register
 *     TILE_ROWS          rows of a product that are summed in registers at once ...
 *     TILE_COLUMNS       ... for so many vectors of columns
 *     TILE_OUT, TILE_IN  the same for the gradient of a matrix
 *
 * and gets static functions. Sizes are constants at every call, so after inlining all loops over tiles are unrolled. */
#include <stddef.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Before a loop whose bounds are constants: without it sums would stay arrays in memory. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

typedef real vec __attribute__((vector_size(LANES * sizeof(real))));
typedef vec vec_in_memory __attribute__((may_alias)); /* batches are arrays of real */
typedef __typeof__((vec){0} > (vec){0}) lanes_mask;

/* The slope left of zero. */
#define SLOPE_LINEAR 1
#define SLOPE_RELU 0
#define SLOPE_LEAKY ((real)0.01)

INLINE vec vec_load(const real *p)
{
    return *(const vec_in_memory *)p;
}

INLINE void vec_store(real *p, vec x)
{
    *(vec_in_memory *)p = x;
}

INLINE vec splat(real x)
{
    return x - (vec){0}; /* 0 + x would turn -0 into 0, so the compiler could not drop it */
}

INLINE vec select_lanes(lanes_mask mask, vec yes, vec no)
{
    return (vec)(((lanes_mask)yes & mask) | ((lanes_mask)no & ~mask));
}

/* x where by > 0, slope * x elsewhere: an activation if by is x, its derivative if by is the activation's result. */
INLINE vec bend(real slope, vec by, vec x)
{
    if (slope == SLOPE_LINEAR) return x;
    vec low = {0};
    if (slope != SLOPE_RELU) low = slope * x;
    return select_lanes(by > (vec){0}, x, low);
}

/* ---- y = w x: the product that both directions are made of ------------------------------------------------------ */

/* Where a product's numbers are. Entry (r, i) of w is w[r * row_step + i * inner_step], so w may be read transposed. */
struct product {
    const real *w, *bias; /* bias may be NULL */
    int row_step, inner, inner_step;
    const real *x;    /* [inner][columns] */
    real *y;          /* [rows][columns] */
    const real *gate; /* [rows][columns]: y is bent by this; NULL: by itself */
    real slope;
    int columns;
};

/* Rows `row` to row + R - 1 and vectors `at` to at + C - 1. */
INLINE void product_tile(const struct product p, const int R, const int C, int row, int at)
{
    vec sum[8][4];
    const real *w = p.w + row * p.row_step, *x = p.x + at * LANES;
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int c = 0; c < C; c++) sum[r][c] =
        p.bias ? splat(p.bias[row + r]) : (vec){0};
    for (int i = 0; i < p.inner; i++) {
        vec in[4];
        UNROLL for (int c = 0; c < C; c++) in[c] = vec_load(x + i * p.columns + c * LANES);
        UNROLL for (int r = 0; r < R; r++)
        {
            vec weight = splat(w[r * p.row_step + i * p.inner_step]);
            UNROLL for (int c = 0; c < C; c++) sum[r][c] += weight * in[c];
        }
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int c = 0; c < C; c++)
    {
        ptrdiff_t to = (ptrdiff_t)(row + r) * p.columns + (at + c) * LANES;
        vec by = p.gate ? vec_load(p.gate + to) : sum[r][c];
        vec_store(p.y + to, bend(p.slope, by, sum[r][c]));
    }
}

INLINE void product_rows(const struct product p, const int R, int row)
{
    const int vectors = p.columns / LANES, whole = vectors - vectors % TILE_COLUMNS;
    for (int at = 0; at < whole; at += TILE_COLUMNS) product_tile(p, R, TILE_COLUMNS, row, at);
    for (int at = whole; at < vectors; at++) product_tile(p, R, 1, row, at);
}

INLINE void product(const struct product p, const int rows)
{
    const int whole = rows - rows % TILE_ROWS;
    for (int row = 0; row < whole; row += TILE_ROWS) product_rows(p, TILE_ROWS, row);
    if (rows - whole >= 4) product_rows(p, 4, whole);
    for (int row = rows - rows % 4; row < rows; row++) product_rows(p, 1, row);
}

/* ---- dense: y = act(W x + b) ------------------------------------------------------------------------------------ */

/* w: W [out][in], then b [out]. x [in][columns] -> y [out][columns]. */
INLINE void dense_forward(const int in, const int out, real slope, const real *w, const real *x, real *y,
                          const int columns)
{
    product((struct product){w, w + in * out, in, in, 1, x, y, NULL, slope, columns}, out);
}

/* dz [out][columns], the gradient before this layer's activation -> dx [count][columns], the gradient of the inputs
 * from `first` on. With below = the slope that made those inputs, dx is their gradient before that activation: the dz
 * of the layer below. */
INLINE void dense_backward(const int in, const int out, const int first, const int count, real below, const real *w,
                           const real *x, const real *dz, real *dx, const int columns)
{
    product((struct product){w + first, NULL, 1, out, in, dz, dx, x + first * columns, below, columns}, count);
}

/* The lanes of a vector added up, as a tree. */
INLINE real lanes_sum(vec x)
{
    real lane[LANES];
    memcpy(lane, &x, sizeof lane);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

/* Where sums of products over the batch are added to: a vector for each entry, whose lanes are to be added up, since
 * adding them here would cost more than the products; or numbers, where there are too many for that. */
struct outer {
    vec *lanes;
    real *flat; /* if lanes is NULL */
};

/* Rows o to o + R - 1 and columns i to i + C - 1 of dW. */
INLINE void outer_tile(const int in, const int R, const int C, int o, int i, const real *x, const real *dz,
                       const struct outer dw, const int columns)
{
    vec sum[8][8];
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int c = 0; c < C; c++) sum[r][c] =
        dw.lanes ? dw.lanes[(o + r) * in + i + c] : (vec){0};
    for (int at = 0; at < columns; at += LANES) {
        vec down[8];
        UNROLL for (int r = 0; r < R; r++) down[r] = vec_load(dz + (o + r) * columns + at);
        UNROLL for (int c = 0; c < C; c++)
        {
            vec up = vec_load(x + (i + c) * columns + at);
            UNROLL for (int r = 0; r < R; r++) sum[r][c] += down[r] * up;
        }
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int c = 0; c < C; c++)
    {
        if (dw.lanes) dw.lanes[(o + r) * in + i + c] = sum[r][c];
        else dw.flat[(o + r) * in + i + c] += lanes_sum(sum[r][c]);
    }
}

INLINE void outer_rows(const int in, const int R, int o, const real *x, const real *dz, const struct outer dw,
                       const int columns)
{
    const int whole = in - in % TILE_IN;
    for (int i = 0; i < whole; i += TILE_IN) outer_tile(in, R, TILE_IN, o, i, x, dz, dw, columns);
    if (in - whole >= 2) outer_tile(in, R, 2, o, whole, x, dz, dw, columns);
    if (in % 2 != 0) outer_tile(in, R, 1, o, in - 1, x, dz, dw, columns);
}

INLINE void outer(const int in, const int out, const real *x, const real *dz, const struct outer dw, const int columns)
{
    const int whole = out - out % TILE_OUT;
    for (int o = 0; o < whole; o += TILE_OUT) outer_rows(in, TILE_OUT, o, x, dz, dw, columns);
    for (int o = whole; o < out; o++) outer_rows(in, 1, o, x, dz, dw, columns);
}

/* dw: as w, but a vector for each number. Adds to what is there. */
INLINE void dense_backward_weights(const int in, const int out, const real *x, const real *dz, vec *dw,
                                   const int columns)
{
    outer(in, out, x, dz, (struct outer){.lanes = dw}, columns);
    for (int o = 0; o < out; o++)
        for (int at = 0; at < columns; at += LANES) dw[in * out + o] += vec_load(dz + o * columns + at);
}

/* A whole layer back: dw, and dx of the first `count` inputs. */
INLINE void dense_back(const int in, const int out, const int count, real below, const real *w, const real *x,
                       const real *dz, real *dx, vec *dw, const int columns)
{
    dense_backward_weights(in, out, x, dz, dw, columns);
    dense_backward(in, out, 0, count, below, w, x, dz, dx, columns);
}
