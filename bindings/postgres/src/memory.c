/* The library's memory out of a memory context; see memory.h.
 *
 * PostgreSQL aligns to 8 bytes, the library is promised what malloc gives, 16. So ALIGN more are asked for, and the word
 * in front of what the library gets says where the whole begins: there is room for it, 8 bytes or 16.
 *
 * SPDX-License-Identifier: MIT */
#include "memory.h"

#include "utils/memutils.h"

#include <stdalign.h>
#include <stddef.h>

enum { ALIGN = alignof(max_align_t) };

/* Returns NULL where PostgreSQL would raise an error: that would jump past the library. */
static void *alloc(void *context, size_t size)
{
    if (size > MaxAllocHugeSize - ALIGN) return NULL;
    char *whole = MemoryContextAllocExtended(context, size + ALIGN, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
    if (whole == NULL) return NULL;
    char **memory = (char **)TYPEALIGN(ALIGN, whole + sizeof(char *));
    memory[-1] = whole;
    return memory;
}

static void release(void *context, void *memory, size_t size)
{
    if (memory != NULL) pfree(((char **)memory)[-1]);
}

lego_allocator memory_in(MemoryContext context)
{
    return (lego_allocator){alloc, release, context};
}
