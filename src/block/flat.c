/* flat: see flat.h for what a block is. */
#include "block/flat.h"

#include <string.h>

void flat_init(struct flat *flat, uint32_t blocks, uint32_t bits, void *bytes)
{
    uintptr_t at = ((uintptr_t)bytes + DENSE_LINE - 1) / DENSE_LINE * DENSE_LINE;
    unsigned char *p = (unsigned char *)bytes + (at - (uintptr_t)bytes);
    *flat = (struct flat){.is_wide = bits == FLAT_WIDE, .cells = p};
    dense_place(&flat->dense, blocks);
    flat->packed = (_Atomic uint32_t *)(void *)(p + (size_t)blocks * BLOCK_CELLS * (bits / 8));
    flat->step = (uint8_t *)(flat->packed + blocks);
    flat_clear(flat);
}

static size_t cells_size(const struct flat *flat)
{
    return (size_t)flat->dense.blocks * BLOCK_CELLS * (flat->is_wide ? sizeof(int64_t) : sizeof(int32_t));
}

void flat_clear(struct flat *flat)
{
    memset(flat->cells, 0, cells_size(flat));
    memset(flat->step, 0, flat->dense.blocks);
    flat_forget_all(flat);
    flat->is_coarse = false;
    flat->dense.total = 0;
}

void flat_copy(struct flat *into, const struct flat *from)
{
    memcpy(into->cells, from->cells, cells_size(from));
    memcpy(into->step, from->step, from->dense.blocks);
    flat_forget_all(into);
    into->is_coarse = from->is_coarse;
    into->dense.total = from->dense.total;
}

void flat_forget_all(struct flat *flat)
{
    for (uint32_t i = 0; i < flat->dense.blocks; i++) flat_forget(flat, i);
}

void flat_prefetch_half(const struct flat *flat, const struct half *half, unsigned which)
{
    for (unsigned i = 0; i < 2; i++) {
        size_t at = (size_t)half->block * BLOCK_CELLS + block_place(0, which + 2 * i, half->column[i]);
        __builtin_prefetch((const char *)flat->cells + at * (flat->is_wide ? sizeof(int64_t) : sizeof(int32_t)), 1);
    }
}

void flat_prefetch(const struct flat *flat, struct hash hash)
{
    for (unsigned which = 0; which < 2; which++) {
        struct half half = dense_half(&flat->dense, hash, which);
        flat_prefetch_half(flat, &half, which);
    }
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Bytes of cells, up to which they are near enough not to be fetched ahead. */
enum { NEAR = 1 << 21 };

static inline size_t cell_of(const struct decode_places *places, unsigned k, unsigned i)
{
    return (size_t)places->block[k % 2][i] * BLOCK_CELLS + block_place(0, k, places->column[k % 2][k / 2][i]);
}

/* wide is a constant where this is called. All blocks are at step 0. */
static inline void add_fine(struct flat *flat, const struct decode_places *places, const int64_t counts[], unsigned n,
                            bool wide)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < BLOCK_ROWS; k++) {
            if (wide) ((int64_t *)flat->cells)[cell_of(places, k, i)] += counts[i];
            else ((int32_t *)flat->cells)[cell_of(places, k, i)] += (int32_t)counts[i];
        }
}

static void add_places(struct flat *flat, const struct decode_places *places, const int64_t counts[], unsigned n)
{
    if (!flat->is_coarse && flat->is_wide) {
        add_fine(flat, places, counts, n, true);
        return;
    }
    if (!flat->is_coarse) {
        add_fine(flat, places, counts, n, false);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned which = 0; which < 2; which++) {
            const uint32_t column[2] = {places->column[which][0][i], places->column[which][1][i]};
            flat_add_columns(flat, places->block[which][i], which, column, counts[i]);
        }
}

void flat_add_ahead(struct flat *flat, struct flat_ahead *ahead)
{
    struct flat_items *now = &ahead->items[ahead->turn], *before = &ahead->items[ahead->turn ^= 1];
    size_t size = flat->is_wide ? sizeof(int64_t) : sizeof(int32_t);
    for (unsigned k = 0; k < BLOCK_ROWS && cells_size(flat) > NEAR; k++)
        for (unsigned i = 0; i < now->n; i++)
            __builtin_prefetch((const char *)flat->cells + cell_of(&now->places, k, i) * size, 1);
    add_places(flat, &before->places, before->counts, before->n);
    before->n = 0;
}

/* wide and counted are constants where this is called; all blocks are at step 0. */
static inline void add_fine_notes(struct flat *flat, uint32_t first, const uint32_t note[], size_t n, bool wide,
                                  bool counted)
{
    const size_t from = (size_t)first * BLOCK_CELLS;
    for (size_t i = 0; i < n; i++, note += 1 + counted) {
        int32_t count = counted ? (int32_t)note[1] : 1;
        for (unsigned k = 0; k < 2; k++) {
            size_t cell = from + note_block(*note) * BLOCK_CELLS;
            cell += block_place(0, note_which(*note) + 2 * k, note_column(*note, k));
            if (wide) ((int64_t *)flat->cells)[cell] += count;
            else ((int32_t *)flat->cells)[cell] += count;
        }
    }
}

