/* legosketch_lab: what experiments need and users do not: shapes by hand, and what the paper's scan sees. The archive
 * and the command have these functions; the shared library does not export them, and the header is not installed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef LEGOSKETCH_LAB_H
#define LEGOSKETCH_LAB_H

#include "legosketch.h"

/* A sketch of a shape by hand: blocks or bricks, and the columns of a brick (a multiple of 2; 0 for blocks). Of the
 * options the budget is ignored; top is as in lego_create(). */
LEGO_API lego_status lego_lab_create(const lego_options *options, uint32_t blocks, uint32_t columns,
                                     lego_sketch **sketch);

typedef struct lego_lab_scan {
    int64_t total;   /* stream length of the brick */
    double distinct; /* s(n): items in the brick, as the scan network sees it */
    double skew;     /* s(alpha): their Zipf exponent, likewise */
} lego_lab_scan;

/* What the paper's scan sees in a brick. LEGO_ERR_ARGUMENT if there is no such brick, or the model has blocks. */
LEGO_API lego_status lego_lab_scan_brick(const lego_sketch *sketch, uint32_t brick, lego_lab_scan *scan);

#endif
