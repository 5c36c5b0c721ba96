/* Bad bytes of sketches: every truncation, every flipped bit, every impossible field is a named error, and nothing
 * stays allocated. test_format_models.c has those of models. */
#include "block/keep.h"
#include "support.h"

/* A refused file leaves nothing allocated; one whose damage shows in its magic, version or checksum allocates nothing
 * at all; and none makes load ask for more than 52 bytes a byte, beside the handle. */
static lego_status load_sketch(const unsigned char *p, size_t size, lego_sketch **sketch)
{
    struct books books;
    lego_allocator allocator = books_allocator(&books);
    lego_sketch *loaded = NULL;
    lego_status status = lego_load(p, size, &(lego_options){.allocator = &allocator}, &loaded);
    assert_true(books.most <= 52 * size + 4096);
    if (status == LEGO_OK) {
        lego_info info = info_of(loaded);
        assert_int_equal(books.now, info.bytes + info.cache_bytes);
        assert_int_equal(lego_load(p, size, NULL, sketch), LEGO_OK);
        lego_destroy(loaded);
    } else {
        assert_null(loaded);
        if (status != LEGO_ERR_CORRUPT && status != LEGO_ERR_TRUNCATED) assert_int_equal(books.calls, 0);
    }
    assert_int_equal(books.now, 0);
    return status;
}

/* Small bricks with everything in them: rows that are wide and rows that are not, and a negative cell. */
static lego_sketch *small_bricks(void)
{
    lego_sketch *sketch = make(2, 16, NULL);
    for (uint64_t i = 0; i < 9; i++) assert_int_equal(lego_add_u64(sketch, i, (int64_t)(10 * i + 1)), LEGO_OK);
    assert_int_equal(lego_add_u64(sketch, 100, INT64_C(1) << 23), LEGO_OK); /* times a weight of about 2^10 / 5 */
    assert_int_equal(lego_add_u64(sketch, 3, -5000), LEGO_OK);
    const unsigned char *marks = sketch->bricks.marks;
    assert_in_range(__builtin_popcount(marks[0]) + __builtin_popcount(marks[1]), 1, 5);
    return sketch;
}

static bool has_lost(const lego_sketch *sketch)
{
    struct content content;
    bool lost = false;
    for (uint32_t i = 0; i < sketch->blocks.blocks; i++) {
        sketch->blocks.kernels->open(&sketch->blocks.block[i], sketch->blocks.whole, &content);
        lost |= content.loss.plus > 0 || content.loss.minus > 0;
    }
    return lost;
}

/* Sketches of blocks: young, with all blocks that list whole keys, or prints, or keep, or have lost some or most; with
 * counts of both signs. */
enum { EMPTY, YOUNG, GROWN, LISTING, KEEPING, LOSING, CROWDED, SIGNED, SIGNED_LOSING, BLOCK_KINDS };
static lego_sketch *blocks_of_kind(int kind)
{
    static const uint32_t most[] = {700, 64, 3, 3, 3, 2, 2, 2, 2};
    static const uint32_t items[] = {0, 60, 80, 200, 240, 250, 6000, 100, 400};
    lego_sketch *sketch = make(most[kind], 0, NULL);
    if (kind == SIGNED || kind == SIGNED_LOSING)
        for (uint64_t i = 0; i < 9; i++) assert_int_equal(lego_add_u64(sketch, i, -500 * (int64_t)i), LEGO_OK);
    for (uint64_t i = 0; i < items[kind]; i++)
        assert_int_equal(lego_add_u64(sketch, i, (int64_t)(1 + i % 7 * i)), LEGO_OK);
    unsigned step = block_step(sketch->blocks.block);
    assert_int_equal(blocks_grow(&sketch->blocks), kind <= YOUNG);
    if (kind == GROWN) assert_int_equal(step, STEP_WHOLE);
    if (kind == LISTING) assert_in_range(step, STEP_LIST + 1, STEP_KEEP - 1);
    if (kind == KEEPING) assert_in_range(step, STEP_KEEP, STEP_LAST);
    if (kind == CROWDED) assert_int_equal(step, STEP_LAST);
    assert_int_equal(has_lost(sketch), kind == LOSING || kind == CROWDED || kind == SIGNED_LOSING);
    if (kind >= SIGNED) assert_true(block_signs(sketch->blocks.block) || block_signs(sketch->blocks.block + 1));
    return sketch;
}

