/* add_top: many items for a sketch that keeps its most frequent ones.
 *
 * An item that comes alone is looked for in its bucket, and what that does not take goes on to the light part. Of many
 * items most need neither: those that are resident are watched (watch.h), and get their votes at the end, each once.
 * What becomes of the others depends on the top:
 *
 *     it has room   they are added as they come, after the votes, and may move in
 *     it is full    they go to the blocks together, as if there were no top
 *
 * Items that a sample finds to be frequent, the candidates, are watched too: each comes to the top once, with all its
 * count, after the votes and before others that have come earlier take the room.
 *
 * So once a top has sent an item away, what it keeps depends on how items were put into calls, and on their order. What
 * is counted depends on neither, and threads change nothing. */
#include <string.h>

#include "sketch/batch.h"
#include "sketch/frequent.h"
#include "sketch/judge.h"
#include "sketch/sketch.h"

enum {
    AHEAD = 16,         /* items whose buckets and blocks are on their way while others are counted */
    FEWEST = 4096,      /* items that anything is watched for, */
    A_RESIDENT = 1,     /* and so many for each resident, if the top is full, */
    A_RESIDENT_ROOM = 4 /* or if there is room, since then most of the time goes to those that move in */
};

static int64_t count_of(const lego_items *items, size_t i)
{
    return items->counts ? items->counts[i] : 1;
}

/* ---- one by one -------------------------------------------------------------------------------------------------- */

/* Those n items whose numbers are listed, or, if `number` is NULL, the first. */
static lego_status add_in_order(lego_sketch *sketch, const lego_items *items, const uint32_t *number, size_t n)
{
    struct hash hash[AHEAD];
    lego_status status = LEGO_OK;
    for (size_t start = 0; start < n; start += AHEAD) {
        const size_t some = n - start < AHEAD ? n - start : AHEAD;
        for (size_t i = 0; i < some; i++) {
            hash[i] = items_hash(items, number ? number[start + i] : start + i, sketch->seed);
            top_prefetch(&sketch->top, hash[i]);
            if (has_blocks(sketch->model))
                blocks_prefetch(&sketch->blocks, spot_of(sketch->blocks.blocks, hash[i]).block);
        }
        for (size_t i = 0; i < some && status == LEGO_OK; i++) {
            const size_t own = number ? number[start + i] : start + i;
            unsigned char integer[8];
            size_t size;
            const void *item = items_bytes(items, own, integer, &size);
            status = add_to_top(sketch, hash[i], item, size, count_of(items, own));
        }
    }
    return status;
}

/* ---- who is watched ---------------------------------------------------------------------------------------------- */

struct watcher {
    struct watch watch;
    struct top was;    /* a copy of the top, since that changes while residents get their votes */
    struct hash *hash; /* of each resident */
    struct frequent *frequent;
    size_t *candidate; /* items that are watched and not resident */
    size_t candidates, most;
    uint32_t *number; /* of items that are not watched, if the top has room */
    void *memory;     /* one allocation for all of these */
    size_t size;
};

static size_t count_residents(const struct top *top)
{
    size_t n = 0;
    for (uint32_t b = 0; b < top->buckets.d; b++) n += top_residents(&top->bucket[b]);
    return n;
}

/* Memory for so many residents, numbers, and items that candidates are looked for in. */
static bool watcher_allocate(struct watcher *watcher, const lego_sketch *sketch, size_t residents, size_t numbers,
                             size_t items)
{
    enum { ITEMS_A_CANDIDATE = 64 };
    const lego_allocator *a = &sketch->allocator;
    const size_t most = items / ITEMS_A_CANDIDATE < FREQUENT_SLOTS ? items / ITEMS_A_CANDIDATE : FREQUENT_SLOTS;
    const unsigned bits = watch_bits(residents + most);
    const size_t slots = watch_slots(bits), top = (size_t)top_bytes(sketch->top.buckets.d);
    watcher->size = slots * sizeof *watcher->watch.slot + residents * sizeof *watcher->hash +
                    sizeof *watcher->frequent + FREQUENT_SLOTS * sizeof *watcher->candidate + top +
                    numbers * sizeof *watcher->number;
    watcher->memory = a->alloc(a->context, watcher->size);
    if (!watcher->memory) return false;
    watch_init(&watcher->watch, bits, watcher->memory);
    watcher->most = most;
    watcher->hash = (struct hash *)(void *)(watcher->watch.slot + slots);
    watcher->frequent = (struct frequent *)(void *)(watcher->hash + residents);
    watcher->candidate = (size_t *)(void *)(watcher->frequent + 1);
    watcher->number = (uint32_t *)(void *)((char *)(watcher->candidate + FREQUENT_SLOTS) + top);
    top_init(&watcher->was, sketch->top.buckets.d, sketch->top.most, watcher->candidate + FREQUENT_SLOTS);
    memcpy(watcher->was.bucket, sketch->top.bucket, (size_t)sketch->top.buckets.d * TOP_BUCKET);
    return true;
}

