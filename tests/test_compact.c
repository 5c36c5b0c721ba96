/* The networks of a compact model: forward as the library has it, backward against differences, training as it should go. */
#include <math.h>

#include "support.h"

#define real double
#define LANES 2
#define TILE_ROWS 4
#define TILE_COLUMNS 2
#define TILE_OUT 2
#define TILE_IN 4
#include "compact_net.h"

static const struct compact_recipe recipe = {.seed = 3, .tasks = 40, .steps = 200};

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
    static const int ends[] = {COMPACT_AT_FACTS, COMPACT_AT_STREAM, COMPACT_AT_READS, COMPACT_AT_MIX, COMPACT_AT_ANSWER,
                               COMPACT_WEIGHTS};
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

/* ---- training ----------------------------------------------------------------------------------------------------- */

struct seen {
    uint32_t made, steps, stop_at;
    double first, last;
};

static bool watch(void *context, bool making, uint32_t done, const struct compact_losses *losses)
{
    struct seen *seen = context;
    if (making) {
        seen->made = done;
        return true;
    }
    seen->steps = done;
    if (done <= 20) seen->first += losses->total;
    if (done > recipe.steps - 20) seen->last += losses->total;
    return done != seen->stop_at;
}

static void the_same_bits_with_any_number_of_threads(void **unused)
{
    (void)unused;
    float *one, *three;
    struct seen a = {0}, b = {0};
    assert_int_equal(compact_train(&recipe, 1, watch, &a, &one), COMPACT_DONE);
    assert_int_equal(compact_train(&recipe, 3, watch, &b, &three), COMPACT_DONE);
    assert_memory_equal(one, three, COMPACT_WEIGHTS * sizeof(float));
    assert_int_equal(a.made, recipe.tasks);
    assert_int_equal(a.steps, recipe.steps);
    assert_true(a.last < a.first);
    free(one);
    free(three);
}

static void a_run_can_be_stopped(void **unused)
{
    (void)unused;
    float *weights;
    struct seen seen = {.stop_at = 7};
    assert_int_equal(compact_train(&recipe, 2, watch, &seen, &weights), COMPACT_STOPPED);
    assert_int_equal(seen.steps, 7);
    assert_null(weights);
}

static void tasks_are_sound(void **unused)
{
    (void)unused;
    static struct compact_task task;
    for (uint32_t index = 0; index < recipe.tasks; index++) {
        assert_true(compact_task_make(&recipe, index, &task));
        double parts = 0, shares = 0;
        for (int i = 0; i < COMPACT_ITEMS; i++) {
            parts += (double)task.part[i];
            assert_true(task.count[i] >= 1 && task.least[i] >= task.count[i]);
        }
        for (int i = 0; i < COMPACT_HISTOGRAM; i++) shares += (double)task.view.cells[i] * (double)task.view.cells[i] / 16;
        assert_true(fabs(parts - 1) < 1e-4 && fabs(shares - 1) < 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_agree_with_differences), cmocka_unit_test(forward_is_the_librarys),
        cmocka_unit_test(tasks_are_sound),                  cmocka_unit_test(the_same_bits_with_any_number_of_threads),
        cmocka_unit_test(a_run_can_be_stopped),
    };
    return cmocka_run_group_tests_name("compact", tests, NULL, NULL);
}
