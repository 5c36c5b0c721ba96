/* tally: see tally.h. */
#include "sketch/tally.h"

#include <string.h>

enum {
    FEW = 12,         /* additions to a block, up to which they are made one by one while there is room */
    FEW_OF_A_CAP = 24 /* and to a cap */
};

#define HERE (UINT64_C(1) << 63)

void tally_start(struct tally *tally, struct blocks *blocks, const struct batch_growth *growth, uint64_t items)
{
    tally->slots = TALLY_LEAST;
    while (tally->slots < TALLY_SLOTS && tally->slots < 2 * items) tally->slots *= 2;
    tally->blocks = blocks;
    tally->growth = growth;
    tally->n = 0;
    memset(tally->slot, 0, sizeof tally->slot);
}

/* The range, given in blocks of another number. */
static void set_range(struct tally *tally, uint32_t number, uint32_t first, uint32_t end)
{
    uint64_t now = tally->blocks->blocks;
    tally->number = (uint32_t)now;
    tally->first = (uint32_t)(first * now / number);
    tally->end = (uint32_t)((end * now + number - 1) / number);
    tally->scale = ((uint64_t)tally->slots << (64 - BLOCK_PRINT)) / (tally->end - tally->first);
}

void tally_range(struct tally *tally, uint32_t number, uint32_t first, uint32_t end)
{
    set_range(tally, number, first, end);
    tally->items = tally->added = 0;
}

/* ---- to the blocks ----------------------------------------------------------------------------------------------- */

static bool comes_before(const struct addition *a, const struct addition *b)
{
    return a->spot.block != b->spot.block ? a->spot.block < b->spot.block : a->spot.key < b->spot.key;
}

/* Empties the slots, sorts what was in them, and returns how many there are. */
static unsigned sort_sums(struct tally *tally)
{
    struct addition *addition = tally->addition;
    unsigned n = 0;
    for (unsigned i = 0; i < tally->slots + TALLY_BEYOND; i++) {
        struct sum sum = tally->slot[i];
        if (sum.word == 0 || sum.count == 0) continue;
        struct addition new = {spot_of(tally->number, word_hash(sum.word)), sum.count};
        unsigned to = n++;
        for (; to > 0 && comes_before(&new, &addition[to - 1]); to--) addition[to] = addition[to - 1];
        addition[to] = new;
    }
    memset(tally->slot, 0, (tally->slots + TALLY_BEYOND) * sizeof *tally->slot);
    tally->n = 0;
    return n;
}

/* The additions to one block, caps left out, from *i to `end` - 1: some in place, and then the others at once, from
 * which on *i is. False if there must be more blocks first: then only the first ones are there. */
static bool add_to_block(struct blocks *blocks, const struct addition *addition, unsigned *i, unsigned end)
{
    struct block *block = &blocks->block[addition[*i].spot.block];
    struct content content;
    content.step = STEP_WHOLE;
    content.n = 0;
    for (unsigned k = *i; k < end; k++, content.n++) {
        content.key[content.n] = key_cut(addition[k].spot.key, blocks->whole);
        content.value[content.n] = addition[k].count;
    }
    if (content.n <= FEW) {
        unsigned done = blocks->kernels->add_some(block, blocks->whole, content.key, content.value, content.n);
        *i += done;
        content.n -= done;
        memmove(content.key, content.key + done, content.n * sizeof *content.key);
        memmove(content.value, content.value + done, content.n * sizeof *content.value);
    }
    return content.n == 0 || blocks_join(blocks, addition[*i].spot.block, &content, 1);
}

static void add_to_cap(struct blocks *blocks, const struct addition *addition, unsigned n)
{
    struct block *cap = cap_of(blocks, addition->spot.block);
    struct content content;
    for (unsigned i = 0; n <= FEW_OF_A_CAP && i < n; i++)
        blocks->kernels->add_on(cap, blocks->whole, addition[i].spot.key, addition[i].count);
    if (n <= FEW_OF_A_CAP) return;
    blocks->kernels->open(cap, blocks->whole, &content);
    for (unsigned i = 0; i < n; i++) content_add(&content, blocks->whole, addition[i].spot.key, addition[i].count);
    blocks->kernels->settle(cap, blocks->whole, &content);
}

