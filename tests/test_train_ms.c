/* The training of the meta-sketch: tasks, gradients and steps against an independent numpy program
 * (tests/reference/ms.py), the same bits for any number of threads, and a loss that falls. test_train_ms_layers.c has
 * each backward. */
#include "support.h"

#include <inttypes.h>

#include "backend.h"
#include "checkpoint.h"
#include "cpu.h"
#include "ms_train.h"

static struct session *open_session(const struct recipe *recipe, unsigned threads, const struct kernels *kernels)
{
    char error[BACKEND_ERROR];
    struct session *session = cpu_open(recipe, threads, kernels ? kernels : cpu_best(), error);
    assert_non_null(session);
    return session;
}

static bool step_once(struct session *session, struct ms_losses *losses)
{
    uint32_t done;
    return backend_cpu.steps(session, 1, &losses->total, &done) == BACKEND_DONE && done == 1;
}

static const struct state *state_of(struct session *session)
{
    static struct state state;
    assert_true(backend_cpu.save(session, &state));
    return &state;
}

static void assert_near(double ours, double theirs, double tolerance, const char *line)
{
    if (!(fabs(ours - theirs) <= tolerance)) fail_msg("%.10g instead of %s", ours, line);
}

/* Lines of one case, of which the first is "case"; done with the kernels given. */
struct golden {
    const struct kernels *kernels;
    struct recipe recipe;
    struct session *session;
    struct cpu_result found; /* of task 0 */
    double norm;             /* of the array that the next gradients are of */
};

/* Task 0 at the first parameters, before its gradient is clipped. */
static void first_task(const struct recipe *recipe, const struct kernels *kernels, struct cpu_result *found)
{
    static struct state start;
    const struct cpu_work *work = &kernels->work[NET_MS];
    struct cpu_step step = {.recipe = recipe, .parameters = start.parameters};
    void *room = aligned_alloc(64, (work->workspace(recipe) + 63) / 64 * 64);
    state_start(recipe, &start);
    assert_non_null(room);
    work->task(&step, 0, room, found);
    free(room);
}

static void check_line(struct golden *g, const char *line)
{
    unsigned long long i = 0, count = 0, key = 0;
    double x[5];
    char word[16];
    if (sscanf(line, "%15s %llu", word, &i) != 2) return;
    if (strcmp(word, "case") == 0) {
        backend_cpu.close(g->session);
        g->recipe = ms_recipe_published();
        assert_int_equal(sscanf(line, "case %llu %" SCNu32 " %" SCNu32 " %lf %lf %" SCNu32 " %llu %lf", &key,
                                &g->recipe.n_min, &g->recipe.n_max, &g->recipe.rate, &g->recipe.rate_end,
                                &g->recipe.batch, &count, &x[0]),
                         8);
        g->recipe.seed = key;
        g->recipe.tasks = count;
        g->recipe.log_scale = x[0] > 0;
        if (x[0] > 0) g->recipe.scale_max = x[0];
        g->session = open_session(&g->recipe, 2, g->kernels);
        first_task(&g->recipe, g->kernels, &g->found);
    } else if (strcmp(word, "task") == 0) {
        struct ms_task task = ms_task_draw(&g->recipe, i);
        assert_int_equal(sscanf(line, "task %*u %llu %llu %lf %lf %lf", &key, &count, &x[0], &x[1], &x[2]), 5);
        assert_true(task.key == key && task.n == count);
        assert_near(task.alpha, x[0], 1e-8, line);
        assert_near(task.scale, x[1], 1e-8, line);
        double sum = 0, top = ms_task_top(&task);
        for (uint32_t item = 0; item < task.n; item++) sum += (double)ms_item_frequency(&task, top, item);
        assert_true(sum == x[2]);
    } else if (strcmp(word, "norm") == 0) {
        double square = 0;
        assert_int_equal(sscanf(line, "norm %*u %llu %lf", &count, &g->norm), 2);
        for (unsigned long long at = i; at < i + count; at++) square += pow(g->found.gradient[at], 2);
        assert_near(sqrt(square), g->norm, 1e-4 * g->norm, line);
    } else if (strcmp(word, "loss") == 0) {
        struct ms_losses l;
        assert_int_equal(sscanf(line, "loss %*u %lf %lf %lf %lf", &x[0], &x[1], &x[2], &x[3]), 4);
        assert_true(state_of(g->session)->step == i);
        assert_true(step_once(g->session, &l));
        const double ours[] = {l.total, l.mse, l.are, l.aae};
        for (int m = 0; m < 4; m++) assert_near(ours[m], x[m], 1e-3 * x[m], line);
    } else {
        const struct state *state = state_of(g->session);
        assert_int_equal(sscanf(line, "%*s %*u %lf", &x[0]), 1);
        if (strcmp(word, "parameter") == 0) assert_near((double)state->parameters[i], x[0], 1e-6, line);
        else if (strcmp(word, "gradient") == 0) assert_near(g->found.gradient[i], x[0], 1e-4 * g->norm, line);
        else if (strcmp(word, "mean") == 0) assert_near(state->statistics[i], x[0], 1e-5, line);
        else if (strcmp(word, "variance") == 0) assert_near(state->statistics[MS_NORMED + i], x[0], 1e-5, line);
        else fail_msg("what is %s", line);
    }
}

