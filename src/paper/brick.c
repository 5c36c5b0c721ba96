/* brick: see brick.h for the ladder and the layout. */
#include "paper/brick.h"

uint64_t memory_spill_slots(const struct shape *shape)
{
    /* At 8 bits a slot of 8 bytes for 64 cells, a ninth of the memory: on Zipf streams of skewness 0.5 to 1.5 in 300 to
     * 1200 KB, half as many make the error 16 % larger and twice as many 13 % (geometric means). The wider cells start,
     * the fewer of them overflow. No minimum: half a sketch must have no more than half the slots, or folding it would
     * not give the sketch that was made so. */
    return (uint64_t)shape->bricks * shape->rows * shape->columns / (8 * shape->bits);
}

static uint64_t cell_bytes(const struct shape *shape)
{
    return (uint64_t)shape->bricks * shape->rows * shape->columns * (shape->bits / 8);
}

uint64_t memory_bytes(const struct shape *shape)
{
    return cell_bytes(shape) + 8 * ((uint64_t)shape->bricks + spill_size(memory_spill_slots(shape)));
}

uint64_t memory_summary_bytes(const struct shape *shape)
{
    return shape->bricks * (sizeof(struct summary) + (uint64_t)shape->rows * sizeof(struct summary_row));
}

void memory_init(struct memory *memory, const struct shape *shape)
{
    *memory = (struct memory){.shape = *shape, .row_bytes = (size_t)shape->columns * (shape->bits / 8)};
    uint32_t bricks = shape->bricks, columns = shape->columns, bits = shape->bits;
    for (uint32_t l = 0;; l++, bits *= 2) {
        memory->levels[l] = (struct level){divisor_of(bricks), divisor_of(columns), bits, 1u << l};
        memory->last = l;
        if (bits == 64) break;
        if (bricks % 2) {
            columns /= 2;
        } else {
            bricks /= 2;
            memory->pairings = l + 1;
        }
    }
    for (uint32_t b = shape->bits; b > 8; b /= 2) memory->cell_shift++;
    memory->regions = divisor_of(shape->bricks >> memory->pairings);
    uint64_t keys = 2 * (uint64_t)shape->bricks * shape->rows * shape->columns;
    spill_init(&memory->spill, memory_spill_slots(shape), keys);
}

void memory_attach(struct memory *memory, void *bytes, bool summaries)
{
    memory->cells = bytes; /* first, so that rows start where the allocation does: on a cache line if that does */
    memory->totals = (int64_t *)(void *)(memory->cells + cell_bytes(&memory->shape));
    memory->spill.slots = (uint64_t *)(void *)(memory->totals + memory->shape.bricks);
    if (summaries) memory->summaries = (unsigned char *)(memory->spill.slots + memory->spill.size);
}

void memory_clear(struct memory *memory)
{
    memset(memory->cells, 0, memory_bytes(&memory->shape));
    if (memory->summaries) memset(memory->summaries, 0, memory_summary_bytes(&memory->shape));
    memory->level = memory->folded = 0;
    memory->spill.used = 0;
}

/* The bricks of the next level that one step makes; none after the last level. */
static uint32_t next_bricks(const struct memory *memory)
{
    return memory->level == memory->last ? 0 : memory->levels[memory->level + 1].bricks.d;
}

uint32_t brick_count(const struct memory *memory)
{
    uint32_t bricks = memory->levels[memory->level].bricks.d;
    return next_bricks(memory) < bricks ? bricks - memory->folded : bricks; /* pairs shrink the number, columns do not */
}

struct brick brick_at(const struct memory *memory, uint32_t i)
{
    const struct level *level = &memory->levels[memory->level];
    if (i < memory->folded) return brick_place(memory, level + 1, i);
    /* What is not folded: folded .. next, and next + folded .. */
    uint32_t next = next_bricks(memory);
    return brick_place(memory, level, i < next || next == 0 ? i : i + memory->folded);
}

void brick_read(const struct memory *memory, const struct brick *brick, const struct place *place, int64_t value[])
{
    for (uint32_t k = 0; k < memory->shape.rows; k++) {
        struct row row = brick_row(memory, brick, k);
        value[k] = cells_value(&row, &memory->spill, divisor_mod(brick->level->columns, place->column[k]));
    }
}

static void brick_changed(struct memory *memory, uint32_t number)
{
    if (!memory->summaries) return;
    atomic_store_explicit(&brick_summary(memory, number)->state, SUMMARY_EMPTY, memory_order_relaxed);
}

