/* legosketch: how often did item x occur? From a small memory that you choose, in one pass.
 *
 *     lego_options options = LEGO_OPTIONS_INIT;
 *     options.budget = 300 * 1024;
 *     lego_sketch *sketch;
 *     if (lego_create(&options, &sketch) != LEGO_OK) return 1;
 *     lego_add(sketch, "apple", 5, 3);                           // count "apple" three times
 *     lego_estimate e;
 *     lego_query(sketch, "apple", 5, &e);                        // e.value, e.lower, e.upper
 *     lego_destroy(sketch);
 *
 * An item is bytes, of any length. A 64-bit integer is the item of its 8 little-endian bytes, so all languages agree.
 * One thread may write to a sketch, or any number may read it. A function that fails changes nothing, neither its
 * sketch nor its outputs. docs/design.md says what is guaranteed of memory, sums, order and bounds.
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

#define LEGO_VERSION "0.3.0"

/* The smallest budget in bytes, and the largest: 64 GiB. */
#define LEGO_BUDGET_MIN 4096u
#define LEGO_BUDGET_MAX (UINT64_C(1) << 36)

/* The smallest part of a budget that can keep the most frequent items. */
#define LEGO_TOP_MIN 512u

/* Items of more bytes are counted like others, but never among the most frequent. */
#define LEGO_TOP_ITEM_MAX 238u