static void assert_alike(const lego_sketch *a, const lego_sketch *b)
{
    assert_same(a, b);
    assert_int_equal(info_of(a).total, info_of(b).total);
    for (uint64_t i = 0; i < 500; i += 7) {
        lego_estimate x, y;
        lego_query_u64(a, i, &x);
        lego_query_u64(b, i, &y);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void what_is_saved_is_loaded(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(500); seed++) {
        uint64_t state = seed;
        uint32_t columns = seed % 3 ? 2 * (8 + (uint32_t)draw_below(&state, 80)) : 0;
        lego_sketch *a = make(1 + (uint32_t)draw_below(&state, 9), columns, NULL), *b;
        struct stream_of s = make_stream(&state, draw_below(&state, 300), 500, (unsigned)(seed % 13), seed % 2);
        add_stream(a, &s, 1);
        struct bytes bytes = sketch_to_bytes(a);
        assert_int_equal(load_sketch(bytes.p, bytes.size, &b), LEGO_OK);
        assert_alike(a, b);
        assert_true(b->mass <= a->mass);
        struct stream_of more = make_stream(&state, 50, 500, 3, false); /* and goes on as if nothing had been */
        add_stream(a, &more, 1);
        add_stream(b, &more, 1);
        assert_alike(a, b);
        lego_destroy(a);
        lego_destroy(b);
        free_stream(&s);
        free_stream(&more);
        free(bytes.p);
    }
}

/* Every truncation is loaded from memory of just that size, so that a sanitizer sees any byte read beyond. */
static void refuse_damaged(const lego_sketch *sketch)
{
    lego_sketch *loaded;
    struct bytes bytes = sketch_to_bytes(sketch);
    for (size_t size = 0; size < bytes.size; size++) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, bytes.p, size);
        lego_status status = load_sketch(cut, size, &loaded);
        assert_int_equal(status, LEGO_ERR_TRUNCATED);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        bytes.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
        lego_status status = load_sketch(bytes.p, bytes.size, &loaded);
        size_t at = bit / 8;
        bool version = at >= 8 && at < 12 && (bytes.p[8] != SKETCH_OLDEST || at > 8);
        assert_int_equal(status, at < 8                ? LEGO_ERR_MAGIC
                                 : version             ? LEGO_ERR_VERSION
                                 : at >= 16 && at < 24 ? LEGO_ERR_TRUNCATED
                                                       : LEGO_ERR_CHECKSUM);
        bytes.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    unsigned char *longer = calloc(1, bytes.size + 1);
    memcpy(longer, bytes.p, bytes.size);
    assert_int_equal(load_sketch(longer, bytes.size + 1, &loaded), LEGO_ERR_TRUNCATED);
    free(longer);
    free(bytes.p);
}

static void damaged_sketches_are_refused(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= BLOCK_KINDS; kind++) {
        lego_sketch *sketch = kind < BLOCK_KINDS ? blocks_of_kind(kind) : small_bricks();
        refuse_damaged(sketch);
        lego_destroy(sketch);
    }
}

/* A field set to edge values, with the checksum made right. */
struct field {
    size_t at, size;
};

static const uint64_t edges[] = {0,          1,
                                 2,          3,
                                 7,          8,
                                 15,         16,
                                 64,         255,
                                 256,        5120,
                                 65535,      1u << 26,
                                 0x7fffffff, 0x80000000,
                                 0xffffffff, UINT64_C(1) << 40,
                                 INT64_MAX,  UINT64_C(1) << 63,
                                 UINT64_MAX};

