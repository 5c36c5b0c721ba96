/* bench_parts: where the time of a batch of questions goes. The parts are functions inside the library, which bench can
 * not call; here each is timed by itself, over the same items, in turns with the whole.
 *
 * SPDX-License-Identifier: MIT */
#include "batch.h"
#include "cpu.h"
#include "keys.h"
#include "query.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LENGTH = 1 << 23, ASKED = 1 << 18, TURNS = 9,
       GROUPS = 8 }; /* of DECODE_MOST items, as query_answer() has them: so many stay in the cache next to a core */

struct asked {
    lego_sketch *sketch;
    const uint64_t *keys; /* of the groups */
    struct query query;
    struct hashes hashes[GROUPS];
    struct decode_places places[GROUPS];
    struct decode_items items[GROUPS];
    float h[DECODE_MOST];
    lego_estimate estimates[ASKED];
};

static void hash(struct asked *a, size_t g)
{
    a->sketch->dense.kernels->hash_keys(a->keys + g * DECODE_MOST, DECODE_MOST, a->sketch->seed, &a->hashes[g]);
}

static void place(struct asked *a, size_t g)
{
    const struct dense *dense = &a->sketch->dense;
    dense->kernels->place(&a->hashes[g], DECODE_MOST, dense->odd, dense->mask, &a->places[g]);
}

static void read(struct asked *a, size_t g)
{
    if (g + 1 < GROUPS) query_fetch(a->sketch, &a->places[g + 1], DECODE_MOST);
    if (is_flat(a->sketch)) flat_read_items(&a->sketch->flat, &a->places[g], DECODE_MOST, &a->items[g]);
    else a->sketch->dense.kernels->read_items(a->sketch->dense.block, &a->places[g], DECODE_MOST, &a->items[g]);
}

static void decode(struct asked *a, size_t g)
{
    struct decode_items items = a->items[g]; /* whose keys it sorts */
    a->sketch->dense.decoder->decode(a->sketch->model->decoder, &a->query.stream, &items, DECODE_MOST, a->h);
}

static const struct part {
    const char *name;
    void (*run)(struct asked *a, size_t group);
} parts[] = {{"hashes", hash}, {"places", place}, {"cells", read}, {"networks", decode}};

enum { PARTS = sizeof parts / sizeof *parts };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Multiply-adds of 32 bits a second, now. */
static double limit(void)
{
    const uint64_t madds = 200000000;
    double start = seconds();
    volatile double result = cpu_best()->multiply_add(madds); /* so that the work is done */
    (void)result;
    return (double)madds / (seconds() - start);
}

static void measure(struct asked *a, const uint64_t *keys)
{
    double time[PARTS + 2][TURNS] = {{0}}, median[PARTS + 2];
    for (int turn = 0; turn < TURNS; turn++) {
        double start = seconds();
        lego_sketch_estimate_u64s(a->sketch, keys, ASKED, a->estimates);
        time[PARTS][turn] = seconds() - start;
        query_start(&a->query, a->sketch);
        for (a->keys = keys; a->keys < keys + ASKED; a->keys += GROUPS * DECODE_MOST)
            for (unsigned p = 0; p < PARTS; p++) {
                start = seconds();
                for (size_t g = 0; g < GROUPS; g++) parts[p].run(a, g);
                time[p][turn] += seconds() - start;
            }
        time[PARTS + 1][turn] = 1 / limit();
    }
    for (unsigned p = 0; p < PARTS + 2; p++) {
        qsort(time[p], TURNS, sizeof *time[p], compare);
        median[p] = time[p][TURNS / 2] * 1e9 / (p <= PARTS ? ASKED : 1);
    }
    double rest = median[PARTS];
    for (unsigned p = 0; p < PARTS; p++) {
        printf("%10.1f", median[p]);
        rest -= median[p];
    }
    const double madds = DECODE_READS * DECODE_HIDDEN + DECODE_HIDDEN * DECODE_MIXED + DECODE_MIXED;
    printf("%10.1f%10.1f%10.0f %%%10.0f %%\n", rest, median[PARTS], 100 * madds * median[PARTS + 1] / median[PARTS - 1],
           100 * madds * median[PARTS + 1] / median[PARTS]);
}

int main(void)
{
    static const double sizes[] = {1.2, 134};
    static const char *const names[] = {"dense", "flat"};
    struct asked *a = malloc(sizeof *a);
    if (!a) return 1;
    printf("Nanoseconds an item, %d asked for in a batch, median of %d turns, one thread; and what part of the\n"
           "multiply-adds of a core the networks alone do, and the whole.\n\n%-12s", ASKED, TURNS, "");
    for (unsigned p = 0; p < PARTS; p++) printf("%10s", parts[p].name);
    printf("%10s%10s%12s%12s\n", "the rest", "whole", "networks", "whole");
    for (unsigned i = 0; i < 4; i++) {
        lego_options options = LEGO_OPTIONS_INIT;
        options.budget = (uint64_t)(sizes[i / 2] * (1 << 20));
        options.packing = i % 2 ? LEGO_FLAT : LEGO_DENSE;
        struct keys stream = {0};
        if (!keys_make(&stream, keys_for_budget(options.budget), LENGTH, false)) return 1;
        if (lego_sketch_create(&options, &a->sketch) != LEGO_OK) return 1;
        if (lego_sketch_add_u64s(a->sketch, stream.numbers, NULL, LENGTH) != LEGO_OK) return 1;
        lego_sketch_estimate_u64s(a->sketch, stream.numbers, ASKED, a->estimates); /* what a sketch caches is there */
        printf("%5g M %-5s", sizes[i / 2], names[i % 2]);
        measure(a, stream.numbers);
        lego_sketch_destroy(a->sketch);
        keys_free(&stream);
    }
    free(a);
    return 0;
}
