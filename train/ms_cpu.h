/* ms_cpu: what the CPU backend of the meta-sketch is made of. */
#ifndef LEGO_TRAIN_MS_CPU_H
#define LEGO_TRAIN_MS_CPU_H

#include "ms_backend.h"

/* ---- ms_pool.c: threads that do the parts of a stage ------------------------------------------------------------- */

/* A part is done by one thread. MS_PARTS has nothing to do with their number, so sums over parts are the same for any.
 * pool NULL: the caller does them all. */
enum { MS_PARTS = 8 };
struct ms_pool;
typedef void ms_stage(void *context, unsigned part, unsigned worker);
struct ms_pool *ms_pool_open(unsigned threads); /* or fewer; NULL if there is no memory */
void ms_pool_close(struct ms_pool *pool);
unsigned ms_pool_threads(const struct ms_pool *pool); /* all of them, the caller included */
void ms_pool_run(struct ms_pool *pool, ms_stage *stage, void *context);

/* ---- the computation of a task, compiled for each kind of vector register ---------------------------------------- */

struct ms_kernels {
    const char *name;
    bool (*supported)(void);
    size_t (*workspace)(uint32_t n, unsigned workers); /* bytes, to be aligned to 64 */
    void (*task)(struct ms_pool *pool, unsigned workers, uint32_t n, const uint64_t *bits, const float *frequency,
                 const float *parameters, void *workspace, struct ms_found *found);
};
extern const struct ms_kernels *const ms_kernels[]; /* best first, NULL ends */

/* ---- ms_cpu.c ---------------------------------------------------------------------------------------------------- */

/* As ms_backend_cpu.open() does it, with kernels of one's choice; NULL: the best. */
struct ms_session *ms_cpu_open(const struct ms_recipe *recipe, unsigned threads, const struct ms_kernels *kernels,
                               char error[BACKEND_ERROR]);

#endif
