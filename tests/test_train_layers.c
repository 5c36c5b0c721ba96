/* Every x_backward of the trainer against central differences: the same code, compiled with doubles. */
#define real double
#define LANES 2
#define TILE_ROWS 4
#define TILE_COLUMNS 2
#define TILE_OUT 2
#define TILE_IN 4
#include "layers.h"
#include "loss.h"
#include "paper_net.h"
#include "support.h"

static double draw_real(uint64_t *state)
{
    return (double)(draw(state) >> 11) * 0x1p-52 - 1; /* [-1, 1) */
}

/* The derivative of L(p) by *p: central differences, at two widths. Where they disagree there is a kink of a ReLU in
 * between, and nothing can be said: NaN. */
static double difference(double (*loss)(void *), void *context, double *p)
{
    double before = *p, slope[2];
    for (int i = 0; i < 2; i++) {
        double h = i == 0 ? 1e-5 : 4e-6;
        *p = before + h;
        double above = loss(context);
        *p = before - h;
        slope[i] = (above - loss(context)) / (2 * h);
    }
    *p = before;
    return fabs(slope[0] - slope[1]) <= 1e-7 * (1 + fabs(slope[0])) ? slope[1] : (double)NAN;
}

struct tally {
    int checked, kinks;
};

static void check(struct tally *tally, double ours, double theirs, const char *what, int i)
{
    tally->checked++;
    if (isnan(theirs)) tally->kinks++;
    else if (!(fabs(ours - theirs) <= 1e-6 * (1 + fabs(theirs))))
        fail_msg("%s %d: %.12g, but the difference is %.12g", what, i, ours, theirs);
}

static void check_tally(const struct tally *tally, int least)
{
    assert_true(tally->checked >= least);
    assert_true(tally->kinks * 10 <= tally->checked);
}

static real w[TRAIN_PARAMETERS];
static vec dw[TRAIN_PARAMETERS];

static void start(uint64_t *state)
{
    for (int i = 0; i < TRAIN_PARAMETERS; i++) w[i] = draw_real(state) / 2;
    memset(dw, 0, sizeof dw);
}

/* ---- one layer -------------------------------------------------------------------------------------------------- */

enum { IN = 7, OUT = 5, COLUMNS = 6 }; /* full tiles and rests of every kind */

struct one {
    real x0[IN * COLUMNS], x[IN * COLUMNS], w[OUT * (IN + 1)], y[OUT * COLUMNS], g[OUT * COLUMNS];
};

/* x0 -> LeakyReLU -> x -> dense, ReLU -> y; L = sum of g y */
static double one_loss(void *context)
{
    struct one *s = context;
    double sum = 0;
    for (int i = 0; i < IN * COLUMNS; i++) {
        real x = s->x0[i];
        s->x[i] = x > 0 ? x : SLOPE_LEAKY * x;
    }
    dense_forward(IN, OUT, SLOPE_RELU, s->w, s->x, s->y, COLUMNS);
    for (int i = 0; i < OUT * COLUMNS; i++) sum += s->g[i] * s->y[i];
    return sum;
}

static void dense(void **unused)
{
    (void)unused;
    static struct one s;
    static vec ds[OUT * (IN + 1)];
    uint64_t state = 1;
    struct tally tally = {0};
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < IN * COLUMNS; i++) s.x0[i] = draw_real(&state);
        for (int i = 0; i < OUT * COLUMNS; i++) s.g[i] = draw_real(&state);
        for (int i = 0; i < OUT * (IN + 1); i++) s.w[i] = draw_real(&state);
        one_loss(&s);
        _Alignas(64) real dz[OUT * COLUMNS], dx[IN * COLUMNS], part[3 * COLUMNS];
        for (int i = 0; i < OUT * COLUMNS; i++) dz[i] = s.y[i] > 0 ? s.g[i] : 0;
        memset(ds, 0, sizeof ds);
        dense_backward_weights(IN, OUT, s.x, dz, ds, COLUMNS);
        dense_backward(IN, OUT, 0, IN, SLOPE_LEAKY, s.w, s.x, dz, dx, COLUMNS);
        dense_backward(IN, OUT, 2, 3, SLOPE_LEAKY, s.w, s.x, dz, part, COLUMNS);
        assert_memory_equal(part, dx + 2 * COLUMNS, sizeof part);
        for (int i = 0; i < OUT * (IN + 1); i++)
            check(&tally, lanes_sum(ds[i]), difference(one_loss, &s, &s.w[i]), "weight", i);
        for (int i = 0; i < IN * COLUMNS; i++) check(&tally, dx[i], difference(one_loss, &s, &s.x0[i]), "input", i);
    }
    check_tally(&tally, 400);
}

