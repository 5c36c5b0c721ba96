/* compact_net: the networks of src/compact.h forward and backward, and the loss of a task. Included after real, LANES and the
 * tiles of layers.h are defined: floats for training, doubles where gradients are checked against differences. */
#include "compact_run.h"
#include "layers.h"

enum { IN_READS = COMPACT_READS + COMPACT_STREAM, ITEMS = COMPACT_ITEMS, JOINED = 24 + COMPACT_FACTS };

struct workspace {
    real x[IN_READS][ITEMS], a[40][ITEMS], b[24][ITEMS], h[1][ITEMS];
    real dh[1][ITEMS], db[24][ITEMS], da[40][ITEMS], dx[IN_READS][ITEMS];
    vec dw[COMPACT_WEIGHTS];
    double cells[COMPACT_HISTOGRAM], joined[JOINED], mixed[24], stream[COMPACT_STREAM];
};

/* ---- the scan: one column, in doubles ---------------------------------------------------------------------------- */

static void scan_layer(const real *w, int in, int out, double slope, const double *x, double *y)
{
    for (int o = 0; o < out; o++) {
        double sum = (double)w[in * out + o];
        for (int i = 0; i < in; i++) sum += (double)w[o * in + i] * x[i];
        y[o] = sum < 0 ? slope * sum : sum;
    }
}

/* dz of the output before its activation -> the layer's gradient, and dx of `count` inputs before theirs. */
static void scan_layer_backward(const real *w, int in, int out, const double *x, const double *dz, double *gradient,
                                int count, double below, double *dx)
{
    for (int o = 0; o < out; o++) {
        for (int i = 0; i < in; i++) gradient[o * in + i] += dz[o] * x[i];
        gradient[in * out + o] += dz[o];
    }
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int o = 0; o < out; o++) sum += (double)w[o * in + i] * dz[o];
        dx[i] = x[i] > 0 ? sum : below * sum;
    }
}

#define SCAN(layer, slope, x, y)                                                                                       \
    scan_layer(w + COMPACT_AT_##layer, COMPACT_IN_##layer, COMPACT_OUT_##layer, slope, x, y)
#define SCAN_BACKWARD(layer, x, dz, count, below, dx)                                                                  \
    scan_layer_backward(w + COMPACT_AT_##layer, COMPACT_IN_##layer, COMPACT_OUT_##layer, x, dz,                        \
                        gradient + COMPACT_AT_##layer, count, below, dx)

static void scan_forward(const real *w, const struct compact_view *view, struct workspace *s)
{
    for (int i = 0; i < COMPACT_HISTOGRAM; i++) s->cells[i] = (double)view->cells[i];
    SCAN(CELLS, 0.01, s->cells, s->joined);
    for (int i = 0; i < COMPACT_FACTS; i++) s->joined[24 + i] = (double)view->facts[i];
    SCAN(FACTS, 0.01, s->joined, s->mixed);
    SCAN(STREAM, 1, s->mixed, s->stream);
}

static void scan_backward(const real *w, struct workspace *s, const double dstream[COMPACT_STREAM], double *gradient)
{
    double dmixed[24], djoined[24];
    SCAN_BACKWARD(STREAM, s->mixed, dstream, 24, 0.01, dmixed);
    SCAN_BACKWARD(FACTS, s->joined, dmixed, 24, 0.01, djoined);
    SCAN_BACKWARD(CELLS, s->cells, djoined, 0, 0, djoined);
}

/* ---- the decoder: all items of a task ---------------------------------------------------------------------------- */

#define FORWARD(layer, slope, x, y)                                                                                    \
    dense_forward(COMPACT_IN_##layer, COMPACT_OUT_##layer, slope, w + COMPACT_AT_##layer, &(x)[0][0], &(y)[0][0], ITEMS)
#define BACK(layer, count, below, x, dz, dx)                                                                           \
    dense_back(COMPACT_IN_##layer, COMPACT_OUT_##layer, count, below, w + COMPACT_AT_##layer, &(x)[0][0], &(dz)[0][0], \
               &(dx)[0][0], s->dw + COMPACT_AT_##layer, ITEMS)

static void decode_forward(const real *w, const struct compact_task *task, struct workspace *s)
{
    for (int i = 0; i < COMPACT_READS; i++)
        for (int c = 0; c < ITEMS; c++) s->x[i][c] = (real)task->reads[i][c];
    for (int i = 0; i < COMPACT_STREAM; i++)
        for (int c = 0; c < ITEMS; c++) s->x[COMPACT_READS + i][c] = (real)s->stream[i];
    FORWARD(READS, SLOPE_LEAKY, s->x, s->a);
    FORWARD(MIX, SLOPE_LEAKY, s->a, s->b);
    FORWARD(ANSWER, SLOPE_LINEAR, s->b, s->h);
}

/* dh -> the decoder's gradient, and that of the stream's shape */
static void decode_backward(const real *w, struct workspace *s, double *gradient, double dstream[COMPACT_STREAM])
{
    memset(s->dw, 0, sizeof s->dw);
    BACK(ANSWER, 24, SLOPE_LEAKY, s->b, s->dh, s->db);
    BACK(MIX, 40, SLOPE_LEAKY, s->a, s->db, s->da);
    BACK(READS, IN_READS, SLOPE_LINEAR, s->x, s->da, s->dx);
    for (int i = COMPACT_AT_READS; i < COMPACT_WEIGHTS; i++)
        for (int l = 0; l < LANES; l++) gradient[i] += (double)s->dw[i][l];
    for (int i = 0; i < COMPACT_STREAM; i++) {
        dstream[i] = 0;
        for (int c = 0; c < ITEMS; c++) dstream[i] += (double)s->dx[COMPACT_READS + i][c];
    }
}

/* ---- the loss ----------------------------------------------------------------------------------------------------- */

static const double floor_of_errors = 0.01, worth_of_are = 0.4, outside = 0.01;

/* h within 0 and 1, with a little slope outside. */
static double bound(double h)
{
    return h > 1 ? 1 + outside * (h - 1) : h < 0 ? outside * h : h;
}

static void net_gradient(const struct compact_task *task, const real *w, struct workspace *s, double *gradient,
                         struct compact_losses *losses)
{
    double dstream[COMPACT_STREAM];
    memset(gradient, 0, COMPACT_WEIGHTS * sizeof *gradient);
    scan_forward(w, &task->view, s);
    decode_forward(w, task, s);
    struct compact_losses l = {0};
    for (int c = 0; c < ITEMS; c++) {
        double count = (double)task->count[c], part = (double)task->part[c], least = (double)task->least[c];
        double e = fabs(bound((double)s->h[0][c]) * least - count), rule = fabs(least - count);
        l.aae += part * e;
        l.are += part * e / count;
        l.rule_aae += part * rule;
        l.rule_are += part * rule / count;
    }
    l.total = log(l.aae + floor_of_errors) + worth_of_are * log(l.are + floor_of_errors);
    for (int c = 0; c < ITEMS; c++) {
        double count = (double)task->count[c], least = (double)task->least[c], h = (double)s->h[0][c];
        double e = bound(h) * least - count;
        double worth = 1 / (l.aae + floor_of_errors) + worth_of_are / count / (l.are + floor_of_errors);
        double slope = (double)task->part[c] * worth * least * (h > 1 || h < 0 ? outside : 1);
        s->dh[0][c] = (real)(e > 0 ? slope : e < 0 ? -slope : 0);
    }
    decode_backward(w, s, gradient, dstream);
    scan_backward(w, s, dstream, gradient);
    *losses = l;
}
