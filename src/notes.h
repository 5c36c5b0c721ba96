/* notes: what a batch has to add to blocks, one note for each half of an item (kernels.h), kept by bucket: neighbouring
 * blocks, which fit the cache, have one. So memory is gone through once, in order, however items come.
 *
 * A bucket is a chain of chunks out of a thread's pool. A chunk has 64 words: the first is where the bucket went on
 * before it, the others are notes. Where a bucket goes on is the index of a word; that of a first word means that a new
 * chunk is needed, and 0 that there is nothing yet.
 *
 * Before that, notes of equal items are added up: an item stays in a slot while it comes again and again. */
#ifndef LEGO_SRC_NOTES_H
#define LEGO_SRC_NOTES_H

#include "dense.h"
#include "flat.h"

/* ---- slots ------------------------------------------------------------------------------------------------------- */

enum { NOTE_SLOTS = 1 << 14, NOTE_SLOTS_MOST = 1 << 16 };

/* An item seen lately, and what there is to be added. */
struct slot {
    struct hash item; /* its hash, or whatever else tells items apart */
    int32_t count;
    uint32_t credit; /* rises when the item comes again, falls when another one wants the slot, which it gets at 0 */
};

/* An item comes to its slot. Returns whether there is something to take notes of now, and what: that item, or the one
 * that had the slot. Which of these it is can not be foreseen, so there is no branch on it. |count| <= NOTE_MOST. wide:
 * whether item.hi means anything. */
static inline bool slot_pass(struct slot *slot, struct hash item, bool wide, int32_t count, struct slot *out)
{
    struct slot was = *slot;
    bool is_same = ((was.item.lo ^ item.lo) | (wide ? was.item.hi ^ item.hi : 0)) == 0;
    int32_t same = -(int32_t)is_same, stays = same | -(int32_t)(was.credit > 0), turned = stays & ~same;
    uint64_t stay = (uint64_t)(int64_t)stays, turn = (uint64_t)(int64_t)turned;
    int32_t sum = (was.count & stays) + (count & ~turned);
    slot->item.lo = (was.item.lo & stay) | (item.lo & ~stay);
    out->item.lo = (item.lo & turn) | (was.item.lo & ~turn);
    if (wide) {
        slot->item.hi = (was.item.hi & stay) | (item.hi & ~stay);
        out->item.hi = (item.hi & turn) | (was.item.hi & ~turn);
    }
    slot->count = sum;
    slot->credit = (was.credit & (uint32_t)stays) + 1 - 2 * (uint32_t)(turned & 1);
    out->count = (count & turned) | (was.count & ~turned);
    if (sum > NOTE_MOST || sum < -NOTE_MOST) { /* it is the same, and has had enough */
        slot->count = count;
        return true;
    }
    return !is_same & (out->count != 0);
}

/* ---- buckets ----------------------------------------------------------------------------------------------------- */

enum { NOTE_BUCKETS = 1024, NOTE_CHUNK = 64,
       NOTE_WINDOW = 1 << 17,                           /* items of which notes are taken together in any case: 2 MB */
       NOTE_SCRATCH = 2 * NOTE_WINDOW + NOTE_CHUNK };   /* notes of a bucket that are added together in any case */

/* Of one thread. */
struct notes {
    uint64_t *pool;
    uint32_t chunks, used; /* of the pool */
    unsigned bucket_shift;
    uint32_t at[NOTE_BUCKETS];
};

/* Chunks that so many notes may take, however they are spread. */
static inline uint64_t notes_chunks(uint64_t notes)
{
    return 1 + NOTE_BUCKETS + notes / (NOTE_CHUNK - 1);
}

void notes_start(struct notes *notes, const struct dense *dense, uint64_t *pool, uint32_t chunks);

/* Whether the pool has room for so many notes more. */
static inline bool notes_fit(const struct notes *notes, unsigned more)
{
    return notes->chunks - notes->used >= more;
}

/* Both halves of n items; they fit. */
void notes_take(struct notes *notes, const struct decode_places *places, const int32_t count[], unsigned n);

/* Adds the notes that all threads have taken, those of the buckets that thread `index` owns. Each has a scratch. */
void notes_to_dense(const struct notes all[], unsigned members, unsigned index, struct dense *dense,
                    uint64_t scratch[NOTE_SCRATCH]);
void notes_to_flat(const struct notes all[], unsigned members, unsigned index, struct flat *flat);

#endif
