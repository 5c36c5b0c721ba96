/* Items that wait to be counted or asked for; see buffer.h.
 *
 * SPDX-License-Identifier: MIT */
#include "buffer.h"

#include "utils/memutils.h"

#include <string.h>

enum {
    ROOM = 15,           /* items that there is room for at first: with the end of the last, a power of 2 */
    MEAN_SIZE = 8,       /* bytes of an item, for which there is room then */
    BYTES_KEPT = 1 << 20 /* the most room for bytes that is kept when it is cleared */
};

void buffer_start(struct buffer *buffer, MemoryContext context, bool bytes, bool counted)
{
    *buffer = (struct buffer){.room = ROOM};
    buffer->items = MemoryContextAlloc(context, (ROOM + 1) * sizeof *buffer->items);
    buffer->items[0] = 0;
    if (counted) buffer->counts = MemoryContextAlloc(context, (ROOM + 1) * sizeof *buffer->counts);
    if (bytes) {
        buffer->bytes_room = (ROOM + 1) * MEAN_SIZE;
        buffer->bytes = MemoryContextAlloc(context, buffer->bytes_room);
    }
}

/* One long item does not keep its room for good. */
void buffer_clear(struct buffer *buffer)
{
    buffer->n = 0;
    buffer->kind = LEGO_ITEMS_NONE;
    if (buffer->bytes == NULL) return;
    buffer->items[0] = 0;
    if (buffer->bytes_room <= Max(BYTES_KEPT, buffer->room * MEAN_SIZE)) return;
    buffer->bytes_room = Max(BYTES_KEPT, buffer->room * MEAN_SIZE);
    buffer->bytes = repalloc_huge(buffer->bytes, buffer->bytes_room);
}

void buffer_grow(struct buffer *buffer)
{
    size_t places = 2 * (buffer->room + 1); /* the last is the end of the last item */
    buffer->room = places - 1;
    buffer->items = repalloc_huge(buffer->items, places * sizeof *buffer->items);
    if (buffer->counts != NULL) buffer->counts = repalloc_huge(buffer->counts, places * sizeof *buffer->counts);
}

void buffer_add_bytes(struct buffer *buffer, const struct item *item, int64_t count)
{
    size_t start = buffer->items[buffer->n], size = item->integer ? sizeof item->key : item->size;
    if (size > buffer->bytes_room - start) {
        buffer->bytes_room = Max(2 * buffer->bytes_room, start + size);
        buffer->bytes = repalloc_huge(buffer->bytes, buffer->bytes_room);
    }
    if (item->integer) item_write_key(buffer->bytes + start, item->key);
    else memcpy(buffer->bytes + start, item->bytes, size);
    if (count != 0) buffer->kind |= item->integer ? LEGO_ITEMS_INTEGERS : LEGO_ITEMS_BYTES;
    buffer_add_key(buffer, start, count);
    buffer->items[buffer->n] = start + size;
}

lego_items buffer_items(const struct buffer *buffer)
{
    lego_items items = {.n = buffer->n, .counts = buffer->counts};
    if (buffer->bytes == NULL) {
        items.integers = buffer->items;
    } else {
        items.bytes = buffer->bytes;
        items.offsets = buffer->items;
        items.kind = buffer->kind;
    }
    return items;
}