static void golden(void **unused)
{
    (void)unused;
    struct bytes file = read_file("tests/golden/ms.txt");
    file.p[file.size] = '\0';
    for (const struct kernels *const *kernels = cpu_kernels; *kernels; kernels++) {
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
        backend_cpu.close(g.session);
    }
    free(file.p);
}

static void same_bits_for_any_threads(void **unused)
{
    (void)unused;
    struct recipe recipe = ms_recipe_published();
    static struct state first;
    recipe.seed = 3;
    recipe.n_max = 3000;
    recipe.batch = 3;
    for (unsigned threads = 1; threads <= 8; threads = 2 * threads + (threads == 2)) { /* 1, 2, 5 */
        struct session *session = open_session(&recipe, threads, NULL);
        struct ms_losses losses;
        for (int step = 0; step < ROUNDS(5); step++) assert_true(step_once(session, &losses));
        if (threads == 1) first = *state_of(session);
        assert_memory_equal(&first, state_of(session), sizeof first);
        backend_cpu.close(session);
    }
}

/* Tasks of a few items, down to 2, whose batch norm has next to no variance; and a step can be taken from any state. */
static void small_tasks(void **unused)
{
    (void)unused;
    struct recipe recipe = ms_recipe_published();
    recipe.n_max = 4;
    struct session *session = open_session(&recipe, 1, NULL);
    struct ms_losses losses;
    for (int step = 0; step < ROUNDS(50); step++) assert_true(step_once(session, &losses));
    static struct state before;
    before = *state_of(session);
    before.parameters[MS_AT_DECODE_0] = NAN;
    assert_true(backend_cpu.load(session, &before));
    assert_false(step_once(session, &losses));
    assert_memory_equal(&before, state_of(session), sizeof before);
    backend_cpu.close(session);
}

/* The mean relative error of ten tasks that no step below is about. */
static double measure(struct session *session)
{
    double sum = 0;
    for (uint64_t step = 1000; step < 1010; step++) {
        static double gradient[MS_PARAMETERS];
        struct ms_losses losses;
        assert_int_equal(backend_cpu.gradient(session, step, gradient, &losses.total), BACKEND_DONE);
        sum += losses.are / 10;
    }
    return sum;
}

static void loss_falls(void **unused)
{
    (void)unused;
    if (!FULL) skip();
    struct recipe recipe = ms_recipe_published();
    recipe.n_min = 100;
    recipe.n_max = 300;
    recipe.rate = 1e-3;
    struct session *session = open_session(&recipe, 2, NULL);
    double first = measure(session);
    for (int step = 0; step < 300; step++) {
        struct ms_losses losses;
        assert_true(step_once(session, &losses));
    }
    double last = measure(session);
    if (!(last < first / 2)) fail_msg("ARE %g at first, %g in the end", first, last);
    const float *address = state_of(session)->parameters + MS_AT_ADDRESS;
    for (int d = 0; d < MS_DEPTH; d++) /* A has unit columns after every step */
        for (int s = 0; s < MS_SLOTS; s++) {
            double square = 0;
            for (int r = 0; r < MS_REFINED; r++) square += pow((double)address[(d * MS_REFINED + r) * MS_SLOTS + s], 2);
            assert_true(fabs(square - 1) < 1e-6);
        }
    backend_cpu.close(session);
}

