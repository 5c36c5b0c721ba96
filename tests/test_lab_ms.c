/* The meta-sketch as lab/ms.c answers, against the same in doubles and in the plainest loops; and its model file. */
#include "support.h"

#include <math.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ms.h"
#include "backend.h"
#include "ms_train.h"

static unsigned char model[MS_FILE];

/* What a few steps leave. */
static void make_model(uint64_t seed, int steps)
{
    struct recipe recipe = ms_recipe_published();
    recipe.seed = seed;
    recipe.n_min = 200;
    recipe.n_max = 400;
    recipe.rate = 1e-3;
    char error[BACKEND_ERROR];
    struct session *session = backend_cpu.open(&recipe, 1, error);
    assert_non_null(session);
    static struct state state;
    for (int step = 0; step < steps; step++) {
        struct ms_losses losses;
        uint32_t done;
        assert_int_equal(backend_cpu.steps(session, 1, &losses.total, &done), BACKEND_DONE);
    }
    assert_true(backend_cpu.save(session, &state));
    struct bytes file = {model, 0};
    assert_int_equal(net_of(&recipe)->save(&recipe, &state, "ms", append_bytes, &file), LEGO_OK);
    assert_int_equal(file.size, MS_FILE);
    backend_cpu.close(session);
}

/* ---- in doubles -------------------------------------------------------------------------------------------------- */

static const float *layer(const float *w, int in, int out, double slope, const double *x, double *y)
{
    for (int o = 0; o < out; o++) {
        y[o] = (double)w[in * out + o];
        for (int i = 0; i < in; i++) y[o] += x[i] * (double)w[i * out + o];
        if (y[o] < 0) y[o] *= slope;
    }
    return w + (in + 1) * out;
}

struct plain {
    double z[23], a[2][50];
};

static const float *place_plain(const float *w, XXH128_hash_t hash, struct plain *item)
{
    double x[64], y[64], q[5];
    const float *address = w + MS_NUMBERS - 500;
    for (int i = 0; i < 60; i++) x[i] = (double)(hash.low64 >> i & 1);
    w = layer(w, 60, 64, 0, x, y);
    w = layer(w, 64, 43, 0, y, x);
    w = layer(w, 43, 23, 0, x, item->z);
    w = layer(w, 23, 32, 0.01, item->z, x);
    w = layer(w, 32, 18, 0.01, x, y);
    w = layer(w, 18, 5, 1, y, q);
    for (int d = 0; d < 2; d++) {
        double *a = item->a[d], low = -1e9, high = 1e9;
        for (int s = 0; s < 50; s++) {
            a[s] = 0;
            for (int r = 0; r < 5; r++) a[s] += q[r] * (double)address[(d * 5 + r) * 50 + s];
        }
        for (int round = 0; round < 200; round++) { /* the threshold by bisection */
            double middle = (low + high) / 2, sum = 0;
            for (int s = 0; s < 50; s++) sum += fmax(a[s] - middle, 0);
            if (sum > 1) low = middle;
            else high = middle;
        }
        for (int s = 0; s < 50; s++) a[s] = fmax(a[s] - low, 0);
    }
    return w;
}

static double decode_plain(const float *w, const struct plain *item, double (*m)[50][23], double total)
{
    double in[76], e[256], g[76], k[38], answer;
    for (int d = 0; d < 2; d++) {
        double square = 0, low = INFINITY, ratio = INFINITY, gap = INFINITY, *read = in + 23 * d;
        for (int s = 0; s < 50; s++) square += item->a[d][s] * item->a[d][s];
        for (int i = 0; i < 23; i++) {
            read[i] = 0;
            for (int s = 0; s < 50; s++) read[i] += item->a[d][s] * m[d][s][i] / square;
            low = fmin(low, read[i]);
        }
        for (int i = 0; i < 23; i++) {
            if (item->z[i] <= 1e-4) continue;
            ratio = fmin(ratio, read[i] / item->z[i]);
            if (read[i] - low > 1e-4) gap = fmin(gap, (read[i] - low) / item->z[i]);
        }
        in[46 + d] = isinf(ratio) ? 0 : ratio;
        in[48 + d] = low;
        in[50 + d] = isinf(gap) ? 0 : gap;
    }
    memcpy(in + 52, item->z, sizeof item->z);
    in[75] = total;
    w = layer(w, 76, 256, 0, in, e);
    w = layer(w, 256, 76, 1, e, g);
    for (int i = 0; i < 76; i++) g[i] = fmax(g[i] + in[i], 0);
    w = layer(w, 76, 38, 0, g, k);
    layer(w, 38, 1, 1, k, &answer);
    return answer;
}

