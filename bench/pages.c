/* Memory for the sketches; see pages.h. MADV_HUGEPAGE is Linux's; elsewhere both are the same.
 *
 * SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static void *take(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

/* Advice alone: where it is not taken, the pages stay small. */
static void *take_huge(void *context, size_t size)
{
    (void)context;
    if (size < HUGE_PAGE) return malloc(size);
    size_t rounded = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, rounded);
#ifdef MADV_HUGEPAGE
    if (memory != NULL) (void)madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return memory;
}

static void give(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

const lego_allocator pages_normal = {take, give, NULL}, pages_huge = {take_huge, give, NULL};
