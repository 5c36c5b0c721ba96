/* legosketch: how often did item x occur? From a fixed, small memory, in one pass.
 *
 * A sketch counts every item of a stream in a number of bytes chosen beforehand. It never forgets an item and never
 * underestimates one; items that share cells are told apart by the decoder of its model. The idea is the Lego sketch
 * (Feng, Cao, Wang, Xie, Zhou: ICML 2025); the memory here holds exact integers, so items can be deleted, sketches can
 * be merged, subtracted and folded, and the result never depends on the order in which any of that happened.
 *
 *     lego_options options = LEGO_OPTIONS_INIT;
 *     options.budget = 300 * 1024;
 *     lego_sketch *sketch;
 *     if (lego_sketch_create(&options, &sketch) != LEGO_OK) return 1;
 *     lego_sketch_add(sketch, "apple", 5, 3);                    // count "apple" three times
 *     lego_estimate e;
 *     lego_sketch_estimate(sketch, "apple", 5, &e);              // e.value, e.lower, e.upper
 *     lego_sketch_destroy(sketch);
 *
 * ITEMS are bytes, of any length, zero bytes included. A 64-bit integer is the item of its 8 little-endian bytes,
 * whatever width it had before, so that every language agrees.
 *
 * MEMORY. A sketch is two allocations, a handle of about 400 bytes and its memory, made by create, load and copy
 * through the caller's allocator. Their size, lego_sketch_bytes(), is at most the budget and stays the same whatever is
 * added, with one exception below: cells, overflow, totals and bookkeeping are all inside. As counts grow cells get
 * fewer and wider in the same bytes: block by block with the default model, brick by brick with others. That needs no
 * heap; it uses up to 64 KB of stack for a moment. The scan results of a trained model are cached behind the memory;
 * lego_sketch_cache_bytes() tells how much that is. Functions that add many items allocate for as long as they run: at
 * most 64 MB, or the bytes of the sketch and 4 MB a thread if that is more; if they can not get it they go on without,
 * more slowly.
 *
 * PACKING. The blocks of the default model, 64 bytes each, can be held flat as well: as plain integers, 1285 bytes a
 * block. To count an item is then four additions, up to five times as fast, but a budget has room for a 20th of the
 * blocks. The number of blocks and the content decide what a sketch answers and which bytes it saves, not the packing:
 * flat and dense sketches merge, and turn into each other. Only where items were deleted may a flat one be better, since
 * a dense block that was once too full for finer cells does not get them back. Files are dense, and so is what is
 * loaded. Flat cells have 32 bits. Before an addition or a merge that could take a sum past that, which none can until
 * the sum of |count| times 4 passes 2^31 - 1, they become 64 bits wide: one allocation, after which the sketch has twice
 * its bytes, beyond its budget. If it fails nothing is added (LEGO_ERR_MEMORY). lego_sketch_clear() keeps the width.
 *
 * THREADS. One writer, or any number of readers: functions that take a const sketch may run at the same time.
 * A model is immutable and may be shared by everything.
 *
 * ERRORS. A function that fails changes nothing: neither its sketch nor its outputs. Nothing is printed; there is no
 * global state. Sums are exact and never wrap: adding is refused (LEGO_ERR_RANGE) once the sum of |count| times the
 * model's quantum (4 for `compact`, 8 for `rule`, 1024 for `paper`) would pass 2^63 - 1.
 *
 * NOT GUARANTEED. `upper` is a bound only while no item's true count is negative. `lower` holds for at least 95 % of
 * the items, not for each. Without deletions the bytes of a sketch follow from its content alone; after deletions they
 * do too at equal shape, but a fold once made stays (flat blocks make none).
 *
 * SPDX-License-Identifier: MIT */
#ifndef LEGOSKETCH_H
#define LEGOSKETCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define LEGO_API __attribute__((visibility("default")))
#else
#define LEGO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LEGO_VERSION "0.1.0"

/* The smallest budget in bytes, and the largest: 64 GiB. */
#define LEGO_BUDGET_MIN 4096u
#define LEGO_BUDGET_MAX (UINT64_C(1) << 36)

/* Rows a model may have, so the most cells that one item touches. */
#define LEGO_ROWS_MAX 8