static void answers(void **unused)
{
    (void)unused;
    enum { ITEMS = 1000, SEED = 9 };
    static double m[3][2][50][23], total[3];
    static float w[MS_NUMBERS];
    make_model(1, 30);
    memcpy(w, model + 24, sizeof w);
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = 3 * 9208 + 100;
    options.seed = SEED;
    void *self;
    assert_int_equal(ms_create(model, sizeof model, &options, &self), LEGO_OK);
    for (uint64_t i = 0; i < ITEMS; i++) {
        struct plain item;
        XXH128_hash_t hash = XXH3_128bits_withSeed(&i, sizeof i, SEED);
        uint64_t brick = (uint64_t)((lego_u128)hash.high64 * 3 >> 64);
        double count = (double)(1 + 500 / (i + 1));
        place_plain(w, hash, &item);
        total[brick] += count;
        for (int d = 0; d < 2; d++)
            for (int s = 0; s < 50; s++)
                for (int k = 0; k < 23; k++) m[brick][d][s][k] += item.a[d][s] * count * item.z[k];
        assert_int_equal(estimator_ms.add(self, &i, sizeof i, (int64_t)count), LEGO_OK);
    }
    int off = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        struct plain item;
        XXH128_hash_t hash = XXH3_128bits_withSeed(&i, sizeof i, SEED);
        uint64_t brick = (uint64_t)((lego_u128)hash.high64 * 3 >> 64);
        const float *decoder = place_plain(w, hash, &item);
        double theirs = decode_plain(decoder, &item, m[brick], total[brick]), ours;
        assert_int_equal(estimator_ms.estimate(self, &i, sizeof i, &ours), LEGO_OK);
        if (!(fabs(ours - theirs) <= 1e-2 * (1 + fabs(theirs)))) off++; /* reads that differ by 1e-4, or do not */
    }
    assert_true(off <= ITEMS / 200);
    estimator_destroy(&estimator_ms, self);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static lego_status try_model(size_t size)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = 100000;
    void *self = NULL;
    unsigned char *copy = malloc(size + 1); /* so that reading too far is seen */
    assert_non_null(copy);
    memcpy(copy, model, size);
    lego_status status = ms_create(copy, size, &options, &self);
    if (status == LEGO_OK) estimator_destroy(&estimator_ms, self);
    free(copy);
    return status;
}

static void models_are_checked(void **unused)
{
    (void)unused;
    make_model(2, 1);
    assert_int_equal(try_model(MS_FILE), LEGO_OK);
    static const size_t sizes[] = {0, 23, 24, MS_FILE - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) assert_int_equal(try_model(sizes[i]), LEGO_ERR_CORRUPT);
    lego_model *other = NULL; /* and it is no model of the library */
    assert_int_equal(lego_model_load(model, MS_FILE, NULL, &other), LEGO_ERR_MAGIC);
    for (size_t at = 0; at < MS_FILE; at = at < 24 ? at + 1 : at + 20011) {
        model[at] ^= 4;
        assert_int_equal(try_model(MS_FILE), LEGO_ERR_CORRUPT);
        model[at] ^= 4;
    }
    assert_int_equal(try_model(MS_FILE), LEGO_OK);
}

/* The one that is built in is the file, and counts better than nothing. */
static void built_in(void **unused)
{
    (void)unused;
    struct bytes file = read_file("models/ms.lego");
    assert_int_equal(file.size, MS_FILE);
    assert_int_equal(file.size, ms_model_size);
    assert_memory_equal(file.p, ms_model, file.size);
    free(file.p);
    lego_options options = LEGO_OPTIONS_INIT;
    void *self;
    options.budget = 9207;
    assert_int_equal(estimator_create(&estimator_ms, &options, &self), LEGO_ERR_BUDGET);
    options.budget = 9300;
    assert_int_equal(estimator_create(&estimator_ms, &options, &self), LEGO_OK);
    assert_true(estimator_bytes(&estimator_ms, self) <= 9300 && estimator_bytes(&estimator_ms, self) > 9200);
    double error = 0, answer, total = 0;
    for (uint64_t i = 0; i < 500; i++)
        assert_int_equal(estimator_ms.add(self, &i, 8, (int64_t)(1 + 2000 / (i + 1))), LEGO_OK);
    for (uint64_t i = 0; i < 500; i++) {
        assert_int_equal(estimator_ms.estimate(self, &i, 8, &answer), LEGO_OK);
        error += fabs(answer - (double)(1 + 2000 / (i + 1)));
        total += (double)(1 + 2000 / (i + 1));
    }
    if (!(error < total / 2)) fail_msg("an error of %g in %g", error, total);
    estimator_destroy(&estimator_ms, self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers), cmocka_unit_test(models_are_checked),
                                       cmocka_unit_test(built_in)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
