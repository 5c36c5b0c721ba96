/* The yardstick, one key a call, and which batch functions this CPU runs; see countmin.h.
 *
 * SPDX-License-Identifier: MIT */
#include "countmin.h"

#include <string.h>

#if defined(__x86_64__)
extern const countmin_kernels countmin_v3, countmin_v4;
#endif
extern const countmin_kernels countmin_plain;

static const countmin_kernels *const all[] = {
#if defined(__x86_64__)
    &countmin_v4,
    &countmin_v3,
#endif
    &countmin_plain,
};

const countmin_kernels *countmin_best(void)
{
    const countmin_kernels *const *kernels = all;
    while (!(*kernels)->supported()) /* the last one is */
        kernels++;
    return *kernels;
}

uint64_t countmin_bytes(const countmin *self)
{
    return (uint64_t)COUNTMIN_ROWS * self->columns * sizeof *self->cells;
}

bool countmin_create(countmin *self, uint64_t bytes, const lego_allocator *allocator)
{
    self->columns = (uint32_t)(bytes / (COUNTMIN_ROWS * sizeof *self->cells));
    self->cells = allocator->alloc(allocator->context, countmin_bytes(self));
    if (self->cells != NULL) countmin_clear(self);
    return self->cells != NULL;
}

void countmin_destroy(countmin *self, const lego_allocator *allocator)
{
    allocator->free(allocator->context, self->cells, countmin_bytes(self));
}

void countmin_clear(countmin *self)
{
    memset(self->cells, 0, countmin_bytes(self));
}

uint64_t countmin_total(const countmin *self)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < self->columns; i++) sum += self->cells[i];
    return sum;
}

void countmin_add(countmin *self, uint64_t key)
{
    uint64_t mixed = countmin_mix(key);
    for (unsigned row = 0; row < COUNTMIN_ROWS; row++)
        self->cells[row * self->columns + countmin_column(mixed, row, self->columns)]++;
}

uint32_t countmin_least(const countmin *self, uint64_t key)
{
    uint64_t mixed = countmin_mix(key);
    uint32_t least = UINT32_MAX;
    for (unsigned row = 0; row < COUNTMIN_ROWS; row++) {
        uint32_t cell = self->cells[row * self->columns + countmin_column(mixed, row, self->columns)];
        least = cell < least ? cell : least;
    }
    return least;
}