void flat_add_notes(struct flat *flat, uint32_t first, const uint32_t note[], size_t n, bool counted)
{
    if (!flat->is_coarse && !flat->is_wide && !counted) {
        add_fine_notes(flat, first, note, n, false, false);
    } else if (!flat->is_coarse && !flat->is_wide) {
        add_fine_notes(flat, first, note, n, false, true);
    } else if (!flat->is_coarse) {
        add_fine_notes(flat, first, note, n, true, counted);
    } else {
        for (size_t i = 0; i < n; i++, note += 1 + counted) {
            const uint32_t column[2] = {note_column(*note, 0), note_column(*note, 1)};
            flat_add_columns(flat, first + note_block(*note), note_which(*note), column,
                             counted ? (int32_t)note[1] : 1);
        }
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static inline int64_t get_cell(const struct flat *flat, size_t at)
{
    return flat->is_wide ? ((const int64_t *)flat->cells)[at] : ((const int32_t *)flat->cells)[at];
}

/* Cells of a block at its own step; returns that. */
static unsigned get_cells(const struct flat *flat, uint32_t block, int64_t value[BLOCK_CELLS])
{
    size_t first = (size_t)block * BLOCK_CELLS;
    for (unsigned i = 0; i < BLOCK_CELLS; i++) value[i] = get_cell(flat, first + i);
    return flat->step[block];
}

/* The same at a later step. In place: a row never moves up, and cell c is written after all that it is the sum of was
 * read. */
static void fold_to(int64_t value[BLOCK_CELLS], unsigned from, unsigned to)
{
    for (unsigned k = 0; k < BLOCK_ROWS && from < to; k++) {
        unsigned has = block_columns[from][k], wants = block_columns[to][k];
        for (unsigned c = 0; c < wants; c++) {
            int64_t sum = 0;
            for (unsigned i = c; i < has; i += wants) sum += value[block_place(from, k, 0) + i];
            value[block_place(to, k, 0) + c] = sum;
        }
    }
}

static unsigned cells_at(unsigned step)
{
    unsigned cells = 0;
    for (unsigned k = 0; k < BLOCK_ROWS; k++) cells += block_columns[step][k];
    return cells;
}

/* Packs a block; returns what is then known of it. */
static uint32_t pack_block(const struct flat *flat, uint32_t block, struct block *packed)
{
    int64_t value[BLOCK_CELLS], any = 0;
    unsigned own = get_cells(flat, block, value);
    uint32_t known = atomic_load_explicit(&flat->packed[block], memory_order_relaxed);
    unsigned from = (known & FLAT_STEP) > own ? known & FLAT_STEP : own;
    for (unsigned i = 0; i < BLOCK_CELLS; i++) any |= value[i];
    fold_to(value, own, from);
    flat->dense.kernels->pack(packed, value, from); /* and folds them further */
    unsigned step = block_step(packed), g = block_g(packed), cells = cells_at(step), length = cells * (1 + g);
    for (unsigned i = 0; i < cells; i++) length += block_digit_bits((uint64_t)value[i] >> g);
    return step | FLAT_KNOWN | g << FLAT_G_AT | (any < 0 ? 0 : length) << FLAT_LENGTH_AT;
}

struct block flat_block(const struct flat *flat, uint32_t block)
{
    struct block packed;
    pack_block(flat, block, &packed);
    return packed;
}

unsigned flat_packed_step(const struct flat *flat, uint32_t block)
{
    uint32_t known = atomic_load_explicit(&flat->packed[block], memory_order_relaxed), was = known;
    struct block packed;
    if (known & FLAT_KNOWN) known &= ~((uint32_t)FLAT_FOLLOWED_MOST << FLAT_FOLLOWED_AT);
    else known = pack_block(flat, block, &packed);
    if (known != was) atomic_store_explicit(&flat->packed[block], known, memory_order_relaxed);
    return known & FLAT_STEP;
}

int64_t flat_get(const struct flat *flat, uint32_t block, unsigned step, unsigned row, uint32_t column)
{
    unsigned own = flat->is_coarse ? flat->step[block] : 0, has = block_columns[own][row];
    size_t at = (size_t)block * BLOCK_CELLS + block_place(own, row, 0);
    unsigned wants = block_columns[step][row];
    int64_t sum = 0;
    for (unsigned c = column & (wants - 1); c < has; c += wants) sum += get_cell(flat, at + c);
    return sum;
}

/* A sum that grows makes no code shorter: so where nothing is negative, a block does not go back to an earlier step,
 * and stays at this one while the code with this g fits. */
void flat_follow(struct flat *flat, const struct half *half, unsigned which, int64_t count)
{
    uint32_t known = atomic_load_explicit(&flat->packed[half->block], memory_order_relaxed);
    unsigned step = known & FLAT_STEP, g = known >> FLAT_G_AT & 31, length = known >> FLAT_LENGTH_AT & 511;
    unsigned followed = known >> FLAT_FOLLOWED_AT;
    if (count < 0 || ((known & FLAT_KNOWN) && length == 0)) {
        flat_forget(flat, half->block);
        return;
    }
    if (!(known & FLAT_KNOWN)) return;
    for (unsigned row = which; row < BLOCK_ROWS && followed < FLAT_FOLLOWED_MOST; row += 2) {
        if (block_columns[step][row] == 0) break;
        uint64_t value = (uint64_t)flat_get(flat, half->block, step, row, half->column[row / 2]);
        length += block_digit_bits((value + (uint64_t)count) >> g) - block_digit_bits(value >> g);
    }
    if (length > BLOCK_BITS || followed == FLAT_FOLLOWED_MOST) known = step;
    else known = step | FLAT_KNOWN | g << FLAT_G_AT | length << FLAT_LENGTH_AT | (followed + 1) << FLAT_FOLLOWED_AT;
    atomic_store_explicit(&flat->packed[half->block], known, memory_order_relaxed);
}

/* The cells of half an item at the packed step of its block; returns in how many rows there is one. */
static unsigned read_half(const struct flat *flat, uint32_t block, unsigned step, unsigned which,
                          const uint32_t column[2], int64_t value[2], unsigned *widths)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 2; i++) {
        unsigned row = which + 2 * i, wants = block_columns[step][row];
        if (wants == 0) continue;
        *widths |= (unsigned)__builtin_ctz(wants) << 4 * n;
        value[n++] = flat_get(flat, block, step, row, column[i]);
    }
    return n;
}