/* Whatever it is, it can be used like any other; a sanitizer looks on. */
static void use(lego_sketch *sketch)
{
    lego_sketch *copy, *again;
    lego_estimate e;
    assert_int_equal(lego_copy(sketch, &copy), LEGO_OK);
    for (uint64_t i = 0; i < 40; i++) {
        lego_status status = lego_add_u64(sketch, i * i, i % 5 ? 3 : -700);
        assert_true(status == LEGO_OK || status == LEGO_ERR_RANGE);
        assert_int_equal(lego_query_u64(sketch, i, &e), LEGO_OK);
        assert_true((double)e.lower <= e.value && e.value <= (double)e.likely && e.likely <= e.upper);
    }
    lego_status status = lego_merge(sketch, copy);
    assert_true(status == LEGO_OK || status == LEGO_ERR_RANGE);
    lego_fold(copy, 1);
    info_of(copy);
    for (int i = 0; i < 2; i++) {
        struct bytes bytes = sketch_to_bytes(i ? copy : sketch);
        assert_int_equal(load_sketch(bytes.p, bytes.size, &again), LEGO_OK);
        assert_same(again, i ? copy : sketch);
        lego_destroy(again);
        free(bytes.p);
    }
    lego_destroy(copy);
}

/* Whether the bytes, once sealed, are a sketch; then a canonical one. */
static bool load_or_refuse(struct bytes *bytes)
{
    static unsigned turn;
    lego_sketch *loaded;
    seal(bytes);
    if (load_sketch(bytes->p, bytes->size, &loaded) != LEGO_OK) return false;
    struct bytes again = sketch_to_bytes(loaded);
    assert_int_equal(again.size, bytes->size);
    assert_memory_equal(again.p, bytes->p, bytes->size);
    free(again.p);
    if (turn++ % 8 == 0 && sketch_shape(loaded).blocks < 1000) use(loaded); /* and not what may grow to gigabytes */
    lego_destroy(loaded);
    return true;
}

/* Every field of the head at values around the edges; how many of them were a sketch. */
static unsigned accepted_edges(const struct bytes *good)
{
    static const struct field fields[] = {{8, 4},  {12, 4}, {32, 8}, {40, 1}, {40, 8},
                                          {56, 4}, {56, 8}, {60, 4}, {64, 8}, {72, 4}};
    struct bytes work = {malloc(good->size), good->size};
    unsigned accepted = 0;
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            memcpy(work.p, good->p, good->size);
            put_number(work.p + fields[f].at, edges[e], (unsigned)fields[f].size);
            bool same = memcmp(work.p, good->p, good->size) == 0, taken = load_or_refuse(&work);
            bool most = fields[f].at == 56 && fields[f].size == 4; /* young ones may grow to another number */
            if (!most || same) assert_int_equal(taken, same);
            accepted += taken;
        }
    free(work.p);
    return accepted;
}

/* The seal is right, the content as given. */
static void assert_load(struct bytes *bytes, lego_status status)
{
    lego_sketch *loaded = NULL;
    seal(bytes);
    assert_int_equal(load_sketch(bytes->p, bytes->size, &loaded), status);
    lego_destroy(loaded);
}

static void impossible_heads_are_refused(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= BLOCK_KINDS; kind++) {
        lego_sketch *sketch = kind < BLOCK_KINDS ? blocks_of_kind(kind) : small_bricks();
        struct bytes good = sketch_to_bytes(sketch), work = {malloc(good.size), good.size};
        assert_true(accepted_edges(&good) >= 1); /* some of the edges are what is there */
        memcpy(work.p, good.p, good.size);
        work.p[12] ^= 3; /* the kind of the other model */
        assert_load(&work, LEGO_ERR_CORRUPT);
        for (unsigned version = 0; version < 8; version++) {
            memcpy(work.p, good.p, good.size);
            work.p[8] = (unsigned char)version;
            if (version != SKETCH_OLDEST) assert_load(&work, version == SKETCH_VERSION ? LEGO_OK : LEGO_ERR_VERSION);
        }
        memcpy(work.p, good.p, good.size);
        put_number(work.p + 72, 1, 4); /* a bucket that is not there */
        seal(&work);
        assert_false(load_or_refuse(&work));
        free(good.p);
        free(work.p);
        lego_destroy(sketch);
    }
}

