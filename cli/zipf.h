/* Zipf streams as the paper's synthetic sets define them: of n items, the one of rank r = 1 .. n occurs
 * round(((n + 1) / (r + 1))^alpha) times. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How often the item of that rank occurs; 0 if that is no 63-bit number. */
uint64_t zipf_count(uint32_t distinct, double alpha, uint64_t rank);

/* The stream's length; false if it is no 63-bit number. */
bool zipf_total(uint32_t distinct, double alpha, uint64_t *total);

/* The ranks, each as often as it occurs, shuffled by the seed: the same on every machine whose pow() rounds alike.
 * `stream` has room for zipf_total() of them. */
void zipf_stream(uint32_t distinct, double alpha, uint64_t seed, uint32_t *stream);

/* The same stream of 64-bit keys in memory of its own, to be freed, with its length; NULL if there is no memory. */
uint64_t *zipf_keys(uint32_t distinct, double alpha, uint64_t seed, size_t *length);
