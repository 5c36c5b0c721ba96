/* The CUDA backend against the CPU's: the same losses and gradients to 1e-4, the same bits every time. Built with
 * LEGO_CUDA only; without a GPU it is skipped. */
#include "backend.h"
#include "parameters.h"
#include "support.h"

enum { SKIPPED = 77 };

/* 0: the paper's, 1 to 4: its ablations, 5: some scouts, 6: all but one, in the loss whose slope is not 0 at error 0 */
enum { VARIANTS = 7 };

static struct recipe recipe_of(uint32_t n_min, uint32_t n_max, int variant)
{
    struct recipe r = recipe_authors();
    r.seed = 7;
    r.tasks = 800;
    r.n_min = n_min;
    r.n_max = n_max;
    r.fixed_table = variant == 1;
    r.no_norm = variant == 2;
    r.no_scan = variant == 3;
    r.plain_loss = variant == 4 || variant == 6;
    r.scouts = variant == 5 ? 3 : variant == 6 ? 7 : 0;
    r.scout_n_min = 1000;
    r.scout_alpha_max = 1.4F;
    return r;
}

static struct session *open_session(const struct backend *backend, const struct recipe *recipe)
{
    char error[BACKEND_ERROR];
    struct session *session = backend->open(recipe, 0, error);
    if (!session) fail_msg("%s: %s", backend->name, error);
    return session;
}

/* Where V, each layer and the loss weights end. */
#define END_OF(layer, name, in, out) AT_##layer + ((in) + 1) * (out),
static const int ends[] = {TRAIN_TABLE, MODEL_LAYERS(END_OF) TRAIN_PARAMETERS};

/* To 1e-4 of the norm. */
static void assert_gradients_agree(const double *cpu, const double *cuda)
{
    for (size_t part = 0, i = 0; part < sizeof ends / sizeof *ends; part++) {
        double norm = 0, off = 0;
        for (; i < (size_t)ends[part]; i++) {
            norm += cpu[i] * cpu[i];
            off += (cpu[i] - cuda[i]) * (cpu[i] - cuda[i]);
        }
        if (!(sqrt(off) <= 1e-4 * sqrt(norm) + 1e-12))
            fail_msg("part %zu: %g off, of a norm of %g", part, sqrt(off), sqrt(norm));
    }
}

static void gradients_agree_with_the_cpu(void **unused)
{
    (void)unused;
    static double cpu[TRAIN_PARAMETERS], cuda[TRAIN_PARAMETERS];
    for (int i = 0; i < 2 * VARIANTS; i++) {
        struct recipe recipe = recipe_of(i < VARIANTS ? 20000 : 1000, 50000, i % VARIANTS);
        struct session *a = open_session(&backend_cpu, &recipe), *b = open_session(&backend_cuda, &recipe);
        for (uint64_t step = 0; step < 3; step++) {
            struct losses x, y;
            assert_int_equal(backend_cpu.gradient(a, step, cpu, &x.total), BACKEND_DONE);
            assert_int_equal(backend_cuda.gradient(b, step, cuda, &y.total), BACKEND_DONE);
            assert_true(fabs(x.total - y.total) <= 1e-4 * fabs(x.total));
            for (int m = 0; m < TRAIN_LOSSES; m++) assert_true(fabs(x.metric[m] - y.metric[m]) <= 1e-4 * x.metric[m]);
            assert_gradients_agree(cpu, cuda);
        }
        backend_cpu.close(a);
        backend_cuda.close(b);
    }
}

