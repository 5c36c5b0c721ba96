/* Training on the CPU against itself: threads, stops, switches, and the bytes of its files. */
#include "adam.h"
#include "checkpoint.h"
#include "ms_train.h"
#include "parameters.h"
#include "support_train.h"

/* ---- the same whatever happens ----------------------------------------------------------------------------------- */

static struct recipe small_recipe(uint64_t tasks)
{
    struct recipe recipe = recipe_authors();
    recipe.tasks = tasks;
    recipe.n_min = 100;
    recipe.n_max = 3000;
    return recipe;
}

static struct recipe scouting_recipe(uint64_t tasks, uint32_t scouts)
{
    struct recipe recipe = small_recipe(tasks);
    recipe.n_min = 1000;
    recipe.scouts = scouts;
    recipe.scout_n_min = 100;
    recipe.scout_alpha_max = 1.4F;
    return recipe;
}

static void assert_same_state(const struct state *a, const struct state *b)
{
    assert_int_equal(a->step, b->step);
    assert_memory_equal(a->parameters, b->parameters, sizeof a->parameters);
    assert_memory_equal(a->average, b->average, sizeof a->average);
    assert_memory_equal(a->first, b->first, sizeof a->first);
    assert_memory_equal(a->second, b->second, sizeof a->second);
}

/* The state after so many steps from the start. */
static void train(const struct recipe *recipe, unsigned threads, uint32_t steps, struct state *state)
{
    static struct losses losses[64];
    struct session *session = open_session(recipe, threads, NULL);
    run(session, steps, losses);
    backend_cpu.save(session, state);
    backend_cpu.close(session);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    static struct state one, other;
    const struct recipe recipes[] = {small_recipe(48), scouting_recipe(48, 3)};
    const unsigned threads[] = {2, 3, 8, 20};
    for (size_t r = 0; r < 2; r++) {
        train(&recipes[r], 1, 6, &one);
        for (size_t i = 0; i < 4; i++) {
            train(&recipes[r], threads[i], 6, &other);
            assert_same_state(&one, &other);
        }
    }
}

/* Stopped after any step and gone on from a checkpoint's bytes: the same bits at the end. */
static void stops_do_not_matter(void **unused)
{
    (void)unused;
    enum { STEPS = 6 };
    static struct state whole;
    static struct run run_now, read;
    static unsigned char bytes[CHECKPOINT_MOST];
    static struct losses losses[STEPS];
    struct recipe recipe = scouting_recipe(8 * STEPS, 2);
    train(&recipe, 2, STEPS, &whole);
    for (uint32_t at = 0; at <= STEPS; at++) {
        run_now = (struct run){.recipe = recipe, .summed = at, .sums = {0.1 * at}};
        train(&recipe, 1, at, &run_now.state);
        assert_null(checkpoint_read(bytes, checkpoint_write(&run_now, bytes), &read));
        assert_true(read.summed == at && read.sums[0] == 0.1 * at);
        struct session *session = open_session(&read.recipe, 2, NULL);
        backend_cpu.load(session, &read.state);
        run(session, STEPS - at, losses);
        backend_cpu.save(session, &run_now.state);
        backend_cpu.close(session);
        assert_same_state(&whole, &run_now.state);
    }
}

static void kernels_agree(void **unused)
{
    (void)unused;
    static double gradient[8][TRAIN_PARAMETERS];
    struct recipe recipe = small_recipe(8);
    recipe.n_min = recipe.n_max = 20000;
    struct losses losses[8];
    for (int i = 0; cpu_kernels[i]; i++) {
        if (!cpu_kernels[i]->supported()) continue;
        struct session *session = open_session(&recipe, 0, cpu_kernels[i]);
        assert_int_equal(backend_cpu.gradient(session, 0, gradient[i], &losses[i].total), BACKEND_DONE);
        backend_cpu.close(session);
    }
    int plain = 0;
    while (cpu_kernels[plain + 1]) plain++;
    for (int i = 0; i < plain; i++) {
        if (!cpu_kernels[i]->supported()) continue;
        double apart = 0, norm = 0;
        for (int j = 0; j < TRAIN_PARAMETERS; j++) {
            apart += pow(gradient[i][j] - gradient[plain][j], 2);
            norm += pow(gradient[plain][j], 2);
        }
        assert_true(sqrt(apart) <= 1e-4 * sqrt(norm));
        assert_ratio(losses[i].total, losses[plain].total, 1e-4, "loss", i);
    }
}

