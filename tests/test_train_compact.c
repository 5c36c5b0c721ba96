/* The training of compact models: forward as the library has it, backward against differences, steps as they should
 * go. */
#define real double
#define LANES 2
#define TILE_ROWS 4
#define TILE_COLUMNS 2
#define TILE_OUT 2
#define TILE_IN 4
#include "support.h"

#include "backend.h"
#include "checkpoint.h"
#include "compact_net.h"

enum { STEPS = 200 };
static const struct recipe recipe = {
    .net = NET_COMPACT, .seed = 3, .tasks = STEPS * COMPACT_BATCH, .batch = COMPACT_BATCH, .pool = 40, .rate = 2e-3};

/* Task `index`, and weights of the built-in model moved a little, so that nothing is at its optimum. */
static void prepare(uint32_t index, struct compact_task *task, double w[COMPACT_WEIGHTS])
{
    uint64_t state = index;
    assert_true(compact_task_make(&recipe, index, task));
    for (int i = 0; i < COMPACT_WEIGHTS; i++)
        w[i] = (double)lego_model_builtin("compact")->weights[i] + 0.02 * ((double)draw_below(&state, 2001) / 1000 - 1);
}

static double loss_at(const struct compact_task *task, const double *w, struct workspace *s)
{
    static double unused[COMPACT_WEIGHTS];
    struct compact_losses losses;
    net_gradient(task, w, s, unused, &losses);
    return losses.total;
}

/* The derivative in random directions, one a layer, and by single weights. */
static void gradients_agree_with_differences(void **unused)
{
    (void)unused;
    static struct compact_task task;
    static double w[COMPACT_WEIGHTS], moved[COMPACT_WEIGHTS], gradient[COMPACT_WEIGHTS];
    static const int ends[] = {COMPACT_AT_FACTS, COMPACT_AT_STREAM, COMPACT_AT_READS,
                               COMPACT_AT_MIX,   COMPACT_AT_ANSWER, COMPACT_WEIGHTS};
    struct workspace *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    assert_non_null(s);
    for (uint32_t index = 0; index < 6; index++) {
        struct compact_losses losses;
        prepare(index, &task, w);
        net_gradient(&task, w, s, gradient, &losses);
        uint64_t state = index;
        for (int layer = 0, from = 0; layer < 6; from = ends[layer++]) {
            double slope = 0, size = 0, step = 1e-7, at[2];
            static double direction[COMPACT_WEIGHTS];
            for (int i = from; i < ends[layer]; i++) {
                direction[i] = (double)draw_below(&state, 2001) / 1000 - 1;
                slope += direction[i] * gradient[i];
                size += fabs(direction[i] * gradient[i]);
            }
            for (int side = 0; side < 2; side++) {
                memcpy(moved, w, sizeof moved);
                for (int i = from; i < ends[layer]; i++) moved[i] += (side ? -step : step) * direction[i];
                at[side] = loss_at(&task, moved, s);
            }
            double difference = (at[0] - at[1]) / (2 * step);
            if (!(fabs(difference - slope) <= 1e-4 * size + 1e-7))
                fail_msg("task %u, layer %d: %.9g, by differences %.9g", index, layer, slope, difference);
        }
    }
    free(s);
}

