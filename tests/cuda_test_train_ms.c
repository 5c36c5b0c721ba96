/* The meta-sketch on CUDA against the CPU: the same losses and gradients to 1e-4, the same bits every time. Built with
 * LEGO_CUDA only; without a GPU it is skipped. A failure says of which arrays, in the order of the backward: the first
 * that is off is the one to look at. */
#include "backend.h"
#include "ms_train.h"
#include "support.h"

enum { SKIPPED = 77 };

static struct recipe recipe_of(uint32_t batch, uint32_t n_min, uint32_t n_max)
{
    struct recipe r = ms_recipe_published();
    r.seed = 7;
    r.tasks = 800;
    r.batch = batch;
    r.n_min = n_min;
    r.n_max = n_max;
    return r;
}

static struct session *open_session(const struct backend *backend, const struct recipe *recipe)
{
    char error[BACKEND_ERROR];
    struct session *session = backend->open(recipe, 0, error);
    if (!session) fail_msg("%s: %s", backend->name, error);
    return session;
}

/* ---- what differs ------------------------------------------------------------------------------------------------ */

/* Arrays of the arena, in the order of the backward. */
#define WEIGHTS_OF(layer, in, out, norm) {#layer " weights", MS_AT_##layer, (in) * (out)},
#define BIASES_OF(layer, in, out, norm) {#layer " bias", MS_BIAS_##layer, (out) * (1 + (norm))},
static const struct {
    const char *name;
    int at, count;
} arrays[] = {{"loss weights", MS_AT_LOSS, 2},
              {"address", MS_AT_ADDRESS, MS_AT_LOSS - MS_AT_ADDRESS},
              MS_LAYERS(WEIGHTS_OF) MS_LAYERS(BIASES_OF)};

/* The distance of two arrays over the norm of the first, or over `least` where that is more. */
static double distance(const double *x, const double *y, int n, double least)
{
    double norm = 0, off = 0;
    for (int i = 0; i < n; i++) norm += x[i] * x[i], off += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(off) / fmax(sqrt(norm), least);
}

static double distance_floats(const float *x, const float *y, int n)
{
    static double a[MS_PARAMETERS], b[MS_PARAMETERS];
    for (int i = 0; i < n; i++) a[i] = (double)x[i], b[i] = (double)y[i];
    return distance(a, b, n, 0);
}

struct tally {
    const char *what;
    int off;
    double worst;
};

static void tell(struct tally *tally, const char *name, double off, double bound)
{
    if (off > tally->worst) tally->worst = off;
    if (off <= bound) return; /* NaN is not */
    tally->off++;
    print_message("%s: %s is %.2e off, of 1\n", tally->what, name, off);
}

struct found {
    double gradient[MS_PARAMETERS]; /* the mean of the tasks', each clipped */
    struct ms_losses losses;
};

