/* value: what a key holds, a sketch and how many items LEGO.TOP lists of it.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <legosketch.h>
#include <stdatomic.h>
#include <stdbool.h>

/* How many items LEGO.TOP lists if LEGO.LOAD is not told, and at most. */
#define TOP_DEFAULT 100u
#define TOP_MAX 1000000u

struct value {
    lego_sketch *sketch;
    atomic_uint owners; /* its key, and every job that reads it in another thread: those may outlive the key */
    uint32_t top; /* how many items LEGO.TOP lists; 0 if and only if the sketch does not keep its most frequent items */
    uint64_t budget; /* at least what it can grow to, for whoever has no time to look at all of it */
    bool integers;   /* it came from where items are integers, and has no others */
};

/* A value with one owner. top is 0 to TOP_MAX; options->top and options->allocator follow from it and from the
 * server. */
lego_status value_create(const lego_options *options, uint32_t top, struct value **value);
lego_status value_copy(const struct value *value, struct value **copy);

/* The sketch of bytes from anywhere, which lists TOP_DEFAULT items if it keeps them. LEGO_ERR_SECRET: the server does
 * not know their secret seed. */
lego_status value_load(const char *bytes, size_t size, struct value **value);

/* Its secret seed; NULL if it has none. */
const struct secret *value_secret(const struct value *value);

/* One owner more, or, in any thread, one less: without owners it is gone. Who is not the only one may not change it. */
void value_hold(struct value *value);
void value_release(struct value *value); /* NULL is fine */
bool value_is_shared(const struct value *value);

/* into becomes the sketch of its own stream and of n others, each so many times as its weight says, and lists as many
 * as the longest list of all if it has one. NULL and what has weight 0 add nothing. */
lego_status value_merge(struct value *into, struct value *const from[], const int64_t weights[], int n);

/* Folds to so many blocks, or, if blocks is 0, to what fits a budget. */
lego_status value_fold(struct value *value, uint32_t blocks, uint64_t budget);

/* What its sketch takes, as it counts it itself, in no time. */
uint64_t value_bytes(const struct value *value);

/* What the server's allocator took for all of it, with what is cached and what is rounded up. */
uint64_t value_memory(const struct value *value);

/* Lists so many from now on; false, and nothing changes, unless the sketch keeps items and top is 1 to TOP_MAX, or it
 * does not and top is 0. */
bool value_set_top(struct value *value, uint64_t top);

/* The canonical bytes of the sketch, in memory of alloc, to be freed; NULL if there is none. */
char *value_save(const struct value *value, void *(*alloc)(size_t size), size_t *size);

/* Where a value and all its memory is after the server has moved it as it likes. */
struct value *value_relocate(struct value *value, void *(*move)(void *context, void *memory, size_t size),
                             void *context);
