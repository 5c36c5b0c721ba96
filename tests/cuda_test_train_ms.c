/* The meta-sketch on CUDA against the CPU: the same sums, losses and gradients to 1e-4, the same bits every time.
 * Built with LEGO_CUDA only; without a GPU it is skipped. A failure says of which arrays, in the order they are
 * computed: the first that is off is the one to look at. */
#include <math.h>

#include "ms_backend.h"
#include "support.h"

enum { SKIPPED = 77 };

static struct ms_recipe recipe_of(uint32_t batch, uint32_t n_min, uint32_t n_max)
{
    struct ms_recipe r = ms_recipe_published();
    r.seed = 7;
    r.tasks = 800;
    r.batch = batch;
    r.n_min = n_min;
    r.n_max = n_max;
    return r;
}

static struct ms_session *open_session(const struct ms_backend *backend, const struct ms_recipe *recipe)
{
    char error[BACKEND_ERROR];
    struct ms_session *session = backend->open(recipe, 0, error);
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
static double distance_real(const double *x, const double *y, int n, double least)
{
    double norm = 0, off = 0;
    for (int i = 0; i < n; i++) norm += x[i] * x[i], off += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(off) / fmax(sqrt(norm), least);
}

static double distance(const float *x, const float *y, int n, double least)
{
    static double a[MS_PARAMETERS], b[MS_PARAMETERS];
    for (int i = 0; i < n; i++) a[i] = (double)x[i], b[i] = (double)y[i];
    return distance_real(a, b, n, least);
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

/* least: 0, or what part of the norm of the whole gradient an array's may be below. */
static void compare(const char *what, const struct ms_found *cpu, const struct ms_found *cuda, double least)
{
    static const float zero[MS_PARAMETERS];
    struct tally tally = {.what = what};
    const double losses[2][4] = {{cpu->losses.total, cpu->losses.mse, cpu->losses.are, cpu->losses.aae},
                                 {cuda->losses.total, cuda->losses.mse, cuda->losses.are, cuda->losses.aae}};
    static const char *const metrics[] = {"loss", "MSE", "ARE", "AAE"};
    const struct {
        const char *name;
        int at, count;
    } norms[] = {{"EMBED_0", MS_NORM_EMBED_0, 64}, {"EMBED_1", MS_NORM_EMBED_1, 43}, {"REFINE_0", MS_NORM_REFINE_0, 32},
                 {"REFINE_1", MS_NORM_REFINE_1, 18}};
    for (int i = 0; i < 4; i++) {
        char name[40];
        snprintf(name, sizeof name, "mean of %s", norms[i].name);
        tell(&tally, name, distance_real(cpu->mean + norms[i].at, cuda->mean + norms[i].at, norms[i].count, 0), 1e-4);
        snprintf(name, sizeof name, "variance of %s", norms[i].name);
        tell(&tally, name, distance_real(cpu->variance + norms[i].at, cuda->variance + norms[i].at, norms[i].count, 0),
             1e-4);
    }
    tell(&tally, "memory", distance(&cpu->memory[0][0][0], &cuda->memory[0][0][0], MS_DEPTH * MS_SLOTS * MS_EMBED, 0),
         1e-4);
    for (int i = 0; i < 4; i++) tell(&tally, metrics[i], fabs(losses[0][i] - losses[1][i]) / losses[0][i], 1e-4);
    double norm = distance(zero, cpu->gradient, MS_PARAMETERS, 1);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        tell(&tally, arrays[i].name,
             distance(cpu->gradient + arrays[i].at, cuda->gradient + arrays[i].at, arrays[i].count, least * norm),
             1e-4);
    print_message("%s: at most %.2e off, gradient %g\n", what, tally.worst, norm);
    assert_int_equal(tally.off, 0);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Tasks of all places of two steps; with state NULL at the first parameters. */
static void compare_tasks(const char *what, const struct ms_recipe *recipe, const struct ms_state *state, double least)
{
    static struct ms_found cpu, cuda;
    struct ms_session *a = open_session(&ms_backend_cpu, recipe), *b = open_session(&ms_backend_cuda, recipe);
    if (state) assert_true(ms_backend_cpu.load(a, state) && ms_backend_cuda.load(b, state));
    for (uint64_t step = 0; step < 2; step++)
        for (uint32_t place = 0; place < recipe->batch; place++) {
            char name[100];
            struct ms_task task = ms_task_draw(recipe, step * recipe->batch + place);
            snprintf(name, sizeof name, "%s, step %d, task %u of %u items", what, (int)step, place, task.n);
            assert_int_equal(ms_backend_cpu.task(a, step, place, &cpu), BACKEND_DONE);
            assert_int_equal(ms_backend_cuda.task(b, step, place, &cuda), BACKEND_DONE);
            compare(name, &cpu, &cuda, least);
        }
    ms_backend_cpu.close(a);
    ms_backend_cuda.close(b);
}

static void tasks_agree_with_the_cpu(void **unused)
{
    (void)unused;
    struct ms_recipe one = recipe_of(1, 30, 300), eight = recipe_of(8, 300, 5000), skewed = recipe_of(3, 100, 1000);
    skewed.log_scale = 1;
    skewed.scale_max = 600;
    compare_tasks("one task a step", &one, NULL, 0);
    compare_tasks("eight", &eight, NULL, 0);
    compare_tasks("log scale", &skewed, NULL, 0);
}

/* Where batch norm has two or three items next to nothing of a gradient comes through, so its last digits are those of
 * what cancels. */
static void small_tasks_agree(void **unused)
{
    (void)unused;
    struct ms_recipe few = recipe_of(8, 2, 8);
    compare_tasks("a few items", &few, NULL, 1);
}

static void tasks_agree_after_some_steps(void **unused)
{
    (void)unused;
    static struct ms_state state;
    static struct ms_losses losses[40];
    struct ms_recipe recipe = recipe_of(8, 100, 600);
    uint32_t done;
    recipe.rate = 1e-3;
    struct ms_session *a = open_session(&ms_backend_cpu, &recipe);
    assert_int_equal(ms_backend_cpu.steps(a, 40, losses, &done), BACKEND_DONE);
    assert_true(ms_backend_cpu.save(a, &state));
    ms_backend_cpu.close(a);
    compare_tasks("after 40 steps", &recipe, &state, 0);
}

/* Updates too; the last step has 5 of 8 tasks. */
static void steps_agree_with_the_cpu(void **unused)
{
    (void)unused;
    static struct ms_state x, y;
    struct ms_losses cpu[6], cuda[6];
    struct ms_recipe recipe = recipe_of(8, 100, 2000);
    uint32_t done;
    recipe.tasks = 5 * 8 + 5;
    struct ms_session *a = open_session(&ms_backend_cpu, &recipe), *b = open_session(&ms_backend_cuda, &recipe);
    assert_int_equal(ms_backend_cpu.steps(a, 6, cpu, &done), BACKEND_DONE);
    assert_int_equal(ms_backend_cuda.steps(b, 6, cuda, &done), BACKEND_DONE);
    assert_int_equal(done, 6);
    assert_true(ms_backend_cpu.save(a, &x) && ms_backend_cuda.save(b, &y));
    for (int i = 0; i < 6; i++) {
        print_message("step %d: loss %.9g and %.9g, ARE %.9g and %.9g\n", i, cpu[i].total, cuda[i].total, cpu[i].are,
                      cuda[i].are);
        assert_true(fabs(cpu[i].total - cuda[i].total) <= 1e-3 * cpu[i].total);
        assert_true(fabs(cpu[i].are - cuda[i].are) <= 1e-3 * cpu[i].are);
    }
    struct tally tally = {.what = "state after 6 steps"};
    tell(&tally, "first moment", distance(x.first, y.first, MS_PARAMETERS, 0), 1e-2);
    tell(&tally, "parameters", distance(x.parameters, y.parameters, MS_PARAMETERS, 0), 1e-4);
    tell(&tally, "means", distance_real(x.mean, y.mean, MS_NORMED, 0), 1e-4);
    tell(&tally, "variances", distance_real(x.variance, y.variance, MS_NORMED, 0), 1e-4);
    print_message("state: at most %.2e off\n", tally.worst);
    assert_int_equal(tally.off, 0);
    ms_backend_cpu.close(a);
    ms_backend_cuda.close(b);
}

static void the_same_bits_every_time_and_after_a_break(void **unused)
{
    (void)unused;
    static struct ms_state whole, half, again;
    static struct ms_losses losses[100];
    struct ms_recipe recipe = recipe_of(8, 2, 5000);
    uint32_t done;
    struct ms_session *a = open_session(&ms_backend_cuda, &recipe), *b = open_session(&ms_backend_cuda, &recipe);
    assert_int_equal(ms_backend_cuda.steps(a, 100, losses, &done), BACKEND_DONE);
    assert_int_equal(done, 100);
    assert_true(ms_backend_cuda.save(a, &whole));
    assert_int_equal(ms_backend_cuda.steps(b, 37, losses, &done), BACKEND_DONE);
    assert_true(ms_backend_cuda.save(b, &half));
    assert_int_equal(half.step, 37);
    ms_backend_cuda.close(b);
    b = open_session(&ms_backend_cuda, &recipe);
    assert_true(ms_backend_cuda.load(b, &half));
    assert_int_equal(ms_backend_cuda.steps(b, 63, losses, &done), BACKEND_DONE);
    assert_true(ms_backend_cuda.save(b, &again));
    assert_memory_equal(&whole, &again, sizeof whole);
    ms_backend_cuda.close(a);
    ms_backend_cuda.close(b);
}

static void steps_stop_at_nonsense(void **unused)
{
    (void)unused;
    static struct ms_state state, after;
    struct ms_losses losses[8];
    struct ms_recipe recipe = recipe_of(8, 100, 200);
    uint32_t done;
    struct ms_session *s = open_session(&ms_backend_cuda, &recipe);
    assert_true(ms_backend_cuda.save(s, &state));
    state.parameters[MS_AT_DECODE_3] = NAN;
    assert_true(ms_backend_cuda.load(s, &state));
    assert_int_equal(ms_backend_cuda.steps(s, 8, losses, &done), BACKEND_NOT_FINITE);
    assert_int_equal(done, 0);
    assert_true(isnan(losses[0].total));
    assert_true(ms_backend_cuda.save(s, &after));
    assert_memory_equal(&after, &state, sizeof state); /* nothing was updated */
    ms_backend_cuda.close(s);
}

int main(void)
{
    struct ms_recipe recipe = recipe_of(8, 100, 200);
    char error[BACKEND_ERROR];
    struct ms_session *session = ms_backend_cuda.open(&recipe, 0, error);
    if (!session) {
        printf("skipped: %s\n", error);
        return SKIPPED;
    }
    ms_backend_cuda.close(session);
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
