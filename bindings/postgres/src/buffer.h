/* buffer: items that wait to be counted or asked for, as the library takes many at once.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "item.h"

struct buffer {
    size_t n, room;  /* items, and places for them */
    uint64_t *items; /* keys; or, of bytes, where each of them starts and the last one ends */
    int64_t *counts; /* of each; NULL: once */
    char *bytes;     /* NULL: they are keys */
    size_t bytes_room;
    lego_kind kind; /* of those that are bytes: some may be integers, as their 8 bytes */
};

/* bytes: not all of the items are integers. counted: they come with counts. */
void buffer_start(struct buffer *buffer, MemoryContext context, bool bytes, bool counted);
void buffer_clear(struct buffer *buffer);

/* Makes twice as much room. */
void buffer_grow(struct buffer *buffer);

/* The rest is for a buffer that has room for one more. */
static inline void buffer_add_key(struct buffer *buffer, uint64_t key, int64_t count)
{
    if (buffer->counts != NULL) buffer->counts[buffer->n] = count;
    buffer->items[buffer->n++] = key;
}

void buffer_add_bytes(struct buffer *buffer, const struct item *item, int64_t count);

static inline void buffer_add(struct buffer *buffer, const struct item *item, int64_t count)
{
    if (buffer->bytes == NULL) buffer_add_key(buffer, item->key, count);
    else buffer_add_bytes(buffer, item, count);
}

/* How many bytes of items there are. */
static inline size_t buffer_bytes(const struct buffer *buffer)
{
    return buffer->bytes == NULL ? 0 : buffer->items[buffer->n];
}

/* What is in it; valid until it is added to. */
lego_items buffer_items(const struct buffer *buffer);