typedef enum lego_status {
    LEGO_OK = 0,
    LEGO_ERR_ARGUMENT,  /* an argument is outside what the function accepts */
    LEGO_ERR_BUDGET,    /* the budget is too small for the shape asked for, or outside MIN and MAX */
    LEGO_ERR_MEMORY,    /* the allocator gave nothing */
    LEGO_ERR_RANGE,     /* a sum could leave 64 bits */
    LEGO_ERR_MODEL,     /* the sketches, or the sketch and the model given, are of different models */
    LEGO_ERR_SEED,      /* the sketches hash with different seeds */
    LEGO_ERR_SHAPE,     /* the sketches have no common shape, or the bricks asked for do not divide those there are */
    LEGO_ERR_UNTRAINED, /* the model has no networks that tell a brick's n and alpha, so there is nothing to scan with */
    LEGO_ERR_MAGIC,     /* the bytes are not of this kind of file */
    LEGO_ERR_VERSION,   /* the bytes were written by a later version */
    LEGO_ERR_TRUNCATED, /* the bytes end too early, or go on too long */
    LEGO_ERR_CHECKSUM,  /* the bytes were damaged */
    LEGO_ERR_CORRUPT,   /* the checksum is right, the content impossible */
    LEGO_ERR_WRITE,     /* the caller's write function refused */
    LEGO_ERR_DEVICE     /* there is no GPU, or it failed (legosketch_cuda.h) */
} lego_status;

/* One sentence without a full stop, for any value. */
LEGO_API const char *lego_status_message(lego_status status);

/* Memory from the caller. alloc returns memory aligned for any type, or NULL; free gets what alloc returned and the
 * size that was asked for. Both may be called from any thread that calls this library. */
typedef struct lego_allocator {
    void *(*alloc)(void *context, size_t size);
    void (*free)(void *context, void *memory, size_t size);
    void *context;
} lego_allocator;

/* Takes the next bytes of a file being written; returns 0, or anything else to give up (LEGO_ERR_WRITE). */
typedef int (*lego_write)(void *context, const void *bytes, size_t size);

/* ---- models: the weights of the embedding and the networks that scan and decode ------------------------------- */

typedef struct lego_model lego_model;

typedef struct lego_model_info {
    const char *name;     /* lives as long as the model */
    uint32_t rows;        /* cells an item touches, d1 in the paper */
    uint32_t columns;     /* cells in a row of a full brick, d2 */
    uint32_t quantum;     /* about what an item's weights sum to, Q */
    int trained;          /* 0: no networks, every estimate is the rule min(m/w) */
    uint64_t fingerprint; /* sketches merge only if these agree */
} lego_model_info;

/* A model inside the library, by name, or NULL if there is none of that name. "compact" is the default, which NULL asks
 * for: dense blocks of 64 bytes, and networks that decode them. "paper" is the paper's, for bricks of 5 rows and 5120
 * columns of 32 bits; "rule" has bricks of cells that start at 8 bits, and no networks. Never freed. */
LEGO_API const lego_model *lego_model_builtin(const char *name);

/* A model from the bytes of a .lego file; checked whole before anything is allocated. allocator may be NULL (malloc).
 * It must outlive every sketch made with it. */
LEGO_API lego_status lego_model_load(const void *bytes, size_t size, const lego_allocator *allocator,
                                     lego_model **model);
LEGO_API void lego_model_destroy(lego_model *model);
LEGO_API lego_status lego_model_save(const lego_model *model, lego_write write, void *context);
LEGO_API void lego_model_describe(const lego_model *model, lego_model_info *info);

/* ---- sketches ------------------------------------------------------------------------------------------------- */

typedef struct lego_sketch lego_sketch;

/* How a compact model's blocks are held. Both hold the same sums, answer the same and save the same bytes. */
typedef enum lego_packing {
    LEGO_DENSE = 0, /* 64 bytes a block: the most accurate for a budget */
    LEGO_FLAT       /* 1285 bytes a block, cells of 32 bits: the fastest to store, where memory is plentiful */
} lego_packing;

typedef struct lego_options {
    uint64_t budget;                 /* bytes, all of them; 0: just what bricks, columns and cell_bits need */
    const lego_model *model;         /* NULL: the built-in default */
    uint64_t seed;                   /* of the hash; sketches merge only at equal seeds */
    const lego_allocator *allocator; /* NULL: malloc and free; copied, need not outlive the call */
    uint32_t bricks;                 /* 0: what fills the budget; of a compact model its blocks, in either packing */
    uint32_t columns;                /* 0: what fills the budget; else a multiple of 16, at most the model's */
    uint32_t cell_bits;              /* 0: start at 8; or start at 8, 16, 32 or 64. Both must be 0 for a compact model */
    lego_packing packing;            /* of a compact model's blocks; others, whose bricks are always flat, ignore it */
} lego_options;

