/* Loaded before the C library, it makes allocations of a program fail, for tests/test_kills.py: the K-th alone with
 * NO_MEMORY=K, or that and all later ones with NO_MEMORY=K+. How many there were goes to the file NO_MEMORY_COUNT. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What they are in glibc, by other names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long calls;

static bool refused(void)
{
    long call = atomic_fetch_add(&calls, 1) + 1;
    const char *asked = getenv("NO_MEMORY");
    char *end = NULL;
    long at = asked != NULL ? strtol(asked, &end, 10) : 0;
    if (at == 0 || (*end == '+' ? call < at : call != at)) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return refused() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refused() ? NULL : __libc_memalign(alignment, size);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("NO_MEMORY_COUNT");
    long counted = calls; /* opening a file allocates */
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fprintf(file, "%ld\n", counted);
    fclose(file);
}
