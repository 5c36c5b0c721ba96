/* pool: threads that stay, and do the parts of whatever comes next. */
#ifndef LEGO_TRAIN_POOL_H
#define LEGO_TRAIN_POOL_H

enum { POOL_THREADS = 16 };
struct pool;

/* A part is done by one thread. What the parts are has nothing to do with the number of threads, so sums over them are
 * the same for any. worker: the number of the thread, from 0. */
typedef void pool_work(void *context, unsigned part, unsigned worker);

struct pool *pool_open(unsigned threads); /* or fewer; NULL if there is no memory */
void pool_close(struct pool *pool);
unsigned pool_threads(const struct pool *pool); /* all of them, the caller included */

/* Does parts 0 to parts - 1, started in that order. pool NULL: the caller does them all. */
void pool_run(struct pool *pool, pool_work *work, void *context, unsigned parts);

#endif