#define LEGO_OPTIONS_INIT {1u << 20, NULL, 0, NULL, 0, 0, 0, LEGO_DENSE}

typedef struct lego_estimate {
    double value;  /* the estimate, at most upper */
    int64_t lower; /* at most value, and at most the true count for 95 % of the items or more */
    int64_t upper; /* never below the true count, if no true count is negative */
} lego_estimate;

typedef struct lego_sketch_info {
    const lego_model *model;
    uint64_t seed;
    uint64_t bytes;          /* as lego_sketch_bytes() */
    uint64_t cache_bytes;    /* as lego_sketch_cache_bytes() */
    int64_t total;           /* the stream's length: the sum of all counts */
    uint32_t bricks;         /* K, as the sketch was made: an item goes to brick hash mod K, and fold takes divisors of K */
    uint32_t bricks_now;     /* how many there are after the folds so far */
    uint64_t cells;          /* how many there are now */
    uint32_t rows, columns;  /* of the least folded brick; of a compact model, whose blocks differ, columns is 0 */
    uint32_t cell_bits;      /* of the least folded brick, or of flat blocks; 0 for dense ones: as many as it takes */
    uint32_t cell_bits_most; /* of the most folded brick: cell_bits or twice that */
    uint64_t spill_used;     /* slots that hold high parts of cells, and how many there may be before a fold */
    uint64_t spill_limit;
    lego_packing packing;    /* LEGO_FLAT for bricks */
} lego_sketch_info;

typedef struct lego_scan {
    int64_t total;   /* stream length of the brick */
    double distinct; /* s(n): items in the brick, as the scan network sees it */
    double skew;     /* s(alpha): their Zipf exponent, likewise */
} lego_scan;

LEGO_API lego_status lego_sketch_create(const lego_options *options, lego_sketch **sketch);
LEGO_API void lego_sketch_destroy(lego_sketch *sketch); /* NULL is fine */
LEGO_API lego_status lego_sketch_copy(const lego_sketch *sketch, lego_sketch **copy);
LEGO_API void lego_sketch_clear(lego_sketch *sketch); /* as it was made: empty, unfolded */

/* How many threads the batch functions may use; 1 after create, load and copy. The result does not depend on it. */
LEGO_API void lego_sketch_set_threads(lego_sketch *sketch, unsigned threads);

/* Count an item `count` times more; a negative count deletes. */
LEGO_API lego_status lego_sketch_add(lego_sketch *sketch, const void *item, size_t size, int64_t count);
LEGO_API lego_status lego_sketch_add_u64(lego_sketch *sketch, uint64_t item, int64_t count);

/* The same for n items at once. Item i of a batch of bytes is bytes[offsets[i] .. offsets[i+1]), so offsets has n + 1
 * entries that never fall. counts may be NULL: each item once. */
LEGO_API lego_status lego_sketch_add_u64s(lego_sketch *sketch, const uint64_t *items, const int64_t *counts, size_t n);
LEGO_API lego_status lego_sketch_add_batch(lego_sketch *sketch, const void *bytes, const uint64_t *offsets,
                                           const int64_t *counts, size_t n);

LEGO_API lego_status lego_sketch_estimate(const lego_sketch *sketch, const void *item, size_t size,
                                          lego_estimate *estimate);
LEGO_API lego_status lego_sketch_estimate_u64(const lego_sketch *sketch, uint64_t item, lego_estimate *estimate);
LEGO_API lego_status lego_sketch_estimate_u64s(const lego_sketch *sketch, const uint64_t *items, size_t n,
                                               lego_estimate *estimates);
LEGO_API lego_status lego_sketch_estimate_batch(const lego_sketch *sketch, const void *bytes, const uint64_t *offsets,
                                                size_t n, lego_estimate *estimates);

/* into becomes the sketch of both streams (or of their difference), byte for byte as if it had counted them itself.
 * Model and seed must agree, and so must the bits of a cell as made and the columns, unless one's divide the other's.
 * Where the shapes differ, into becomes the largest that both fold to: the greatest common divisor of their bricks.
 * That takes one allocation of the new size, unless into has that shape already. into keeps its packing. */
LEGO_API lego_status lego_sketch_merge(lego_sketch *into, const lego_sketch *from);
LEGO_API lego_status lego_sketch_subtract(lego_sketch *into, const lego_sketch *from);

/* Shrink to `bricks`, a divisor of info.bricks: the sketch becomes the one that would have been made with so many. (If
 * info.bricks / bricks is not a power of two and the sketch is between two levels of folding, it is the same sketch
 * folded a little further.) Takes one allocation of the new size. */