/* Watches all residents; false if there is no slot for one of them. */
static bool watch_residents(struct watcher *watcher, struct seed seed)
{
    struct hash *hash = watcher->hash;
    struct resident one;
    for (uint32_t b = 0; b < watcher->was.buckets.d; b++)
        for (struct top_place next = {0, 0}; top_next(&watcher->was.bucket[b], &next, &one); hash++) {
            unsigned char integer[8];
            size_t size;
            const void *item = top_item(&one.key, integer, &size);
            *hash = hash_bytes(item, size, seed);
            if (!watch_put(&watcher->watch, hash_word(*hash))) return false;
        }
    return true;
}

/* Watches items that a sample finds to be frequent, and that are not resident, as many as there may be. */
static void watch_candidates(struct watcher *watcher, const lego_items *items, struct seed seed)
{
    const struct block_kernels *kernels = block_kernels_best();
    size_t *candidate = watcher->candidate, found, n = 0;
    frequent_find(watcher->frequent, items, seed, kernels);
    found = frequent_list(watcher->frequent, items, seed, kernels, candidate);
    for (size_t i = 0; i < found && n < watcher->most; i++) {
        const uint64_t word = hash_word(items_hash(items, candidate[i], seed));
        if (!watch_has(&watcher->watch, word) && watch_put(&watcher->watch, word)) candidate[n++] = candidate[i];
    }
    watcher->candidates = n;
}

/* ---- what they get ----------------------------------------------------------------------------------------------- */

static lego_status add_votes(lego_sketch *sketch, const struct watcher *watcher)
{
    const struct hash *hash = watcher->hash;
    struct resident one;
    lego_status status = LEGO_OK;
    for (uint32_t b = 0; b < watcher->was.buckets.d; b++)
        for (struct top_place next = {0, 0}; top_next(&watcher->was.bucket[b], &next, &one); hash++) {
            const int64_t count = watch_count(&watcher->watch, hash_word(*hash));
            unsigned char integer[8];
            size_t size;
            if (count == 0 || status != LEGO_OK) continue;
            const void *item = top_item(&one.key, integer, &size);
            status = add_to_top(sketch, *hash, item, size, count);
        }
    return status;
}

/* A count, so that at most `most` of the candidates came as often: a power of two. */
static int64_t least_offered(const lego_sketch *sketch, const struct watcher *watcher, const lego_items *items,
                             size_t most)
{
    size_t size[64] = {0}, n = 0;
    int bits = 63;
    for (size_t i = 0; i < watcher->candidates; i++) {
        const struct hash hash = items_hash(items, watcher->candidate[i], sketch->seed);
        size[63 - __builtin_clzll((uint64_t)watch_count(&watcher->watch, hash_word(hash)) | 1)]++;
    }
    while (bits > 0 && n + size[bits - 1] <= most) n += size[--bits];
    return INT64_C(1) << (bits < 63 ? bits : 62);
}

/* Candidates that came so often move in, or may take the place of a resident; the others go to the light part. */
static lego_status add_candidates(lego_sketch *sketch, const struct watcher *watcher, const lego_items *items,
                                  int64_t least)
{
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < watcher->candidates && status == LEGO_OK; i++) {
        const struct hash hash = items_hash(items, watcher->candidate[i], sketch->seed);
        const int64_t count = watch_count(&watcher->watch, hash_word(hash));
        unsigned char integer[8];
        size_t size;
        const void *item = items_bytes(items, watcher->candidate[i], integer, &size);
        if (count < least) status = light_add(sketch, hash, count);
        else status = add_to_top(sketch, hash, item, size, count);
    }
    return status;
}

