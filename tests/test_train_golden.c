/* Training on the CPU against golden figures of another program. */
#include "parameters.h"
#include "support_train.h"

/* One case of tests/golden/training.txt, whose head says what the lines are. */
struct golden {
    char name[16];
    struct recipe recipe;
    struct state state;
    double gradient[TRAIN_PARAMETERS];
    struct losses losses; /* of step 0 */
    struct losses step[16];
    double norm[TRAIN_PARAMETERS]; /* of the part that a parameter belongs to */
    int compared;
};

/* Where a part of that name starts and ends. */
static void find_part(const char *name, int *from, int *to)
{
    *from = 0, *to = TRAIN_TABLE;
    for (int i = 0; strcmp(name, "V") != 0 && i < LAYERS; i++) {
        *from = *to;
        *to += (int)((model_layers[i].in + 1) * model_layers[i].out);
        if (strcmp(name, model_layers[i].name) == 0) return;
    }
    if (strcmp(name, "loss") == 0) *from = AT_LOSS, *to = TRAIN_PARAMETERS;
}

static void read_case(const char *line, struct golden *g)
{
    *g = (struct golden){.recipe = recipe_authors()};
    struct recipe *r = &g->recipe;
    r->fall = FALL_STAGES; /* the reference's */
    unsigned flag[4];
    assert_int_equal(sscanf(line, "%15s %lu %lu %u %u %u %u %u %u %lu %u %lf", g->name, &r->seed, &r->tasks, &r->n_min,
                            &r->n_max, &flag[0], &flag[1], &flag[2], &flag[3], &r->scouts, &r->scout_n_min,
                            &r->scout_alpha_max),
                     12);
    r->fixed_table = flag[0];
    r->no_norm = flag[1];
    r->no_scan = flag[2];
    r->plain_loss = flag[3];
    state_start(r, &g->state);
}

static void compute(struct golden *g, const struct kernels *kernels)
{
    struct session *session = open_session(&g->recipe, 0, kernels);
    backend_cpu.load(session, &g->state);
    assert_int_equal(backend_cpu.gradient(session, 0, g->gradient, &g->losses.total), BACKEND_DONE);
    run(session, strcmp(g->name, "crowded") == 0 ? 1 : 10, g->step);
    backend_cpu.close(session);
}

static void check_task(const char *line, const struct golden *g)
{
    uint64_t step, key;
    uint32_t slot, n;
    double alpha, scale;
    assert_int_equal(sscanf(line, "%lu %u %lu %u %lf %lf", &step, &slot, &key, &n, &alpha, &scale), 6);
    struct task task = task_draw(&g->recipe, step, slot);
    assert_true(task.key == key && task.n == n);
    assert_ratio((double)task.alpha, alpha, 1e-7, "alpha", (int)slot);
    assert_ratio((double)task.scale, scale, 1e-7, "scale", (int)slot);
}

static void check_numbers(const char *line, const double *ours, int n, double tolerance, const char *what)
{
    for (int i = 0; i < n; i++) {
        char *end;
        double theirs = strtod(line, &end);
        assert_true(end != line);
        assert_ratio(ours[i], theirs, tolerance, what, i);
        line = end;
    }
}

static void check_norm(const char *line, struct golden *g)
{
    char name[32];
    double theirs, square = 0;
    int from, to;
    assert_int_equal(sscanf(line, "%31s %lf", name, &theirs), 2);
    find_part(name, &from, &to);
    for (int i = from; i < to; i++) {
        square += g->gradient[i] * g->gradient[i];
        g->norm[i] = theirs;
    }
    assert_ratio(sqrt(square), theirs, 1e-4, name, 0);
}

static void check_gradient(const char *line, struct golden *g)
{
    char *end;
    int i = (int)strtol(line, &end, 10);
    for (line = end;; line = end, i++) {
        double theirs = strtod(line, &end);
        if (end == line) return;
        g->compared++;
        assert_near(g->gradient[i], theirs, 1e-4 * g->norm[i], "gradient", i);
    }
}

static void check_loss(const char *line, const struct golden *g)
{
    char *end;
    long step = strtol(line, &end, 10);
    assert_ratio(g->step[step].total, strtod(end, &end), 1e-3, "loss of step", (int)step);
    check_numbers(end, g->step[step].metric, TRAIN_LOSSES, 1e-3, "metric of a step");
}

/* A line of a case, `word` and the rest. */
static void check_line(const char *word, const char *rest, struct golden *g, const struct kernels *kernels)
{
    if (strcmp(word, "set") == 0) {
        char *end;
        long i = strtol(rest, &end, 10);
        g->state.parameters[i] = strtof(end, NULL);
    } else if (strcmp(word, "parameter") == 0) {
        char *end;
        long i = strtol(rest, &end, 10);
        assert_ratio((double)g->state.parameters[i], strtod(end, NULL), 1e-7, word, (int)i);
    } else if (strcmp(word, "task") == 0) {
        check_task(rest, g);
    } else if (strcmp(word, "total") == 0) {
        compute(g, kernels);
        check_numbers(rest, &g->losses.total, 1, 1e-4, word);
    } else if (strcmp(word, "metric") == 0) {
        check_numbers(rest, g->losses.metric, TRAIN_LOSSES, 1e-4, word);
    } else if (strcmp(word, "error") == 0) {
        check_numbers(rest, g->losses.error, 3, 1e-4, word);
    } else if (strcmp(word, "guide") == 0) {
        for (int i = 0; i < 3; i++) assert_near(g->losses.guide[i], strtod(rest, (char **)&rest), 1e-5, word, i);
    } else if (strcmp(word, "norm") == 0) {
        check_norm(rest, g);
    } else if (strcmp(word, "gradient") == 0) {
        check_gradient(rest, g);
    } else {
        assert_string_equal(word, "loss");
        check_loss(rest, g);
    }
}

static void golden_file(const struct kernels *kernels)
{
    static struct golden g;
    FILE *f = fopen("tests/golden/training.txt", "r");
    assert_non_null(f);
    char line[512], word[16];
    int at, cases = 0, compared = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' || sscanf(line, "%15s%n", word, &at) != 1) continue;
        if (strcmp(word, "case") == 0) {
            compared += g.compared;
            read_case(line + at, &g);
            cases++;
        } else {
            check_line(word, line + at, &g, kernels);
        }
    }
    fclose(f);
    assert_true(cases >= 12 && compared >= 2 * TRAIN_PARAMETERS);
}

static void golden_figures(void **unused)
{
    (void)unused;
    for (int i = 0; cpu_kernels[i]; i++)
        if (cpu_kernels[i]->supported()) golden_file(cpu_kernels[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_figures)};
    return cmocka_run_group_tests_name("train golden", tests, NULL, NULL);
}
