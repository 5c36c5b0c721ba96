/* Where the sketches get their memory: from malloc, or in pages of 2 MB. Random reads in more memory than the tables of
 * the CPU's address translation reach (some megabytes) wait for that too; large pages show how much.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PAGES_H
#define BENCH_PAGES_H

#include "legosketch.h"

extern const lego_allocator pages_normal, pages_huge;

#endif
