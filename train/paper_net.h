/* networks: g_scan and g_dec of the paper (drawn over src/paper/stream.h and decode.h), forward and backward, on blocks
 * of BLOCK cells or items. Compiled where layers.h is. w is the arena of parameters; dw has a vector for each
 * parameter.
 *
 * Activations carry letters in the order they come; a gradient has a d before the letter, and is the one before the
 * activation, as layers.h passes it down. */
#include "parameters.h"

enum { BLOCK = 128, HEADS = LANES > 8 ? LANES : 8, SCANNED = TRAIN_COLUMNS / 10, IMPLICIT = SCAN_IMPLICIT };
_Static_assert(SCANNED % BLOCK == 0 && BLOCK % LANES == 0 && HEADS >= (int)TRAIN_ROWS, "blocks are full");

#define FORWARD(layer, slope, x, y, columns)                                                                           \
    dense_forward(IN_##layer, OUT_##layer, slope, w + AT_##layer, &(x)[0][0], &(y)[0][0], columns)
#define BACKWARD(layer, first, count, below, x, dz, dx, columns)                                                       \
    dense_backward(IN_##layer, OUT_##layer, first, count, below, w + AT_##layer, &(x)[0][0], &(dz)[0][0], &(dx)[0][0], \
                   columns)
#define BACKWARD_WEIGHTS(layer, x, dz, columns)                                                                        \
    dense_backward_weights(IN_##layer, OUT_##layer, &(x)[0][0], &(dz)[0][0], dw + AT_##layer, columns)
#define BACK(layer, count, below, x, dz, dx, columns)                                                                  \
    dense_back(IN_##layer, OUT_##layer, count, below, w + AT_##layer, &(x)[0][0], &(dz)[0][0], &(dx)[0][0],            \
               dw + AT_##layer, columns)

static double add_up(const real *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)x[i];
    return sum;
}

/* ---- the decoder ------------------------------------------------------------------------------------------------ */

/* What the scan says of a brick. */
struct scanned {
    real implicit[IMPLICIT], skew, distinct;
};

struct decoder {
    real pair[TRAIN_ROWS][2][BLOCK]; /* m_k, v_k */
    real a[TRAIN_ROWS][8][BLOCK], b[TRAIN_ROWS][16][BLOCK], c[TRAIN_ROWS][16][BLOCK];
    real joined[24][BLOCK]; /* mean of c over rows [16], implicit [4], f'', N, s(alpha), s(n) */
    real e[32][BLOCK];
    real mixed[20][BLOCK]; /* [16], f'', N, s(alpha), s(n) */
    real g[8][BLOCK], h[4][BLOCK], answer[1][BLOCK];

    real da[8][BLOCK], db[16][BLOCK], dc[16][BLOCK], dmean[16][BLOCK], de[32][BLOCK], dmixed[16][BLOCK];
    real dg[8][BLOCK], dh[4][BLOCK], danswer[1][BLOCK], drule[1][BLOCK], drule_too[1][BLOCK];
    real dv[TRAIN_ROWS][1][BLOCK]; /* through the pairs alone, not through f'' */
};
enum { JOINED_RULE = 20, MIXED_RULE = 16 };

/* The inputs that all items of a brick share. */
static void decode_prepare(struct decoder *s, const struct scanned *scanned, real total)
{
    const real facts[3] = {total, scanned->skew, scanned->distinct};
    for (int c = 0; c < BLOCK; c++) {
        for (int i = 0; i < IMPLICIT; i++) s->joined[16 + i][c] = scanned->implicit[i];
        for (int i = 0; i < 3; i++) s->joined[JOINED_RULE + 1 + i][c] = s->mixed[MIXED_RULE + 1 + i][c] = facts[i];
    }
}

/* pair and joined[JOINED_RULE] -> answer */
static void decode_forward(const real *w, struct decoder *s)
{
    for (int k = 0; k < TRAIN_ROWS; k++) {
        FORWARD(DEC_PAIR_0, SLOPE_RELU, s->pair[k], s->a[k], BLOCK);
        FORWARD(DEC_PAIR_1, SLOPE_RELU, s->a[k], s->b[k], BLOCK);
        FORWARD(DEC_PAIR_2, SLOPE_RELU, s->b[k], s->c[k], BLOCK);
    }
    for (int i = 0; i < 16; i++)
        for (int c = 0; c < BLOCK; c++) {
            real sum = 0;
            for (int k = 0; k < TRAIN_ROWS; k++) sum += s->c[k][i][c];
            s->joined[i][c] = sum * (real)(1.0 / TRAIN_ROWS);
        }
    memcpy(s->mixed[MIXED_RULE], s->joined[JOINED_RULE], sizeof s->mixed[MIXED_RULE]);
    FORWARD(DEC_MIX_0, SLOPE_LEAKY, s->joined, s->e, BLOCK);
    FORWARD(DEC_MIX_1, SLOPE_LEAKY, s->e, s->mixed, BLOCK);
    FORWARD(DEC_OUT_0, SLOPE_LEAKY, s->mixed, s->g, BLOCK);
    FORWARD(DEC_OUT_1, SLOPE_LEAKY, s->g, s->h, BLOCK);
    FORWARD(DEC_OUT_2, SLOPE_LINEAR, s->h, s->answer, BLOCK);
}

/* danswer -> dw, dv, drule; after decode_forward of the same block */
static void decode_backward(const real *w, struct decoder *s, vec *dw)
{
    BACK(DEC_OUT_2, 4, SLOPE_LEAKY, s->h, s->danswer, s->dh, BLOCK);
    BACK(DEC_OUT_1, 8, SLOPE_LEAKY, s->g, s->dh, s->dg, BLOCK);
    BACK(DEC_OUT_0, 16, SLOPE_LEAKY, s->mixed, s->dg, s->dmixed, BLOCK);
    BACKWARD(DEC_OUT_0, MIXED_RULE, 1, SLOPE_LINEAR, s->mixed, s->dg, s->drule, BLOCK);
    BACK(DEC_MIX_1, 32, SLOPE_LEAKY, s->e, s->dmixed, s->de, BLOCK);
    BACK(DEC_MIX_0, 16, SLOPE_LINEAR, s->joined, s->de, s->dmean, BLOCK);
    BACKWARD(DEC_MIX_0, JOINED_RULE, 1, SLOPE_LINEAR, s->joined, s->de, s->drule_too, BLOCK);
    for (int c = 0; c < BLOCK; c++) s->drule[0][c] += s->drule_too[0][c];
    for (int k = 0; k < TRAIN_ROWS; k++) {
        for (int i = 0; i < 16; i++)
            for (int c = 0; c < BLOCK; c++)
                s->dc[i][c] = s->c[k][i][c] > 0 ? s->dmean[i][c] * (real)(1.0 / TRAIN_ROWS) : 0;
        BACK(DEC_PAIR_2, 16, SLOPE_RELU, s->b[k], s->dc, s->db, BLOCK);
        BACK(DEC_PAIR_1, 8, SLOPE_RELU, s->a[k], s->db, s->da, BLOCK);
        BACKWARD_WEIGHTS(DEC_PAIR_0, s->pair[k], s->da, BLOCK);
        BACKWARD(DEC_PAIR_0, 1, 1, SLOPE_LINEAR, s->pair[k], s->da, s->dv[k], BLOCK);
    }
}

/* ---- the scan --------------------------------------------------------------------------------------------------- */

/* A head of four layers, for s(alpha) and s(n); columns are the rows of the brick. */
struct head {
    real a[16][HEADS], b[16][HEADS], c[8][HEADS], y[1][HEADS];
    real da[16][HEADS], db[16][HEADS], dc[8][HEADS], dy[1][HEADS];
};

struct scanner {
    real x[1][BLOCK], a[8][BLOCK], b[16][BLOCK], c[32][BLOCK];
    real da[8][BLOCK], db[16][BLOCK], dc[32][BLOCK];
    real mean[32][HEADS], dmean[3][32][HEADS]; /* of c over the columns of a row; its gradient from each head */
    real e[16][HEADS], g[8][HEADS], implicit[IMPLICIT][HEADS];
    real de[16][HEADS], dg[8][HEADS], dimplicit[IMPLICIT][HEADS];
    struct head skew, distinct;
};

/* 128 cells of one row -> c */
static void scan_block_forward(const real *w, struct scanner *s, const real *cells)
{
    memcpy(s->x, cells, sizeof s->x);
    FORWARD(SCAN_CELL_0, SLOPE_RELU, s->x, s->a, BLOCK);
    FORWARD(SCAN_CELL_1, SLOPE_RELU, s->a, s->b, BLOCK);
    FORWARD(SCAN_CELL_2, SLOPE_RELU, s->b, s->c, BLOCK);
}

/* dc -> dw */
static void scan_block_backward(const real *w, struct scanner *s, vec *dw)
{
    BACK(SCAN_CELL_2, 16, SLOPE_RELU, s->b, s->dc, s->db, BLOCK);
    BACK(SCAN_CELL_1, 8, SLOPE_RELU, s->a, s->db, s->da, BLOCK);
    BACKWARD_WEIGHTS(SCAN_CELL_0, s->x, s->da, BLOCK);
}

/* The two heads are alike but for where their weights are: w and dw point at the first of their layers. */
#define HEAD_LAYER(i) (AT_SCAN_SKEW_##i - AT_SCAN_SKEW_0)
_Static_assert(AT_SCAN_DISTINCT_3 - AT_SCAN_DISTINCT_0 == HEAD_LAYER(3), "the heads of skew and distinct are alike");

static void head_forward(const real *w, const real *mean, struct head *s)
{
    dense_forward(32, 16, SLOPE_LEAKY, w, mean, s->a[0], HEADS);
    dense_forward(16, 16, SLOPE_LEAKY, w + HEAD_LAYER(1), s->a[0], s->b[0], HEADS);
    dense_forward(16, 8, SLOPE_LEAKY, w + HEAD_LAYER(2), s->b[0], s->c[0], HEADS);
    dense_forward(8, 1, SLOPE_LINEAR, w + HEAD_LAYER(3), s->c[0], s->y[0], HEADS);
}

static void head_backward(const real *w, const real *mean, struct head *s, real *dmean, vec *dw)
{
    dense_back(8, 1, 8, SLOPE_LEAKY, w + HEAD_LAYER(3), s->c[0], s->dy[0], s->dc[0], dw + HEAD_LAYER(3), HEADS);
    dense_back(16, 8, 16, SLOPE_LEAKY, w + HEAD_LAYER(2), s->b[0], s->dc[0], s->db[0], dw + HEAD_LAYER(2), HEADS);
    dense_back(16, 16, 16, SLOPE_LEAKY, w + HEAD_LAYER(1), s->a[0], s->db[0], s->da[0], dw + HEAD_LAYER(1), HEADS);
    dense_back(32, 16, 32, SLOPE_LINEAR, w, mean, s->da[0], dmean, dw, HEADS);
}

/* cells [TRAIN_ROWS][stride], of which the first SCANNED of each row are looked at */
static struct scanned scan_forward(const real *w, struct scanner *s, const real *cells, int stride)
{
    struct scanned scanned = {0};
    memset(s->mean, 0, sizeof s->mean);
    for (int k = 0; k < TRAIN_ROWS; k++) {
        double sum[32] = {0};
        for (int c = 0; c < SCANNED; c += BLOCK) {
            scan_block_forward(w, s, cells + k * stride + c);
            for (int i = 0; i < 32; i++) sum[i] += add_up(s->c[i], BLOCK);
        }
        for (int i = 0; i < 32; i++) s->mean[i][k] = (real)(sum[i] / SCANNED);
    }
    FORWARD(SCAN_IMPLICIT_0, SLOPE_LEAKY, s->mean, s->e, HEADS);
    FORWARD(SCAN_IMPLICIT_1, SLOPE_LEAKY, s->e, s->g, HEADS);
    FORWARD(SCAN_IMPLICIT_2, SLOPE_LEAKY, s->g, s->implicit, HEADS);
    head_forward(w + AT_SCAN_SKEW_0, s->mean[0], &s->skew);
    head_forward(w + AT_SCAN_DISTINCT_0, s->mean[0], &s->distinct);
    for (int i = 0; i < IMPLICIT; i++) scanned.implicit[i] = (real)(add_up(s->implicit[i], TRAIN_ROWS) / TRAIN_ROWS);
    scanned.skew = (real)(add_up(s->skew.y[0], TRAIN_ROWS) / TRAIN_ROWS);
    scanned.distinct = (real)(add_up(s->distinct.y[0], TRAIN_ROWS) / TRAIN_ROWS);
    return scanned;
}

/* d: the gradient of what scan_forward said, to be called after it -> dw */
static void scan_backward(const real *w, struct scanner *s, const real *cells, int stride, const struct scanned *d,
                          vec *dw)
{
    memset(s->dimplicit, 0, sizeof s->dimplicit); /* columns that are no rows stay 0 */
    memset(s->skew.dy, 0, sizeof s->skew.dy);
    memset(s->distinct.dy, 0, sizeof s->distinct.dy);
    for (int k = 0; k < TRAIN_ROWS; k++) {
        for (int i = 0; i < IMPLICIT; i++)
            s->dimplicit[i][k] = d->implicit[i] / TRAIN_ROWS * (s->implicit[i][k] > 0 ? 1 : SLOPE_LEAKY);
        s->skew.dy[0][k] = d->skew / TRAIN_ROWS;
        s->distinct.dy[0][k] = d->distinct / TRAIN_ROWS;
    }
    BACK(SCAN_IMPLICIT_2, 8, SLOPE_LEAKY, s->g, s->dimplicit, s->dg, HEADS);
    BACK(SCAN_IMPLICIT_1, 16, SLOPE_LEAKY, s->e, s->dg, s->de, HEADS);
    BACK(SCAN_IMPLICIT_0, 32, SLOPE_LINEAR, s->mean, s->de, s->dmean[0], HEADS);
    head_backward(w + AT_SCAN_SKEW_0, s->mean[0], &s->skew, s->dmean[1][0], dw + AT_SCAN_SKEW_0);
    head_backward(w + AT_SCAN_DISTINCT_0, s->mean[0], &s->distinct, s->dmean[2][0], dw + AT_SCAN_DISTINCT_0);

    for (int k = 0; k < TRAIN_ROWS; k++)
        for (int c = 0; c < SCANNED; c += BLOCK) {
            scan_block_forward(w, s, cells + k * stride + c); /* cheaper than to keep it */
            for (int i = 0; i < 32; i++) {
                real dmean = (s->dmean[0][i][k] + s->dmean[1][i][k] + s->dmean[2][i][k]) / SCANNED;
                for (int b = 0; b < BLOCK; b++) s->dc[i][b] = s->c[i][b] > 0 ? dmean : 0;
            }
            scan_block_backward(w, s, dw);
        }
}
