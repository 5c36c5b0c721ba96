/* Zipf streams; see zipf.h. Random numbers are xoshiro256** by David Blackman and Sebastiano Vigna (public domain,
 * https://prng.di.unimi.it/xoshiro256starstar.c), its state filled by their splitmix64, as they advise. */
#include "zipf.h"

#include <math.h>
#include <stdlib.h>

typedef struct random_state {
    uint64_t s[4];
} random_state;

static random_state random_seeded(uint64_t seed)
{
    random_state state;
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        state.s[i] = z ^ (z >> 31);
    }
    return state;
}

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t random_next(random_state *state)
{
    uint64_t *s = state->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

/* Uniform from 0 to `most`: the lowest bits that can hold it, drawn again until they do not exceed it. */
static uint64_t random_up_to(random_state *state, uint64_t most)
{
    uint64_t mask = most;
    for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    uint64_t draw;
    do draw = random_next(state) & mask;
    while (draw > most);
    return draw;
}

bool zipf_count(uint32_t distinct, double alpha, uint32_t rank, uint64_t *count)
{
    double value = round(pow(((double)distinct + 1) / ((double)rank + 1), alpha));
    if (!(value < 0x1p63)) return false;
    *count = (uint64_t)value;
    return true;
}

bool zipf_total(uint32_t distinct, double alpha, uint64_t *total)
{
    uint64_t sum = 0;
    for (uint64_t rank = 1; rank <= distinct; rank++) {
        uint64_t count;
        if (!zipf_count(distinct, alpha, (uint32_t)rank, &count) || count > INT64_MAX - sum) return false;
        sum += count;
    }
    *total = sum;
    return true;
}

void zipf_stream(uint32_t distinct, double alpha, uint64_t seed, uint32_t *stream)
{
    uint64_t size = 0;
    for (uint64_t rank = 1; rank <= distinct; rank++) {
        uint64_t count = 0;
        zipf_count(distinct, alpha, (uint32_t)rank, &count);
        while (count-- > 0) stream[size++] = (uint32_t)rank;
    }
    random_state state = random_seeded(seed);
    for (uint64_t i = size; i > 1; i--) { /* Fisher-Yates */
        uint64_t j = random_up_to(&state, i - 1);
        uint32_t swapped = stream[i - 1];
        stream[i - 1] = stream[j];
        stream[j] = swapped;
    }
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
