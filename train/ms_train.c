/* ms_train: the steps of training a meta-sketch: threads, a task's gradient, clipping, Adam. See ms_train.h. */
#include "ms_train.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
extern const struct ms_kernels ms_kernels_avx512, ms_kernels_avx2;
#endif
extern const struct ms_kernels ms_kernels_plain;

const struct ms_kernels *const ms_kernels[] = {
#if defined(__x86_64__)
    &ms_kernels_avx512, &ms_kernels_avx2,
#endif
    &ms_kernels_plain, NULL};

/* ---- threads: they stay, and wait for the next stage ------------------------------------------------------------- */

/* Between two stages of a task there are microseconds, between two tasks a fraction of a millisecond, less than it
 * takes to wake up where others use the machine too: so who waits looks on for a while before it sleeps. */
enum { LOOKS = 20000 };

struct ms_pool {
    unsigned threads; /* all of them, the caller included */
    pthread_t thread[MS_PARTS];
    ms_stage *stage;       /* changed only while no part is left to do, and none being done */
    void *context;
    atomic_uint next, done; /* parts: the next one to do, MS_PARTS or more if there is none; how many are done */
    atomic_uint sleeping;
    atomic_bool closing;
    pthread_mutex_t lock; /* of who sleeps */
    pthread_cond_t start;
};

struct worker {
    struct ms_pool *pool;
    unsigned number;
};

static void look_away(void) /* a few cycles, in which the other thread of the core may run */
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Does parts as long as there are any. */
static void do_parts(struct ms_pool *pool, unsigned worker)
{
    for (unsigned part; (part = atomic_fetch_add(&pool->next, 1)) < MS_PARTS;) {
        pool->stage(pool->context, part, worker);
        atomic_fetch_add(&pool->done, 1);
    }
}

static bool nothing_to_do(struct ms_pool *pool)
{
    return atomic_load(&pool->next) >= MS_PARTS && !atomic_load(&pool->closing);
}

static void *wait_for_parts(void *argument)
{
    struct worker worker = *(struct worker *)argument;
    struct ms_pool *pool = worker.pool;
    free(argument);
    while (!atomic_load(&pool->closing)) {
        for (int look = 0; look < LOOKS && nothing_to_do(pool); look++) look_away();
        if (nothing_to_do(pool)) {
            pthread_mutex_lock(&pool->lock);
            atomic_fetch_add(&pool->sleeping, 1); /* before a last look: who has work looks here after saying so */
            while (nothing_to_do(pool)) pthread_cond_wait(&pool->start, &pool->lock);
            atomic_fetch_sub(&pool->sleeping, 1);
            pthread_mutex_unlock(&pool->lock);
        }
        if (atomic_load(&pool->next) < MS_PARTS) do_parts(pool, worker.number);
    }
    return NULL;
}

static void wake(struct ms_pool *pool)
{
    if (atomic_load(&pool->sleeping) == 0) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
}

void ms_pool_run(struct ms_pool *pool, ms_stage *stage, void *context)
{
    for (unsigned part = 0; !pool && part < MS_PARTS; part++) stage(context, part, 0);
    if (!pool) return;
    pool->stage = stage;
    pool->context = context;
    atomic_store(&pool->done, 0);
    atomic_store(&pool->next, 0);
    if (pool->threads > 1) wake(pool);
    do_parts(pool, 0);
    for (int look = 0; atomic_load(&pool->done) < MS_PARTS; look++) {
        if (look < LOOKS) look_away();
        else sched_yield(); /* whoever does the last part may be waiting for this core */
    }
}

static void pool_open(struct ms_pool *pool, unsigned threads)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    atomic_init(&pool->next, MS_PARTS);
    for (pool->threads = 1; pool->threads < threads; pool->threads++) { /* fewer do it too */
        struct worker *worker = malloc(sizeof *worker);
        if (!worker) break;
        *worker = (struct worker){pool, pool->threads};
        if (pthread_create(&pool->thread[pool->threads], NULL, wait_for_parts, worker) != 0) {
            free(worker);
            break;
        }
    }
}

