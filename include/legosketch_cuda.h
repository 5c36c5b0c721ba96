/* legosketch_cuda: a sketch of the model "paper" that lives on an NVIDIA GPU. It comes with liblegosketch_cuda, which
 * has all of legosketch.h too and is linked instead of liblegosketch; `make gpu` builds it.
 *
 *     lego_cuda_sketch *device;
 *     if (lego_cuda_upload(sketch, &device) != LEGO_OK) return 1; // empty, or with what it has counted so far
 *     lego_cuda_add_u64s(device, keys, NULL, n);
 *     lego_cuda_query_u64s(device, keys, n, NULL, estimates);
 *     lego_cuda_download(device, &result);                        // an ordinary sketch again
 *     lego_cuda_destroy(device);
 *
 * THE MODEL is the paper's. A sketch of the default model stays on the CPU (LEGO_ERR_MODEL): once its blocks keep the
 * heaviest, its bytes follow from the order of additions, and a GPU takes those of a call in any order.
 *
 * THE SAME SKETCH. Stored to there or on the CPU, it is the same: equal bytes when saved, and equal estimates. But
 * where networks answer, these compute in float there: within 1e-4 of the CPU's answer, or 1e-3 if that is more; and
 * lower bounds may differ by 1. (Where counts are negative a sketch remembers how wide its rows once were. There the
 * items of a call are added up before that is looked at, so that rows may be narrower than the CPU's.) To merge,
 * subtract, fold or describe it, download it first.
 *
 * POINTERS to items, counts and estimates may be of ordinary memory, of pinned memory or of the device's, each for
 * itself. What is on the device must be complete when a function is called: by work in the legacy default stream, which
 * is waited for, or by work that was waited for. A function returns when it is done. Other memory goes over in pieces,
 * the next on its way while one is worked on. Ordinary memory is copied to pinned memory first, by as many threads as
 * the sketch that was uploaded had (lego_set_threads()).
 *
 * THE DEVICE is the one that was current when the sketch was uploaded, and must be current in every call. A sketch is
 * used by one thread at a time. On the device it takes twice its budget, whatever its content. Besides, what goes over
 * takes 8 to 40 bytes an item of two pieces there, and of ordinary memory as much pinned memory: up to half a gigabyte
 * each. All of it is kept for the next call. Few items a call are slow: the first question after an addition scans.
 *
 * ERRORS. As in legosketch.h a function that fails changes nothing, but for one: LEGO_ERR_DEVICE says that the device
 * failed; the content may be lost, and the sketch can only be destroyed. Where there is no device, upload says it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef LEGOSKETCH_CUDA_H
#define LEGOSKETCH_CUDA_H

#include "legosketch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lego_cuda_sketch lego_cuda_sketch;

/* A copy on the device of a sketch of the paper's model that normalises (else LEGO_ERR_MODEL), and that keeps no top
 * (LEGO_ERR_TOP). The copy has the sketch's allocator and model. */
LEGO_API lego_status lego_cuda_upload(const lego_sketch *sketch, lego_cuda_sketch **device);

/* An ordinary sketch of the same content. */
LEGO_API lego_status lego_cuda_download(const lego_cuda_sketch *device, lego_sketch **sketch);

LEGO_API void lego_cuda_destroy(lego_cuda_sketch *device); /* NULL is fine */

/* As lego_add_items() and lego_query_items() of integers. */
LEGO_API lego_status lego_cuda_add_u64s(lego_cuda_sketch *device, const uint64_t *items, const int64_t *counts,
                                        size_t n);
LEGO_API lego_status lego_cuda_query_u64s(lego_cuda_sketch *device, const uint64_t *items, size_t n,
                                          const lego_asking *asking, lego_estimate *estimates);

#ifdef __cplusplus
}
#endif
#endif