/* ---- learning ---------------------------------------------------------------------------------------------------- */

/* A short run: what was wildly wrong is much less so. */
static void errors_fall(void **unused)
{
    (void)unused;
    enum { STEPS = 40 };
    static struct losses losses[STEPS];
    struct recipe recipe = small_recipe(8 * STEPS);
    recipe.n_min = recipe.n_max = 4000;
    struct session *session = open_session(&recipe, 0, NULL);
    run(session, STEPS, losses);
    backend_cpu.close(session);
    double first = 0, last = 0, first_aae = 0, last_aae = 0; /* of five steps each */
    for (int i = 0; i < 5; i++) {
        first += losses[i].total, last += losses[STEPS - 5 + i].total;
        first_aae += losses[i].error[0], last_aae += losses[STEPS - 5 + i].error[0];
    }
    assert_true(last < first / 10);
    assert_true(last_aae < first_aae / 5);
}

static void rate_falls_in_ten_stages(void **unused)
{
    (void)unused;
    struct recipe recipe = small_recipe(8 * 200);
    recipe.fall = FALL_STAGES;
    assert_true(recipe_fall(&recipe, 0) == 1 && recipe_fall(&recipe, 19) == 1);
    for (int stage = 1; stage < 10; stage++) {
        assert_ratio(recipe_fall(&recipe, 20 * (uint64_t)stage), pow(10, -stage / 10.0), 1e-12, "stage", stage);
        assert_true(recipe_fall(&recipe, 20 * (uint64_t)stage + 19) == recipe_fall(&recipe, 20 * (uint64_t)stage));
    }
    assert_ratio(recipe_fall(&recipe, 200), 0.1, 1e-12, "stage", 10);
    assert_ratio(recipe_fall(&recipe, 20000), 0.1, 1e-12, "stage", 10);
}

/* The authors' code is a stage behind; the paper's text has no stages. */
static void rate_falls_as_published(void **unused)
{
    (void)unused;
    struct recipe recipe = small_recipe(8 * 200);
    recipe.fall = FALL_LATE;
    assert_true(recipe_fall(&recipe, 0) == 1 && recipe_fall(&recipe, 39) == 1);
    assert_ratio(recipe_fall(&recipe, 40), pow(10, -0.1), 1e-12, "late", 2);
    assert_ratio(recipe_fall(&recipe, 199), pow(10, -0.8), 1e-12, "late", 9);
    recipe.fall = FALL_LINEAR;
    assert_true(recipe_fall(&recipe, 0) == 1);
    assert_ratio(recipe_fall(&recipe, 100), 0.55, 1e-12, "linear", 100);
    assert_ratio(recipe_fall(&recipe, 200), 0.1, 1e-12, "linear", 200);
}

