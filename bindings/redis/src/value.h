/* value: what a key holds, and what the library does with it: plain or with TOP, the rest of the module need not ask.
 *
 * SPDX-License-Identifier: MIT */
#ifndef VALUE_H
#define VALUE_H

#include <legosketch.h>
#include <stdbool.h>

/* How many items LEGO.TOP lists if LEGO.LOAD is not told, and at most. */
#define TOP_DEFAULT 100u
#define TOP_MAX 1000000u

struct value {
    lego_sketch *plain;    /* of these two one is there, */
    lego_elastic *elastic; /* this if it was made with TOP */
    uint32_t top;          /* how many items LEGO.TOP lists; 0 without TOP */
    int64_t total;         /* the sum of all counts, for which lego_sketch_describe() has to look at every block */
};

lego_status value_create(const lego_options *options, uint32_t top, struct value **value);
void value_destroy(struct value *value); /* in any thread */
lego_status value_copy(const struct value *value, struct value **copy);

lego_status value_add(struct value *value, const char *item, size_t size, int64_t count);
lego_status value_add_batch(struct value *value, const char *bytes, const uint64_t *offsets, const int64_t *counts,
                            size_t n);
lego_status value_estimate(const struct value *value, const char *item, size_t size, lego_estimate *estimate);
lego_status value_estimate_batch(const struct value *value, const char *bytes, const uint64_t *offsets, size_t n,
                                 lego_estimate *estimates);

/* Both are plain, or both have TOP. */
lego_status value_merge(struct value *into, const struct value *from);

/* The sketch, or the light part of it: to look at. */
const lego_sketch *value_light(const struct value *value);

/* What it takes of the server's memory, the cache of what its networks say included. */
uint64_t value_memory(const struct value *value);

/* top is 0 for bytes of a plain sketch; for others 1 to TOP_MAX. Otherwise LEGO_ERR_ARGUMENT. */
bool value_bytes_have_top(const char *bytes, size_t size);
lego_status value_load(const char *bytes, size_t size, uint64_t top, struct value **value);
uint64_t value_saved_size(const struct value *value);
void value_save(const struct value *value, char *bytes);

#endif
