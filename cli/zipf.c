/* Zipf streams; see zipf.h. */
#include "zipf.h"

#include "order.h"
#include "train.h" /* split_mix() */

#include <math.h>
#include <stdlib.h>

uint64_t zipf_count(uint32_t distinct, double alpha, uint64_t rank)
{
    double value = round(pow(((double)distinct + 1) / ((double)rank + 1), alpha));
    return value < 0x1p63 ? (uint64_t)value : 0;
}

bool zipf_total(uint32_t distinct, double alpha, uint64_t *total)
{
    uint64_t sum = 0;
    for (uint64_t rank = 1; rank <= distinct; rank++) {
        uint64_t count = zipf_count(distinct, alpha, rank);
        if (count == 0 || count > INT64_MAX - sum) return false;
        sum += count;
    }
    *total = sum;
    return true;
}

void zipf_stream(uint32_t distinct, double alpha, uint64_t seed, uint32_t *stream)
{
    uint64_t size = 0;
    for (uint64_t rank = 1; rank <= distinct; rank++) {
        for (uint64_t count = zipf_count(distinct, alpha, rank); count > 0; count--) stream[size++] = (uint32_t)rank;
    }
    uint64_t state = split_mix(seed, 1); /* so that the numbers of two seeds have nothing in common */
    order_shuffle(stream, size, &state);
}

uint64_t *zipf_keys(uint32_t distinct, double alpha, uint64_t seed, size_t *length)
{
    uint64_t total;
    if (!zipf_total(distinct, alpha, &total) || total > SIZE_MAX / sizeof(uint64_t)) return NULL;
    uint32_t *ranks = malloc((size_t)total * sizeof *ranks);
    uint64_t *keys = ranks != NULL ? malloc((size_t)total * sizeof *keys) : NULL;
    if (keys != NULL) {
        zipf_stream(distinct, alpha, seed, ranks);
        for (size_t i = 0; i < total; i++) keys[i] = ranks[i];
        *length = (size_t)total;
    }
    free(ranks);
    return keys;
}