/* What training computes is what the library answers. */
static void forward_is_the_librarys(void **unused)
{
    (void)unused;
    static struct compact_task task;
    static double w[COMPACT_WEIGHTS];
    static float weights[COMPACT_WEIGHTS];
    struct workspace *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    double stream[COMPACT_STREAM];
    prepare(1, &task, w);
    for (int i = 0; i < COMPACT_WEIGHTS; i++) w[i] = (double)(weights[i] = (float)w[i]);
    loss_at(&task, w, s);
    compact_scan(weights, &task.view, stream);
    for (int c = 0; c < COMPACT_ITEMS; c++) {
        float reads[COMPACT_READS];
        for (int i = 0; i < COMPACT_READS; i++) reads[i] = task.reads[i][c];
        assert_true(fabs(compact_decode(weights, stream, reads) - s->h[0][c]) < 1e-9);
    }
    free(s);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void run(struct session *session, uint32_t steps, struct compact_losses *losses)
{
    uint32_t done;
    assert_int_equal(backend_cpu.steps(session, steps, &losses->total, &done), BACKEND_DONE);
    assert_int_equal(done, steps);
}

static struct session *open_session(unsigned threads)
{
    char error[BACKEND_ERROR];
    struct session *session = backend_cpu.open(&recipe, threads, error);
    if (!session) fail_msg("%s", error);
    return session;
}

/* With one thread at once, and with three and a checkpoint in between. */
static void the_same_bits_with_threads_and_stops(void **unused)
{
    (void)unused;
    static struct compact_losses losses[STEPS];
    static struct run whole, half, read;
    static unsigned char bytes[CHECKPOINT_MOST];
    struct session *session = open_session(1);
    run(session, STEPS, losses);
    backend_cpu.save(session, &whole.state);
    backend_cpu.close(session);
    double first = 0, last = 0;
    for (int i = 0; i < 20; i++) first += losses[i].total, last += losses[STEPS - 20 + i].total;
    assert_true(last < first);

    half.recipe = recipe;
    session = open_session(3);
    run(session, STEPS / 2 + 1, losses);
    backend_cpu.save(session, &half.state);
    backend_cpu.close(session);
    assert_null(checkpoint_read(bytes, checkpoint_write(&half, bytes), &read));
    session = open_session(3);
    backend_cpu.load(session, &read.state);
    run(session, STEPS / 2 - 1, losses);
    backend_cpu.save(session, &read.state);
    backend_cpu.close(session);
    assert_memory_equal(&whole.state, &read.state, sizeof whole.state);
}

static void models_come_out(void **unused)
{
    (void)unused;
    static struct state state;
    state_start(&recipe, &state);
    struct bytes bytes = {malloc(1 << 18), 0};
    lego_model *model;
    assert_int_equal(net_compact.save(&recipe, &state, "mine", append_bytes, &bytes), LEGO_OK);
    assert_int_equal(lego_model_load(bytes.p, bytes.size, NULL, &model), LEGO_OK);
    assert_true(model->kind == MODEL_COMPACT && strcmp(model->name, "mine") == 0);
    assert_memory_equal(model->weights, state.parameters, COMPACT_WEIGHTS * sizeof(float));
    lego_model_destroy(model);
    assert_int_equal(net_compact.save(&recipe, &state, "a name too long!", append_bytes, &bytes), LEGO_ERR_ARGUMENT);
    free(bytes.p);
}

static void impossible_recipes(void **unused)
{
    (void)unused;
    struct recipe good = recipe_compact(), bad[] = {good, good, good, good, good};
    assert_null(recipe_problem(&good));
    bad[0].tasks = 0;
    bad[1].tasks = 24;
    bad[2].batch = 8;
    bad[3].pool = 0;
    bad[4].rate = 2;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_non_null(recipe_problem(&bad[i]));
}

static void tasks_are_sound(void **unused)
{
    (void)unused;
    static struct compact_task task;
    for (uint32_t index = 0; index < recipe.pool; index++) {
        assert_true(compact_task_make(&recipe, index, &task));
        double parts = 0, cells = 0;
        unsigned shared = 0;
        for (int i = 0; i < COMPACT_ITEMS; i++) {
            parts += (double)task.part[i];
            shared += task.shares[i];
            assert_true(task.count[i] >= 1 && task.least[i] >= task.count[i]);
        }
        for (int i = 0; i < COMPACT_HISTOGRAM; i++)
            cells += (double)task.view.cells[i] * (double)task.view.cells[i] / 16;
        assert_true(fabs(parts - 1) < 1e-4 && fabs(cells - 1) < 1e-4 && shared > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(forward_is_the_librarys),
        cmocka_unit_test(tasks_are_sound),
        cmocka_unit_test(the_same_bits_with_threads_and_stops),
        cmocka_unit_test(models_come_out),
        cmocka_unit_test(impossible_recipes),
    };
    return cmocka_run_group_tests_name("train_compact", tests, NULL, NULL);
}