/* A first step moves every parameter that has a gradient by its rate, whatever the size of the gradient. */
static void adam_moves_by_the_rate(void **unused)
{
    (void)unused;
    static struct state state, before;
    static double gradient[TRAIN_PARAMETERS];
    struct recipe recipe = small_recipe(80);
    state_start(&recipe, &state);
    before = state;
    for (int i = 0; i < TRAIN_PARAMETERS; i++) gradient[i] = i % 3 == 0 ? 1000 : i % 3 == 1 ? -1e-3 : 0;
    assert_true(cpu_update(&recipe, gradient, &state));
    assert_int_equal(state.step, 1);
    for (int i = 0; i < TRAIN_PARAMETERS; i++) {
        double moved = (double)state.parameters[i] - (double)before.parameters[i];
        double rate = i < TRAIN_TABLE ? 1e-4 : 1e-3;
        bool clamped = i < TRAIN_TABLE && (state.parameters[i] <= 0.001F || state.parameters[i] >= 1);
        if (i % 3 == 0 && !clamped) assert_near(moved, -rate, 1e-6, "moved", i);
        if (i % 3 == 1) assert_true(moved >= 0); /* clipped to nearly nothing beside epsilon */
        if (i % 3 == 2) assert_true(moved == 0);
    }
    before = state;
    gradient[77] = (double)NAN;
    assert_false(cpu_update(&recipe, gradient, &state));
    assert_same_state(&before, &state);
    gradient[77] = (double)INFINITY;
    assert_false(cpu_update(&recipe, gradient, &state));
    assert_same_state(&before, &state);
}

static void nonsense_stops_the_run(void **unused)
{
    (void)unused;
    static struct state state, after;
    struct losses losses[3];
    uint32_t done = 9;
    struct recipe recipe = small_recipe(80);
    state_start(&recipe, &state);
    state.parameters[AT_DEC_OUT_2] = NAN;
    struct session *session = open_session(&recipe, 2, NULL);
    backend_cpu.load(session, &state);
    assert_int_equal(backend_cpu.steps(session, 3, &losses[0].total, &done), BACKEND_NOT_FINITE);
    assert_int_equal(done, 0);
    backend_cpu.save(session, &after);
    assert_int_equal(after.step, 0);
    backend_cpu.close(session);
}

/* ---- switches ---------------------------------------------------------------------------------------------------- */

static bool all_zero(const double *gradient, int from, int to)
{
    for (int i = from; i < to; i++)
        if (gradient[i] != 0) return false;
    return true;
}

static void gradient_of(const struct recipe *recipe, double gradient[TRAIN_PARAMETERS], struct losses *losses)
{
    struct session *session = open_session(recipe, 0, NULL);
    assert_int_equal(backend_cpu.gradient(session, 0, gradient, &losses->total), BACKEND_DONE);
    backend_cpu.close(session);
}

static void switches_do_what_they_say(void **unused)
{
    (void)unused;
    static double plain[TRAIN_PARAMETERS], g[TRAIN_PARAMETERS];
    static struct state state;
    struct losses base, losses;
    struct recipe recipe = small_recipe(80), other = recipe;
    gradient_of(&recipe, plain, &base);
    assert_false(all_zero(plain, 0, TRAIN_TABLE));

    other.fixed_table = 1;
    gradient_of(&other, g, &losses);
    assert_true(all_zero(g, 0, TRAIN_TABLE));
    assert_memory_equal(g + TRAIN_TABLE, plain + TRAIN_TABLE, (TRAIN_PARAMETERS - TRAIN_TABLE) * sizeof *g);
    train(&other, 0, 3, &state);
    static struct state start;
    state_start(&other, &start);
    assert_memory_equal(state.parameters, start.parameters, TRAIN_TABLE * sizeof(float));

    other = recipe;
    other.no_scan = 1;
    gradient_of(&other, g, &losses);
    assert_true(all_zero(g, AT_SCAN_CELL_0, AT_DEC_PAIR_0) && all_zero(g, AT_LOSS + 3, TRAIN_PARAMETERS));
    assert_true(losses.metric[3] == 0 && losses.metric[4] == 0 && losses.guide[0] == base.guide[0]);

    other = recipe;
    other.plain_loss = 1;
    gradient_of(&other, g, &losses);
    for (int i = 0; i < 3; i++) assert_ratio(losses.metric[i], losses.error[i], 1e-12, "plain loss", i);
    assert_true(losses.error[0] == base.error[0]);

    other = recipe;
    other.no_norm = 1;
    gradient_of(&other, g, &losses);
    assert_true(losses.error[0] != base.error[0] && losses.guide[0] > 0);
}

