/* ms_train: the steps of training a meta-sketch: threads, a task's gradient, clipping, Adam. See ms_train.h. */
#include "ms_train.h"

#include <math.h>
#include <pthread.h>
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

/* ---- threads: a stage takes a millisecond, so they stay, and wait for the next ----------------------------------- */

struct ms_pool {
    unsigned threads; /* all of them, the caller included */
    pthread_t thread[MS_PARTS];
    pthread_mutex_t lock;
    pthread_cond_t start, end;
    ms_stage *stage;
    void *context;
    unsigned next, done; /* parts */
    bool closing;
};

struct worker {
    struct ms_pool *pool;
    unsigned number;
};

/* Does parts as long as there are any; called and left with the lock. */
static void do_parts(struct ms_pool *pool, unsigned worker)
{
    while (pool->next < MS_PARTS) {
        unsigned part = pool->next++;
        ms_stage *stage = pool->stage;
        void *context = pool->context;
        pthread_mutex_unlock(&pool->lock);
        stage(context, part, worker);
        pthread_mutex_lock(&pool->lock);
        if (++pool->done == MS_PARTS) pthread_cond_signal(&pool->end);
    }
}

static void *wait_for_parts(void *argument)
{
    struct worker worker = *(struct worker *)argument;
    free(argument);
    pthread_mutex_lock(&worker.pool->lock);
    while (!worker.pool->closing) {
        do_parts(worker.pool, worker.number);
        if (!worker.pool->closing) pthread_cond_wait(&worker.pool->start, &worker.pool->lock);
    }
    pthread_mutex_unlock(&worker.pool->lock);
    return NULL;
}

void ms_pool_run(struct ms_pool *pool, ms_stage *stage, void *context)
{
    for (unsigned part = 0; !pool && part < MS_PARTS; part++) stage(context, part, 0);
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stage = stage;
    pool->context = context;
    pool->next = pool->done = 0;
    pthread_cond_broadcast(&pool->start);
    do_parts(pool, 0);
    while (pool->done < MS_PARTS) pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void pool_open(struct ms_pool *pool, unsigned threads)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->end, NULL);
    pool->next = MS_PARTS;
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
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < pool->threads; i++) pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->end);
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
