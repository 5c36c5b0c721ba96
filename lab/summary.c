/* The Stream-Summary; see summary.h. */
#include "summary.h"

#include "counters.h"

static summary_cell *cells_of(const summary *of)
{
    return (summary_cell *)(of + 1);
}

static uint32_t *head_of(const summary *of, uint32_t key)
{
    return &cells_of(of)[pick(hash_row((XXH128_hash_t){key, 0}, 0), of->size)].head;
}

static uint32_t find(const summary *of, uint32_t key)
{
    uint32_t item = *head_of(of, key);
    while (item != 0 && cells_of(of)[item].key != key) item = cells_of(of)[item].chain;
    return item;
}

uint32_t summary_count(const summary *of, uint32_t key)
{
    const summary_cell *cells = cells_of(of);
    return cells[cells[find(of, key)].bucket].count; /* item 0 is in bucket 0, whose count is 0 */
}

uint32_t summary_inherited(const summary *of, uint32_t key)
{
    return cells_of(of)[find(of, key)].inherited;
}

uint32_t summary_least(const summary *of)
{
    const summary_cell *cells = cells_of(of);
    return of->items + 1 < of->size ? 0 : cells[cells[0].above].count;
}

/* An item for a new key: one that is in no bucket yet, or else the first of the least count. */
static uint32_t take(summary *of, uint32_t key)
{
    summary_cell *cells = cells_of(of);
    uint32_t item = cells[cells[0].above].first, *at;
    if (of->items + 1 < of->size) {
        item = ++of->items;
    } else {
        for (at = head_of(of, cells[item].key); *at != item; at = &cells[*at].chain) {
        }
        *at = cells[item].chain;
    }
    at = head_of(of, key);
    cells[item].key = key;
    cells[item].inherited = cells[cells[item].bucket].count;
    cells[item].chain = *at;
    *at = item;
    return item;
}

/* Takes an item out of its bucket, which goes if it was the last; returns the bucket, or that below it. */
static uint32_t leave(summary *of, uint32_t item)
{
    summary_cell *cells = cells_of(of), *one = &cells[item], *bucket = &cells[one->bucket];
    if (one->bucket == 0) return 0;
    cells[one->next].previous = one->previous;
    if (one->previous != 0) cells[one->previous].next = one->next;
    else bucket->first = one->next;
    if (bucket->first != 0) return one->bucket;
    cells[bucket->below].above = bucket->above;
    cells[bucket->above].below = bucket->below;
    bucket->above = of->spare;
    of->spare = one->bucket;
    return bucket->below;
}

/* An empty bucket of that count above another. */
static uint32_t insert_above(summary *of, uint32_t below, uint32_t count)
{
    summary_cell *cells = cells_of(of);
    uint32_t made = of->spare != 0 ? of->spare : ++of->buckets, above = cells[below].above;
    if (made == of->spare) of->spare = cells[made].above;
    cells[made].count = count;
    cells[made].first = 0;
    cells[made].above = above;
    cells[made].below = below;
    cells[below].above = cells[above].below = made;
    return made;
}

/* Puts an item into a bucket, first. */
static void join(summary *of, uint32_t bucket, uint32_t item)
{
    summary_cell *cells = cells_of(of);
    uint32_t next = cells[bucket].first;
    cells[item].bucket = bucket;
    cells[item].next = next;
    cells[item].previous = 0;
    cells[next].previous = cells[bucket].first = item; /* what is before item 0 is never asked for */
}

void summary_raise(summary *of, uint32_t key, uint32_t count)
{
    const summary_cell *cells = cells_of(of);
    uint32_t item = find(of, key);
    if (item == 0) item = take(of, key);
    uint32_t bucket = leave(of, item);
    while (cells[bucket].above != 0 && cells[cells[bucket].above].count <= count) bucket = cells[bucket].above;
    if (cells[bucket].count != count) bucket = insert_above(of, bucket, count);
    join(of, bucket, item);
}