static bool same(const double *a, const double *b, int from, int to)
{
    return memcmp(a + from, b + from, (size_t)(to - from) * sizeof *a) == 0;
}

/* Whatever the scouts are, queries give the same, and of the scan the implicit head, which only queries train. */
static void scouts_train_the_scan_alone(void **unused)
{
    (void)unused;
    static double g[TRAIN_PARAMETERS], other_g[TRAIN_PARAMETERS];
    struct losses losses, other_losses;
    struct recipe recipe = scouting_recipe(80, 3), other = recipe;
    other.scout_alpha_max = 0.6F;
    other.scout_n_min = 2500;
    gradient_of(&recipe, g, &losses);
    gradient_of(&other, other_g, &other_losses);
    assert_true(same(g, other_g, 0, TRAIN_TABLE) && same(g, other_g, AT_DEC_PAIR_0, AT_LOSS + 3));
    assert_true(same(g, other_g, AT_SCAN_IMPLICIT_0, AT_SCAN_SKEW_0));
    assert_memory_equal(losses.metric, other_losses.metric, 3 * sizeof *losses.metric);
    assert_memory_equal(losses.error, other_losses.error, sizeof losses.error);
    assert_memory_equal(losses.guide, other_losses.guide, sizeof losses.guide);
    assert_true(losses.metric[3] != other_losses.metric[3] && losses.metric[4] != other_losses.metric[4]);
    assert_false(same(g, other_g, AT_SCAN_CELL_0, AT_SCAN_IMPLICIT_0));
    assert_false(same(g, other_g, AT_SCAN_SKEW_0, AT_DEC_PAIR_0));
}

/* Scouts of the others' ranges are the same tasks, unqueried: s(alpha) and s(n) are as good as without scouts. */
static void scouts_count_for_the_scan(void **unused)
{
    (void)unused;
    static double g[TRAIN_PARAMETERS];
    struct losses plain, losses;
    struct recipe recipe = scouting_recipe(80, 0);
    gradient_of(&recipe, g, &plain);
    recipe.scout_n_min = recipe.n_min;
    recipe.scout_alpha_max = recipe.alpha_max;
    for (recipe.scouts = 1; recipe.scouts < TRAIN_BATCH; recipe.scouts++) {
        gradient_of(&recipe, g, &losses);
        assert_true(losses.metric[3] == plain.metric[3] && losses.metric[4] == plain.metric[4]);
        assert_true(losses.error[0] != plain.error[0]);
    }
}

static void impossible_recipes(void **unused)
{
    (void)unused;
    char error[BACKEND_ERROR];
    struct recipe recipe = small_recipe(12);
    assert_null(backend_cpu.open(&recipe, 1, error));
    assert_non_null(strstr(error, "multiple of 8"));
    recipe = small_recipe(8);
    recipe.n_max = 50;
    assert_null(backend_cpu.open(&recipe, 1, error));
    recipe = small_recipe(8);
    recipe.scale_min = NAN;
    assert_null(backend_cpu.open(&recipe, 1, error));
    struct recipe (*const presets[])(void) = {recipe_published, recipe_authors, recipe_ours, recipe_quick};
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        recipe = presets[i]();
        assert_null(recipe_problem(&recipe));
    }
    recipe.fall = FALLS;
    assert_non_null(recipe_problem(&recipe));
}

static void a_decoder_can_start_as_the_rule(void **unused)
{
    (void)unused;
    static double gradient[TRAIN_PARAMETERS];
    struct recipe recipe = small_recipe(8);
    struct losses losses;
    for (int from_rule = 0; from_rule < 2; from_rule++) {
        recipe.from_rule = from_rule;
        struct session *session = open_session(&recipe, 1, NULL);
        assert_int_equal(backend_cpu.gradient(session, 0, gradient, &losses.total), BACKEND_DONE);
        backend_cpu.close(session);
        for (int i = 0; i < 3; i++)
            assert_true((fabs(losses.error[i] - losses.guide[i]) < 1e-3 * losses.guide[i]) == from_rule);
    }
}

