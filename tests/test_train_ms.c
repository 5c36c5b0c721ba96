/* The training of the meta-sketch: tasks, gradients and steps against an independent numpy program
 * (tests/reference/ms.py), the same bits for any number of threads, and a loss that falls. test_train_ms_layers.c has
 * each backward. */
#include "support.h"

#include <inttypes.h>
#include <math.h>

#include "ms_train.h"

static void assert_near(double ours, double theirs, double tolerance, const char *line)
{
    if (!(fabs(ours - theirs) <= tolerance)) fail_msg("%.10g instead of %s", ours, line);
}

/* Lines of one case, of which the first is "case"; done with the kernels given. */
struct golden {
    const struct ms_kernels *kernels;
    struct ms_recipe recipe;
    struct ms_session *session;
    float gradient[MS_PARAMETERS];
    double norm; /* of the array that the next gradients are of */
};

static void check_line(struct golden *g, const char *line)
{
    unsigned long long i = 0, count = 0, key = 0;
    double x[5];
    char word[16];
    if (sscanf(line, "%15s %llu", word, &i) != 2) return;
    if (strcmp(word, "case") == 0) {
        ms_close(g->session);
        g->recipe = ms_recipe_published();
        assert_int_equal(sscanf(line, "case %llu %" SCNu32 " %" SCNu32 " %lf", &key, &g->recipe.n_min, &g->recipe.n_max,
                                &g->recipe.rate), 4);
        g->recipe.seed = key;
        g->session = ms_open(&g->recipe, 2, g->kernels);
        assert_non_null(g->session);
        struct ms_losses losses;
        memcpy(g->gradient, ms_gradient(g->session, 0, &losses), sizeof g->gradient);
    } else if (strcmp(word, "task") == 0) {
        struct ms_task task = ms_task_draw(&g->recipe, i);
        assert_int_equal(sscanf(line, "task %*u %llu %llu %lf %lf %lf", &key, &count, &x[0], &x[1], &x[2]), 5);
        assert_true(task.key == key && task.n == count);
        assert_near(task.alpha, x[0], 1e-8, line);
        assert_near(task.scale, x[1], 1e-8, line);
        uint64_t bits[1000];
        float frequency[1000];
        double sum = 0;
        ms_task_items(&task, bits, frequency);
        for (uint32_t item = 0; item < task.n; item++) sum += (double)frequency[item];
        assert_true(sum == x[2]);
    } else if (strcmp(word, "norm") == 0) {
        double square = 0;
        assert_int_equal(sscanf(line, "norm %*u %llu %lf", &count, &g->norm), 2);
        for (unsigned long long at = i; at < i + count; at++) square += pow((double)g->gradient[at], 2);
        assert_near(sqrt(square), g->norm, 1e-4 * g->norm, line);
    } else if (strcmp(word, "loss") == 0) {
        struct ms_losses l;
        assert_int_equal(sscanf(line, "loss %*u %lf %lf %lf %lf", &x[0], &x[1], &x[2], &x[3]), 4);
        assert_true(ms_session_state(g->session)->step == i);
        assert_true(ms_step(g->session, &l));
        const double ours[] = {l.total, l.mse, l.are, l.aae};
        for (int m = 0; m < 4; m++) assert_near(ours[m], x[m], 1e-3 * x[m], line);
    } else {
        const struct ms_state *state = ms_session_state(g->session);
        assert_int_equal(sscanf(line, "%*s %*u %lf", &x[0]), 1);
        if (strcmp(word, "parameter") == 0) assert_near((double)state->parameters[i], x[0], 1e-6, line);
        else if (strcmp(word, "gradient") == 0) assert_near((double)g->gradient[i], x[0], 1e-4 * g->norm, line);
        else if (strcmp(word, "mean") == 0) assert_near(state->mean[i], x[0], 1e-5, line);
        else if (strcmp(word, "variance") == 0) assert_near(state->variance[i], x[0], 1e-5, line);
        else fail_msg("what is %s", line);
    }
}

