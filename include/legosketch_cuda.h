/* legosketch_cuda: a sketch that lives on an NVIDIA GPU. Comes with liblegosketch_cuda, which has all of legosketch.h
 * too and is linked instead of liblegosketch; `make gpu` builds it.
 *
 *     lego_cuda_sketch *device;
 *     if (lego_cuda_sketch_upload(sketch, &device) != LEGO_OK) return 1;   // empty, or with what it has counted so far
 *     lego_cuda_sketch_add_u64s(device, keys, NULL, n);
 *     lego_cuda_sketch_estimate_u64s(device, keys, n, estimates);
 *     lego_cuda_sketch_download(device, &result);                          // an ordinary sketch again
 *     lego_cuda_sketch_destroy(device);
 *
 * THE SAME SKETCH. Its blocks are plain integers there. Stored to, merged and folded there or on the CPU, it is the
 * same sketch: equal bytes when saved, equal estimates to the last bit. (Where items are deleted, a block on the CPU
 * keeps the coarser cells that it once needed and one on the device does not, so it may answer better.)
 *
 * POINTERS to items, counts and estimates may be of ordinary memory, of pinned memory or of the device's, each for
 * itself. What is on the device must be complete when a function is called: by work in the legacy default stream, which
 * is waited for, or by work that was waited for. A function returns when it is done. Other memory goes over in pieces,
 * the next on its way while one is worked on. Ordinary memory is copied to pinned memory first, by as many threads as
 * the sketch that was uploaded had (lego_set_threads()).
 *
 * THE DEVICE is the one that was current when the sketch was uploaded, and must be current in every call. A sketch is
 * used by one thread at a time. On the device it takes 2562 bytes a block, nearly twice that with cells of 64 bits;
 * from the first call with other memory on, 42 MB there and 42 MB of pinned memory besides. Its handle has 170 KB.
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

/* A copy on the device of a sketch of a compact model (LEGO_ERR_MODEL for others) that keeps no top (LEGO_ERR_TOP). The
 * copy has the sketch's allocator and model. */
LEGO_API lego_status lego_cuda_sketch_upload(const lego_sketch *sketch, lego_cuda_sketch **device);

/* An ordinary sketch of the same content. */
LEGO_API lego_status lego_cuda_sketch_download(const lego_cuda_sketch *device, lego_sketch **sketch);

LEGO_API void lego_cuda_sketch_destroy(lego_cuda_sketch *device); /* NULL is fine */

/* As lego_add_items() and lego_query_items() of integers. The first question after a change goes over all blocks. */
LEGO_API lego_status lego_cuda_sketch_add_u64s(lego_cuda_sketch *device, const uint64_t *items, const int64_t *counts,
                                               size_t n);
LEGO_API lego_status lego_cuda_sketch_estimate_u64s(lego_cuda_sketch *device, const uint64_t *items, size_t n,
                                                    lego_estimate *estimates);

/* As lego_merge(), lego_subtract() and lego_fold(); both sketches are on one device. */
LEGO_API lego_status lego_cuda_sketch_merge(lego_cuda_sketch *into, const lego_cuda_sketch *from);
LEGO_API lego_status lego_cuda_sketch_subtract(lego_cuda_sketch *into, const lego_cuda_sketch *from);
LEGO_API lego_status lego_cuda_sketch_fold(lego_cuda_sketch *device, uint32_t blocks);

#ifdef __cplusplus
}
#endif
#endif
