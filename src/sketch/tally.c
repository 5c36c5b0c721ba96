/* tally: see tally.h. */
#include "sketch/tally.h"

#include <string.h>

enum {
    FEW = 3,     /* additions to a list, up to which they are made one by one while there is room, ... */
    FEW_OF = 12, /* ... and one more for so many entries, which are written anew otherwise */
    AHEAD = 24,  /* sums whose blocks are on their way while others are added */
    AT_ONCE = 64 /* words whose slots are */
};

#define HERE (UINT64_C(1) << 63)

static unsigned slots_for(uint64_t items)
{
    unsigned slots = TALLY_LEAST;
    while (slots < TALLY_SLOTS && slots < 2 * items) slots *= 2;
    return slots;
}

void tally_start(struct tally *tally, struct blocks *blocks, const struct batch_growth *growth, uint64_t items)
{
    tally->blocks = blocks;
    tally->growth = growth;
    tally->n = tally->done = 0;
    tally->items = tally->added = 0;
    tally->room = tally->slots = slots_for(items);
    memset(tally->slot, 0, (tally->room + TALLY_BEYOND) * sizeof *tally->slot);
}

/* Blocks of `number` that have items of the range: from *first on, so many. */
static uint32_t range_of(const struct tally *tally, uint32_t number, uint32_t *first)
{
    const uint64_t most = tally->blocks->most;
    *first = (uint32_t)((uint64_t)tally->first * number / most);
    return (uint32_t)(((uint64_t)tally->end * number + most - 1) / most) - *first;
}

/* The same range, in as many blocks as there are now. */
static void set_number(struct tally *tally)
{
    uint32_t first, blocks = range_of(tally, tally->blocks->blocks, &first);
    tally->ranks = (struct ranks){tally->blocks->blocks, key_bits(tally->blocks->blocks)};
    tally->least = (uint64_t)first << tally->ranks.bits;
    tally->scale = (uint64_t)(((lego_u128)tally->slots << 64) / ((lego_u128)blocks << tally->ranks.bits));
}