LEGO_API lego_status lego_sketch_fold(lego_sketch *sketch, uint32_t bricks);

/* Hold the same sketch the other way. Dense to flat and back is the same sketch to the byte; flat to dense keeps what
 * flat answers, not the finer cells that more deletions could make use of. Takes one allocation of the new size: 20
 * times that of dense if it becomes flat. LEGO_ERR_BUDGET if that were more than LEGO_BUDGET_MAX. Bricks stay as they
 * are: LEGO_OK. */
LEGO_API lego_status lego_sketch_convert(lego_sketch *sketch, lego_packing packing);

LEGO_API uint64_t lego_sketch_bytes(const lego_sketch *sketch);
LEGO_API uint64_t lego_sketch_cache_bytes(const lego_sketch *sketch);
LEGO_API void lego_sketch_describe(const lego_sketch *sketch, lego_sketch_info *info);

/* What the scan network sees in one of the bricks_now bricks. */
LEGO_API lego_status lego_sketch_scan(const lego_sketch *sketch, uint32_t brick, lego_scan *scan);

/* ---- one stream in several sketches ------------------------------------------------------------------------------ */

/* Which of `groups` sketches counts the item, where one is too large for a machine: 0 to groups - 1; 0 if groups is 0.
 * All of them have the same seed and shape, so they still merge. Groups are even, and so are the places within each of
 * the sketches, whatever the numbers of groups, bricks and blocks: no place depends on the same bits. Of half as many
 * groups, number g has the items of g and g + groups / 2: to halve them, merge those two. */
LEGO_API uint32_t lego_group(const void *item, size_t size, uint64_t seed, uint32_t groups);
LEGO_API uint32_t lego_group_u64(uint64_t item, uint64_t seed, uint32_t groups);

/* ---- the canonical bytes (docs/format.md): equal sketches give equal bytes --------------------------------------- */

LEGO_API uint64_t lego_sketch_saved_size(const lego_sketch *sketch);
LEGO_API lego_status lego_sketch_save(const lego_sketch *sketch, lego_write write, void *context);

/* Dense, whatever was saved. model NULL: the built-in one that the sketch was made with. The bytes are checked whole
 * before anything is allocated, and may go once the call returns. */
LEGO_API lego_status lego_sketch_load(const void *bytes, size_t size, const lego_model *model,
                                      const lego_allocator *allocator, lego_sketch **sketch);

/* The name of the model that a sketch's bytes were made with, ended by a zero, for whoever must find it. Only the first
 * 56 bytes are looked at; they may be those of an elastic sketch. */
LEGO_API lego_status lego_sketch_saved_model(const void *bytes, size_t size, char name[16]);

/* ---- elastic sketches: a sketch that also knows its most frequent items ------------------------------------------ */

/* A heavy part in front of a sketch, the light part, both in one budget (D-Lego in the paper). The heavy part holds the
 * items that come often, their keys with them: their counts are exact, or exact but for what had come before they were
 * seen to be frequent; and they can be listed, most frequent first. Everything else is counted by the sketch.
 *
 *     lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
 *     options.light.budget = 300 * 1024;                         // of both parts, keys included
 *     lego_elastic *elastic;
 *     if (lego_elastic_create(&options, &elastic) != LEGO_OK) return 1;
 *     lego_elastic_add(elastic, "apple", 5, 3);
 *     lego_elastic_top(elastic, 100, print, NULL);               // calls print(NULL, top): the most frequent first
 *     lego_elastic_destroy(elastic);
 *
 * What is said above of memory, threads and errors holds here too, with these differences:
 *
 * ORDER MATTERS. Which items are in the heavy part depends on the order in which they came, and so do estimates: who is
 * there first stays until another is seen to be more frequent. The same items and counts in the same order, in batches
 * or one by one, give the same bytes on every machine.
 *
 * BOUNDS. `upper` is never below the true count if no item's count was negative at any time. (A sketch asks for that
 * only when it answers; here some of an item may be in one part and its deletion in the other.) A deletion takes from
 * the heavy part what is there of the item, and the rest from the light part. Both together always have the exact
 * content: totals are exact, and where everything was deleted every `upper` is 0.
 *
 * MEMORY. Two allocations more than a sketch; lego_elastic_bytes(), at most the budget, is the sum of all four.
 *
 * KEYS of more than 238 bytes are counted, but never in the heavy part, so they are not listed. A resident takes its
 * key and 3 to 10 bytes more; an integer of 64 bits without its leading zero bytes. */
