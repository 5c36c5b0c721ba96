/* Exact counts: an open-addressing table of indices into an array of entries, whose items lie end to end in one arena.
 *
 *     slots    [ . | hash 32, index 32 | . | . | ... ]      a power of two, at most 3/4 full, linear probing
 *     entries  [ offset, count | offset, count | ... ]      in order of first appearance
 *     arena    [ a p p l e b a n a n a ... ]                item i ends where item i + 1 starts */
#define XXH_INLINE_ALL
#include "exact.h"

#include "estimator.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct entry {
    uint64_t offset;
    int64_t count;
} entry;

typedef struct slot {
    uint32_t tag;   /* high half of the hash: spares most comparisons, and rehashing when the table grows */
    uint32_t index; /* of the entry, plus one; 0 is empty */
} slot;

struct exact_table {
    slot *slots;
    size_t slot_count;
    entry *entries;
    size_t size, entry_capacity;
    unsigned char *arena;
    size_t arena_size, arena_capacity;
    int64_t total;
    size_t latest; /* entry of the item that came last */
};

lego_status exact_create(exact_table **table)
{
    exact_table *made = calloc(1, sizeof *made);
    if (made == NULL) return LEGO_ERR_MEMORY;
    made->slot_count = 1024;
    made->slots = calloc(made->slot_count, sizeof *made->slots);
    if (made->slots == NULL) {
        free(made);
        return LEGO_ERR_MEMORY;
    }
    *table = made;
    return LEGO_OK;
}

void exact_destroy(exact_table *table)
{
    if (table == NULL) return;
    free(table->slots);
    free(table->entries);
    free(table->arena);
    free(table);
}

size_t exact_size(const exact_table *table)
{
    return table->size;
}

int64_t exact_total(const exact_table *table)
{
    return table->total;
}

uint64_t exact_bytes(const exact_table *table)
{
    return sizeof *table + table->slot_count * sizeof *table->slots + table->entry_capacity * sizeof *table->entries +
           table->arena_capacity;
}

size_t exact_latest(const exact_table *table)
{
    return table->latest;
}

exact_item exact_at(const exact_table *table, size_t index)
{
    uint64_t start = table->entries[index].offset;
    uint64_t end = index + 1 < table->size ? table->entries[index + 1].offset : table->arena_size;
    return (exact_item){table->arena + start, (size_t)(end - start), table->entries[index].count};
}

/* The slot that holds the item, or the empty one where it belongs. */
static size_t find(const exact_table *table, uint32_t tag, const void *item, size_t size)
{
    size_t mask = table->slot_count - 1, at = tag & mask;
    while (table->slots[at].index != 0) {
        if (table->slots[at].tag == tag) {
            exact_item known = exact_at(table, table->slots[at].index - 1);
            if (known.size == size && (size == 0 || memcmp(known.bytes, item, size) == 0)) return at;
        }
        at = (at + 1) & mask;
    }
    return at;
}

static uint32_t tag_of(const void *item, size_t size)
{
    return (uint32_t)(XXH3_64bits(item, size) >> 32);
}

int64_t exact_count(const exact_table *table, const void *item, size_t size)
{
    const slot *found = &table->slots[find(table, tag_of(item, size), item, size)];
    return found->index == 0 ? 0 : table->entries[found->index - 1].count;
}

static lego_status grow_slots(exact_table *table)
{
    size_t count = table->slot_count * 2;
    slot *slots = calloc(count, sizeof *slots);
    if (slots == NULL) return LEGO_ERR_MEMORY;
    for (size_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i].index == 0) continue;
        size_t at = table->slots[i].tag & (count - 1);
        while (slots[at].index != 0) at = (at + 1) & (count - 1);
        slots[at] = table->slots[i];
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    return LEGO_OK;
}

/* Room for one more entry and `size` more bytes, each grown by half so that little is left over. */
static lego_status reserve(exact_table *table, size_t size)
{
    if (table->size == UINT32_MAX - 1 || size > SIZE_MAX / 2 - table->arena_size) return LEGO_ERR_MEMORY;
    if (table->size == table->entry_capacity) {
        size_t capacity = table->entry_capacity + table->entry_capacity / 2 + 64;
        entry *entries = realloc(table->entries, capacity * sizeof *entries);
        if (entries == NULL) return LEGO_ERR_MEMORY;
        table->entries = entries;
        table->entry_capacity = capacity;
    }
    if (table->arena == NULL || size > table->arena_capacity - table->arena_size) {
        size_t capacity = table->arena_size + size + table->arena_size / 2 + 1024;
        unsigned char *arena = realloc(table->arena, capacity);
        if (arena == NULL) return LEGO_ERR_MEMORY;
        table->arena = arena;
        table->arena_capacity = capacity;
    }
    return table->size < table->slot_count / 4 * 3 ? LEGO_OK : grow_slots(table);
}

lego_status exact_add(exact_table *table, const void *item, size_t size, int64_t count)
{
    int64_t total;
    if (__builtin_add_overflow(table->total, count, &total)) return LEGO_ERR_RANGE;
    uint32_t tag = tag_of(item, size);
    size_t at = find(table, tag, item, size);
    if (table->slots[at].index != 0) {
        entry *known = &table->entries[table->slots[at].index - 1];
        int64_t sum;
        if (__builtin_add_overflow(known->count, count, &sum)) return LEGO_ERR_RANGE;
        known->count = sum;
        table->total = total;
        table->latest = table->slots[at].index - 1;
        return LEGO_OK;
    }
    lego_status status = reserve(table, size);
    if (status != LEGO_OK) return status;
    at = find(table, tag, item, size);
    table->entries[table->size] = (entry){table->arena_size, count};
    if (size > 0) memcpy(table->arena + table->arena_size, item, size);
    table->arena_size += size;
    table->latest = table->size++;
    table->slots[at] = (slot){tag, (uint32_t)table->size};
    table->total = total;
    return LEGO_OK;
}

/* ---- the table as one of the estimators ----------------------------------------------------------------------- */

static lego_status create(const lego_options *wanted, void **self)
{
    (void)wanted;
    exact_table *table;
    lego_status status = exact_create(&table);
    if (status == LEGO_OK) *self = table;
    return status;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    return exact_add(self, item, size, count);
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    *value = (double)exact_count(self, item, size);
    return LEGO_OK;
}

static uint64_t bytes(const void *self)
{
    return exact_bytes(self);
}

static void destroy(void *self)
{
    exact_destroy(self);
}

/* Its error is 0 at whatever bytes it takes, which a table of errors by budget need not show. */
const estimator_kind estimator_exact = {
    "exact",        .seedless = true,   .by_name_only = true, .create = create,
    .bytes = bytes, .destroy = destroy, .add = add,           .estimate = estimate,
};