static void golden(void **unused)
{
    (void)unused;
    struct bytes file = read_file("tests/golden/ms.txt");
    file.p[file.size] = '\0';
    for (const struct ms_kernels *const *kernels = ms_kernels; *kernels; kernels++) {
        if (!(*kernels)->supported()) continue;
        static struct golden g;
        g = (struct golden){.kernels = *kernels};
        int lines = 0;
        for (char *line = (char *)file.p; *line; lines++) {
            size_t length = strcspn(line, "\n");
            char copy[200];
            assert_true(length < sizeof copy);
            memcpy(copy, line, length);
            copy[length] = '\0';
            if (*line != '#') check_line(&g, copy);
            line += length + (line[length] == '\n');
        }
        assert_true(lines > 500);
        ms_close(g.session);
    }
    free(file.p);
}

static void same_bits_for_any_threads(void **unused)
{
    (void)unused;
    struct ms_recipe recipe = ms_recipe_published();
    static struct ms_state first;
    recipe.seed = 3;
    recipe.n_max = 3000;
    for (unsigned threads = 1; threads <= 8; threads = 2 * threads + (threads == 2)) { /* 1, 2, 5 */
        struct ms_session *session = ms_open(&recipe, threads, NULL);
        assert_non_null(session);
        struct ms_losses losses;
        for (int step = 0; step < ROUNDS(5); step++) assert_true(ms_step(session, &losses));
        if (threads == 1) first = *ms_session_state(session);
        assert_memory_equal(&first, ms_session_state(session), sizeof first);
        ms_close(session);
    }
}

/* Tasks of a few items, down to 2, whose batch norm has next to no variance; and a step can be taken from any state. */
static void small_tasks(void **unused)
{
    (void)unused;
    struct ms_recipe recipe = ms_recipe_published();
    recipe.n_max = 4;
    struct ms_session *session = ms_open(&recipe, 1, NULL);
    assert_non_null(session);
    struct ms_losses losses;
    for (int step = 0; step < ROUNDS(50); step++) assert_true(ms_step(session, &losses));
    ms_session_state(session)->parameters[MS_AT_DECODE_0] = NAN;
    static struct ms_state before;
    before = *ms_session_state(session);
    assert_false(ms_step(session, &losses));
    assert_memory_equal(&before, ms_session_state(session), sizeof before);
    ms_close(session);
}

/* The mean relative error of ten tasks that no step below is about. */
static double measure(struct ms_session *session)
{
    double sum = 0;
    for (uint64_t step = 1000; step < 1010; step++) {
        struct ms_losses losses;
        ms_gradient(session, step, &losses);
        sum += losses.are / 10;
    }
    return sum;
}

static void loss_falls(void **unused)
{
    (void)unused;
    if (!FULL) skip();
    struct ms_recipe recipe = ms_recipe_published();
    recipe.n_min = 100;
    recipe.n_max = 300;
    recipe.rate = 1e-3;
    struct ms_session *session = ms_open(&recipe, 2, NULL);
    assert_non_null(session);
    double first = measure(session);
    for (int step = 0; step < 300; step++) {
        struct ms_losses losses;
        assert_true(ms_step(session, &losses));
    }
    double last = measure(session);
    if (!(last < first / 2)) fail_msg("ARE %g at first, %g in the end", first, last);
    const float *address = ms_session_state(session)->parameters + MS_AT_ADDRESS;
    for (int d = 0; d < MS_DEPTH; d++) /* A has unit columns after every step */
        for (int s = 0; s < MS_SLOTS; s++) {
            double square = 0;
            for (int r = 0; r < MS_REFINED; r++)
                square += pow((double)address[(d * MS_REFINED + r) * MS_SLOTS + s], 2);
            assert_true(fabs(square - 1) < 1e-6);
        }
    ms_close(session);
}

static void recipes(void **unused)
{
    (void)unused;
    struct ms_recipe good = ms_recipe_published();
    assert_null(ms_recipe_problem(&good));
    for (int i = 0; i < 6; i++) {
        struct ms_recipe bad = good;
        if (i == 0) bad.tasks = 0;
        if (i == 1) bad.n_min = 1;
        if (i == 2) bad.n_max = MS_POPULATION + 1;
        if (i == 3) bad.alpha_max = 0.7;
        if (i == 4) bad.scale_max = 1000;
        if (i == 5) bad.rate = NAN;
        assert_non_null(ms_recipe_problem(&bad));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden), cmocka_unit_test(same_bits_for_any_threads),
                                       cmocka_unit_test(small_tasks), cmocka_unit_test(loss_falls),
                                       cmocka_unit_test(recipes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