/* Numbers that no file of this size can have are refused before anything of their size is asked for (load_sketch()). */
static void absurd_numbers_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t most, blocks, buckets;
        bool possible;
    } cases[] = {{700, 1, 0, true},
                 {1 << 20, 1, 0, true},
                 {700, 700, 0, false},
                 {1 << 28, 1 << 28, 0, false},
                 {(1 << 28) - 1, 1 << 27, 0, false},
                 {1 << 28, 1, 0, false}, /* beyond 64 GiB, with its handle */
                 {UINT64_C(1) << 31, 1, 0, false},
                 {UINT32_MAX, UINT32_MAX, 0, false},
                 {700, 2, 0, false},
                 {700, 3, 0, false},
                 {700, 0, 0, false},
                 {0, 0, 0, false},
                 {0, 1, 0, false},
                 {1, 2, 0, false},
                 {700, 1, 1, false},
                 {700, 1, 1 << 20, false},
                 {700, 1, UINT32_MAX, false}};
    lego_sketch *sketch = blocks_of_kind(EMPTY);
    struct bytes work = sketch_to_bytes(sketch);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_number(work.p + 56, cases[i].most, 4);
        put_number(work.p + 60, cases[i].blocks, 4);
        put_number(work.p + 72, cases[i].buckets, 4);
        assert_int_equal(load_or_refuse(&work), cases[i].possible);
    }
    free(work.p);
    lego_destroy(sketch);
}

static void impossible_bricks_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *sketch = small_bricks();
    struct bytes good = sketch_to_bytes(sketch), work = {malloc(good.size), good.size};
    size_t totals = 76 + 2 * 5 * 16 * 4, marks = totals + 2 * 8; /* two bricks of five rows of 16 columns */
    assert_int_equal(good.size, marks + 2 + 8);
    for (unsigned mark = 32; mark < 256; mark *= 2) { /* rows that there are not */
        memcpy(work.p, good.p, good.size);
        work.p[marks + 1] |= (unsigned char)mark;
        assert_load(&work, LEGO_ERR_CORRUPT);
    }
    memcpy(work.p, good.p, good.size);
    work.p[totals]++; /* the totals sum to another number than the head has */
    assert_load(&work, LEGO_ERR_CORRUPT);
    work.p[64]++;
    assert_load(&work, work.p[64] ? LEGO_OK : LEGO_ERR_CORRUPT);
    put_number(work.p + totals, INT64_MAX, 8); /* two totals whose sum is right modulo 2^64 */
    put_number(work.p + totals + 8, (uint64_t)info_of(sketch).total - INT64_MAX, 8);
    put_number(work.p + 64, (uint64_t)info_of(sketch).total, 8);
    assert_load(&work, LEGO_ERR_CORRUPT);
    memcpy(work.p, good.p, good.size);
    size_t map = 76 + 4 * 14; /* where the last two of 16 columns were, of row 0 of brick 0 */
    work.p[marks] |= 1;
    memset(work.p + 76, 0, 64);
    assert_load(&work, LEGO_OK);
    for (unsigned bit = 7; bit < 64; bit++) { /* 14 cells are 7 pairs */
        put_number(work.p + map, UINT64_C(1) << bit, 8);
        assert_load(&work, LEGO_ERR_CORRUPT);
    }
    free(work.p);
    free(good.p);
    lego_destroy(sketch);
}

/* Every byte of a file, changed in many ways: it is refused, or is what a sketch saves. */
static void impossible_blocks_are_refused(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < BLOCK_KINDS; kind++) {
        lego_sketch *sketch = blocks_of_kind(kind);
        struct bytes bytes = sketch_to_bytes(sketch), work = {malloc(bytes.size), bytes.size};
        for (size_t at = 24; at < bytes.size - 8; at++)
            for (unsigned change = 1; change < 256; change++) {
                bool bit = (change & (change - 1)) == 0 || change == 255;
                if (!bit && (at > 100 || !FULL) && change % 64 != at % 64) continue; /* there, some of them */
                memcpy(work.p, bytes.p, bytes.size);
                work.p[at] ^= (unsigned char)change;
                bool taken = load_or_refuse(&work);
                bool free_field =
                    at < 32 || (kind <= YOUNG && at >= 56 && at < 60); /* a seed, and a young one's most */
                assert_false(taken && !free_field && at < 76);
            }
        free(work.p);
        free(bytes.p);
        lego_destroy(sketch);
    }
}

