/* Memory for the sketches; see pages.h. MADV_HUGEPAGE is Linux's; elsewhere both are the same.
 *
 * SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static void *take(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void give(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

const lego_allocator pages_normal = {take, give, NULL};

#ifdef MADV_HUGEPAGE
static size_t whole_pages(size_t size)
{
    return (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

/* Fresh memory: what malloc hands out again has small pages already. The advice may not be taken. */
static void *take_huge(void *context, size_t size)
{
    (void)context;
    size_t wanted = whole_pages(size);
    if (size < HUGE_PAGE) return malloc(size);
    unsigned char *got = mmap(NULL, wanted + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)got % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0) munmap(got, before);
    munmap(got + before + wanted, HUGE_PAGE - before);
    (void)madvise(got + before, wanted, MADV_HUGEPAGE);
    return got + before;
}

static void give_huge(void *context, void *memory, size_t size)
{
    (void)context;
    if (size < HUGE_PAGE) free(memory);
    else if (memory != NULL) munmap(memory, whole_pages(size));
}

const lego_allocator pages_huge = {take_huge, give_huge, NULL};
#else
const lego_allocator pages_huge = {take, give, NULL};
#endif
