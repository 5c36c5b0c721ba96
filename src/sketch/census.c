/* census: see census.h. */
#include "sketch/census.h"

#include <math.h>

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

static void add_item(struct bucket buckets[], int64_t value)
{
    const uint64_t size = magnitude(value);
    struct bucket *bucket = &buckets[census_bucket(size)];
    if (size == 0) return;
    bucket->n++;
    bucket->sum += (double)size;
    bucket->inverse += 1 / (double)size;
}

void census_add(struct census *census, const struct block *block, unsigned whole, const struct content *content)
{
    const double n = content->n, prints = ldexp(1, -(int)step_print(block_step(block), whole));
    const bool losing = (content->loss.plus | content->loss.minus) > 0 && content->n >= BLOCK_SAMPLE;
    for (unsigned i = 0; i < content->n; i++) {
        add_item(losing ? census->listed : census->others, content->value[i]);
        if (losing && i < BLOCK_SAMPLE) add_item(census->sample, content->value[i]);
    }
    if (!losing) {
        census->twins += block_step(block) > STEP_WHOLE ? n * (n - 1) / 2 * prints : 0;
        return;
    }
    census->losing++;
    census->sampled += BLOCK_SAMPLE;
    census->slots += (double)(content->key[BLOCK_SAMPLE - 1] >> (64 - PRINT_SAME)) + 1;
    census->lost += (double)content->loss.plus - (double)content->loss.minus;
    census->print += prints;
}

/* ---- how many items ---------------------------------------------------------------------------------------------- */

/* Of 2^20 slots a losing block has an item in one of `slots` / 4. */
static void find_distinct(const struct census *census, struct findings *findings)
{
    double alive = 0, others = 0;
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) {
        alive += census->sample[i].n;
        others += census->others[i].n;
    }
    findings->distinct = others + census->twins;
    if (census->losing == 0) return;
    const double slots = 1 << PRINT_SAME, filled = (census->sampled - 1) / fmax(census->slots - 1, census->sampled);
    const double items = -slots * log1p(-fmin(filled, 1 - 1 / slots)) * (double)census->losing;
    findings->losing = items * alive / census->sampled;
    findings->distinct += findings->losing;
    findings->distinct_error = findings->losing / sqrt(census->sampled);
    findings->weight = alive > 0 ? items / census->sampled : 0;
}

/* ---- who is not listed ------------------------------------------------------------------------------------------- */

/* Classes that are taken together, since the larger of them would be listed less. */
struct run {
    double listed, items;
    unsigned first;
};

/* The share that is listed of each class never falls as counts rise: of all such shares those that are nearest to what
 * the sample shows (the pool of adjacent violators: Ayer et al. 1955). */
static void find_unlisted(const struct census *census, struct findings *findings)
{
    struct run run[CENSUS_CLASSES];
    unsigned runs = 0;
    for (unsigned k = 0; k < CENSUS_CLASSES; k++) {
        struct run one = {0, 0, k};
        for (unsigned i = k * CENSUS_PARTS; i < (k + 1) * CENSUS_PARTS; i++) {
            one.listed += census->listed[i].n;
            one.items += census->sample[i].n * findings->weight;
        }
        for (; runs > 0 && run[runs - 1].listed * one.items >= one.listed * run[runs - 1].items; runs--) {
            one.listed += run[runs - 1].listed;
            one.items += run[runs - 1].items;
            one.first = run[runs - 1].first;
        }
        run[runs++] = one;
    }
    for (unsigned r = 0, end = 0; r < runs; r++)
        for (end = r + 1 < runs ? run[r + 1].first : CENSUS_CLASSES; run[r].first < end; run[r].first++)
            findings->unlisted[run[r].first] = run[r].items > 0 ? fmax(0, 1 - run[r].listed / run[r].items) : 0;
}

void census_find(const struct census *census, struct findings *findings)
{
    *findings = (struct findings){0};
    find_distinct(census, findings);
    find_unlisted(census, findings);
}