/* ---- the decoder ------------------------------------------------------------------------------------------------ */

struct decoding {
    struct decoder s;
    real g[BLOCK]; /* L = sum of g f' */
};

static double decode_loss(void *context)
{
    struct decoding *d = context;
    double sum = 0;
    decode_forward(w, &d->s);
    for (int c = 0; c < BLOCK; c++) sum += d->g[c] * d->s.answer[0][c];
    return sum;
}

static void decoder(void **unused)
{
    (void)unused;
    static struct decoding d;
    uint64_t state = 2;
    start(&state);
    struct scanned scanned = {{0.3, -0.2, 0.5, 0.1}, 0.7, -0.4};
    decode_prepare(&d.s, &scanned, 0.9);
    for (int c = 0; c < BLOCK; c++) {
        for (int k = 0; k < TRAIN_ROWS; k++)
            d.s.pair[k][0][c] = 1 + draw_real(&state), d.s.pair[k][1][c] = draw_real(&state);
        d.s.joined[JOINED_RULE][c] = draw_real(&state);
        d.g[c] = c % 16 == 0 ? draw_real(&state) : 0; /* few items, few kinks */
    }
    decode_loss(&d);
    memcpy(d.s.danswer, d.g, sizeof d.g);
    decode_backward(w, &d.s, dw);

    struct tally tally = {0};
    for (int i = AT_DEC_PAIR_0; i < AT_LOSS; i++)
        check(&tally, lanes_sum(dw[i]), difference(decode_loss, &d, &w[i]), "parameter", i);
    check_tally(&tally, 1900);
    struct tally inputs = {0};
    for (int c = 0; c < BLOCK; c += 16) {
        check(&inputs, d.s.drule[0][c], difference(decode_loss, &d, &d.s.joined[JOINED_RULE][c]), "rule", c);
        for (int k = 0; k < TRAIN_ROWS; k++)
            check(&inputs, d.s.dv[k][0][c], difference(decode_loss, &d, &d.s.pair[k][1][c]), "v", c);
    }
    check_tally(&inputs, 48);
    for (int i = 0; i < AT_DEC_PAIR_0; i++) assert_true(lanes_sum(dw[i]) == 0);
}

/* ---- the scan --------------------------------------------------------------------------------------------------- */

struct scanning {
    struct scanner s;
    real cells[TRAIN_ROWS][SCANNED];
    struct scanned g; /* L = g times what is said */
};

static double scan_loss(void *context)
{
    struct scanning *d = context;
    struct scanned y = scan_forward(w, &d->s, d->cells[0], SCANNED);
    double sum = d->g.skew * y.skew + d->g.distinct * y.distinct;
    for (int i = 0; i < IMPLICIT; i++) sum += d->g.implicit[i] * y.implicit[i];
    return sum;
}