static void the_same_bits_every_time_and_after_a_break(void **unused)
{
    (void)unused;
    static struct state whole, half, again;
    static struct losses losses[100];
    struct recipe recipe = recipe_of(1000, 50000, 5);
    uint32_t done;
    struct session *a = open_session(&backend_cuda, &recipe), *b = open_session(&backend_cuda, &recipe);
    assert_int_equal(backend_cuda.steps(a, 100, &losses[0].total, &done), BACKEND_DONE);
    assert_int_equal(done, 100);
    assert_true(backend_cuda.save(a, &whole));
    assert_int_equal(backend_cuda.steps(b, 37, &losses[0].total, &done), BACKEND_DONE);
    assert_true(backend_cuda.save(b, &half));
    assert_int_equal(half.step, 37);
    backend_cuda.close(b);
    b = open_session(&backend_cuda, &recipe);
    assert_true(backend_cuda.load(b, &half));
    assert_int_equal(backend_cuda.steps(b, 63, &losses[0].total, &done), BACKEND_DONE);
    assert_true(backend_cuda.save(b, &again));
    assert_memory_equal(&whole, &again, sizeof whole);
    backend_cuda.close(a);
    backend_cuda.close(b);
}

/* Updates too: the average that a model is made of, V and its clamp. */
static void steps_agree_with_the_cpu(void **unused)
{
    (void)unused;
    static struct state x, y;
    struct losses cpu[6], cuda[6];
    struct recipe recipe = recipe_of(5000, 20000, 5);
    uint32_t done;
    recipe.from_rule = 1; /* answers that are not wild, so that six steps do not part */
    struct session *a = open_session(&backend_cpu, &recipe), *b = open_session(&backend_cuda, &recipe);
    assert_int_equal(backend_cpu.steps(a, 6, &cpu[0].total, &done), BACKEND_DONE);
    assert_int_equal(backend_cuda.steps(b, 6, &cuda[0].total, &done), BACKEND_DONE);
    assert_int_equal(done, 6);
    assert_true(backend_cpu.save(a, &x) && backend_cuda.save(b, &y));
    for (int i = 0; i < 6; i++) {
        print_message("step %d: loss %.9g and %.9g\n", i, cpu[i].total, cuda[i].total);
        assert_true(fabs(cpu[i].total - cuda[i].total) <= 2e-3 * cpu[i].total);
    }
    double off = 0, norm = 0, average_off = 0;
    for (int i = 0; i < TRAIN_PARAMETERS; i++) {
        norm += pow((double)x.parameters[i], 2);
        off += pow((double)x.parameters[i] - (double)y.parameters[i], 2);
        average_off += pow((double)x.average[i] - (double)y.average[i], 2);
    }
    print_message("parameters %.2e off, average %.2e\n", sqrt(off / norm), sqrt(average_off / norm));
    assert_true(off <= 1e-4 * norm && average_off <= 1e-4 * norm && x.step == y.step); /* Adam moves by the sign */
    backend_cpu.close(a);
    backend_cuda.close(b);
}

static void steps_stop_at_nonsense(void **unused)
{
    (void)unused;
    static struct state state, after;
    struct losses losses[8];
    struct recipe recipe = recipe_of(1000, 2000, 0);
    uint32_t done;
    struct session *s = open_session(&backend_cuda, &recipe);
    assert_true(backend_cuda.save(s, &state));
    state.parameters[AT_DEC_OUT_2] = NAN;
    assert_true(backend_cuda.load(s, &state));
    assert_int_equal(backend_cuda.steps(s, 8, &losses[0].total, &done), BACKEND_NOT_FINITE);
    assert_int_equal(done, 0);
    assert_true(isnan(losses[0].total) || isinf(losses[0].total));
    assert_true(backend_cuda.save(s, &after));
    assert_memory_equal(after.first, state.first, sizeof state.first); /* nothing was updated */
    backend_cuda.close(s);
}

int main(void)
{
    struct recipe recipe = recipe_of(1000, 2000, 0);
    char error[BACKEND_ERROR];
    struct session *session = backend_cuda.open(&recipe, 0, error);
    if (!session) {
        printf("skipped: %s\n", error);
        return SKIPPED;
    }
    backend_cuda.close(session);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_agree_with_the_cpu),
        cmocka_unit_test(the_same_bits_every_time_and_after_a_break),
        cmocka_unit_test(steps_agree_with_the_cpu),
        cmocka_unit_test(steps_stop_at_nonsense),
    };
    return cmocka_run_group_tests_name("cuda", tests, NULL, NULL);
}