static void impossible_scouts(void **unused)
{
    (void)unused;
    struct recipe good = recipe_authors();
    good.scouts = 7;
    good.scout_n_min = 1;
    good.scout_alpha_max = 1.4F;
    assert_null(recipe_problem(&good));
    struct recipe bad[] = {good, good, good, good, good, good, good};
    bad[0].scouts = 8;
    bad[1].scout_n_min = 0;
    bad[2].scout_n_min = good.n_max + 1;
    bad[3].scout_alpha_max = good.alpha_min / 2;
    bad[4].scout_alpha_max = NAN;
    bad[5].scout_alpha_max = 2; /* too long a stream */
    bad[6].no_scan = 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_non_null(recipe_problem(&bad[i]));
        bad[i].scouts = 0; /* then the fields mean nothing */
        assert_null(recipe_problem(&bad[i]));
    }
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void damaged_checkpoints(void **unused)
{
    (void)unused;
    static struct run made, read, before;
    static unsigned char bytes[CHECKPOINT_MOST], copy[CHECKPOINT_MOST];
    char text[100];
    made.recipe = scouting_recipe(80, 2);
    state_start(&made.recipe, &made.state);
    size_t whole = checkpoint_write(&made, bytes);
    assert_int_equal(whole, CHECKPOINT_PARAMETERS + 16 * TRAIN_PARAMETERS + 8);
    assert_null(checkpoint_read(bytes, whole, &read));
    assert_memory_equal(&made.state, &read.state, sizeof made.state);
    assert_false(recipe_difference(&made.recipe, &read.recipe, text, sizeof text));
    before = read;
    for (size_t size = 0; size < whole; size += size < 400 ? 1 : 1009)
        assert_non_null(checkpoint_read(bytes, size, &read));
    assert_non_null(checkpoint_read(bytes, whole + 1, &read));
    for (size_t i = 0; i < whole; i += i < 400 ? 1 : 509) {
        memcpy(copy, bytes, whole);
        copy[i] ^= 0x10;
        assert_non_null(checkpoint_read(copy, whole, &read));
    }
    for (int i = 0; i < RECIPE_FIELDS; i++) { /* 2^32 and something is not that in 32 bits, nor is it true */
        if (recipe_fields[i].kind == FIELD_U64 || recipe_fields[i].kind == FIELD_REAL) continue;
        memcpy(copy, bytes, whole);
        copy[24 + 8 * i + 4] = 1;
        put_number(copy + whole - 8, XXH3_64bits(copy, whole - 8), 8);
        assert_non_null(checkpoint_read(copy, whole, &read));
    }
    made.state.parameters[5] = NAN; /* the checksum is right then */
    assert_non_null(checkpoint_read(copy, checkpoint_write(&made, copy), &read));
    made.state.parameters[5] = 1;
    made.state.step = 11;
    assert_non_null(checkpoint_read(copy, checkpoint_write(&made, copy), &read));
    assert_memory_equal(&before, &read, sizeof read);
}

static void assert_difference(const struct recipe *a, const struct recipe *b, const char *said)
{
    char text[100];
    assert_true(recipe_difference(a, b, text, sizeof text));
    assert_string_equal(text, said);
}

static void recipes_differ(void **unused)
{
    (void)unused;
    char text[100];
    struct recipe a = recipe_authors(), b = a, ms = ms_recipe_ours();
    assert_false(recipe_difference(&a, &b, text, sizeof text));
    b.seed = 5;
    assert_difference(&a, &b, "with --seed 0, not 5");
    b = a;
    b.no_scan = 1;
    assert_difference(&a, &b, "without --no-scan");
    b = a;
    b.scouts = 2;
    assert_difference(&a, &b, "with --scouts 0, not 2");
    b = a;
    b.rate = 1;
    assert_difference(&a, &b, "with --rate 0.001, not 1");
    b = a;
    b.scout_n_min = 7;
    assert_difference(&a, &b, "with another --preset: scout_n_min 0, not 7");
    assert_difference(&a, &ms, "for the net paper, not ms");
}