void memory_fold(struct memory *memory)
{
    const struct level *level = &memory->levels[memory->level], *next = level + 1;
    struct brick brick = brick_place(memory, level, memory->folded);
    for (uint32_t k = 0; k < memory->shape.rows; k++) {
        struct row row = brick_row(memory, &brick, k);
        cells_fold(&row, next->columns.d, &memory->spill);
    }
    brick_changed(memory, brick.number);
    if (next->bricks.d < level->bricks.d) {
        uint32_t partner = brick.number + next->bricks.d;
        memory->totals[brick.number] += memory->totals[partner];
        memory->totals[partner] = 0;
        brick_changed(memory, partner);
    }
    if (++memory->folded == next->bricks.d) {
        memory->level++;
        memory->folded = 0;
    }
}

/* Adds a value to one cell; false if the spill is full: then *value is what is left to add once there is room. */
static bool add_to_cell(struct memory *memory, const struct row *row, uint32_t column, int64_t *value)
{
    int64_t carry = cells_add_low(row, column, *value);
    if (carry == 0 || spill_add(&memory->spill, cells_key(row, column), carry)) return true;
    *value = (int64_t)((uint64_t)carry << row->bits);
    return false;
}

void memory_add_value(struct memory *memory, uint32_t k, uint32_t brick_hash, uint32_t column_hash, int64_t value)
{
    for (;; memory_fold(memory)) {
        struct brick brick = brick_of(memory, brick_hash);
        struct row row = brick_row(memory, &brick, k);
        if (add_to_cell(memory, &row, divisor_mod(brick.level->columns, column_hash), &value)) return;
    }
}

void memory_add(struct memory *memory, const struct place *place, const uint32_t weight[], int64_t count)
{
    struct brick brick = brick_of(memory, place->brick);
    memory->totals[brick.number] += count;
    brick_changed(memory, brick.number);
    for (uint32_t k = 0; k < memory->shape.rows; k++) {
        struct row row = brick_row(memory, &brick, k);
        int64_t value = count * (int64_t)weight[k];
        if (add_to_cell(memory, &row, divisor_mod(brick.level->columns, place->column[k]), &value)) continue;
        memory_fold(memory);
        memory_add_value(memory, k, place->brick, place->column[k], value);
        brick = brick_of(memory, place->brick);
    }
}

unsigned char memory_add_low(struct memory *memory, const struct place *place, const uint32_t weight[], int64_t count,
                             int64_t late[])
{
    struct brick brick = brick_of(memory, place->brick);
    unsigned is_late = 0;
    memory->totals[brick.number] += count;
    brick_changed(memory, brick.number);
    for (uint32_t k = 0; k < memory->shape.rows; k++) {
        struct row row = brick_row(memory, &brick, k);
        int64_t value = count * (int64_t)weight[k];
        int64_t carry = cells_add_low(&row, divisor_mod(brick.level->columns, place->column[k]), value);
        if (carry == 0) continue; /* always so with cells of 64 bits */
        late[k] = (int64_t)((uint64_t)carry << row.bits);
        is_late |= 1u << k;
    }
    return (unsigned char)is_late;
}

bool shape_folds_to(const struct shape *from, const struct shape *into)
{
    return from->rows == into->rows && from->bits == into->bits && from->bricks % into->bricks == 0 &&
           from->columns % into->columns == 0;
}

/* Folds `into` until each cell of `from` belongs to one of its cells. With as many bricks that is the later of the two
 * positions on the ladder; otherwise every brick of `from` must be whole in a brick of `into`. */
static void fold_towards(struct memory *into, const struct memory *from)
{
    bool same = into->shape.bricks == from->shape.bricks;
    const struct level *coarse = &from->levels[from->level + (from->folded > 0)];
    for (;; memory_fold(into)) {
        const struct level *fine = &into->levels[into->level];
        if (same ? into->level > from->level || (into->level == from->level && into->folded >= from->folded)
                 : coarse->bricks.d % fine->bricks.d == 0 && coarse->columns.d % fine->columns.d == 0)
            return;
    }
}

void memory_add_all(struct memory *into, const struct memory *from, int sign)
{
    fold_towards(into, from);
    for (uint32_t i = 0; i < brick_count(from); i++) {
        struct brick brick = brick_at(from, i);
        uint32_t number = brick_of(into, brick.number).number;
        into->totals[number] += sign * from->totals[brick.number];
        for (uint32_t k = 0; k < from->shape.rows; k++) {
            struct row row = brick_row(from, &brick, k);
            for (uint32_t c = 0; c < brick.level->columns.d; c++) {
                int64_t value = cells_value(&row, &from->spill, c);
                if (value != 0) memory_add_value(into, k, brick.number, c, sign * value);
            }
        }
    }
    if (into->summaries) memset(into->summaries, 0, memory_summary_bytes(&into->shape));
}
