/* relocate: a sketch whose memory is moved by its owner. */
#include <string.h>

#include "sketch/sketch.h"

/* Where a pointer into memory that was at `from` points to now; that memory may be gone. */
static void *rebased(const void *pointer, uintptr_t from, void *to)
{
    return (unsigned char *)to + ((uintptr_t)pointer - from);
}

/* What starts on a cache line, and was copied to where it may not: returns the line's start, to which it goes. */
static void *on_a_line(void *content, void *memory, size_t size)
{
    uintptr_t line = ((uintptr_t)memory + BLOCKS_LINE - 1) / BLOCKS_LINE * BLOCKS_LINE;
    return memmove((void *)line, content, size);
}

static void light_moved(lego_sketch *sketch, void *to)
{
    uintptr_t from = (uintptr_t)sketch->bytes;
    struct blocks *blocks = &sketch->blocks;
    struct bricks *bricks = &sketch->bricks;
    sketch->bytes = to;
    if (has_blocks(sketch->model)) {
        void *block = rebased(blocks->block, from, to);
        blocks->block = on_a_line(block, to, (size_t)blocks->blocks * sizeof *blocks->block);
        return;
    }
    bricks->cells = rebased(bricks->cells, from, to);
    bricks->totals = rebased(bricks->totals, from, to);
    bricks->marks = rebased(bricks->marks, from, to);
    bricks->scans = rebased(bricks->scans, from, to);
}

static void top_moved(lego_sketch *sketch, void *to)
{
    struct top *top = &sketch->top;
    void *bucket = rebased(top->bucket, (uintptr_t)sketch->top_bytes, to);
    sketch->top_bytes = to;
    top->bucket = on_a_line(bucket, to, (size_t)top->buckets.d * TOP_BUCKET);
}

lego_sketch *lego_relocate(lego_sketch *sketch, lego_move move, void *context)
{
    sketch = move(context, sketch, sizeof *sketch);
    void *bytes = move(context, sketch->bytes, (size_t)light_size(sketch));
    if (bytes != sketch->bytes) light_moved(sketch, bytes);
    if (has_top(sketch)) {
        void *top = move(context, sketch->top_bytes, (size_t)top_bytes(sketch->top.buckets.d));
        if (top != sketch->top_bytes) top_moved(sketch, top);
    }
    return sketch;
}
