/* answer: an estimate from blocks. It depends on the content of the sketch alone: not on what is asked together, nor on
 * what was asked before. */
#include <string.h>

#include "sketch/judge.h"
#include "sketch/sketch.h"
#include "sketch/words.h"

/* ---- one item ---------------------------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of a block that has let somebody go, where all that it counts is above 0, or nearly all. Who is listed counts no
 * less than most of those who are not. */
static inline lego_estimate answer_above(const struct blocks *blocks, const struct reading *reading, bool absent)
{
    const struct unlisted unlisted = unlisted_now(blocks);
    const uint64_t upper = (uint64_t)reading->alike + reading->plus, listed = (uint64_t)reading->value;
    const uint64_t usual = absent && !reading->listed ? 0 : least(unlisted.value, upper);
    const uint64_t value = listed > usual ? listed : usual;
    const uint64_t more = unlisted.likely; /* 0: nothing has been judged yet */
    const uint64_t likely = more == 0 || more > upper - listed ? upper : listed + more;
    const int64_t lower = reading->value - (int64_t)reading->minus;
    return (lego_estimate){(double)value, lower, (int64_t)upper, (int64_t)(likely > value ? likely : value)};
}

/* What was lost on either side may be of the item. */
static inline lego_estimate answer_lost(const struct reading *reading)
{
    const int64_t low = reading->alike < reading->value ? reading->alike : reading->value;
    const int64_t high = reading->alike > reading->value ? reading->alike : reading->value;
    const int64_t upper = high + (int64_t)reading->plus;
    return (lego_estimate){(double)reading->value, low - (int64_t)reading->minus, upper, upper};
}

/* A list that has let nobody go has the count, but for items that share its bits. (Who is not listed, or was deleted,
 * where another is that agrees in the bits that all know may have been counted there, before that took longer bits.) */
static inline lego_estimate answer_listed(const struct reading *reading)
{
    const int64_t upper = reading->alike > reading->value ? reading->alike : reading->value;
    return (lego_estimate){(double)reading->value, reading->value, upper, upper};
}

static inline lego_estimate answer(const struct blocks *blocks, const struct reading *reading, bool absent)
{
    const bool lost = (reading->plus | reading->minus) > 0;
    if (!lost && (reading->value != 0 || reading->alike <= 0)) return answer_listed(reading);
    if (reading->minus > reading->plus / 8 || reading->value < 0 || reading->alike < reading->value)
        return answer_lost(reading);
    return answer_above(blocks, reading, absent);
}

lego_estimate blocks_query(const lego_sketch *sketch, struct hash hash, const lego_asking *asking)
{
    struct reading reading;
    blocks_read(&sketch->blocks, spot_of(sketch->blocks.blocks, hash), &reading);
    return answer(&sketch->blocks, &reading, asking->absent >= LEGO_ABSENT);
}

/* ---- many items --------------------------------------------------------------------------------------------------
 *
 * The same frequent ones are asked for again and again, and theirs are the counts that take longest to read. So answers
 * are kept while the call lasts, each in the place that its item's hash tells. */

enum {
    WORTHWHILE = 2048,     /* questions, from which on answers are kept */
    QUESTIONS_A_PLACE = 2, /* at least; and the most places, ... */
    PLACES_MOST = 1 << 13, /* ... which are 256 KB: they stay in the cache next to a core */
    TRIED = 512,           /* after so many questions, unless one of USEFUL was answered before, no more are kept */
    USEFUL = 8
};

/* A place. Who was asked for again stays when another comes there the next time. */
#define FILLED (UINT64_C(1) << 63)
#define AGAIN (UINT64_C(1) << 62)

struct known {
    uint64_t word; /* the item's (words.h), and FILLED, and perhaps AGAIN */
    lego_estimate estimate;
};

struct memory {
    size_t mask;  /* how many places there are, less 1 */
    size_t times; /* that an answer was there */
    struct known known[];
};

struct asker {
    const lego_sketch *sketch;
    bool absent;
    const lego_items *items;
    lego_estimate *estimates;
    struct memory *memory; /* NULL if answers are not kept */
};

/* Items whose blocks are on their way while those before them are answered. */
struct some {
    unsigned n;
    uint64_t word[MANY_MOST];
    size_t index[MANY_MOST]; /* which of all items it is */
    uint32_t block[MANY_MOST];
    uint64_t key[MANY_MOST];
};

