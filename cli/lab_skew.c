/* legosketch lab skew: how skewed the part of a stream is that one of K bricks gets, as in Figure 5 of the paper.
 *
 * Theorem 4.2: around the item of sub-rank r' of a brick, whose rank in the stream is r, the sub-skewness is alpha
 * log(1 + D / r) / log(1 + 1 / r'), with D ~ Geometric(1/K) and r - r' ~ NegativeBinomial(r', 1/K). Its expectation is
 * summed here, over all D and r or, where they are many, over groups of them; and it is simulated, by dealing items out
 * to bricks. Both are in multiples of alpha. */
#include "lab.h"
#include "progress.h"
#include "train.h" /* split_mix() */

#include <math.h>
#include <stdio.h>

enum { BRICKS_MAX = 1400 };
static const uint32_t bricks[] = {1, 4, 16, 64, 256, BRICKS_MAX};
static const uint32_t ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100, 200, 500, 1000};
enum {
    KS = sizeof bricks / sizeof *bricks,
    RANKS = sizeof ranks / sizeof *ranks,
    RANK_MAX = 1000,
    GRAIN = 128, /* groups are this part of their distance from 0 */
    GROUPS_MAX = GRAIN * 40,
};

/* Values of a random variable in groups: each group's middle and how likely it is. */
typedef struct groups {
    size_t count;
    double value[GROUPS_MAX], weight[GROUPS_MAX];
} groups;

/* r: r' successes at the r-th try, from 12 standard deviations below the mean to 40 above, since few tries have a long
 * tail. D is what r is for r' = 1. */
static void group_ranks(uint32_t k, uint32_t rank, groups *out)
{
    double p = 1.0 / k, mean = (double)rank * k, deviation = sqrt(rank * (1 - p)) * k;
    double at = floor(fmax(rank, mean - 12 * deviation)), last = mean + 40 * deviation, sum = 0;
    for (out->count = 0; at <= last && out->count < GROUPS_MAX; out->count++) {
        double step = fmax(1, floor((at - rank) / GRAIN)), r = at + (step - 1) / 2;
        double likely = lgamma(r) - lgamma(rank) - lgamma(r - rank + 1) + rank * log(p);
        if (k > 1) likely += (r - rank) * log(1 - p); /* with one brick r is rank, for certain */
        out->value[out->count] = r;
        out->weight[out->count] = exp(likely) * step;
        sum += out->weight[out->count];
        at += step;
    }
    for (size_t i = 0; i < out->count; i++) out->weight[i] /= sum;
}

static double expected(const groups *distances, const groups *places, uint32_t rank)
{
    double sum = 0;
    for (size_t i = 0; i < places->count; i++) {
        if (places->weight[i] < 1e-16) continue;
        double mean = 0;
        for (size_t j = 0; j < distances->count; j++)
            mean += distances->weight[j] * log1p(distances->value[j] / places->value[i]);
        sum += places->weight[i] * mean;
    }
    return sum / log1p(1.0 / rank);
}

/* ---- simulation ------------------------------------------------------------------------------------------------- */

/* Of one brick: the rank of the last item it got, and how many it has. */
typedef struct brick_state {
    uint64_t last;
    uint32_t items;
} brick_state;

/* Deals ranks 1, 2, ... out to k bricks until each has RANK_MAX + 1, and adds up the sub-skewness at every sub-rank. */
static void deal(uint32_t k, uint64_t state, brick_state *all, double sums[RANK_MAX + 1])
{
    uint32_t full = 0;
    for (uint32_t i = 0; i < k; i++) all[i] = (brick_state){0};
    for (uint64_t rank = 1; full < k; rank++) {
        brick_state *mine = &all[split_mix(state, rank) % k];
        if (mine->items > RANK_MAX) continue;
        if (mine->items > 0)
            sums[mine->items] += log1p((double)(rank - mine->last) / (double)mine->last) / log1p(1.0 / mine->items);
        mine->last = rank;
        full += ++mine->items == RANK_MAX + 1;
    }
}

static void simulate(const lab_plan *plan, uint32_t k, double means[RANK_MAX + 1])
{
    static brick_state all[BRICKS_MAX];
    for (int i = 0; i <= RANK_MAX; i++) means[i] = 0;
    uint64_t samples = plan->quick ? 4000 : 40000, deals = k == 1 ? 1 : (samples + k - 1) / k;
    for (uint64_t i = 0; i < deals; i++) deal(k, split_mix(plan->seed + k, i + 1), all, means);
    for (int i = 0; i <= RANK_MAX; i++) means[i] /= (double)(deals * k);
}

static void add_row(record *into, uint32_t k, uint32_t rank, const char *how, double value)
{
    char series[32];
    snprintf(series, sizeof series, "K = %u%s", (unsigned)k, k == 1 ? ", alpha itself" : "");
    json_line row = json_begin();
    json_text(&row, "series", series);
    json_text(&row, "how", how);
    json_u64(&row, "bricks", k);
    json_u64(&row, "rank", rank);
    json_real(&row, "ratio", value);
    record_add(into, &row);
}

static lab_result run(const lab_plan *plan, record *into)
{
    static groups distances, places;
    static double means[RANK_MAX + 1];
    progress_begin("skew", KS * RANKS, plan->quiet);
    progress_describe("sums", "");
    for (size_t i = 0; i < KS; i++) {
        group_ranks(bricks[i], 1, &distances);
        for (size_t j = 0; j < RANKS; j++) {
            group_ranks(bricks[i], ranks[j], &places);
            add_row(into, bricks[i], ranks[j], "theorem", expected(&distances, &places, ranks[j]));
            progress_update(i * RANKS + j + 1, i * RANKS + j + 1);
        }
        simulate(plan, bricks[i], means);
        for (size_t j = 0; j < RANKS; j++) add_row(into, bricks[i], ranks[j], "simulation", means[ranks[j]]);
    }
    progress_end();
    return LAB_DONE;
}

const lab_experiment lab_skew = {"skew", "Sub-skewness of a brick's part of a stream", "Figure 5, Theorem 4.2",
                                 .run = run};