/* What is answered for the unlisted stands behind blocks if one of them keeps, and nowhere else. */
static void what_is_said_of_the_unlisted_is_read(void **unused)
{
    (void)unused;
    static const uint64_t some[] = {0, 1, 77, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    for (int kind = 0; kind < BLOCK_KINDS; kind++) {
        lego_sketch *sketch = blocks_of_kind(kind), *loaded;
        enum { SIZE = 32 };
        struct bytes good = sketch_to_bytes(sketch), work = {calloc(1, good.size + SIZE), 0};
        const bool keeps = info_of(sketch).keeping > 0;
        const size_t at = good.size - 8 - SIZE;
        memcpy(work.p, good.p, good.size);
        work.size = keeps ? good.size - SIZE : good.size + SIZE; /* missing, or too much */
        put_number(work.p + 16, work.size, 8);
        assert_load(&work, LEGO_ERR_TRUNCATED);
        memcpy(work.p, good.p, work.size = good.size);
        for (size_t i = 0; keeps && i < sizeof some / sizeof *some; i++)
            for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
                bool possible = some[i] > 0 && some[i] <= INT64_MAX;
                put_number(work.p + at, some[i], 8);
                put_number(work.p + at + 8, some[k], 8);
                put_number(work.p + at + 16, some[(i + k) % 6], 8);
                put_number(work.p + at + 24, some[(i + 1) % 6], 8);
                assert_int_equal(load_or_refuse(&work), possible);
                if (!possible) continue;
                assert_int_equal(load_sketch(work.p, work.size, &loaded), LEGO_OK);
                assert_int_equal(loaded->blocks.unlisted.value, some[i]);
                assert_int_equal(loaded->blocks.unlisted.likely, some[k]);
                assert_int_equal(loaded->blocks.unlisted.entered, some[(i + k) % 6]);
                lego_destroy(loaded);
            }
        free(work.p);
        free(good.p);
        lego_destroy(sketch);
    }
}

/* What follows 76 bytes of head is taken from another block; the rest is as it was. */
static struct bytes with_block(const struct bytes *file, size_t block_at, size_t old, const struct block *block)
{
    size_t new = block_bytes(block), rest = file->size - block_at - old;
    struct bytes made = {malloc(block_at + new + rest), block_at + new + rest};
    memcpy(made.p, file->p, block_at);
    for (size_t i = 0; i < new; i++) made.p[block_at + i] = (unsigned char)(block->word[i / 8] >> i % 8 * 8);
    memcpy(made.p + block_at + new, file->p + block_at + old, rest);
    return made;
}

/* The one block of a young file that has nothing else, and what its counts come to. */
static lego_status load_block(const struct block *block, int64_t total)
{
    lego_sketch *sketch = blocks_of_kind(EMPTY), *loaded = NULL;
    struct bytes bytes = sketch_to_bytes(sketch), made = with_block(&bytes, 76, 5, block);
    put_number(made.p + 64, (uint64_t)total, 8);
    made.p[13] = block->word[0] ? LEGO_ITEMS_BYTES : LEGO_ITEMS_NONE;
    seal(&made);
    lego_status status = load_sketch(made.p, made.size, &loaded);
    lego_destroy(loaded);
    lego_destroy(sketch);
    free(bytes.p);
    free(made.p);
    return status;
}

static void only_canonical_blocks_are_taken(void **unused)
{
    (void)unused;
    const struct block_kernels *kernels = block_kernels_best();
    const unsigned whole = key_bits(1);
    struct block block = {{0}}, closed;
    struct content content;
    assert_int_equal(load_block(&block, 0), LEGO_OK);
    for (uint64_t round = 0; round < 2; round++) /* as it is after additions, its g is that of the first */
        for (uint64_t i = 1; i <= 9; i++)
            assert_true(kernels->add(&block, whole, draw(&(uint64_t){i}), round ? 999 : 1));
    kernels->open(&block, whole, &content);
    assert_true(kernels->close(&closed, whole, &content));
    assert_int_equal(load_block(&closed, 9000), LEGO_OK);
    assert_int_equal(load_block(&closed, 9001), LEGO_ERR_CORRUPT); /* the total says otherwise */
    assert_true(block_g(&closed) != block_g(&block));              /* as it was added to: another g */
    assert_int_equal(load_block(&block, 9000), LEGO_ERR_CORRUPT);
    struct block wrong = closed;
    wrong.word[0] |= UINT64_C(1) << 29; /* signed, with nothing negative */
    assert_int_not_equal(load_block(&wrong, 9000), LEGO_OK);
    content_lower(&content, STEP_LIST, whole); /* prints, where whole keys have room */
    assert_true(kernels->close(&wrong, whole, &content));
    assert_int_equal(load_block(&wrong, 9000), LEGO_ERR_CORRUPT);
    keep_start(&content); /* and so does a block that keeps */
    assert_true(kernels->close(&wrong, whole, &content));
    assert_int_equal(load_block(&wrong, 9000), LEGO_ERR_CORRUPT);
    content_start(&content, STEP_LIST); /* an empty one that has lost bits */
    assert_true(kernels->close(&wrong, whole, &content));
    assert_int_equal(load_block(&wrong, 0), LEGO_ERR_CORRUPT);
}