/* Where the additions to the block of number i end, or a content is full. */
static unsigned run_end(const struct addition *addition, unsigned i, unsigned n)
{
    unsigned end = i + 1;
    while (end < n && end - i < BLOCK_ENTRIES && addition[end].spot.block == addition[i].spot.block) end++;
    return end;
}

/* Adds those that share a cap. It may be made on the way, of what the lists then have; the rest has yet to be added to
 * it. */
static void add_to_group(struct blocks *blocks, const struct addition *addition, unsigned n)
{
    const struct block *cap = cap_of(blocks, addition->spot.block);
    unsigned capped = cap_counts(cap) ? 0 : n;
    for (unsigned i = 0, end; i < n; i = end) {
        end = run_end(addition, i, n);
        add_to_block(blocks, addition, &i, end); /* the number of blocks is the most */
        if (capped == n && cap_counts(cap)) capped = i;
    }
    if (capped < n) add_to_cap(blocks, addition + capped, n - capped);
}

static void add_to_groups(struct blocks *blocks, const struct addition *addition, unsigned n)
{
    for (unsigned i = 0, start = 0; i < n; start = i) {
        uint32_t end = cap_end(blocks, cap_index(blocks, addition[i].spot.block));
        while (i < n && addition[i].spot.block < end) i++;
        add_to_group(blocks, addition + start, i - start);
    }
}

/* ---- while the sketch grows -------------------------------------------------------------------------------------- */

/* One addition whose spot is of another number of blocks. */
static bool add_one(struct tally *tally, const struct addition *addition, int sign)
{
    struct hash hash = spot_hash(tally->number, addition->spot);
    while (!blocks_add(tally->blocks, hash, sign * addition->count))
        if (!tally->growth->grow(tally->blocks, tally->growth->context)) return false;
    return true;
}

/* As many at once as there is room for, and then one by one. */
static bool add_growing(struct tally *tally, const struct addition *addition, unsigned n)
{
    unsigned i = 0;
    for (unsigned end; i < n; i = end) {
        end = run_end(addition, i, n);
        if (!add_to_block(tally->blocks, addition, &i, end)) break;
    }
    for (; i < n; i++) {
        if (add_one(tally, addition + i, 1)) continue;
        while (i > 0) add_one(tally, addition + --i, -1);
        return false;
    }
    return true;
}

bool tally_flush(struct tally *tally)
{
    unsigned n = sort_sums(tally);
    if (blocks_grow(tally->blocks)) {
        if (!add_growing(tally, tally->addition, n)) return false;
    } else {
        add_to_groups(tally->blocks, tally->addition, n);
    }
    tally->added = tally->items;
    set_range(tally, tally->number, tally->first, tally->end);
    return true;
}

/* ---- from a part ------------------------------------------------------------------------------------------------- */

/* The slot of a word, or an empty one for it. The very last is never filled: the search ends there. */
static inline struct sum *find_slot(struct tally *tally, uint64_t word)
{
    struct spot spot = spot_of(tally->number, word_hash(word));
    uint64_t local = (uint64_t)(spot.block - tally->first) << BLOCK_PRINT | spot.key >> (64 - BLOCK_PRINT);
    struct sum *sum = &tally->slot[(lego_u128)local * tally->scale >> 64];
    while (sum->word != word && sum->word != 0) sum++;
    return sum;
}

static bool take_one(struct tally *tally, uint64_t word, int64_t count)
{
    struct sum *sum = find_slot(tally, word | HERE);
    if (sum->word == 0) {
        if (tally->n == tally->slots / 8 * 5 || sum == &tally->slot[tally->slots + TALLY_BEYOND - 1]) {
            if (!tally_flush(tally)) return false;
            sum = find_slot(tally, word | HERE);
        }
        sum->word = word | HERE;
        tally->n++;
    }
    sum->count += count;
    tally->items++;
    return true;
}

bool tally_take(struct tally *tally, const uint64_t *word, unsigned words, bool counted)
{
    for (unsigned i = 0; i < words; i += 1 + counted)
        if (!take_one(tally, word[i], counted ? (int64_t)word[i + 1] : 1)) return false;
    return true;
}