typedef struct lego_elastic lego_elastic;

typedef struct lego_elastic_options {
    lego_options light; /* as for a sketch, but the budget is that of both parts: 8 KB or more without `heavy` */
    uint64_t heavy;     /* bytes of the budget for the heavy part, at least 512; 0: an eighth of the budget */
} lego_elastic_options;

#define LEGO_ELASTIC_OPTIONS_INIT {LEGO_OPTIONS_INIT, 0}

typedef struct lego_elastic_info {
    uint64_t bytes;       /* of both parts, as lego_elastic_bytes() */
    uint64_t heavy_bytes; /* of the heavy part, bookkeeping included */
    int64_t total;        /* the sum of all counts */
    int64_t heavy_total;  /* how much of it is in the heavy part */
    uint64_t room;        /* bytes of it for items and their counts, and how many have something in them */
    uint64_t room_used;
    uint64_t residents; /* items in the heavy part */
    uint64_t exact;     /* those of them whose count is exact */
} lego_elastic_info;

/* One of the most frequent items. */
typedef struct lego_top {
    const void *item; /* gone when the function that was given this returns */
    size_t size;
    lego_estimate estimate;
    int exact; /* nothing of it was ever in the light part: lower, value and upper are its count */
} lego_top;

/* Takes the next of a list; returns 0, or anything else if that is enough. */
typedef int (*lego_visit)(void *context, const lego_top *top);

LEGO_API lego_status lego_elastic_create(const lego_elastic_options *options, lego_elastic **elastic);
LEGO_API void lego_elastic_destroy(lego_elastic *elastic); /* NULL is fine */
LEGO_API lego_status lego_elastic_copy(const lego_elastic *elastic, lego_elastic **copy);
LEGO_API void lego_elastic_clear(lego_elastic *elastic);

LEGO_API lego_status lego_elastic_add(lego_elastic *elastic, const void *item, size_t size, int64_t count);
LEGO_API lego_status lego_elastic_add_u64(lego_elastic *elastic, uint64_t item, int64_t count);
LEGO_API lego_status lego_elastic_add_u64s(lego_elastic *elastic, const uint64_t *items, const int64_t *counts,
                                           size_t n);
LEGO_API lego_status lego_elastic_add_batch(lego_elastic *elastic, const void *bytes, const uint64_t *offsets,
                                            const int64_t *counts, size_t n);

LEGO_API lego_status lego_elastic_estimate(const lego_elastic *elastic, const void *item, size_t size,
                                           lego_estimate *estimate);
LEGO_API lego_status lego_elastic_estimate_u64(const lego_elastic *elastic, uint64_t item, lego_estimate *estimate);
LEGO_API lego_status lego_elastic_estimate_u64s(const lego_elastic *elastic, const uint64_t *items, size_t n,
                                                lego_estimate *estimates);
LEGO_API lego_status lego_elastic_estimate_batch(const lego_elastic *elastic, const void *bytes,
                                                 const uint64_t *offsets, size_t n, lego_estimate *estimates);

/* The items of the heavy part of the highest estimates, at most `most` of them, in falling order; equal ones in an
 * order of their keys. Allocates 40 bytes for each of them while it runs. */
LEGO_API lego_status lego_elastic_top(const lego_elastic *elastic, size_t most, lego_visit visit, void *context);

/* into becomes an elastic sketch of both streams. The light parts merge as sketches do; of the items in either heavy
 * part those with the highest counts there stay, with the sum of both, and the others go to the light part. One that
 * was in only one of them stays exact if the other's heavy part never had to turn an item away where it would be. The
 * heavy parts must have the same size (LEGO_ERR_SHAPE). */
LEGO_API lego_status lego_elastic_merge(lego_elastic *into, const lego_elastic *from);

/* The light part, to look at. */
LEGO_API const lego_sketch *lego_elastic_light(const lego_elastic *elastic);
LEGO_API uint64_t lego_elastic_bytes(const lego_elastic *elastic);
LEGO_API void lego_elastic_describe(const lego_elastic *elastic, lego_elastic_info *info);

/* As for sketches: docs/format.md, checked whole before anything is allocated. */
LEGO_API uint64_t lego_elastic_saved_size(const lego_elastic *elastic);
LEGO_API lego_status lego_elastic_save(const lego_elastic *elastic, lego_write write, void *context);
LEGO_API lego_status lego_elastic_load(const void *bytes, size_t size, const lego_model *model,
                                       const lego_allocator *allocator, lego_elastic **elastic);

#ifdef __cplusplus
}
#endif
#endif