void tally_range(struct tally *tally, uint32_t first, uint32_t end, uint64_t items)
{
    tally->first = first;
    tally->end = end;
    tally->slots = slots_for(items) < tally->room ? slots_for(items) : tally->room;
    tally->items = tally->added = 0;
    set_number(tally);
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static inline uint64_t rank_of(struct ranks ranks, struct hash hash)
{
    struct spot spot = spot_of(ranks.blocks, hash);
    return (uint64_t)spot.block << ranks.bits | spot.key >> (64 - ranks.bits);
}

static inline struct spot rank_spot(struct ranks ranks, uint64_t rank)
{
    return (struct spot){(uint32_t)((rank & ~HERE) >> ranks.bits), rank << (64 - ranks.bits)};
}

static inline struct hash rank_hash(struct ranks ranks, uint64_t rank)
{
    return spot_hash(ranks.blocks, rank_spot(ranks, rank));
}

/* Of a sum. */
static inline uint32_t block_of(const struct tally *tally, unsigned i)
{
    return rank_spot(tally->ranks, tally->slot[i].rank).block;
}

static inline uint64_t key_of(const struct tally *tally, unsigned i)
{
    return rank_spot(tally->ranks, tally->slot[i].rank).key;
}

/* Sorts by insertion between neighbours, and before that between those that are far apart, if they are in no order. */
static void sort_sums(struct sum sum[], unsigned n, bool all_but_sorted)
{
    for (unsigned gap = all_but_sorted || n < 3 ? 1 : n / 3; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (unsigned i = gap; i < n; i++) {
            struct sum new = sum[i];
            unsigned to = i;
            for (; to >= gap && sum[to - gap].rank > new.rank; to -= gap) sum[to] = sum[to - gap];
            if (to != i) sum[to] = new;
        }
}

/* Brings the sums to the front. */
static void gather_sums(struct tally *tally)
{
    unsigned n = 0;
    for (unsigned i = 0; i < tally->slots + TALLY_BEYOND; i++) {
        struct sum sum = tally->slot[i];
        tally->slot[n] = sum;
        n += sum.count != 0;
    }
    tally->n = n;
    tally->done = 0;
}

/* ---- to the blocks ----------------------------------------------------------------------------------------------- */

/* The sums of one block, from *i to `end` - 1: some in place, and then the others at once, from which on *i is. False
 * if there must be more blocks first, or the block would come to keep: then only the first ones are there. */
static bool add_to_block(const struct tally *tally, unsigned *i, unsigned end)
{
    struct blocks *blocks = tally->blocks;
    const uint32_t index = block_of(tally, *i);
    struct content content;
    content_start(&content, STEP_WHOLE);
    for (unsigned k = *i; k < end; k++, content.n++) {
        content.key[content.n] = key_of(tally, k);
        content.value[content.n] = tally->slot[k].count;
    }
    if (content.n <= FEW + block_entries(&blocks->block[index]) / FEW_OF) {
        unsigned done =
            blocks->kernels->add_some(&blocks->block[index], blocks->whole, content.key, content.value, content.n);
        *i += done;
        content.n -= done;
        memmove(content.key, content.key + done, content.n * sizeof *content.key);
        memmove(content.value, content.value + done, content.n * sizeof *content.value);
    }
    return content.n == 0 || blocks_join(blocks, index, &content);
}

/* Has the block of sum i fetched, if it is another one than that before it. */
static inline void prefetch(const struct tally *tally, unsigned i)
{
    if (i >= tally->n || (i > 0 && block_of(tally, i) == block_of(tally, i - 1))) return;
    blocks_prefetch(tally->blocks, block_of(tally, i));
}

/* Where the sums of the block of number i end, or a content is full. Blocks of the next ones are fetched. */
static unsigned run_end(const struct tally *tally, unsigned i)
{
    const uint32_t block = block_of(tally, i);
    unsigned end = i;
    for (; end < tally->n && end - i < BLOCK_ENTRIES && block_of(tally, end) == block; end++)
        prefetch(tally, end + AHEAD);
    return end;
}

/* Adds the sums; false if there must be more blocks first, or a block would come to keep. */
static bool add_sums(struct tally *tally)
{
    for (unsigned i = tally->done; i < tally->done + AHEAD; i++) prefetch(tally, i);
    for (unsigned end; tally->done < tally->n; tally->done = end) {
        end = run_end(tally, tally->done);
        if (!add_to_block(tally, &tally->done, end)) return false;
    }
    return true;
}

/* ---- while the sketch grows -------------------------------------------------------------------------------------- */

/* How many blocks there must certainly be. Of a list's bits an entry takes at least one each in quotients and counts,
 * and those of a whole key that are not in its quotient, which has at most nine. */
static uint32_t number_needed(const struct tally *tally)
{
    const struct blocks *blocks = tally->blocks;
    uint32_t number = blocks->blocks, first;
    while (number < blocks->most) {
        uint64_t entries = BLOCK_ROOM / (2 + key_bits(number) - 9);
        if (tally->n <= entries * range_of(tally, number, &first)) break;
        number = blocks_after(number, blocks->most);
    }
    return number;
}

/* Brings the sums to the number of blocks that there is. */
static void rank_again(struct tally *tally)
{
    const struct ranks old = tally->ranks;
    set_number(tally);
    for (unsigned i = 0; i < tally->n; i++)
        tally->slot[i].rank = rank_of(tally->ranks, rank_hash(old, tally->slot[i].rank)) | HERE;
    sort_sums(tally->slot + tally->done, tally->n - tally->done, false);
}

/* Adds the sums to more and more blocks. */
static bool add_and_grow(struct tally *tally)
{
    for (;;) {
        uint32_t needed = number_needed(tally);
        if (needed == tally->ranks.blocks) {
            if (add_sums(tally)) return true;
            if (!blocks_grow(tally->blocks)) return false;
            needed = blocks_after(needed, tally->blocks->most);
        }
        if (!tally->growth->grow(tally->growth->context, needed)) return false;
        rank_again(tally);
    }
}

bool tally_flush(struct tally *tally)
{
    gather_sums(tally);
    sort_sums(tally->slot, tally->n, true);
    if (!add_and_grow(tally)) return false;
    tally->added = tally->items;
    tally->n = tally->done = 0;
    memset(tally->slot, 0, (tally->slots + TALLY_BEYOND) * sizeof *tally->slot);
    return true;
}

void tally_take_back(struct tally *tally)
{
    while (tally->done > 0) {
        const struct sum *sum = &tally->slot[--tally->done];
        blocks_take_back(tally->blocks, rank_hash(tally->ranks, sum->rank), sum->count);
    }
    tally->n = 0;
    memset(tally->slot, 0, (tally->slots + TALLY_BEYOND) * sizeof *tally->slot);
}

/* ---- from a part ------------------------------------------------------------------------------------------------- */

/* Takes as many of n words as there are slots for, and returns how many. No search goes further than TALLY_BEYOND:
 * items can be chosen so that all belong to one place, and would else be looked for among all of them. */
static unsigned take_some(struct tally *tally, const uint64_t *word, unsigned n, bool counted)
{
    const struct ranks ranks = tally->ranks;
    const uint64_t least = tally->least | HERE, scale = tally->scale;
    uint64_t rank[AT_ONCE];
    struct sum *at[AT_ONCE];
    for (unsigned i = 0; i < n; i++) {
        rank[i] = rank_of(ranks, word_hash(word[counted ? 2 * i : i])) | HERE;
        at[i] = &tally->slot[(lego_u128)(rank[i] - least) * scale >> 64];
        __builtin_prefetch(at[i]);
    }
    unsigned i = 0, new = 0;
    for (; i < n; i++) {
        struct sum *sum = at[i], *end = sum + TALLY_BEYOND;
        while (sum->rank != rank[i] && sum->rank != 0 && sum < end) sum++;
        if (sum == end) break;
        new += sum->rank == 0;
        sum->rank = rank[i];
        sum->count += counted ? (int64_t)word[2 * i + 1] : 1;
    }
    tally->n += new;
    return i;
}

/* Where a place has no room for more, and the others are mostly empty, fewer slots do, which are sooner gone
 * through. */
static bool tally_flush_crowd(struct tally *tally)
{
    const bool fewer = tally->n < tally->slots / 8 && tally->slots > TALLY_LEAST;
    if (!tally_flush(tally)) return false;
    if (fewer) tally->slots /= 2;
    set_number(tally);
    return true;
}

bool tally_take(struct tally *tally, const uint64_t *word, unsigned words, bool counted)
{
    const unsigned size = 1 + counted;
    for (unsigned done = 0, n; done < words; done += n * size) {
        n = (words - done) / size < AT_ONCE ? (words - done) / size : AT_ONCE;
        if (tally->n + n > tally->slots / 2 && !tally_flush(tally)) return false;
        n = counted ? take_some(tally, word + done, n, true) : take_some(tally, word + done, n, false);
        tally->items += n;
        if (n == 0 && !tally_flush_crowd(tally)) return false;
    }
    return true;
}
