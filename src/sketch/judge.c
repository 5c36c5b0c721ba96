/* judge: see judge.h. */
#include "sketch/judge.h"

#include <math.h>

#include "sketch/census.h"

enum { LOOKS = 256, SAMPLES_LEAST = 100 };

/* What more than this share of all items count is above what is answered as likely. It is less than the 1 % that is
 * promised, since a sample does not tell so rare ones well. */
static const double beyond = 0.0012;

/* The median of what is not listed, weighted by 1 / count, so that relative errors count as well; and rather too low
 * than too high. */
static uint64_t find_value(const struct findings *found)
{
    if (found->all_gone.n == 0) return 1;
    double sum = 0, doubt = 0;
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) doubt += found->doubt[i];
    const double level = 0.5 - 3 * sqrt(doubt) / found->all_gone.n;
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) {
        const struct bucket *gone = &found->gone[i];
        sum += gone->inverse;
        if (gone->n > 0 && sum >= level * found->all_gone.inverse) return (uint64_t)(gone->sum / gone->n + 0.5);
    }
    return 1;
}

/* What only so few of all items that are not listed exceed. (While most blocks have lost nothing it is not known.) */
static uint64_t find_likely(const struct findings *found)
{
    double above = 0;
    for (unsigned i = CENSUS_BUCKETS; i-- > 0;) {
        above += found->gone[i].n;
        if (above > beyond * found->distinct) return bucket_most(i);
    }
    return 1;
}

void blocks_judge(struct blocks *blocks)
{
    const uint32_t looks = blocks->blocks < LOOKS ? blocks->blocks : LOOKS;
    struct census census = {0};
    struct findings found;
    struct content content;
    for (uint32_t i = 0; i < looks; i++) {
        const struct block *block = &blocks->block[(uint64_t)i * blocks->blocks / looks];
        blocks->kernels->open(block, blocks->whole, &content);
        census_add(&census, block, blocks->whole, &content);
    }
    census_find(&census, &found);
    blocks->unlisted.value = find_value(&found);
    blocks->unlisted.likely =
        census.sampled < SAMPLES_LEAST || 2 * census.losing < looks ? UINT64_MAX : find_likely(&found);
    blocks->unlisted.entered = blocks->unlisted.lighter = 0;
}
