/* census: see census.h. */
#include "sketch/census.h"

#include <math.h>

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

static void add_bucket(struct bucket *to, const struct bucket *from, double times)
{
    to->n += times * from->n;
    to->sum += times * from->sum;
    to->inverse += times * from->inverse;
    to->alike += times * from->alike;
}

static void add_item(struct bucket buckets[], int64_t value, unsigned print)
{
    const uint64_t size = magnitude(value);
    if (size == 0) return;
    const struct bucket one = {1, (double)size, 1 / (double)size, ldexp(1, -(int)print)};
    add_bucket(&buckets[census_bucket(size)], &one, 1);
}

void census_add(struct census *census, const struct block *block, unsigned whole, const struct content *content)
{
    const unsigned print = step_print(block_step(block), whole);
    const bool losing = (content->loss.plus | content->loss.minus) > 0 && content->n >= BLOCK_SAMPLE;
    const bool keeps = block_keeps(block);
    for (unsigned i = 0; i < content->n; i++) {
        const unsigned known = keeps ? content->known[i] : print;
        census->below |= losing && content->value[i] < 0;
        add_item(losing ? census->listed : census->others, content->value[i], known);
        if (block_step(block) > STEP_WHOLE) census->twins += ldexp(content->n - 1., -(int)known - 1);
        if (losing && i < BLOCK_SAMPLE) add_item(census->sample, content->value[i], PRINT_SAME);
    }
    if (!losing) return;
    census->losing++;
    census->below |= content->loss.minus > 0;
    census->sampled += BLOCK_SAMPLE;
    census->slots += (double)(content->key[BLOCK_SAMPLE - 1] >> (64 - PRINT_SAME)) + 1;
    census->lost += (double)content->loss.plus + (double)content->loss.minus;
}

struct bucket census_sum(const struct bucket buckets[CENSUS_BUCKETS])
{
    struct bucket sum = {0};
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) add_bucket(&sum, &buckets[i], 1);
    return sum;
}

/* Of 2^20 slots a losing block has an item in one of `slots` / 4: of k slots in all, a share x of which is filled, that
 * takes -k log(1 - x) items. (The logarithm is added up here: a library's differs from machine to machine, and what is
 * answered must not.) What of the sample was deleted again is no item. */
static double find_losing(const struct census *census, double alive)
{
    const double slots = 1 << PRINT_SAME, filled = (census->sampled - 1) / fmax(census->slots - 1, census->sampled);
    const double y = filled / (2 - filled), z = y * y, log = 2 * y * (1 + z * (1. / 3 + z * (1. / 5 + z / 7)));
    return slots * log * (double)census->losing * alive / census->sampled;
}

/* The share of the items of such counts that is not listed, where it is a half for `middle`. It falls like this, or a
 * little faster or slower, in all streams that we have. */
static double gone_share(const struct bucket *bucket, double middle)
{
    const double x = (bucket->sum / bucket->n - 0.5) / middle;
    return 1 / (1 + x * x * x);
}

/* Who is gone then. Where most are, the sample tells how many: one stands for `weight` that are not of it. Where most
 * are listed, the lists do. */
static void find_gone_at(const struct census *census, double weight, double middle, struct findings *findings)
{
    findings->all_gone = (struct bucket){0};
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) {
        const struct bucket *sample = &census->sample[i], *listed = &census->listed[i];
        struct bucket *gone = &findings->gone[i];
        *gone = (struct bucket){0};
        findings->doubt[i] = 0;
        if (sample->n + listed->n == 0) continue;
        const double share = gone_share(listed->n > 0 ? listed : sample, middle);
        if (share < 0.5) {
            add_bucket(gone, listed, share / (1 - share));
            findings->doubt[i] = gone->n * gone->n / 4;
        } else {
            add_bucket(gone, sample, share * weight);
            findings->doubt[i] = gone->n * weight;
        }
        add_bucket(&findings->all_gone, gone, 1);
    }
}

/* As many as what was lost is worth. (What listed ones came too late for is taken to be of such items, too: it makes
 * about the same errors.) Where there are counts of both signs these cancel in what was lost: as many as are missing.
 * */
static void find_gone(const struct census *census, struct findings *findings)
{
    const double alive = census_sum(census->sample).n, weight = fmax(0, findings->losing / alive - 1);
    const double missing = findings->losing - census_sum(census->listed).n;
    double low = 1. / 256, high = 0x1p62;
    while (high > low * 1.001) {
        const double middle = sqrt(low * high);
        const struct bucket *all = &findings->all_gone;
        find_gone_at(census, weight, middle, findings);
        *((census->below ? all->n < missing : all->sum < census->lost) ? &low : &high) = findings->middle = middle;
    }
}

/* While few are gone, what was lost tells how many these are, better than the sample tells how many there are of all:
 * then those are the listed ones and these. */
void census_find(const struct census *census, struct findings *findings)
{
    const double alive = census_sum(census->sample).n, listed = census_sum(census->listed).n;
    *findings = (struct findings){0};
    findings->distinct = census_sum(census->others).n + census->twins + (alive == 0 ? listed : 0);
    if (alive == 0) return;
    findings->losing = fmax(find_losing(census, alive), listed);
    findings->distinct_error = findings->losing / sqrt(census->sampled);
    find_gone(census, findings);
    double doubt = 0;
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) doubt += findings->doubt[i];
    /* Nobody counts less than 1: no more than was lost are gone. */
    const double gone = findings->all_gone.n, more = fmax(0, census->lost - gone);
    const double strangers = gone / 2048; /* about so many have an entry's print, and are not lost */
    const double error = fmin(sqrt(doubt), 2 * more + sqrt(census->twins)) + strangers;
    if (!census->below && error < findings->distinct_error) {
        findings->losing = listed + gone;
        findings->distinct_error = error;
        find_gone(census, findings);
    }
    findings->distinct += findings->losing;
}
