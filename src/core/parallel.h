/* parallel: run one function on several threads that can wait for each other. Nothing outlives the call. */
#pragma once

enum { THREADS_MAX = 64 };

struct team;

/* Calls work(context, team, index, size) for index 0 .. size - 1 at the same time. The size is `threads`, or less if
 * the system gives fewer; index 0 is the calling thread. */
typedef void parallel_work(void *context, struct team *team, unsigned index, unsigned size);
void parallel_run(unsigned threads, parallel_work *work, void *context);

/* Returns when every member of the team has called it. */
void parallel_wait(struct team *team);

/* Lets other threads go on, one of which this one waits for. */
void parallel_yield(void);
