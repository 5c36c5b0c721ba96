/* A progress bar on standard error, for anything that takes over two seconds. Silent if that is not a terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* `total` is what `done` will be at the end, in any unit; 0 if nobody knows. */
void progress_begin(const char *label, uint64_t total, bool quiet);
void progress_update(uint64_t done, uint64_t items);
void progress_end(void);

/* What is counted, if not items, and a remark behind the figures; the text must stay. Both last until the end. */
void progress_describe(const char *unit, const char *remark);

/* Seconds since some moment. */
double progress_clock(void);

/* Make room for a message; the next update draws the bar again. */
void progress_hide(void);