static size_t memory_places(size_t questions)
{
    size_t places = 1;
    while (places < PLACES_MOST && places < questions / QUESTIONS_A_PLACE) places *= 2;
    return places;
}

static size_t memory_size(size_t places)
{
    return sizeof(struct memory) + places * sizeof(struct known);
}

static struct memory *memory_make(const lego_allocator *allocator, size_t places)
{
    struct memory *memory = allocator->alloc(allocator->context, memory_size(places));
    if (!memory) return NULL;
    memory->mask = places - 1;
    memory->times = 0;
    memset(memory->known, 0, places * sizeof *memory->known);
    return memory;
}

static inline struct known *known_of(struct memory *memory, uint64_t word)
{
    return &memory->known[word & memory->mask]; /* bits of the print */
}

static void keep(struct memory *memory, uint64_t word, const lego_estimate *estimate)
{
    struct known *known = known_of(memory, word);
    if (known->word & AGAIN) known->word &= ~AGAIN;
    else *known = (struct known){word, *estimate};
}

static void answer_some(struct asker *asker, const struct some *some)
{
    struct reading reading[MANY_MOST];
    const struct blocks *blocks = &asker->sketch->blocks;
    blocks->kernels->read_many(blocks->block, blocks->whole, some->block, some->key, some->n, reading);
    for (unsigned i = 0; i < some->n; i++) {
        lego_estimate *estimate = &asker->estimates[some->index[i]];
        *estimate = answer(blocks, &reading[i], asker->absent);
        if (asker->memory) keep(asker->memory, some->word[i], estimate);
    }
}

/* Of n items from `first` on: answers those that are known, and gathers the others. An estimate is copied in any case:
 * no branch depends on whether it is the right one. */
static void recall(struct memory *memory, const uint64_t word[], size_t first, unsigned n, lego_estimate *estimates,
                   struct some *some)
{
    unsigned others = 0;
    for (unsigned i = 0; i < n; i++) {
        struct known *known = known_of(memory, word[i]);
        const bool here = (known->word | AGAIN) == (word[i] | AGAIN);
        estimates[first + i] = known->estimate;
        known->word |= here ? AGAIN : 0;
        some->word[others] = word[i];
        some->index[others] = first + i;
        others += !here;
    }
    some->n = others;
    memory->times += n - others;
}

/* All of them are others. */
static void recall_none(const uint64_t word[], size_t first, unsigned n, struct some *some)
{
    memcpy(some->word, word, n * sizeof *word);
    for (unsigned i = 0; i < n; i++) some->index[i] = first + i;
    some->n = n;
}

static void gather_some(struct asker *asker, size_t first, unsigned n, struct some *some)
{
    const struct blocks *blocks = &asker->sketch->blocks;
    uint64_t word[MANY_MOST];
    words_of(asker->items, first, n, asker->sketch->seed, blocks->kernels, word);
    for (unsigned i = 0; i < n; i++) word[i] |= FILLED;
    if (asker->memory) recall(asker->memory, word, first, n, asker->estimates, some);
    else recall_none(word, first, n, some);
    for (unsigned i = 0; i < some->n; i++) {
        const struct spot spot = spot_of(blocks->blocks, word_hash(some->word[i]));
        some->block[i] = spot.block;
        some->key[i] = spot.key;
        blocks_prefetch(blocks, spot.block);
    }
}

static void ask_all(struct asker *asker, size_t first, size_t end)
{
    struct some some[2] = {{.n = 0}, {.n = 0}};
    unsigned turn = 0;
    for (size_t at = first; at < end; turn ^= 1) {
        unsigned n = end - at < MANY_MOST ? (unsigned)(end - at) : MANY_MOST;
        gather_some(asker, at, n, &some[turn]);
        answer_some(asker, &some[turn ^ 1]);
        at += n;
        if (at - first == TRIED && asker->memory && asker->memory->times < TRIED / USEFUL) asker->memory = NULL;
    }
    answer_some(asker, &some[turn ^ 1]);
}

void blocks_query_items(const lego_sketch *sketch, const lego_items *items, size_t first, size_t end,
                        const lego_asking *asking, lego_estimate *estimates)
{
    const lego_allocator *allocator = &sketch->allocator;
    const size_t places = memory_places(end - first);
    struct memory *memory = end - first < WORTHWHILE ? NULL : memory_make(allocator, places);
    struct asker asker = {sketch, asking->absent >= LEGO_ABSENT, items, estimates, memory};
    ask_all(&asker, first, end);
    if (memory) allocator->free(allocator->context, memory, memory_size(places));
}