/* Every field of every recipe has a place of its own in a checkpoint. */
static void fields_do_not_overlap(void **unused)
{
    (void)unused;
    for (int i = 0; i < RECIPE_FIELDS; i++) {
        struct recipe a = recipe_authors(), b = a;
        recipe_set_bits(&b, &recipe_fields[i], recipe_bits(&a, &recipe_fields[i]) ^ 1);
        for (int j = 0; j < RECIPE_FIELDS; j++)
            assert_int_equal(recipe_bits(&a, &recipe_fields[j]) != recipe_bits(&b, &recipe_fields[j]), i == j);
    }
}

/* The library reads the model and decodes as the trainer did. */
static void models_come_out(void **unused)
{
    (void)unused;
    static struct state state;
    struct recipe recipe = recipe_authors();
    state_start(&recipe, &state);
    struct bytes bytes = {malloc(1 << 16), 0};
    lego_model *model;
    assert_int_equal(net_paper.save(&recipe, &state, "mine", append_bytes, &bytes), LEGO_OK);
    assert_int_equal(lego_model_load(bytes.p, bytes.size, NULL, &model), LEGO_OK);
    assert_string_equal(model->name, "mine");
    assert_true(model->kind == MODEL_PAPER && model->quantum == 1024 && model->columns == 5120 && model->rows == 5);
    assert_true(model->distinct_min == 10000 && model->skew_max == 1);
    assert_memory_equal(model->table, state.parameters, TRAIN_TABLE * sizeof(float));
    assert_int_equal(MODEL_WEIGHTS, AT_LOSS - AT_SCAN_CELL_0);
    assert_memory_equal(model->weights, state.parameters + TRAIN_TABLE, (AT_LOSS - TRAIN_TABLE) * sizeof(float));
    assert_int_equal(model_layers[DEC_MIX_0].at, AT_DEC_MIX_0 - TRAIN_TABLE);
    lego_model_destroy(model);
    bytes.size = 0;
    assert_int_equal(net_paper.save(&recipe, &state, "a name too long!", append_bytes, &bytes), LEGO_ERR_ARGUMENT);
    recipe.no_scan = 1;
    assert_int_equal(net_paper.save(&recipe, &state, "blind", append_bytes, &bytes), LEGO_OK);
    assert_int_equal(lego_model_load(bytes.p, bytes.size, NULL, &model), LEGO_OK);
    lego_sketch *sketch = make(1, 5120, model);
    lego_lab_scan scan;
    for (uint64_t i = 0; i < 1000; i++) lego_add_u64(sketch, i, (int64_t)i);
    assert_int_equal(lego_lab_scan_brick(sketch, 0, &scan), LEGO_OK);
    assert_true(scan.distinct == 0 && scan.skew == 0 && model->distinct_min < 0);
    lego_destroy(sketch);
    lego_model_destroy(model);
    free(bytes.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(stops_do_not_matter),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(errors_fall),
        cmocka_unit_test(rate_falls_in_ten_stages),
        cmocka_unit_test(rate_falls_as_published),
        cmocka_unit_test(adam_moves_by_the_rate),
        cmocka_unit_test(nonsense_stops_the_run),
        cmocka_unit_test(switches_do_what_they_say),
        cmocka_unit_test(scouts_train_the_scan_alone),
        cmocka_unit_test(scouts_count_for_the_scan),
        cmocka_unit_test(impossible_recipes),
        cmocka_unit_test(a_decoder_can_start_as_the_rule),
        cmocka_unit_test(impossible_scouts),
        cmocka_unit_test(damaged_checkpoints),
        cmocka_unit_test(recipes_differ),
        cmocka_unit_test(fields_do_not_overlap),
        cmocka_unit_test(models_come_out),
    };
    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}