static int64_t sum_watched(const struct watch *watch)
{
    int64_t sum = 0;
    for (size_t i = 0; i < watch_slots(watch->bits); i++) sum += watch->slot[i].count;
    return sum;
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

/* The numbers of items that are not watched; returns how many these are. The others are counted. */
static size_t pass_items(struct watcher *watcher, const lego_items *items, struct seed seed, uint32_t *number)
{
    enum { AT_ONCE = 256 };
    const struct block_kernels *kernels = block_kernels_best();
    uint64_t word[AT_ONCE];
    size_t left = 0;
    for (size_t start = 0; start < items->n; start += AT_ONCE) {
        const unsigned n = items->n - start < AT_ONCE ? (unsigned)(items->n - start) : AT_ONCE;
        words_of(items, start, n, seed, kernels, word);
        for (unsigned i = 0; i < n; i++) {
            number[left] = (uint32_t)(start + i);
            left += !watch_take(&watcher->watch, word[i], count_of(items, start + i));
        }
    }
    return left;
}

/* The first n items. */
static lego_status add_with_room(lego_sketch *sketch, struct watcher *watcher, const lego_items *items, size_t n)
{
    const lego_items some = items_from(items, 0, n);
    const size_t left = pass_items(watcher, &some, sketch->seed, watcher->number);
    lego_status status = add_votes(sketch, watcher);
    if (status == LEGO_OK) status = add_candidates(sketch, watcher, items, 0);
    return status == LEGO_OK ? add_in_order(sketch, &some, watcher->number, left) : status;
}

static int64_t sum_of(const lego_items *items)
{
    uint64_t sum = 0;
    for (size_t i = 0; items->counts && i < items->n; i++) sum += (uint64_t)items->counts[i];
    return items->counts ? (int64_t)sum : (int64_t)items->n;
}

/* False if there is no memory for it: then nothing has changed. To find out whether a candidate may take a resident's
 * place takes as long as a hundred items that share their blocks, so it is found out of few. */
static bool add_to_full(lego_sketch *sketch, struct watcher *watcher, const struct batch *batch, lego_status *status)
{
    enum { ITEMS_AN_OFFER = 256 };
    const lego_items *items = batch->items;
    if (!batch_add_watched(batch, sketch->threads, &sketch->allocator)) return false;
    top_leak(&sketch->top);
    blocks_count(&sketch->blocks, sum_of(items) - sum_watched(&watcher->watch));
    *status = add_votes(sketch, watcher);
    if (*status != LEGO_OK) return true;
    *status = add_candidates(sketch, watcher, items, least_offered(sketch, watcher, items, items->n / ITEMS_AN_OFFER));
    return true;
}

/* ---- which way --------------------------------------------------------------------------------------------------- */

/* How many items to add before those are watched, too, that moved in meanwhile: fewer, and those that are frequent have
 * not come yet when the rare take the room; more, and too many come one by one. */
static size_t stretch_of(const struct top *top, size_t least)
{
    enum { A_BUCKET = 512, LONG = 1 << 16 };
    const size_t first = top->most < LONG / A_BUCKET ? FEWEST + top->most * A_BUCKET : LONG;
    return first > 2 * least ? first : 2 * least;
}

/* Adds the first of the items, all of them if the top is full; *n says how many. */
static lego_status add_first(lego_sketch *sketch, const lego_items *items, size_t *n)
{
    const size_t residents = count_residents(&sketch->top);
    struct watcher watcher;
    const struct batch_growth growth = {grow_blocks_for_batch, sketch};
    const struct batch batch = {&sketch->blocks, items, sketch->seed, false, &growth, &watcher.watch};
    /* This follows from the content alone: a replica that loaded the sketch goes the same way. */
    const bool full = has_blocks(sketch->model) && top_is_full(&sketch->top) && !blocks_grow(&sketch->blocks);
    const size_t least = FEWEST + residents * (full ? A_RESIDENT : A_RESIDENT_ROOM);
    const size_t stretch = full ? items->n : stretch_of(&sketch->top, least);
    lego_status status = LEGO_OK;
    *n = items->n < stretch ? items->n : stretch;
    if (*n < least || !watcher_allocate(&watcher, sketch, residents, full ? 0 : *n, items->n))
        return add_in_order(sketch, items, NULL, *n);
    bool done = watch_residents(&watcher, sketch->seed);
    if (done) watch_candidates(&watcher, items, sketch->seed);
    if (done && full) done = add_to_full(sketch, &watcher, &batch, &status);
    else if (done) status = add_with_room(sketch, &watcher, items, *n);
    if (!done) status = add_in_order(sketch, items, NULL, *n);
    sketch->allocator.free(sketch->allocator.context, watcher.memory, watcher.size);
    return status;
}

static lego_status add_all(lego_sketch *sketch, const lego_items *items, bool falls)
{
    lego_status status = LEGO_OK;
    if (falls) return add_in_order(sketch, items, NULL, items->n);
    for (size_t first = 0, n; first < items->n && status == LEGO_OK; first += n) {
        const lego_items rest = items_from(items, first, items->n - first);
        status = add_first(sketch, &rest, &n);
    }
    return status;
}

/* What has grown needs no more memory. While it grows, the items are counted by a copy, which takes the place of the
 * sketch when all are there: a top that has grown on the way and sent residents away can not take items back. */
lego_status add_items_to_top(lego_sketch *sketch, const lego_items *items, bool falls)
{
    const bool grows = top_grows(&sketch->top) || (has_blocks(sketch->model) && blocks_grow(&sketch->blocks));
    lego_sketch *copy;
    if (!grows) return add_all(sketch, items, falls);
    lego_status status = lego_copy(sketch, &copy);
    if (status != LEGO_OK) return status;
    copy->threads = sketch->threads;
    status = add_all(copy, items, falls);
    if (status == LEGO_OK) {
        lego_sketch old = *sketch;
        *sketch = *copy;
        *copy = old;
    }
    lego_destroy(copy);
    return status;
}
