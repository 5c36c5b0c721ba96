/* allocate: memory for callers who bring no allocator. Large memory is read and written at random places, so it has large
 * pages of its own where the system gives them on request: otherwise every other access would have to look up a page
 * first. What malloc hands out again has mostly small ones. */
#define _DEFAULT_SOURCE
#include "core/allocate.h"

#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#ifdef MADV_HUGEPAGE
enum {
    PAGE = 1 << 16, /* a multiple of what any system has */
    LARGE_PAGE = 2 << 20,
    LARGE = 2 * LARGE_PAGE
};

static size_t whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

/* From a large page's start on, so that it has them all; of the rest what is beyond goes back at once. */
static void *map_large(size_t size)
{
    size_t wanted = whole_pages(size), got = wanted + LARGE_PAGE;
    if (wanted < size || got < wanted) return NULL;
    unsigned char *memory = mmap(NULL, got, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    size_t before = (LARGE_PAGE - (uintptr_t)memory % LARGE_PAGE) % LARGE_PAGE, after = LARGE_PAGE - before;
    if (before > 0) munmap(memory, before);
    if (after > 0) munmap(memory + before + wanted, after);
    madvise(memory + before, wanted, MADV_HUGEPAGE); /* or not: then it has small ones */
    return memory + before;
}
#endif

static void *default_alloc(void *context, size_t size)
{
    (void)context;
#ifdef MADV_HUGEPAGE
    if (size >= LARGE) return map_large(size);
#endif
    return malloc(size);
}

static void default_free(void *context, void *memory, size_t size)
{
    (void)context;
#ifdef MADV_HUGEPAGE
    if (size >= LARGE) {
        if (memory) munmap(memory, whole_pages(size));
        return;
    }
#endif
    free(memory);
}

lego_allocator allocator_or_default(const lego_allocator *allocator)
{
    return allocator ? *allocator : (lego_allocator){default_alloc, default_free, NULL};
}
