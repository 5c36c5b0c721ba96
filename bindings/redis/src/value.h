/* value: what a key holds, a sketch and how many items LEGO.TOP lists of it.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <legosketch.h>
#include <stdbool.h>

/* How many items LEGO.TOP lists if LEGO.LOAD is not told, and at most. */
#define TOP_DEFAULT 100u
#define TOP_MAX 1000000u

struct value {
    lego_sketch *sketch;
    uint32_t top; /* how many items LEGO.TOP lists; 0 if and only if the sketch does not keep its most frequent items */
    uint64_t budget; /* at least what it can grow to, for whoever has no time to look at all of it */
};

/* top is 0 to TOP_MAX; options->top and options->allocator follow from it and from the server. */
lego_status value_create(const lego_options *options, uint32_t top, struct value **value);
void value_destroy(struct value *value); /* in any thread */
lego_status value_copy(const struct value *value, struct value **copy);

/* into becomes the sketch of both streams, and lists as many as the longer list of both if it has one. */
lego_status value_merge(struct value *into, const struct value *from);

/* What it takes of the server's memory now, with what is cached. Takes a look at all of it. */
uint64_t value_memory(const struct value *value);

/* The sketch of bytes from anywhere, which lists TOP_DEFAULT items if it keeps them. */
lego_status value_load(const char *bytes, size_t size, struct value **value);

/* Lists so many from now on; false, and nothing changes, unless the sketch keeps items and top is 1 to TOP_MAX, or it
 * does not and top is 0. */
bool value_set_top(struct value *value, uint64_t top);

/* The canonical bytes of the sketch, in memory of alloc, to be freed; NULL if there is none. */
char *value_save(const struct value *value, void *(*alloc)(size_t size), size_t *size);