static void scan(void **unused)
{
    (void)unused;
    static struct scanning d;
    uint64_t state = 3;
    start(&state);
    for (int k = 0; k < TRAIN_ROWS; k++)
        for (int i = 0; i < SCANNED; i++) d.cells[k][i] = fabs(draw_real(&state)) * (1 + k);
    d.g = (struct scanned){{0.9, -0.8, 0.7, 1}, -1.1, 0.6};
    scan_loss(&d);
    scan_backward(w, &d.s, d.cells[0], SCANNED, &d.g, dw);

    struct tally cells = {0}, heads = {0}; /* 2560 cells have so many kinks that some lie inside any difference */
    for (int i = AT_SCAN_CELL_0; i < AT_SCAN_IMPLICIT_0; i += 7)
        check(&cells, lanes_sum(dw[i]), difference(scan_loss, &d, &w[i]), "parameter", i);
    for (int i = AT_SCAN_IMPLICIT_0; i < AT_DEC_PAIR_0; i += 7)
        check(&heads, lanes_sum(dw[i]), difference(scan_loss, &d, &w[i]), "parameter", i);
    assert_true(cells.checked - cells.kinks >= 30);
    check_tally(&heads, 300);
    for (int i = AT_DEC_PAIR_0; i < AT_LOSS; i++) assert_true(lanes_sum(dw[i]) == 0);
}

/* ---- the loss --------------------------------------------------------------------------------------------------- */

struct losing {
    struct recipe recipe;
    float weights[TRAIN_LOSSES];
    struct losses tasks[TRAIN_BATCH];
    double off[TRAIN_BATCH][2];
};

static double total(void *context)
{
    struct losing *l = context;
    struct losses mean;
    double unused[TRAIN_LOSSES];
    for (int t = 0; t < TRAIN_BATCH; t++) loss_task_forward(&l->recipe, l->off[t], &l->tasks[t]);
    loss_step(&l->recipe, l->weights, l->tasks, &mean, unused);
    return mean.total;
}

static void loss(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 6; round++) {
        struct losing l = {.recipe = recipe_authors()};
        l.recipe.plain_loss = round % 2;
        l.recipe.no_scan = round / 2 == 1;
        l.recipe.scouts = round / 2 == 2 ? 3 : 0;
        uint64_t state = 4;
        for (int i = 0; i < TRAIN_LOSSES; i++) l.weights[i] = (float)(1.5 + draw_real(&state) / 2);
        for (int t = 0; t < TRAIN_BATCH; t++) {
            for (int i = 0; i < 3; i++)
                l.tasks[t].error[i] = 2 + draw_real(&state), l.tasks[t].guide[i] = 2 + draw_real(&state);
            for (int i = 0; i < 2; i++) l.off[t][i] = draw_real(&state);
        }
        struct tally tally = {0};
        double derror[3], doff[2];
        total(&l);
        for (int t = 0; t < TRAIN_BATCH; t++) {
            loss_task_backward(&l.recipe, l.weights, &l.tasks[t], l.off[t], derror, doff);
            for (int i = 0; i < 3; i++)
                check(&tally, derror[i], difference(total, &l, &l.tasks[t].error[i]), "error", i);
            for (int i = 0; i < 2; i++) check(&tally, doff[i], difference(total, &l, &l.off[t][i]), "off", i);
        }
        struct losses mean;
        double dweights[TRAIN_LOSSES];
        loss_step(&l.recipe, l.weights, l.tasks, &mean, dweights);
        for (int i = 0; i < TRAIN_LOSSES; i++) { /* weights are floats, so the steps are coarser */
            float before = l.weights[i], h = 0x1p-9F;
            l.weights[i] = before + h;
            double above = total(&l);
            l.weights[i] = before - h;
            double slope = (above - total(&l)) / (2 * (double)h);
            l.weights[i] = before;
            assert_true(fabs(dweights[i] - slope) <= 1e-4 * (1 + fabs(slope)));
        }
        check_tally(&tally, 40);
        if (l.recipe.no_scan) assert_true(doff[0] == 0 && dweights[3] == 0 && dweights[4] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense),
        cmocka_unit_test(decoder),
        cmocka_unit_test(scan),
        cmocka_unit_test(loss),
    };
    return cmocka_run_group_tests_name("train_layers", tests, NULL, NULL);
}
