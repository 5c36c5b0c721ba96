/* The counters of Misra and Gries ("Finding repeated elements", 1982) as frequent items of Apache DataSketches has
 * them (Anderson, Bevan, Lang, Liberty, Rhodes and Thaler, "A high-performance algorithm for identifying frequent
 * items in data streams", IMC 2017): a hash table with linear probing. When three quarters of it are taken, all
 * counts fall by the median of 1024 of them, those that it leaves nothing of go, and the offset grows by as much. So
 * the truth is not below an item's count nor above it by more than the offset.
 *
 * An item is answered with its count, as Misra and Gries have it. DataSketches' estimate adds the offset: on five
 * real streams at 0.25 to 2 bytes an item that has 1.1 to 1.5 times the AAE and twice the ARE or more. An item that
 * is not in the table is answered with 1 once any has been thrown out, else with 0 as there.
 *
 *     slot   [ key of 4 bytes | count of 4 bytes ]     0 in an empty one
 *
 * DataSketches has 18 bytes a slot: keys and counts of 8, and the way of a probe; and powers of two of them, where
 * here is any number. Keys are hashes of 32 bits. The 4 KB of a purge's sample are not counted, since they are taken
 * only for so long. */
#include "counters.h"

#include <stdlib.h>

enum { SAMPLE = 1024 };

typedef struct slot {
    uint32_t key, count;
} slot;

typedef struct misra_gries {
    estimator_table of; /* its units are slots */
    uint64_t taken, offset;
    slot slots[];
} misra_gries;

/* The slot of a key, or the empty one where it would be. */
static slot *find(const misra_gries *table, uint32_t key)
{
    uint64_t at = pick(hash_row((XXH128_hash_t){key, 0}, 0), table->of.units);
    while (table->slots[at].count > 0 && table->slots[at].key != key) at = at + 1 < table->of.units ? at + 1 : 0;
    return (slot *)&table->slots[at];
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t median(const misra_gries *table)
{
    uint32_t sample[SAMPLE];
    size_t n = 0;
    for (uint64_t i = 0; i < table->of.units && n < SAMPLE; i++)
        if (table->slots[i].count > 0) sample[n++] = table->slots[i].count;
    qsort(sample, n, sizeof *sample, by_size);
    return sample[n / 2];
}

/* Behind an empty slot each is taken out and, with what is left of it, put back, which is never further behind. */
static void purge(misra_gries *table)
{
    uint32_t less = median(table);
    uint64_t empty = 0;
    while (table->slots[empty].count > 0) empty++;
    table->taken = 0;
    table->offset += less;
    for (uint64_t i = 1; i < table->of.units; i++) {
        slot *from = &table->slots[(empty + i) % table->of.units], one = *from;
        *from = (slot){0, 0};
        if (one.count <= less) continue;
        *find(table, one.key) = (slot){one.key, one.count - less};
        table->taken++;
    }
}

static uint32_t key_of(const misra_gries *table, const void *item, size_t size)
{
    return (uint32_t)hash_item(item, size, table->of.seed).low64;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    misra_gries *table = self;
    if (count < 0) return LEGO_ERR_ARGUMENT;
    if (count == 0) return LEGO_OK;
    uint32_t key = key_of(table, item, size);
    slot *found = find(table, key);
    table->taken += found->count == 0;
    *found = (slot){key, add_u32(found->count, count)};
    if (table->taken > table->of.units / 4 * 3 + table->of.units % 4 * 3 / 4) purge(table);
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const misra_gries *table = self;
    uint32_t count = find(table, key_of(table, item, size))->count;
    *value = count > 0 ? count : table->offset > 0 ? 1 : 0;
    return LEGO_OK;
}

const estimator_kind estimator_misra_gries = {"misra-gries",    ESTIMATOR_TABLE(misra_gries, sizeof(slot)),
                                              .least = 5, /* of 4 slots the fourth item would leave none empty */
                                              .in_order = true, .insert_only = true,
                                              .add = add,       .estimate = estimate};