static void recipes(void **unused)
{
    (void)unused;
    struct recipe good = ms_recipe_published();
    assert_null(recipe_problem(&good));
    struct recipe ours = ms_recipe_ours();
    assert_null(recipe_problem(&ours));
    for (int i = 0; i < 10; i++) {
        struct recipe bad = good;
        if (i == 0) bad.tasks = 0;
        if (i == 1) bad.n_min = 1;
        if (i == 2) bad.n_max = MS_POPULATION + 1;
        if (i == 3) bad.alpha_max = 0.7;
        if (i == 4) bad.scale_max = 1001;
        if (i == 5) bad.rate = NAN;
        if (i == 6) bad.batch = 0;
        if (i == 7) bad.batch = MS_BATCH + 1;
        if (i == 8) bad.log_scale = 1, bad.scale_min = 0;
        if (i == 9) bad.rate_end = 2 * bad.rate;
        assert_non_null(recipe_problem(&bad));
    }
}

/* A last step has the tasks that are left. */
static void last_steps(void **unused)
{
    (void)unused;
    struct recipe recipe = ms_recipe_ours();
    recipe.tasks = 19;
    assert_int_equal(recipe_steps(&recipe), 3);
    assert_int_equal(recipe_batch(&recipe, 1), 8);
    assert_int_equal(recipe_batch(&recipe, 2), 3);
    recipe.tasks = 16;
    assert_int_equal(recipe_steps(&recipe), 2);
    assert_int_equal(recipe_batch(&recipe, 1), 8);
}

/* A run that stops and goes on from its checkpoint has the same bits. */
static void checkpoints(void **unused)
{
    (void)unused;
    static struct run run, again;
    static unsigned char bytes[CHECKPOINT_MOST + 1];
    static struct state whole;
    struct ms_losses losses;
    run.recipe = ms_recipe_ours();
    run.recipe.tasks = 30;
    run.recipe.batch = 4;
    run.recipe.n_max = 100;
    run.summed = 2;
    run.sums[3] = 4;
    struct session *session = open_session(&run.recipe, 1, NULL);
    for (int step = 0; step < 8; step++) {
        if (step == 3) assert_true(backend_cpu.save(session, &run.state));
        assert_true(step_once(session, &losses));
    }
    whole = *state_of(session);
    backend_cpu.close(session);

    size_t size = checkpoint_write(&run, bytes);
    assert_int_equal(size, CHECKPOINT_MOST);
    assert_null(checkpoint_read(bytes, size, &again));
    assert_memory_equal(&again.state, &run.state, sizeof run.state);
    assert_true(again.summed == 2 && again.sums[3] == 4);
    char text[100];
    assert_false(recipe_difference(&again.recipe, &run.recipe, text, sizeof text));
    run.recipe.batch = 8;
    assert_true(recipe_difference(&again.recipe, &run.recipe, text, sizeof text));
    assert_string_equal(text, "with --batch 4, not 8");
    session = open_session(&again.recipe, 2, NULL);
    assert_true(backend_cpu.load(session, &again.state));
    for (int step = 3; step < 8; step++) assert_true(step_once(session, &losses));
    assert_memory_equal(&whole, state_of(session), sizeof whole);
    backend_cpu.close(session);

    assert_non_null(checkpoint_read(bytes, size - 1, &again));
    assert_non_null(checkpoint_read(bytes, size + 1, &again));
    for (size_t at = 0; at < size; at += 997) { /* one bit, anywhere */
        bytes[at] ^= 4;
        assert_non_null(checkpoint_read(bytes, size, &again));
        bytes[at] ^= 4;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden),      cmocka_unit_test(same_bits_for_any_threads),
                                       cmocka_unit_test(small_tasks), cmocka_unit_test(loss_falls),
                                       cmocka_unit_test(recipes),     cmocka_unit_test(last_steps),
                                       cmocka_unit_test(checkpoints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
