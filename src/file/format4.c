/* format4: see format4.h. Small and slow.
 *
 * The head of a block had 40 bits, from the lowest on: bits in use behind it (11), step (7), entries (9), g (5), signs
 * (2), and 6 that are 0.
 *
 *     step 0        a list of whole keys
 *     1 + 4k + j    up to 49: a list of prints of 24 - k bits, but of 23 - k where the two highest are below j, 0 to 3
 *     50 to 94      cells that items share
 *     95 to 119     of a cap, which 32 blocks had in common, or the last one more; they followed the blocks if there
 *                   were as many as there can be. Caps told bounds and nothing else
 *
 * Behind the head of a list were quotients, remainders, of each key's own length, and counts, coded as block.h has it.
 * Today the prints of a block are equally long: where some had a bit less, all do. Below 20 bits the block keeps. */
#include "file/format4.h"

#include <string.h>

#include "block/keep.h"
#include "block/levels.h"
#include "sketch/mass.h"

enum { OLD_SHARES = 50, OLD_CAP = 95, OLD_CAP_LAST = 119, BLOCKS_A_CAP = 32 };

struct old_block {
    unsigned step, n, g, signs;
    unsigned at, end; /* the next bit to be read, and where those in use end */
    bool fits;        /* no more of them were asked for */
    struct block block;
};

/* ---- bytes and bits ---------------------------------------------------------------------------------------------- */

/* Whether the head is possible, and behind the bits in use there is none. */
static bool read_old(struct rest *rest, struct old_block *old)
{
    const uint64_t head = take_int(rest, BLOCK_HEAD / 8);
    *old = (struct old_block){.step = head >> 11 & 127,
                              .n = head >> 18 & 511,
                              .g = head >> 27 & 31,
                              .signs = head >> 32 & 3,
                              .at = BLOCK_HEAD,
                              .end = BLOCK_HEAD + (head & 2047),
                              .fits = true,
                              .block.word[0] = head};
    if (head >> 34 || old->signs > SIGNS_BELOW || old->step > OLD_CAP_LAST || old->end > BLOCK_BITS) return false;
    for (unsigned i = BLOCK_HEAD / 8; i < (old->end + 7) / 8; i++)
        old->block.word[i / 8] |= take_int(rest, 1) << 8 * (i % 8);
    return old->end == BLOCK_BITS || old->block.word[old->end / 64] >> old->end % 64 == 0;
}

static uint64_t next_bits(struct old_block *old, unsigned n)
{
    uint64_t x = 0;
    old->fits = old->fits && n <= old->end - old->at;
    if (!old->fits) return 0;
    for (unsigned i = 0; i < n; i++, old->at++) x |= (old->block.word[old->at / 64] >> old->at % 64 & 1) << i;
    return x;
}

/* ---- a list ------------------------------------------------------------------------------------------------------ */

/* Bits of the longest keys, and how many quarters of all have one bit less. */
static unsigned old_print(const struct old_block *old, unsigned whole)
{
    return old->step == STEP_WHOLE ? whole : PRINT_MOST - (old->step - 1) / 4;
}

static unsigned old_quarters(const struct old_block *old)
{
    return old->step == STEP_WHOLE ? 0 : (old->step - 1) % 4;
}

static bool read_keys(struct old_block *old, unsigned print, struct content *content)
{
    const unsigned q = quotient_bits(old->n);
    unsigned found = 0;
    for (uint64_t quotient = 0; quotient >> q == 0;) {
        if (next_bits(old, 1) == 0) quotient++;
        else if (found < old->n) content->key[found++] = quotient << (64 - q);
        else return false;
    }
    if (found < old->n) return false;
    for (unsigned i = 0; i < old->n; i++) {
        const unsigned length = print - (content->key[i] >> 62 < old_quarters(old)) - q;
        content->key[i] |= next_bits(old, length) << (64 - q - length);
        if (i > 0 && content->key[i] <= content->key[i - 1]) return false;
    }
    return true;
}

static bool read_codes(struct old_block *old, uint64_t code[])
{
    lego_u128 v[BLOCK_ENTRIES] = {0};
    unsigned on[BLOCK_ENTRIES], some = old->n; /* which integers are on this level */
    for (unsigned i = 0; i < some; i++) on[i] = i;
    for (unsigned level = 0; some > 0; level++) {
        bool more[BLOCK_ENTRIES];
        unsigned left = 0;
        if (level > LEVELS) return false;
        for (unsigned i = 0; i < some; i++) more[i] = next_bits(old, 1);
        for (unsigned i = 0; i < some; i++) {
            lego_u128 digit = next_bits(old, level == 0 ? old->g : width[level]);
            v[on[i]] += level == 0 ? digit : (digit + 1) << after[level] << old->g;
        }
        for (unsigned i = 0; i < some; i++)
            if (more[i]) on[left++] = on[i];
        some = left;
    }
    for (unsigned i = 0; i < old->n; i++) {
        if (v[i] > UINT64_MAX) return false;
        code[i] = (uint64_t)v[i];
    }
    return true;
}

static bool read_counts(struct old_block *old, struct content *content)
{
    uint64_t code[BLOCK_ENTRIES];
    if (!read_codes(old, code)) return false;
    for (unsigned i = 0; i < old->n; i++) {
        const int64_t value = from_code(code[i] + (old->signs == SIGNS_BOTH), old->signs);
        if (value == 0 || (old->signs != SIGNS_BOTH && (value > 0) != (old->signs == SIGNS_ABOVE))) return false;
        content->value[i] = value;
    }
    return true;
}

