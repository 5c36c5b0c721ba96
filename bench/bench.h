/* What bench does, one after the other: it measures what the machine can do and a list of paths, and shows both. */
#pragma once

#include "path.h"
#include "record.h"

/* What has passed since some moment. */
struct clocks {
    double wall, cpu; /* seconds; cpu is that of all threads of this process together */
};
struct clocks clocks(void);

/* What one core can do at most, apart from any sketch: multiply-adds of 32-bit numbers in registers, and reading memory
 * from one end to the other. (How fast it reaches counters here and there depends on the size and on the keys; it is
 * timed like a method, as "one counter".) */
struct limits {
    const char *instructions; /* that the multiply-adds use */
    double flops;             /* a second; a multiply-add is two */
    double bandwidth;         /* bytes a second */
};

/* The best of what it measures now and what is there already. False if there is no memory. */
bool limits_measure(struct limits *self, bool quick);

/* Times the paths in turns: every path once, then every path again, so that what disturbs the machine disturbs all of
 * them alike. False if there is no memory, which is said. */
bool measure(const struct plan *plan, struct path_list *list);

/* The figures that are asked for: a list of the paths that they take, and a table of what is asked and what came of it,
 * as Markdown. */
enum { ASKED_SIZES = 2 };
bool asked_fill(struct path_list *list, const struct plan *plan);
void asked_show(const struct path_list *list, const struct plan *plan, double small);

/* CPU microseconds for an item of small sketches, so many of them, that are made, filled and saved; 0 if that
 * failed. */
double small_sketches(uint32_t count);

/* How speed and errors grow with the length of a stream, its distinct items, the bytes of a sketch and threads. */
bool growth_fill(struct path_list *list, const struct plan *plan);
void growth_show(const struct path_list *list);

/* Millions of items a second: by CPU time, but where threads grow all by the clock. */
double growth_speed(const struct path *path);

/* For people: the machine, and a table for every size, operation, kind of call and of key. */
void show_machine(const struct path_list *list, const struct limits *limits);
void show_tables(const struct path_list *list, const struct limits *limits);

/* For programs: a row for every path, with all samples. */
void show_results(record *into, const struct plan *plan, const struct path_list *list, const struct limits *limits);