/* least: 0, or what part of the norm of the whole gradient an array's may be below. */
static void compare(const char *what, const struct found *cpu, const struct found *cuda, double least)
{
    static const double zero[MS_PARAMETERS];
    struct tally tally = {.what = what};
    static const char *const metrics[] = {"loss", "MSE", "ARE", "AAE"};
    const double *ours = &cpu->losses.total, *theirs = &cuda->losses.total;
    for (int i = 0; i < 4; i++) tell(&tally, metrics[i], fabs(ours[i] - theirs[i]) / ours[i], 1e-4);
    double norm = distance(zero, cpu->gradient, MS_PARAMETERS, 1);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        tell(&tally, arrays[i].name,
             distance(cpu->gradient + arrays[i].at, cuda->gradient + arrays[i].at, arrays[i].count, least * norm),
             1e-4);
    print_message("%s: at most %.2e off, gradient %g\n", what, tally.worst, norm);
    assert_int_equal(tally.off, 0);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* The tasks of some steps; with state NULL at the first parameters. */
static void compare_steps(const char *what, const struct recipe *recipe, const struct state *state, double least)
{
    static struct found cpu, cuda;
    struct session *a = open_session(&backend_cpu, recipe), *b = open_session(&backend_cuda, recipe);
    if (state) assert_true(backend_cpu.load(a, state) && backend_cuda.load(b, state));
    for (uint64_t step = 0; step < (recipe->batch == 1 ? 8 : 3); step++) {
        char name[100];
        snprintf(name, sizeof name, "%s, step %d", what, (int)step);
        assert_int_equal(backend_cpu.gradient(a, step, cpu.gradient, &cpu.losses.total), BACKEND_DONE);
        assert_int_equal(backend_cuda.gradient(b, step, cuda.gradient, &cuda.losses.total), BACKEND_DONE);
        compare(name, &cpu, &cuda, least);
    }
    backend_cpu.close(a);
    backend_cuda.close(b);
}

static void tasks_agree_with_the_cpu(void **unused)
{
    (void)unused;
    struct recipe one = recipe_of(1, 30, 300), large = recipe_of(1, 300, 5000), eight = recipe_of(8, 300, 5000),
                  skewed = recipe_of(3, 100, 1000);
    skewed.log_scale = 1;
    skewed.scale_max = 600;
    compare_steps("one task a step", &one, NULL, 0);
    compare_steps("a large one", &large, NULL, 0);
    compare_steps("eight", &eight, NULL, 0);
    compare_steps("log scale", &skewed, NULL, 0);
}

/* Where batch norm has two or three items next to nothing of a gradient comes through, so its last digits are those of
 * what cancels. */
static void small_tasks_agree(void **unused)
{
    (void)unused;
    struct recipe few = recipe_of(8, 2, 8);
    compare_steps("a few items", &few, NULL, 1);
}

static void tasks_agree_after_some_steps(void **unused)
{
    (void)unused;
    static struct state state;
    static struct ms_losses losses[40];
    struct recipe recipe = recipe_of(8, 100, 600);
    uint32_t done;
    recipe.rate = 1e-3;
    struct session *a = open_session(&backend_cpu, &recipe);
    assert_int_equal(backend_cpu.steps(a, 40, &losses[0].total, &done), BACKEND_DONE);
    assert_true(backend_cpu.save(a, &state));
    backend_cpu.close(a);
    compare_steps("after 40 steps", &recipe, &state, 0);
}

/* Updates too; the last step has 5 of 8 tasks. */
static void steps_agree_with_the_cpu(void **unused)
{
    (void)unused;
    static struct state x, y;
    struct ms_losses cpu[6], cuda[6];
    struct recipe recipe = recipe_of(8, 100, 2000);
    uint32_t done;
    recipe.tasks = 5 * 8 + 5;
    struct session *a = open_session(&backend_cpu, &recipe), *b = open_session(&backend_cuda, &recipe);
    assert_int_equal(backend_cpu.steps(a, 6, &cpu[0].total, &done), BACKEND_DONE);
    assert_int_equal(backend_cuda.steps(b, 6, &cuda[0].total, &done), BACKEND_DONE);
    assert_int_equal(done, 6);
    assert_true(backend_cpu.save(a, &x) && backend_cuda.save(b, &y));
    for (int i = 0; i < 6; i++) {
        print_message("step %d: loss %.9g and %.9g, ARE %.9g and %.9g\n", i, cpu[i].total, cuda[i].total, cpu[i].are,
                      cuda[i].are);
        assert_true(fabs(cpu[i].total - cuda[i].total) <= 1e-3 * cpu[i].total);
        assert_true(fabs(cpu[i].are - cuda[i].are) <= 1e-3 * cpu[i].are);
    }
    struct tally tally = {.what = "state after 6 steps"};
    tell(&tally, "first moment", distance_floats(x.first, y.first, MS_PARAMETERS), 1e-2);
    tell(&tally, "parameters", distance_floats(x.parameters, y.parameters, MS_PARAMETERS), 1e-4);
    tell(&tally, "means", distance(x.statistics, y.statistics, MS_NORMED, 0), 1e-4);
    tell(&tally, "variances", distance(x.statistics + MS_NORMED, y.statistics + MS_NORMED, MS_NORMED, 0), 1e-4);
    print_message("state: at most %.2e off\n", tally.worst);
    assert_int_equal(tally.off, 0);
    backend_cpu.close(a);
    backend_cuda.close(b);
}

static void the_same_bits_every_time_and_after_a_break(void **unused)
{
    (void)unused;
    static struct state whole, half, again;
    static struct ms_losses losses[100];
    struct recipe recipe = recipe_of(8, 2, 5000);
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

static void steps_stop_at_nonsense(void **unused)
{
    (void)unused;
    static struct state state, after;
    struct ms_losses losses[8];
    struct recipe recipe = recipe_of(8, 100, 200);
    uint32_t done;
    struct session *s = open_session(&backend_cuda, &recipe);
    assert_true(backend_cuda.save(s, &state));
    state.parameters[MS_AT_DECODE_3] = NAN;
    assert_true(backend_cuda.load(s, &state));
    assert_int_equal(backend_cuda.steps(s, 8, &losses[0].total, &done), BACKEND_NOT_FINITE);
    assert_int_equal(done, 0);
    assert_true(isnan(losses[0].total));
    assert_true(backend_cuda.save(s, &after));
    assert_memory_equal(&after, &state, sizeof state); /* nothing was updated */
    backend_cuda.close(s);
}

int main(void)
{
    struct recipe recipe = recipe_of(8, 100, 200);
    char error[BACKEND_ERROR];
    struct session *session = backend_cuda.open(&recipe, 0, error);
    if (!session) {
        printf("skipped: %s\n", error);
        return SKIPPED;
    }
    backend_cuda.close(session);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_agree_with_the_cpu),
        cmocka_unit_test(small_tasks_agree),
        cmocka_unit_test(tasks_agree_after_some_steps),
        cmocka_unit_test(steps_agree_with_the_cpu),
        cmocka_unit_test(the_same_bits_every_time_and_after_a_break),
        cmocka_unit_test(steps_stop_at_nonsense),
    };
    return cmocka_run_group_tests_name("cuda, meta-sketch", tests, NULL, NULL);
}