/* As if it had whole keys. */
static bool read_list(struct old_block *old, unsigned whole, struct content *content)
{
    content_start(content, STEP_WHOLE);
    if (old->n > BLOCK_ENTRIES) return false; /* more than fit */
    if (old->n > 0 && !(read_keys(old, old_print(old, whole), content) && read_counts(old, content))) return false;
    content->n = old->n;
    return old->fits && old->at == old->end;
}

/* ---- as blocks of today ------------------------------------------------------------------------------------------ */

struct old_file {
    struct rest *rest;
    lego_sketch *sketch;
    uint32_t blocks;
    unsigned whole;
    struct block_sums sums; /* of what was read so far: none that is smaller overflows */
};

/* A content that keeps, of prints of so many bits. */
static void keep_list(struct content *content, unsigned print)
{
    struct entry entry[BLOCK_ENTRIES];
    struct joined joined = {.entry = entry};
    content->step = STEP_LIST + PRINT_MOST - print;
    content->g = 0;
    memset(content->known, (int)print, content->n);
    keep_gather(&joined, content, 0, 1);
    keep_join(&joined, content);
}

/* Counts of both signs may take a bit more than they did: so it may be at a later step. */
static void put_list(const struct blocks *blocks, uint32_t index, unsigned print, struct content *content)
{
    if (print < PRINT_SAME) keep_list(content, print);
    else if (print < blocks->whole) content_lower(content, STEP_LIST + PRINT_MOST - print, blocks->whole);
    blocks->kernels->settle(&blocks->block[index], blocks->whole, content);
}

/* The items of a block of whole keys. LEGO_ERR_VERSION if it takes more blocks. */
static lego_status add_list(const struct old_file *file, uint32_t index, const struct content *content)
{
    for (unsigned i = 0; i < content->n; i++) {
        const struct hash hash = spot_hash(file->blocks, (struct spot){index, content->key[i]});
        if (spot_of(file->blocks, hash).block != index) return LEGO_ERR_CORRUPT;
        if (!blocks_add(&file->sketch->blocks, hash, content->value[i])) return LEGO_ERR_VERSION;
    }
    return LEGO_OK;
}

static lego_status read_block(struct old_file *file, uint32_t index)
{
    const bool young = file->blocks < file->sketch->blocks.most; /* its keys are whole */
    struct old_block old;
    struct content content;
    const bool possible = read_old(file->rest, &old);
    if (!file->rest->fits) return LEGO_ERR_TRUNCATED;
    if (!possible || old.step >= OLD_CAP || (young && old.step != STEP_WHOLE)) return LEGO_ERR_CORRUPT;
    const unsigned print = old_print(&old, file->whole) - (old_quarters(&old) > 0);
    if (print < PRINT_FLOOR) return LEGO_ERR_VERSION;
    if (!read_list(&old, file->whole, &content)) return LEGO_ERR_CORRUPT;
    sums_add(&file->sums, &content);
    if (file->sums.magnitude > INT64_MAX) return LEGO_ERR_CORRUPT;
    if (young) return add_list(file, index, &content);
    put_list(&file->sketch->blocks, index, print, &content);
    return LEGO_OK;
}

static lego_status skip_cap(const struct old_file *file)
{
    struct old_block cap;
    const bool possible = read_old(file->rest, &cap);
    if (!file->rest->fits) return LEGO_ERR_TRUNCATED;
    const bool empty = cap.block.word[0] == 0, counts = cap.step >= OLD_CAP && cap.n == 0;
    return possible && (empty || counts) ? LEGO_OK : LEGO_ERR_CORRUPT;
}

static lego_status read_blocks(struct rest *rest, lego_sketch *sketch, uint32_t blocks)
{
    const uint32_t most = sketch->blocks.most, caps = most < BLOCKS_A_CAP ? 1 : most / BLOCKS_A_CAP;
    struct old_file file = {.rest = rest, .sketch = sketch, .blocks = blocks, .whole = key_bits(blocks)};
    lego_status status = LEGO_OK;
    for (uint32_t i = 0; status == LEGO_OK && i < blocks; i++) status = read_block(&file, i);
    for (uint32_t i = 0; status == LEGO_OK && blocks == most && i < caps; i++) status = skip_cap(&file);
    return status;
}

/* The next number of blocks, all of them empty. */
static lego_status make_more(lego_sketch *sketch)
{
    const struct shape shape = sketch_shape(sketch);
    lego_sketch made = *sketch;
    lego_status status = light_allocate(&made, &shape, blocks_after(sketch->blocks.blocks, shape.blocks));
    if (status != LEGO_OK) return status;
    light_free(sketch);
    *sketch = made;
    return LEGO_OK;
}

/* Blocks that were added to one by one, in their one form. */
static void tidy_blocks(const struct blocks *blocks)
{
    struct content content;
    for (uint32_t i = 0; i < blocks->blocks; i++) {
        blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
        blocks->kernels->settle(&blocks->block[i], blocks->whole, &content);
    }
}

/* Of a young sketch with counts of both signs the next number of blocks always does, if nobody chose its items: so a
 * file never takes more memory than that. */
lego_status format4_read(struct rest *rest, lego_sketch *sketch)
{
    const uint32_t blocks = sketch->blocks.blocks;
    const bool young = blocks_grow(&sketch->blocks);
    struct rest again = *rest;
    lego_status status = read_blocks(rest, sketch, blocks);
    if (status == LEGO_ERR_VERSION && young) {
        status = make_more(sketch);
        if (status == LEGO_OK) status = read_blocks(&again, sketch, blocks);
        *rest = again;
    }
    if (status == LEGO_OK && young) tidy_blocks(&sketch->blocks);
    return status;
}
