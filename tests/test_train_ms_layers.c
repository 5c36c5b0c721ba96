/* Every backward of the meta-sketch against central differences: the same code, compiled with doubles. */
#define real double
#define LANES 2
#define TILE_ROWS 4
#define TILE_COLUMNS 2
#define TILE_OUT 2
#define TILE_IN 4
#define MS_BLOCK 24
#include "support.h"

#include "ms_net.h"

static double draw_real(uint64_t *state)
{
    return (double)(draw(state) >> 11) * 0x1p-52 - 1; /* [-1, 1) */
}

/* As in test_train_layers.c: NaN where there is a kink in between. */
static double difference(double (*loss)(void *), void *context, double *p, double width)
{
    double before = *p, slope[2];
    for (int i = 0; i < 2; i++) {
        double h = i == 0 ? width : 0.4 * width;
        *p = before + h;
        double above = loss(context);
        *p = before - h;
        slope[i] = (above - loss(context)) / (2 * h);
    }
    *p = before;
    return fabs(slope[0] - slope[1]) <= 1e-6 * (1 + fabs(slope[0])) ? slope[1] : (double)NAN;
}

struct tally {
    int checked, kinks;
};

static void check(struct tally *tally, double ours, double theirs, double scale, const char *what, int i)
{
    tally->checked++;
    if (isnan(theirs)) tally->kinks++;
    else if (!(fabs(ours - theirs) <= 1e-5 * (scale + fabs(theirs))))
        fail_msg("%s %d: %.12g, but the difference is %.12g", what, i, ours, theirs);
}

static void check_tally(const struct tally *tally, int least)
{
    assert_true(tally->checked >= least);
    assert_true(tally->kinks * 5 <= tally->checked);
}

/* ---- sparsemax --------------------------------------------------------------------------------------------------- */

struct simplex {
    real x[MS_SLOTS][BLOCK], a[MS_SLOTS][BLOCK], g[MS_SLOTS][BLOCK];
};