unsigned flat_read(const struct flat *flat, struct hash hash, int64_t value[BLOCK_ROWS])
{
    unsigned n = 0, widths = 0;
    for (unsigned which = 0; which < 2; which++) {
        struct half half = dense_half(&flat->dense, hash, which);
        n += read_half(flat, half.block, flat_packed_step(flat, half.block), which, half.column, value + n, &widths);
    }
    return n;
}

void flat_read_items(const struct flat *flat, const struct decode_places *place, unsigned n, struct decode_items *items)
{
    for (unsigned c = 0; c < n; c++) {
        unsigned rows = 0;
        items->widths[c] = 0;
        for (unsigned which = 0; which < 2; which++) {
            uint32_t block = place->block[which][c];
            const uint32_t column[2] = {place->column[which][0][c], place->column[which][1][c]};
            unsigned step = flat_packed_step(flat, block), widths = 0;
            int64_t value[2];
            unsigned found = read_half(flat, block, step, which, column, value, &widths);
            items->step[which][c] = (uint8_t)step;
            items->widths[c] |= widths << 4 * rows;
            for (unsigned i = 0; i < found; i++, rows++) items->key[rows][c] = value[i] * 4 + rows;
        }
        for (; rows < BLOCK_ROWS; rows++) items->key[rows][c] = INT64_MAX;
    }
}

/* ---- merge and fold ---------------------------------------------------------------------------------------------- */

void flat_add_values(struct flat *into, uint32_t block, int64_t value[BLOCK_CELLS], unsigned step, int sign)
{
    int64_t sum[BLOCK_CELLS];
    unsigned own = get_cells(into, block, sum), later = own > step ? own : step;
    fold_to(sum, own, later);
    fold_to(value, step, later);
    unsigned cells = cells_at(later);
    for (unsigned i = 0; i < BLOCK_CELLS; i++) {
        size_t at = (size_t)block * BLOCK_CELLS + i;
        int64_t v = i < cells ? sum[i] + sign * value[i] : 0;
        if (into->is_wide) ((int64_t *)into->cells)[at] = v;
        else ((int32_t *)into->cells)[at] = (int32_t)v;
    }
    into->step[block] = (uint8_t)later;
    if (later > 0 && !into->is_coarse) into->is_coarse = true; /* batch_tally: threads that share it only read */
    flat_forget(into, block);
}

void flat_add_flat(struct flat *into, const struct flat *from, int sign)
{
    for (uint32_t i = 0; i < from->dense.blocks; i++) {
        int64_t value[BLOCK_CELLS];
        unsigned step = get_cells(from, i, value);
        flat_add_values(into, dense_folded(&into->dense, &from->dense, i), value, step, sign);
    }
    into->dense.total += sign * from->dense.total;
}

void flat_add_dense(struct flat *into, const struct dense *from, int sign)
{
    for (uint32_t i = 0; i < from->blocks; i++) {
        int64_t value[BLOCK_CELLS];
        from->kernels->unpack(&from->block[i], value);
        flat_add_values(into, dense_folded(&into->dense, from, i), value, block_step(&from->block[i]), sign);
    }
    into->dense.total += sign * from->total;
}

void dense_add_flat(struct dense *into, const struct flat *from, int sign)
{
    for (uint32_t i = 0; i < from->dense.blocks; i++) {
        struct block block = flat_block(from, i);
        into->kernels->add_all(&into->block[dense_folded(into, &from->dense, i)], &block, sign);
    }
    into->total += sign * from->dense.total;
}