static void pool_close(struct ms_pool *pool)
{
    atomic_store(&pool->closing, true);
    wake(pool);
    for (unsigned i = 1; i < pool->threads; i++) pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

struct ms_session {
    struct ms_recipe recipe;
    const struct ms_kernels *kernels;
    struct ms_pool pool;
    char description[80];
    struct ms_state state;
    float gradient[MS_PARAMETERS];
    double mean[MS_NORMED], variance[MS_NORMED]; /* of the last task */
    uint32_t n;
    uint64_t *bits;
    float *frequency;
    void *workspace;
};

struct ms_session *ms_open(const struct ms_recipe *recipe, unsigned threads, const struct ms_kernels *kernels)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0) threads = cores > 0 ? (unsigned)cores : 1;
    if (threads > MS_PARTS) threads = MS_PARTS;
    struct ms_session *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->kernels = kernels;
    for (const struct ms_kernels *const *best = ms_kernels; !s->kernels; best++)
        if ((*best)->supported()) s->kernels = *best; /* the last one is */
    s->recipe = *recipe;
    s->bits = malloc(recipe->n_max * sizeof *s->bits);
    s->frequency = malloc(recipe->n_max * sizeof *s->frequency);
    s->workspace = aligned_alloc(64, s->kernels->workspace(recipe->n_max, threads));
    ms_state_start(recipe, &s->state);
    pool_open(&s->pool, threads);
    snprintf(s->description, sizeof s->description, "cpu, %s, %u thread%s", s->kernels->name, s->pool.threads,
             s->pool.threads > 1 ? "s" : "");
    if (s->bits && s->frequency && s->workspace) return s;
    ms_close(s);
    return NULL;
}

void ms_close(struct ms_session *s)
{
    if (!s) return;
    pool_close(&s->pool);
    free(s->workspace);
    free(s->frequency);
    free(s->bits);
    free(s);
}

const char *ms_describe(const struct ms_session *s)
{
    return s->description;
}

struct ms_state *ms_session_state(struct ms_session *s)
{
    return &s->state;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

const float *ms_gradient(struct ms_session *s, uint64_t step, struct ms_losses *losses)
{
    struct ms_task task = ms_task_draw(&s->recipe, step);
    ms_task_items(&task, s->bits, s->frequency);
    s->n = task.n;
    s->kernels->task(&s->pool, s->pool.threads, task.n, s->bits, s->frequency, s->state.parameters, s->workspace,
                     s->gradient, s->mean, s->variance, losses);
    return s->gradient;
}

/* Adam as PyTorch does it (Kingma, Ba 2015, with bias correction), of the gradient clipped at 5. */
static void adam(struct ms_session *s, double norm)
{
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    struct ms_state *state = &s->state;
    double clip = norm > 5 ? 5 / (norm + 1e-6) : 1, t = (double)++state->step;
    double step_size = s->recipe.rate / (1 - pow(beta1, t)), root = sqrt(1 - pow(beta2, t));
    for (int i = 0; i < MS_PARAMETERS; i++) {
        double g = clip * (double)s->gradient[i];
        double first = beta1 * (double)state->first[i] + (1 - beta1) * g;
        double second = beta2 * (double)state->second[i] + (1 - beta2) * g * g;
        state->first[i] = (float)first;
        state->second[i] = (float)second;
        state->parameters[i] -= (float)(step_size * first / (sqrt(second) / root + epsilon));
    }
    ms_address_normalise(state->parameters + MS_AT_ADDRESS);
}

bool ms_step(struct ms_session *s, struct ms_losses *losses)
{
    ms_gradient(s, s->state.step, losses);
    double square = 0;
    for (int i = 0; i < MS_PARAMETERS; i++) square += (double)s->gradient[i] * (double)s->gradient[i];
    if (!isfinite(square) || !isfinite(losses->total)) return false;
    adam(s, sqrt(square));
    double follow = 0.01 * s->n / s->recipe.n_max;
    for (int i = 0; i < MS_NORMED; i++) {
        s->state.mean[i] += follow * (s->mean[i] - s->state.mean[i]);
        s->state.variance[i] += follow * (s->variance[i] - s->state.variance[i]);
    }
    return true;
}