typedef enum lego_status {
    LEGO_OK = 0,
    LEGO_ERR_ARGUMENT,  /* an argument is outside what the function accepts */
    LEGO_ERR_BUDGET,    /* the budget is outside MIN and MAX, or too small beside the bytes for the top */
    LEGO_ERR_MEMORY,    /* the allocator gave nothing */
    LEGO_ERR_RANGE,     /* a sum could leave 64 bits */
    LEGO_ERR_MODEL,     /* the sketches, or the sketch and the model given, are of different models; or its model can
                           not answer a question that is meant like that */
    LEGO_ERR_SEED,      /* the sketches hash with different seeds */
    LEGO_ERR_SECRET,    /* the bytes were saved by a sketch with a secret seed, which was not given, or another */
    LEGO_ERR_SHAPE,     /* neither sketch folds to the other's size, or a sketch does not fold to the size asked for */
    LEGO_ERR_TOP,       /* the sketch keeps its most frequent items, with which this can not be done */
    LEGO_ERR_MAGIC,     /* the bytes are not of this kind of file */
    LEGO_ERR_VERSION,   /* the bytes were written by another version */
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

/* ---- models: what a sketch is made of, and how it answers -------------------------------------------------------- */

typedef struct lego_model lego_model;

typedef struct lego_model_info {
    const char *name;     /* lives as long as the model */
    uint32_t rows;        /* cells an item touches, d1 in the paper */
    uint32_t columns;     /* cells in a row of a brick as trained, d2; 0 for blocks */
    uint32_t quantum;     /* about what an item's weights sum to, Q */
    uint64_t fingerprint; /* sketches merge only if these agree */
} lego_model_info;

/* A model inside the library, by name, or NULL if there is none of that name. "compact" is the default, which NULL asks
 * for: blocks that list items while they can, and then share cells; nothing of it is trained. "paper" is the paper's:
 * bricks of 5 rows and about 5120 columns, and networks that decode them. Never freed. */
LEGO_API const lego_model *lego_model_builtin(const char *name);

/* A model of the paper's kind from the bytes of a .lego file. allocator may be NULL (malloc). It must outlive every
 * sketch made with it. Files of "compact", which had networks once, are refused (LEGO_ERR_VERSION). */
LEGO_API lego_status lego_model_load(const void *bytes, size_t size, const lego_allocator *allocator,
                                     lego_model **model);
LEGO_API void lego_model_destroy(lego_model *model); /* NULL is fine */

/* The bytes of a .lego file. "compact" has none: LEGO_ERR_ARGUMENT. */
LEGO_API lego_status lego_model_save(const lego_model *model, lego_write write, void *context);
LEGO_API void lego_model_describe(const lego_model *model, lego_model_info *info);

/* ---- the life of a sketch ---------------------------------------------------------------------------------------- */

typedef struct lego_sketch lego_sketch;

typedef struct lego_options {
    uint64_t budget;                 /* bytes, at most; it takes what its content asks for */
    uint64_t top;                    /* of these, bytes that keep the most frequent items with their keys; 0: none */
    const lego_model *model;         /* NULL: the built-in default */
    uint64_t seed;                   /* of the hash; sketches merge only at equal seeds */
    const lego_allocator *allocator; /* NULL: malloc and free; copied, need not outlive the call */
    const void *secret;              /* LEGO_SECRET_SIZE bytes, a secret seed instead: see below. NULL: none */
} lego_options;

#define LEGO_OPTIONS_INIT                                                                                              \
    {                                                                                                                  \
        1u << 20, 0, NULL, 0, NULL, NULL                                                                               \
    }

/* Whoever knows the seed can look for items that are counted with a victim's. So where items come from outside, the
 * seed should be secret: 16 random bytes, of which the last 8 are not all 0. Items are hashed by SipHash-1-3 with that
 * key then, and files and lego_info show only a fingerprint of it. docs/security.md says what that is worth. */
#define LEGO_SECRET_SIZE 16u
LEGO_API uint64_t lego_secret_fingerprint(const void *secret);

LEGO_API lego_status lego_create(const lego_options *options, lego_sketch **sketch);
LEGO_API void lego_destroy(lego_sketch *sketch); /* NULL is fine */
LEGO_API lego_status lego_copy(const lego_sketch *sketch, lego_sketch **copy);
LEGO_API void lego_clear(lego_sketch *sketch); /* as it was made */

/* Takes an allocation of a sketch and returns where it is now: there, or where its owner has copied all of it to. */
typedef void *(*lego_move)(void *context, void *memory, size_t size);

/* Hands every allocation of a sketch to move, and returns where the sketch is then: for owners of memory who move it to
 * fill gaps, or who want to know what each allocation really took. Nobody else may use the sketch meanwhile; if nothing
 * moves, others may read it. */
LEGO_API lego_sketch *lego_relocate(lego_sketch *sketch, lego_move move, void *context);

/* How many threads functions that take many items may use; 1 after create, load and copy. Results do not depend on
 * it. */
LEGO_API void lego_set_threads(lego_sketch *sketch, unsigned threads);

/* What the items of a sketch are, as far as it was told: lego_add() counts bytes, lego_add_u64() integers. Both may be
 * in one sketch, but an integer and its 8 bytes are one item, and nothing tells of a single item which it was. */
typedef enum lego_kind {
    LEGO_ITEMS_NONE = 0,
    LEGO_ITEMS_BYTES = 1,
    LEGO_ITEMS_INTEGERS = 2,
    LEGO_ITEMS_MIXED = 3
} lego_kind;

/* How many classes of counts a sketch is described in: a count has 63 bits. */
#define LEGO_CLASSES 64

/* What is known of a sketch. It takes one look at every block (scripts/time-looks says how long that is). */
typedef struct lego_info {
    const lego_model *model;
    uint64_t seed;         /* of the hash */
    int secret;            /* it is secret, and that is its fingerprint */
    int64_t total;         /* the stream's length: the sum of all counts */
    lego_kind items;       /* what was counted, or came with a sketch that was merged, since it was made or cleared; a
                             file knows it of sketches that are not empty */
    int exact;             /* every answer is the item's count: all of them are listed */
    double keeping;        /* the share of the blocks that keep the heaviest of their items, from 0 to 1; 0 for bricks.
                             While it is 0, the bytes of a sketch follow from what it counted alone; from then on the
                             order of additions matters, too */
    double distinct;       /* about how many distinct items it has counted, but for those that were deleted */
    double distinct_error; /* the standard error of that: 0 where it is known */
    double expected_aae;   /* about what the answers' mean absolute error is, over the distinct items; NaN for
                                  bricks */
    double expected_aae_error;         /* ... its standard error */
    double expected_are;               /* about what their mean relative error is; NaN for bricks */
    double expected_are_error;         /* ... its standard error */
    double classes[LEGO_CLASSES];      /* about how many items come once, twice, 3 to 4, 5 to 8 times and so on: class
                                           k has the counts above 2^(k-1) up to 2^k. NaN for bricks */
    double class_errors[LEGO_CLASSES]; /* ... their standard errors: 0 where all items of a class are listed */
    uint64_t bytes;                    /* all that the sketch takes now, at most its budget */
    uint64_t budget;                   /* the least that makes a sketch that can grow to this size, if any does */
    uint64_t cache_bytes;              /* taken besides, for what a scan of bricks told when it was last needed */
    uint32_t blocks;     /* of the budget, or, of the paper's model, bricks; lego_fold() takes divisors of it */
    uint32_t columns;    /* of a brick; 0 for blocks */
    uint64_t top_bytes;  /* of the bytes: those of the most frequent items; 0 if there is no such part */
    uint64_t top_budget; /* the least options.top that makes one that can grow to this size */
    int64_t top_total;   /* how much of the total is counted there */
} lego_info;

LEGO_API void lego_describe(const lego_sketch *sketch, lego_info *info);

/* The same without a look at any block or brick, in no time: distinct, exact and listing are 0 and the expected errors
 * NaN, whatever the sketch has. */
LEGO_API void lego_measure(const lego_sketch *sketch, lego_info *info);

/* info.total alone. */
LEGO_API int64_t lego_total(const lego_sketch *sketch);

/* ---- what budget it takes ---------------------------------------------------------------------------------------- */

/* What a budget is asked of: so many distinct items, which come so often, and an error. */
typedef struct lego_wish {
    const int64_t
        *counts; /* how often some of them come, as a sample, in any order; all are positive. NULL: see skew */
    size_t n;
    double skew;     /* where there are no counts: of a Zipf stream, from 0 (each item comes once) to 3 */
    double distinct; /* how many there will be in all; 0: n */
    double error;    /* the mean relative error that is wanted over all of them, 0.01 for 1 %; 0: every count exact */
} lego_wish;

/* The least budget that does, and any larger one too, but at least a quarter of a byte an item. It is found by trying:
 * sketches of at most 16384 items with such counts are made and asked, in a second or three and 2 MB, whatever
 * n and distinct are. The error there goes to *expected, unless that is NULL. Another stream with such counts comes out
 * about there, not below it for certain; of 0 as an error, nine of ten have no count wrong. It is for sketches of the
 * default model that keep no top. LEGO_ERR_BUDGET if LEGO_BUDGET_MAX is too small for it. */
LEGO_API lego_status lego_suggest(const lego_wish *wish, const lego_allocator *allocator, uint64_t *budget,
                                  double *expected);

/* ---- counting and asking ----------------------------------------------------------------------------------------- */

/* lower <= value <= likely <= upper. Where no item's count was ever negative, in this sketch or in one that was merged
 * into it:
 *
 *     upper      is never below the true count. Where blocks keep the heaviest it is wide
 *     likely     is not below the true count for 99 % of the items or more, as far as a sample of them tells
 *     lower      is not above the true count for 99 % of the items or more
 *
 * After deletions beyond what was there, and in differences of sketches, lower and upper both hold for 99 %. */
typedef struct lego_estimate {
    double value; /* the estimate */
    int64_t lower, upper, likely;
} lego_estimate;

/* Many items: either n integers, or n strings of bytes, of which item i is bytes[offsets[i] .. offsets[i + 1]), so
 * there are n + 1 offsets, which never fall. */
typedef struct lego_items {
    size_t n;
    const uint64_t *integers; /* NULL: the items are bytes */
    const void *bytes;
    const uint64_t *offsets;
    const int64_t *counts; /* how often each comes; NULL: once. Questions ignore it, and the kind */
    lego_kind kind;        /* what they are, where some of the bytes are those of integers; 0: what is said above */
} lego_items;

/* How a question is meant. NULL, or LEGO_ASKING_INIT: the item has come. An item that a sketch does not list, though it
 * may have come, is answered by what such items mostly count, often 1; if `absent` is at least LEGO_ABSENT, by 0.
 * Sketches of the paper's model take no other `absent` than 0 (LEGO_ERR_MODEL). */
#define LEGO_ABSENT 0.25
typedef struct lego_asking {
    double absent; /* how likely it is that the item never came, from 0 to below 1 */
} lego_asking;

#define LEGO_ASKING_INIT                                                                                               \
    {                                                                                                                  \
        0                                                                                                              \
    }

/* Count an item `count` times more; a negative count deletes. */
LEGO_API lego_status lego_add(lego_sketch *sketch, const void *item, size_t size, int64_t count);
LEGO_API lego_status lego_add_u64(lego_sketch *sketch, uint64_t item, int64_t count);
LEGO_API lego_status lego_add_items(lego_sketch *sketch, const lego_items *items);

LEGO_API lego_status lego_query(const lego_sketch *sketch, const void *item, size_t size, lego_estimate *estimate);
LEGO_API lego_status lego_query_u64(const lego_sketch *sketch, uint64_t item, lego_estimate *estimate);
LEGO_API lego_status lego_query_items(const lego_sketch *sketch, const lego_items *items, const lego_asking *asking,
                                      lego_estimate *estimates);

/* One of the most frequent items. */
typedef struct lego_top_item {
    const void *item; /* gone when the function that was given this returns */
    size_t size;
    lego_estimate estimate;
    int exact; /* lower, value and upper are its count */
} lego_top_item;

/* Takes the next of a list; returns 0, or anything else if that is enough. */
typedef int (*lego_visit)(void *context, const lego_top_item *item);

/* The most frequent items, at most `most` of them, in falling order of their estimates; equal ones in the order of
 * their keys. Allocates 40 bytes for each item that is kept, while it runs. LEGO_ERR_ARGUMENT if the sketch was made
 * without options.top. */
LEGO_API lego_status lego_top(const lego_sketch *sketch, size_t most, lego_visit visit, void *context);

/* ---- sketches and sketches --------------------------------------------------------------------------------------- */

/* into becomes the sketch of both streams, or of their difference; where nothing was deleted and no top is kept,
 * byte for byte as if it had counted them itself.
 * Model and seed must agree. A sketch that is exact (lego_info) merges into any other, and takes a smaller one. Else
 * one's number of blocks must be a multiple of the other's (LEGO_ERR_SHAPE), and into is folded to the smaller
 * number.
 *
 * Where both keep their most frequent items, those of both that have come most often stay, if one part's size is a
 * multiple of the other's. Where only `from` does, everything is counted by into; where only into does, it goes on with
 * its own. No difference is taken of a sketch that keeps them (LEGO_ERR_TOP). */
LEGO_API lego_status lego_merge(lego_sketch *into, const lego_sketch *from);
LEGO_API lego_status lego_subtract(lego_sketch *into, const lego_sketch *from);

/* into becomes the sketch of its own stream and of n others, each counted weights[i] times (NULL: once each). Where
 * blocks keep the heaviest, this is better than one merge after the other: all that the sketches list of a block is
 * joined before the lightest are let go. Weights are not 0; a negative one subtracts. */
LEGO_API lego_status lego_merge_many(lego_sketch *into, const lego_sketch *const from[], const int64_t weights[],
                                     size_t n);

/* Shrink to `blocks`, a divisor of info.blocks: the sketch becomes the one that would have been made with so many
 * (LEGO_ERR_SHAPE if it is none). Or to the most blocks with which it fits a budget, in which the most frequent items
 * keep their share, as far as its size has divisors. Both take memory of the new size while they run. */
LEGO_API lego_status lego_fold(lego_sketch *sketch, uint32_t blocks);
LEGO_API lego_status lego_fold_within(lego_sketch *sketch, uint64_t budget);

/* Which of `groups` sketches counts the item, where one is too large for a machine: 0 to groups - 1; 0 if groups is 0.
 * All of them have the same seed and budget, so they still merge, and all are filled evenly. Of half as many groups,
 * number g has the items of g and g + groups / 2: to halve them, merge those two. */
LEGO_API uint32_t lego_group(const void *item, size_t size, uint64_t seed, uint32_t groups);
LEGO_API uint32_t lego_group_u64(uint64_t item, uint64_t seed, uint32_t groups);

/* ---- the canonical bytes (docs/format.md): equal sketches give equal bytes --------------------------------------- */

LEGO_API uint64_t lego_saved_size(const lego_sketch *sketch);
LEGO_API lego_status lego_save(const lego_sketch *sketch, lego_write write, void *context);

/* Of the options three count: a model, if it is not the built-in one that the sketch was made with; the secret, if it
 * was made with one (else LEGO_ERR_SECRET); an allocator. NULL: none of them. Bytes that could not be used safely are
 * refused. */
LEGO_API lego_status lego_load(const void *bytes, size_t size, const lego_options *options, lego_sketch **sketch);

/* How many bytes a saved sketch or model has in all, by the first 24 of them, for a caller who reads a pipe, or a file
 * that may be anything. LEGO_ERR_MAGIC: they are of neither. */
LEGO_API lego_status lego_saved_length(const void *bytes, size_t size, uint64_t *length);

/* The name of the model that a sketch's bytes were made with, ended by a zero, for a caller who must find that model.
 * Only the first 56 bytes are looked at. */
LEGO_API lego_status lego_saved_model(const void *bytes, size_t size, char name[16]);

/* The seed of it, likewise, or, if *secret becomes 1, the fingerprint of the secret one that lego_load() asks for. */
LEGO_API lego_status lego_saved_seed(const void *bytes, size_t size, uint64_t *seed, int *secret);

#ifdef __cplusplus
}
#endif
#endif