static double simplex_loss(void *context)
{
    struct simplex *s = context;
    double sum = 0;
    memcpy(s->a, s->x, sizeof s->a);
    sparsemax_forward(s->a);
    for (int i = 0; i < MS_SLOTS; i++)
        for (int c = 0; c < 8; c++) sum += s->g[i][c] * s->a[i][c];
    return sum;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The threshold as the paper has it: sort, and take as many as stay above it. */
static double tau_by_sorting(real (*x)[BLOCK], int c)
{
    double sorted[MS_SLOTS], sum = 0, tau = 0;
    for (int i = 0; i < MS_SLOTS; i++) sorted[i] = x[i][c];
    qsort(sorted, MS_SLOTS, sizeof *sorted, descending);
    for (int k = 1; k <= MS_SLOTS; k++) {
        sum += sorted[k - 1];
        if (1 + k * sorted[k - 1] > sum) tau = (sum - 1) / k;
    }
    return tau;
}

static void sparsemax(void **unused)
{
    (void)unused;
    static struct simplex s;
    static real dx[MS_SLOTS][BLOCK];
    uint64_t state = 1;
    for (int i = 0; i < MS_SLOTS; i++)
        for (int c = 0; c < BLOCK; c++) {
            double spread = c % 4 == 0 ? 0.01 : c % 4 == 1 ? 0.3 : c % 4 == 2 ? 3 : 1e6; /* from all slots to one */
            s.x[i][c] = c == 4 ? 7 : spread * draw_real(&state);
            s.g[i][c] = draw_real(&state);
        }
    simplex_loss(&s);
    for (int c = 0; c < BLOCK; c++) {
        double tau = tau_by_sorting(s.x, c), sum = 0;
        for (int i = 0; i < MS_SLOTS; i++) {
            sum += s.a[i][c];
            assert_true(fabs(s.a[i][c] - fmax(s.x[i][c] - tau, 0)) <= 1e-9);
        }
        assert_true(fabs(sum - 1) <= 1e-9);
    }
    memcpy(dx, s.g, sizeof dx);
    sparsemax_backward(s.a, dx);
    struct tally tally = {0};
    for (int i = 0; i < MS_SLOTS; i++)
        for (int c = 0; c < 8; c++)
            if (c % 4 != 3) /* differences of 1e6 leave too few digits */
                check(&tally, dx[i][c], difference(simplex_loss, &s, &s.x[i][c], 1e-6), 1, "slot", i);
    check_tally(&tally, 300);
}

/* ---- batch norm -------------------------------------------------------------------------------------------------- */

enum { NORM_ITEMS = BLOCK + 17 };

struct normed {
    struct workspace s;
    struct items block[2];
    real u[2][18][BLOCK], y[18][BLOCK], du[2][18][BLOCK], g[2][18][BLOCK], w[MS_PARAMETERS];
};

static uint32_t norm_count(int b)
{
    return b == 0 ? BLOCK : NORM_ITEMS - BLOCK;
}

/* L = sum of g y over all items */
static double norm_loss(void *context)
{
    struct normed *n = context;
    double sum = 0;
    for (int b = 0; b < 2; b++) norm_measure(NORM_REFINE_1, n->u[b], n->u[b], &n->block[b]);
    norm_settle(NORM_REFINE_1, &n->s);
    for (int b = 0; b < 2; b++) {
        norm_forward(NORM_REFINE_1, &n->s, n->u[b], n->y);
        for (int o = 0; o < 18; o++)
            for (uint32_t c = 0; c < norm_count(b); c++) {
                sum += n->g[b][o][c] * n->y[o][c];
                n->du[b][o][c] = n->g[b][o][c] * (n->y[o][c] > 0 ? 1 : SLOPE_LEAKY);
            }
    }
    return sum;
}

static void batch_norm(void **unused)
{
    (void)unused;
    static struct normed n;
    uint64_t state = 2;
    n.s.w = n.w;
    n.s.n = NORM_ITEMS;
    n.s.blocks = 2;
    n.s.block = n.block;
    for (int b = 0; b < 2; b++) n.block[b].count = norm_count(b);
    for (int i = 0; i < MS_PARAMETERS; i++) n.w[i] = draw_real(&state);
    for (int o = 0; o < 18; o++)
        for (int c = 0; c < 2 * BLOCK; c++) { /* padding has numbers too, which must not matter */
            n.u[c / BLOCK][o][c % BLOCK] = 3 * o + (o + 1) * draw_real(&state);
            n.g[c / BLOCK][o][c % BLOCK] = draw_real(&state);
        }
    norm_loss(&n);
    for (int o = 0; o < 18; o++) { /* mean and variance are what they say */
        double mean = 0, square = 0;
        for (int c = 0; c < NORM_ITEMS; c++) mean += n.u[c / BLOCK][o][c % BLOCK] / NORM_ITEMS;
        for (int c = 0; c < NORM_ITEMS; c++) square += pow(n.u[c / BLOCK][o][c % BLOCK] - mean, 2) / NORM_ITEMS;
        assert_true(fabs(n.s.mean[MS_NORM_REFINE_1 + o] - mean) <= 1e-12 * (1 + fabs(mean)));
        assert_true(fabs(n.s.rest[MS_NORM_REFINE_1 + o] * sqrt(square + norm_epsilon) - 1) <= 1e-10);
    }
    for (int b = 0; b < 2; b++) norm_measure(NORM_REFINE_1, n.du[b], n.u[b], &n.block[b]);
    norm_settle_backward(NORM_REFINE_1, &n.s);
    static real du[2][18][BLOCK];
    memcpy(du, n.du, sizeof du);
    for (int b = 0; b < 2; b++) norm_backward(NORM_REFINE_1, &n.s, n.u[b], norm_count(b), du[b]);
    struct tally tally = {0};
    for (int o = 0; o < 18; o++) {
        for (int c = o % 7; c < NORM_ITEMS; c += 7)
            check(&tally, du[c / BLOCK][o][c % BLOCK], difference(norm_loss, &n, &n.u[c / BLOCK][o][c % BLOCK], 1e-6),
                  1, "u", c);
        for (int i = 0; i < 2; i++) {
            int at = (i == 0 ? MS_BIAS_REFINE_1 : MS_GAMMA_REFINE_1) + o;
            check(&tally, n.s.gradient[at], difference(norm_loss, &n, &n.w[at], 1e-6), 1, "parameter", at);
        }
        for (uint32_t c = norm_count(1); c < BLOCK; c++) assert_true(du[1][o][c] == 0);
    }
    check_tally(&tally, 130);
}

/* ---- a whole task: every parameter from the loss back through decoder, reads, memory, addresses and embedding ---- */

enum { ITEMS = 2 * BLOCK + 7 }; /* three blocks, the last mostly padding */

struct whole {
    struct ms_losses losses;
    uint64_t bits[ITEMS];
    float frequency[ITEMS];
    real w[MS_PARAMETERS], gradient[MS_PARAMETERS];
    void *room;
};

static double whole_loss(void *context)
{
    struct whole *t = context;
    struct workspace *s = lay_out(t->room, ITEMS, t->bits, t->frequency, t->w);
    t->losses = net_task(s);
    memcpy(t->gradient, s->gradient, sizeof t->gradient);
    return t->losses.total;
}

static void whole_start(struct whole *t, uint64_t seed)
{
    struct recipe recipe = ms_recipe_published();
    static struct state state;
    recipe.seed = seed;
    state_start(&recipe, &state);
    uint64_t random = seed;
    for (int i = 0; i < MS_PARAMETERS; i++) t->w[i] = (double)state.parameters[i];
    for (int i = 0; i < 64; i++) t->w[MS_GAMMA_EMBED_0 + i] += 0.3 * draw_real(&random);
    for (int i = 0; i < 43; i++) t->w[MS_BIAS_EMBED_1 + i] += 0.3 * draw_real(&random);
    t->w[MS_AT_LOSS] = 3;
    t->w[MS_AT_LOSS + 1] = 0.3;
    for (int i = 0; i < ITEMS; i++) {
        t->bits[i] = draw(&random) >> 4;
        t->frequency[i] = (float)(1 + draw_below(&random, 5)); /* small, so that no sum drowns the rest */
    }
    t->room = aligned_alloc(64, workspace_size(ITEMS));
    assert_non_null(t->room);
}

static void whole_task(void **unused)
{
    (void)unused;
    static struct whole t;
    static real gradient[MS_PARAMETERS];
    static const struct {
        const char *name;
        int from, to, step;
    } parts[] = {
        {"embedding 0", MS_AT_EMBED_0, MS_BIAS_EMBED_0, 601}, {"its norm", MS_BIAS_EMBED_0, MS_AT_EMBED_1, 23},
        {"embedding 1", MS_AT_EMBED_1, MS_BIAS_EMBED_1, 401}, {"its norm", MS_BIAS_EMBED_1, MS_AT_EMBED_2, 13},
        {"embedding 2", MS_AT_EMBED_2, MS_AT_REFINE_0, 163},  {"refine 0", MS_AT_REFINE_0, MS_AT_REFINE_1, 97},
        {"refine 1", MS_AT_REFINE_1, MS_AT_REFINE_2, 79},     {"refine 2", MS_AT_REFINE_2, MS_AT_DECODE_0, 13},
        {"decoder 0", MS_AT_DECODE_0, MS_AT_DECODE_1, 2801},  {"decoder 1", MS_AT_DECODE_1, MS_AT_DECODE_2, 2801},
        {"decoder 2", MS_AT_DECODE_2, MS_AT_DECODE_3, 409},   {"decoder 3", MS_AT_DECODE_3, MS_AT_ADDRESS, 5},
        {"address", MS_AT_ADDRESS, MS_AT_LOSS, 67},           {"loss", MS_AT_LOSS, MS_PARAMETERS, 1}};
    whole_start(&t, 5);
    whole_loss(&t);
    memcpy(gradient, t.gradient, sizeof gradient);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        struct tally tally = {0};
        double scale = 0;
        for (int i = parts[p].from; i < parts[p].to; i++) scale = fmax(scale, fabs(gradient[i]));
        assert_true(scale > 0);
        for (int i = parts[p].from; i < parts[p].to; i += parts[p].step)
            check(&tally, gradient[i], difference(whole_loss, &t, &t.w[i], 1e-7), scale, parts[p].name, i);
        assert_true(2 * tally.kinks <= tally.checked);
    }
    free(t.room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparsemax), cmocka_unit_test(batch_norm),
                                       cmocka_unit_test(whole_task)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