/* Sums that could overflow, of counts whose own sum is right. */
static void impossible_sums_are_refused(void **unused)
{
    (void)unused;
    const struct block_kernels *kernels = block_kernels_best();
    const unsigned whole = key_bits(1);
    const int64_t most = INT64_MAX / 4; /* the largest sum whose product with the quantum fits 64 bits */
    for (int64_t sum = most; sum <= most + 1; sum++)
        for (int less = 0; less < 2; less++) {
            struct block block = {{0}}, closed;
            struct content content;
            kernels->add_on(&block, whole, UINT64_C(3) << 60, sum);
            if (less) kernels->add_on(&block, whole, UINT64_C(5) << 60, -1); /* sizes count, not their sum */
            kernels->open(&block, whole, &content);
            assert_true(kernels->close(&closed, whole, &content));
            assert_int_equal(load_block(&closed, sum - less), sum == most && !less ? LEGO_OK : LEGO_ERR_CORRUPT);
        }
}

/* A file with more blocks than its content needs is none. */
static void more_blocks_than_needed_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make(8, 0, NULL), *loaded = NULL;
    for (uint64_t i = 0; i < 10; i++) assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
    for (uint32_t number = 1; number <= 8; number *= 2) {
        sketch->blocks.loose = false; /* then it is saved as it is */
        struct bytes bytes = sketch_to_bytes(sketch);
        assert_int_equal(load_sketch(bytes.p, bytes.size, &loaded), number == 1 ? LEGO_OK : LEGO_ERR_CORRUPT);
        if (number == 1) lego_destroy(loaded);
        free(bytes.p);
        if (number < 8) assert_int_equal(grow_blocks(sketch), LEGO_OK);
    }
    lego_destroy(sketch);
}

static void random_bytes_are_refused(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    for (int i = 0; i < 20000; i++) {
        unsigned char p[256];
        size_t size = draw_below(&state, sizeof p);
        for (size_t j = 0; j < size; j++) p[j] = (unsigned char)draw(&state);
        if (i % 2 && size >= 12)
            memcpy(p, i % 4 == 1 ? i % 16 < 8 ? "LEGOSKCH\4\0\0\0" : "LEGOSKCH\5\0\0\0" : "LEGOMODL\1\0\0\0", 12);
        struct bytes b = {p, size};
        if (i % 8 > 3 && size >= 32) seal(&b);
        lego_sketch *sketch;
        assert_int_not_equal(load_sketch(p, size, &sketch), LEGO_OK);
        lego_model *model = NULL;
        assert_int_not_equal(lego_model_load(p, size, NULL, &model), LEGO_OK);
        assert_null(model);
    }
}

