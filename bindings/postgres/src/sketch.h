/* sketch: a sketch from the bytes of a value and back.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

/* From a value, which may be packed or short but not compressed; its memory is in the context. */
lego_sketch *sketch_load(const struct varlena *value, MemoryContext context);

/* The same, or NULL if its secret seed is not known here: then it is a sketch as far as one can see without that. */
lego_sketch *sketch_load_if_known(const struct varlena *value, MemoryContext context);
struct varlena *sketch_save(const lego_sketch *sketch);

/* Ends the statement unless status, which is what came of a and b, is LEGO_OK; of sizes that do not fit it says which
 * budget would have. */
void sketch_require_ok(lego_status status, const lego_sketch *a, const lego_sketch *b);

lego_info sketch_info(const lego_sketch *sketch);
lego_info sketch_measure(const lego_sketch *sketch); /* without a look at its blocks: lego_measure() */
