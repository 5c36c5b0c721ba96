/* Adding to a block in whatever way it takes: where the bits are, to an open block, or to plain integers. Part of the
 * body that kernels_block.h is. */
#pragma once

#include "block/kernels_add.h"
#include "block/kernels_open.h"
#include "block/kernels_pack.h"

/* Goes a step further where only the last of more than two rows changes, which has a word of map 0 of its own, and
 * where there is no other way to fit: if g is 0 and the block would be too large at 1, whatever its longer digits. */
static bool open_fold(struct open *o)
{
    if (o->step >= 5 || o->g > 0 || o->is_signed) return false;
    unsigned two = 0, row = o->step < 2 ? 3 : 2, word = row + 1, to = block_columns[o->step + 1][row];
    for (unsigned k = 0; k < o->groups; k++)
        two += ones(o->group[k].digit[0] | o->group[k].on[0]); /* T is 2 at least */
    if (2 * (o->cells + two) <= BITS) return false;
    if (!o->has_rest) open_rest(o);
    for (uint64_t map = o->word[word].map & ~below(to); map; map &= map - 1) {
        unsigned cell = 64 * word + (unsigned)__builtin_ctzll(map);
        uint64_t t = get_t(o, cell);
        take_out(o, cell);
        if (to > 0) steps_up(o, cell - to, t);
    }
    o->step++;
    o->cells = cells_at[o->step];
    return true;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* An open block, or plain integers from the first cell on that becomes negative. */
struct sum {
    struct open open;
    bool is_plain, is_simple; /* simple: to add 1 is step_up() */
    int64_t value[BLOCK_CELLS + 1];
};

static inline void sum_open(struct sum *s, struct block *b, unsigned room)
{
    open_block(b, room, &s->open);
    s->is_plain = false;
    s->is_simple = s->open.g == 0 && !s->open.is_signed;
}

static inline void sum_add(struct sum *s, unsigned cell, int64_t count)
{
    if (count == 1 && s->is_simple) {
        step_up(&s->open, cell);
        return;
    }
    if (!s->is_plain) {
        if (open_add(&s->open, cell, count)) return;
        open_values(&s->open, s->value);
        s->is_plain = true;
        s->is_simple = false;
    }
    s->value[cell] = (int64_t)((uint64_t)s->value[cell] + (uint64_t)count); /* may leave 63 bits between two notes */
}

static inline void sum_close(struct sum *s)
{
    if (!s->is_plain) {
        do {
            if (close_block(&s->open)) return;
        } while (open_fold(&s->open));
        open_values(&s->open, s->value);
    }
    pack_values(s->open.block, s->value, s->open.step);
}

static __attribute__((noinline)) void add_opened(struct block *b, const unsigned cell[2], int64_t count)
{
    struct sum s;
    sum_open(&s, b, 2);
    for (int i = 0; i < 2; i++) sum_add(&s, cell[i], count);
    sum_close(&s);
}

static void add(struct block *b, const unsigned row[2], const uint32_t hash[2], int64_t count)
{
    unsigned step = block_step(b);
    unsigned cell[2] = {block_place(step, row[0], hash[0]), block_place(step, row[1], hash[1])};
    if (cell[0] > cell[1]) {
        unsigned first = cell[1];
        cell[1] = cell[0];
        cell[0] = first;
    }
    if (count < 0 || !add_there(b, cell, (uint64_t)count)) add_opened(b, cell, count);
}

static void add_all(struct block *into, const struct block *from, int sign)
{
    int64_t value[2][BLOCK_CELLS];
    const struct block *block[2] = {into, from};
    unsigned step = block_step(into) > block_step(from) ? block_step(into) : block_step(from);
    for (int j = 0; j < 2; j++) {
        unpack(block[j], value[j]);
        for (unsigned s = block_step(block[j]); s < step; s++) fold(value[j], s);
    }
    for (unsigned i = 0; i < cells_at[step]; i++) value[0][i] += sign * value[1][i];
    pack_values(into, value[0], step);
}

static void add_values(struct block *b, int64_t value[])
{
    int64_t own[BLOCK_CELLS];
    unsigned step = block_step(b), cells = unpack(b, own);
    for (unsigned s = 0; s < step; s++) fold(value, s);
    for (unsigned i = 0; i < cells; i++) own[i] += value[i];
    pack_values(b, own, step);
}
