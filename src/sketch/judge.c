/* judge: see judge.h. */
#include "sketch/judge.h"

#include <math.h>

#include "sketch/census.h"

enum { LOOKS = 256, SAMPLES = LOOKS * BLOCK_SAMPLE, SAMPLES_LEAST = 100 };

/* What more than this share of all items count is above what is answered as likely: less than 1 %, as is said, and more
 * than 0.2 %. */
static const double beyond = 0.005;

struct sample {
    unsigned n;
    uint64_t count[SAMPLES]; /* those above 0, in rising order */
};

static void sample_add(struct sample *sample, const struct content *content)
{
    if (content->loss.plus == 0 || content->n < BLOCK_SAMPLE) return;
    for (unsigned i = 0; i < BLOCK_SAMPLE; i++) {
        const int64_t value = content->value[i];
        unsigned at = sample->n;
        if (value <= 0) continue;
        for (; at > 0 && sample->count[at - 1] > (uint64_t)value; at--) sample->count[at] = sample->count[at - 1];
        sample->count[at] = (uint64_t)value;
        sample->n++;
    }
}

/* The median of what is not listed, taken to be the lowest share of the sample: weighted by 1 / count, so that relative
 * errors count as well, and rather too low than too high. */
static uint64_t find_value(const struct sample *sample, double unlisted)
{
    const unsigned n = (unsigned)fmin(sample->n, sample->n * unlisted + 0.5);
    double all = 0, sum = 0;
    for (unsigned i = 0; i < n; i++) all += 1 / (double)sample->count[i];
    for (unsigned i = 0; i < n; i++) {
        sum += 1 / (double)sample->count[i];
        if (sum >= all * (0.5 - 1 / sqrt(n))) return sample->count[i];
    }
    return 1;
}

/* What only so few of all items that are not listed exceed. */
static uint64_t find_likely(const struct census *census, const struct findings *found)
{
    double above = 0;
    for (unsigned i = CENSUS_BUCKETS; i-- > 0;) {
        above += census->sample[i].n * found->weight * found->unlisted[i / CENSUS_PARTS];
        if (above > beyond * found->distinct) return bucket_most(i);
    }
    return 1;
}

void blocks_judge(struct blocks *blocks)
{
    const uint32_t looks = blocks->blocks < LOOKS ? blocks->blocks : LOOKS;
    struct census census = {0};
    struct sample sample;
    struct findings found;
    struct content content;
    double listed = 0;
    sample.n = 0;
    for (uint32_t i = 0; i < looks; i++) {
        const struct block *block = &blocks->block[(uint64_t)i * blocks->blocks / looks];
        blocks->kernels->open(block, blocks->whole, &content);
        census_add(&census, block, blocks->whole, &content);
        sample_add(&sample, &content);
    }
    census_find(&census, &found);
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) listed += census.listed[i].n;
    const double unlisted = found.losing > 0 ? fmax(0, 1 - listed / found.losing) : 0;
    blocks->unlisted.value = find_value(&sample, unlisted);
    blocks->unlisted.likely = sample.n < SAMPLES_LEAST ? UINT64_MAX : find_likely(&census, &found);
}