/* Sketches of a model that is not built in. */
static void models_are_told_apart(void **unused)
{
    (void)unused;
    struct bytes file = read_file("tests/golden/random.lego");
    lego_model *model;
    assert_int_equal(lego_model_load(file.p, file.size, NULL, &model), LEGO_OK);
    lego_sketch *a = make(1, 64, model), *b = NULL;
    lego_add_u64(a, 1, 2);
    struct bytes bytes = sketch_to_bytes(a);
    assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &b), LEGO_ERR_MODEL);
    assert_int_equal(lego_load(bytes.p, bytes.size, &(lego_options){.model = lego_model_builtin(NULL)}, &b),
                     LEGO_ERR_MODEL);
    assert_null(b);
    assert_int_equal(lego_load(bytes.p, bytes.size, &(lego_options){.model = model}, &b), LEGO_OK);
    assert_same(a, b);
    char name[16] = "";
    assert_int_equal(lego_saved_model(bytes.p, 55, name), LEGO_ERR_TRUNCATED);
    assert_int_equal(lego_saved_model(file.p, file.size, name), LEGO_ERR_MAGIC);
    assert_string_equal(name, "");
    assert_int_equal(lego_saved_model(bytes.p, 56, name), LEGO_OK);
    assert_string_equal(name, "random");
    bytes.p[55] = 'x'; /* not ended by a zero */
    assert_int_equal(lego_saved_model(bytes.p, 56, name), LEGO_ERR_CORRUPT);
    lego_destroy(a);
    lego_destroy(b);
    lego_model_destroy(model);
    free(bytes.p);
    free(file.p);
}

/* What the first 24 bytes tell, and no fewer. */
static void heads_tell_the_length(void **unused)
{
    (void)unused;
    struct bytes model = read_file("tests/golden/random.lego");
    lego_sketch *sketch = make(1, 64, NULL);
    struct bytes saved = sketch_to_bytes(sketch);
    uint64_t length = 7;
    for (size_t size = 0; size < 24; size++) {
        assert_int_equal(lego_saved_length(saved.p, size, &length), LEGO_ERR_TRUNCATED);
        assert_int_equal(lego_saved_length(model.p, size, &length), LEGO_ERR_TRUNCATED);
    }
    assert_int_equal(length, 7);
    assert_int_equal(lego_saved_length(saved.p, 24, &length), LEGO_OK);
    assert_int_equal(length, saved.size);
    assert_int_equal(lego_saved_length(model.p, 24, &length), LEGO_OK);
    assert_int_equal(length, model.size);
    saved.p[8]++;
    assert_int_equal(lego_saved_length(saved.p, saved.size, &length), LEGO_ERR_VERSION);
    saved.p[0]++;
    assert_int_equal(lego_saved_length(saved.p, saved.size, &length), LEGO_ERR_MAGIC);
    lego_destroy(sketch);
    free(saved.p);
    free(model.p);
}

static void no_bytes_are_a_truncated_file(void **unused)
{
    (void)unused;
    lego_sketch *sketch = NULL;
    lego_model *model = NULL;
    char name[16] = "";
    assert_int_equal(lego_load(NULL, 0, NULL, &sketch), LEGO_ERR_TRUNCATED);
    assert_int_equal(lego_model_load(NULL, 0, NULL, &model), LEGO_ERR_TRUNCATED);
    assert_int_equal(lego_saved_model(NULL, 0, name), LEGO_ERR_TRUNCATED);
    assert_int_equal(lego_saved_length(NULL, 0, &(uint64_t){0}), LEGO_ERR_TRUNCATED);
    assert_true(sketch == NULL && model == NULL && name[0] == '\0');
}

static void every_status_has_a_message(void **unused)
{
    (void)unused;
    for (int s = LEGO_OK; s <= LEGO_ERR_DEVICE; s++) {
        assert_non_null(lego_status_message((lego_status)s));
        assert_string_not_equal(lego_status_message((lego_status)s), "unknown status");
    }
    assert_string_equal(lego_status_message((lego_status)999), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(damaged_sketches_are_refused),
        cmocka_unit_test(impossible_heads_are_refused),
        cmocka_unit_test(absurd_numbers_are_refused),
        cmocka_unit_test(impossible_bricks_are_refused),
        cmocka_unit_test(impossible_blocks_are_refused),
        cmocka_unit_test(what_is_said_of_the_unlisted_is_read),
        cmocka_unit_test(only_canonical_blocks_are_taken),
        cmocka_unit_test(impossible_sums_are_refused),
        cmocka_unit_test(more_blocks_than_needed_are_refused),
        cmocka_unit_test(random_bytes_are_refused),
        cmocka_unit_test(models_are_told_apart),
        cmocka_unit_test(heads_tell_the_length),
        cmocka_unit_test(no_bytes_are_a_truncated_file),
        cmocka_unit_test(every_status_has_a_message),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
