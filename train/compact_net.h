/* compact_net: the networks of src/model/compact.h forward and backward, and the loss of a task. Included after real,
 * LANES and the tiles of layers.h are defined: floats for training, doubles where gradients are checked against
 * differences. */
#include "compact_run.h"
#include "layers.h"

enum {
    ITEMS = COMPACT_ITEMS,
    IN_READS = COMPACT_IN_READS,
    HIDDEN = COMPACT_OUT_READS,
    MIXED = COMPACT_OUT_MIX,
    SEEN = COMPACT_OUT_CELLS,
    JOINED = COMPACT_IN_FACTS,
    SHAPE = COMPACT_OUT_FACTS
};

struct workspace {
    real x[IN_READS][ITEMS], a[HIDDEN][ITEMS], b[MIXED][ITEMS], h[1][ITEMS];
    real dh[1][ITEMS], db[MIXED][ITEMS], da[HIDDEN][ITEMS], dx[IN_READS][ITEMS];
    real cells[COMPACT_HISTOGRAM][LANES], joined[JOINED][LANES], shape[SHAPE][LANES], stream[COMPACT_STREAM][LANES];
    real dstream[COMPACT_STREAM][LANES], dshape[SHAPE][LANES], djoined[SEEN][LANES], dcells[COMPACT_HISTOGRAM][LANES];
    vec dw[COMPACT_WEIGHTS];
};

#define FORWARD(layer, slope, x, y, columns)                                                                           \
    dense_forward(COMPACT_IN_##layer, COMPACT_OUT_##layer, slope, w + COMPACT_AT_##layer, &(x)[0][0], &(y)[0][0],      \
                  columns)
#define BACK(layer, count, below, x, dz, dx, columns)                                                                  \
    dense_back(COMPACT_IN_##layer, COMPACT_OUT_##layer, count, below, w + COMPACT_AT_##layer, &(x)[0][0], &(dz)[0][0], \
               &(dx)[0][0], s->dw + COMPACT_AT_##layer, columns)

/* The scan of a sketch has one column; what the others of its vector hold counts for nothing. */
static void scan_forward(const real *w, const struct compact_view *view, struct workspace *s)
{
    memset(s->cells, 0, sizeof s->cells);
    memset(s->joined, 0, sizeof s->joined);
    for (int i = 0; i < COMPACT_HISTOGRAM; i++) s->cells[i][0] = (real)view->cells[i];
    FORWARD(CELLS, SLOPE_LEAKY, s->cells, s->joined, LANES);
    for (int i = 0; i < COMPACT_FACTS; i++) s->joined[SEEN + i][0] = (real)view->facts[i];
    FORWARD(FACTS, SLOPE_LEAKY, s->joined, s->shape, LANES);
    FORWARD(STREAM, SLOPE_LINEAR, s->shape, s->stream, LANES);
}

/* All items of a task. */
static void decode_forward(const real *w, const struct compact_task *task, struct workspace *s)
{
    for (int i = 0; i < COMPACT_READS; i++)
        for (int c = 0; c < ITEMS; c++) s->x[i][c] = (real)task->reads[i][c];
    for (int i = 0; i < COMPACT_STREAM; i++)
        for (int c = 0; c < ITEMS; c++) s->x[COMPACT_READS + i][c] = s->stream[i][0];
    FORWARD(READS, SLOPE_LEAKY, s->x, s->a, ITEMS);
    FORWARD(MIX, SLOPE_LEAKY, s->a, s->b, ITEMS);
    FORWARD(ANSWER, SLOPE_LINEAR, s->b, s->h, ITEMS);
}

/* dh -> the gradient of all weights */
static void net_backward(const real *w, struct workspace *s, double *gradient)
{
    memset(s->dw, 0, sizeof s->dw);
    BACK(ANSWER, MIXED, SLOPE_LEAKY, s->b, s->dh, s->db, ITEMS);
    BACK(MIX, HIDDEN, SLOPE_LEAKY, s->a, s->db, s->da, ITEMS);
    BACK(READS, IN_READS, SLOPE_LINEAR, s->x, s->da, s->dx, ITEMS);
    memset(s->dstream, 0, sizeof s->dstream);
    for (int i = 0; i < COMPACT_STREAM; i++) {
        double sum = 0;
        for (int c = 0; c < ITEMS; c++) sum += (double)s->dx[COMPACT_READS + i][c];
        s->dstream[i][0] = (real)sum;
    }
    BACK(STREAM, SHAPE, SLOPE_LEAKY, s->shape, s->dstream, s->dshape, LANES);
    BACK(FACTS, SEEN, SLOPE_LEAKY, s->joined, s->dshape, s->djoined, LANES);
    BACK(CELLS, COMPACT_HISTOGRAM, SLOPE_LINEAR, s->cells, s->djoined, s->dcells, LANES);
    for (int i = 0; i < COMPACT_WEIGHTS; i++) {
        gradient[i] = 0;
        for (int l = 0; l < LANES; l++) gradient[i] += (double)s->dw[i][l];
    }
}

/* ---- the loss ---------------------------------------------------------------------------------------------------- */

static const double floor_of_errors = 0.01, outside = 0.01;

/* What ARE is worth against AAE: more where it is crowded, and the rule's error is large. (Less of it,
 * 0.2 + 0.13 ln, takes 3 % off AAE at a byte a key and adds 10 % to ARE; more, 0.3 + 0.2 ln, the other way round.) */
static double worth_of_are(double rule_are)
{
    return 0.29 + 0.15 * log(1 + rule_are);
}

/* h within 0 and 1, with a little slope outside. */
static double bound(double h)
{
    return h > 1 ? 1 + outside * (h - 1) : h < 0 ? outside * h : h;
}

/* How far the answer is above the count. Lists answer themselves. */
static double error_of(const struct compact_task *task, int c, double h)
{
    return (task->shares[c] ? bound(h) : 1) * (double)task->least[c] - (double)task->count[c];
}

static void net_gradient(const struct compact_task *task, const real *w, struct workspace *s, double *gradient,
                         struct compact_losses *losses)
{
    scan_forward(w, &task->view, s);
    decode_forward(w, task, s);
    struct compact_losses l = {0};
    for (int c = 0; c < ITEMS; c++) {
        double count = (double)task->count[c], part = (double)task->part[c];
        double e = fabs(error_of(task, c, (double)s->h[0][c])), rule = fabs((double)task->least[c] - count);
        l.aae += part * e;
        l.are += part * e / count;
        l.rule_aae += part * rule;
        l.rule_are += part * rule / count;
    }
    double of_are = worth_of_are(l.rule_are);
    l.total = log(l.aae + floor_of_errors) + of_are * log(l.are + floor_of_errors);
    for (int c = 0; c < ITEMS; c++) {
        double count = (double)task->count[c], h = (double)s->h[0][c], e = error_of(task, c, h);
        double worth = 1 / (l.aae + floor_of_errors) + of_are / count / (l.are + floor_of_errors);
        double slope = (double)task->part[c] * worth * (double)task->least[c] * (h > 1 || h < 0 ? outside : 1);
        s->dh[0][c] = !task->shares[c] ? 0 : (real)(e > 0 ? slope : e < 0 ? -slope : 0);
    }
    net_backward(w, s, gradient);
    *losses = l;
}
