/* limits: what the device itself can do of the kind that a sketch needs, each call so much of it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LIMIT_ADDS (2112.0 * 256 * 128)         /* 64-bit atomics at random places of a table */
#define LIMIT_FMAS (2112.0 * 256 * 16 * 4096.0) /* multiply-adds in float */

void limit_adds(int64_t *table, uint64_t cells, uint64_t start);
void limit_fmas(float *sum);

#ifdef __cplusplus
}
#endif
