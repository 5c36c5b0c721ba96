/* ms_net: one task of the meta-sketch, forward and backward. Included after real, LANES and the tiles are defined (see
 * layers.h): floats for training, doubles where gradients are checked against differences. ms_train.h draws the whole.
 *
 * Items lie in blocks, [feature][item]; the last block is padded with items of frequency 0, which no sum counts. Batch
 * norm needs sums over all items before anything can go on, and so does the memory, so a task is a row of stages with
 * sums between them; a stage goes over all blocks:
 *
 *     forward   embed_0 | embed_1 | embed_2, refine_0 | refine_1 | refine_2, address, store |
 *     both      read, decode, loss, and back to what was read |
 *     backward  store, address, refine_2 | refine_1 | refine_0, embed_2 | embed_1 | embed_0
 *
 * Blocks are dealt out to MS_PARTS parts; each has a gradient and a memory of its own, which are added in order. Only
 * what is needed across stages is kept for each item (struct items); what is cheap to compute again goes to a thread's
 * scratch. Gradients have a d before the name of what they are the gradient of.
 *
 *     ms_blocks.h   struct items and the others, products over items     ms_norm.h     batch norm
 *     ms_slots.h    sparsemax, memory                                    ms_decode.h   reads, decoder, loss
 *     here          the stages, and the task that they make */
#include "ms_blocks.h"
#include "ms_decode.h"
#include "ms_norm.h"
#include "ms_slots.h"

/* ---- the stages, for one block each ------------------------------------------------------------------------------ */

struct at_work { /* of a block at work */
    struct workspace *s;
    struct items *b;
    struct scratch *t;
    struct part *p;
    struct sums *sums;
    uint32_t first, count;
};

static void bits_to_x(const struct at_work *at)
{
    for (uint32_t c = 0; c < BLOCK; c++) {
        uint64_t bits = c < at->count ? at->s->bits[at->first + c] : 0;
        for (int i = 0; i < MS_BITS; i++) at->t->x[i][c] = (real)(bits >> i & 1);
    }
}

#define NORM_EMBED_0 NORM(EMBED_0, SLOPE_RELU)
#define NORM_EMBED_1 NORM(EMBED_1, SLOPE_RELU)
#define NORM_REFINE_0 NORM(REFINE_0, SLOPE_LEAKY)
#define NORM_REFINE_1 NORM(REFINE_1, SLOPE_LEAKY)
/* A layer that batch norm follows: no bias. */
#define FORWARD_BARE(layer, x, y)                                                                                      \
    product((struct product){s->w + MS_AT_##layer, NULL, MS_IN_##layer, MS_IN_##layer, 1, &(x)[0][0], &(y)[0][0],      \
                             NULL, SLOPE_LINEAR, BLOCK},                                                               \
            MS_OUT_##layer)

static void embed_0_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    bits_to_x(at);
    FORWARD_BARE(EMBED_0, at->t->x, at->b->u0);
    norm_measure(NORM_EMBED_0, at->b->u0, at->count, at->sums);
}

static void embed_1_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    norm_forward(NORM_EMBED_0, s, at->b->u0, at->t->h0);
    FORWARD_BARE(EMBED_1, at->t->h0, at->b->u1);
    norm_measure(NORM_EMBED_1, at->b->u1, at->count, at->sums);
}

static void embed_2_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    norm_forward(NORM_EMBED_1, s, at->b->u1, at->t->h1);
    FORWARD(EMBED_2, SLOPE_RELU, at->t->h1, at->b->z);
    FORWARD_BARE(REFINE_0, at->b->z, at->b->v0);
    norm_measure(NORM_REFINE_0, at->b->v0, at->count, at->sums);
}

static void refine_1_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    norm_forward(NORM_REFINE_0, s, at->b->v0, at->t->r0);
    FORWARD_BARE(REFINE_1, at->t->r0, at->b->v1);
    norm_measure(NORM_REFINE_1, at->b->v1, at->count, at->sums);
}

/* A [5][50] of a depth is read as [50][5]: row step 1, inner step 50. */
static void address_forward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    norm_forward(NORM_REFINE_1, s, b->v1, at->t->r1);
    FORWARD(REFINE_2, SLOPE_LINEAR, at->t->r1, b->q);
    for (int d = 0; d < MS_DEPTH; d++) {
        const real *address = s->w + MS_AT_ADDRESS + d * MS_REFINED * MS_SLOTS;
        product(
            (struct product){address, NULL, 1, MS_REFINED, MS_SLOTS, b->q[0], b->a[d][0], NULL, SLOPE_LINEAR, BLOCK},
            MS_SLOTS);
        sparsemax_forward(b->a[d]);
    }
    for (int k = 0; k < MS_EMBED; k++)
        for (int c = 0; c < BLOCK; c++) at->t->fz[k][c] = b->f[0][c] * b->z[k][c];
    for (int d = 0; d < MS_DEPTH; d++) slots_add(at->p->memory.m[d], b->a[d], at->t->fz);
}

static void query_both(const struct at_work *at)
{
    read_forward(at->s, at->b, at->t);
    decode_forward(at->s, at->t);
    loss_block(at->s, at->b, at->count, at->t, at->sums);
    decode_backward(at->s, at->t, at->p);
    read_backward(at->s, at->b, at->t, at->p);
}

/* dmemory, da, dz -> da and dz with what was stored counted too, then back to the last batch norm */
static void address_backward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    struct scratch *t = at->t;
    struct part *p = at->p;
    memset(t->dq, 0, sizeof t->dq);
    for (int d = 0; d < MS_DEPTH; d++) {
        const int place = MS_AT_ADDRESS + d * MS_REFINED * MS_SLOTS;
        slots_match(s->dmemory.m[d], b->z, t->part);
        slots_read(s->dmemory.m[d], b->a[d], t->dread);
        for (int i = 0; i < MS_SLOTS; i++)
            for (int c = 0; c < BLOCK; c++) b->da[d][i][c] += b->f[0][c] * t->part[i][c];
        for (int k = 0; k < MS_EMBED; k++)
            for (int c = 0; c < BLOCK; c++) b->dz[k][c] += b->f[0][c] * t->dread[k][c];
        sparsemax_backward(b->a[d], b->da[d]);
        matrix_backward(MS_SLOTS, MS_REFINED, b->da[d][0], b->q[0], p->gradient + place);
        product((struct product){s->w + place, NULL, MS_SLOTS, MS_SLOTS, 1, b->da[d][0], t->part[0], NULL, SLOPE_LINEAR,
                                 BLOCK},
                MS_REFINED);
        for (int r = 0; r < MS_REFINED; r++)
            for (int c = 0; c < BLOCK; c++) t->dq[r][c] += t->part[r][c];
    }
    norm_forward(NORM_REFINE_1, s, b->v1, t->r1);
    BACKWARD_WEIGHTS(REFINE_2, t->r1, t->dq);
    BACKWARD_BIAS(REFINE_2, t->dq);
    BACKWARD(REFINE_2, SLOPE_LEAKY, t->r1, t->dq, b->dv1);
    norm_measure_backward(NORM_REFINE_1, b->dv1, b->v1, at->count, at->sums);
}

static void refine_1_backward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    struct part *p = at->p;
    norm_backward(NORM_REFINE_1, s, b->v1, at->count, b->dv1);
    norm_forward(NORM_REFINE_0, s, b->v0, at->t->r0);
    BACKWARD_WEIGHTS(REFINE_1, at->t->r0, b->dv1);
    BACKWARD(REFINE_1, SLOPE_LEAKY, at->t->r0, b->dv1, b->dv0);
    norm_measure_backward(NORM_REFINE_0, b->dv0, b->v0, at->count, at->sums);
}

static void embed_2_backward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    struct part *p = at->p;
    norm_backward(NORM_REFINE_0, s, b->v0, at->count, b->dv0);
    BACKWARD_WEIGHTS(REFINE_0, b->z, b->dv0);
    BACKWARD(REFINE_0, SLOPE_LINEAR, b->z, b->dv0, at->t->fz);
    for (int k = 0; k < MS_EMBED; k++)
        for (int c = 0; c < BLOCK; c++) b->dz[k][c] = b->z[k][c] > 0 ? b->dz[k][c] + at->t->fz[k][c] : 0;
    norm_forward(NORM_EMBED_1, s, b->u1, at->t->h1);
    BACKWARD_WEIGHTS(EMBED_2, at->t->h1, b->dz);
    BACKWARD_BIAS(EMBED_2, b->dz);
    BACKWARD(EMBED_2, SLOPE_RELU, at->t->h1, b->dz, b->du1);
    norm_measure_backward(NORM_EMBED_1, b->du1, b->u1, at->count, at->sums);
}

static void embed_1_backward(const struct at_work *at)
{
    struct workspace *s = at->s;
    struct items *b = at->b;
    struct part *p = at->p;
    norm_backward(NORM_EMBED_1, s, b->u1, at->count, b->du1);
    norm_forward(NORM_EMBED_0, s, b->u0, at->t->h0);
    BACKWARD_WEIGHTS(EMBED_1, at->t->h0, b->du1);
    BACKWARD(EMBED_1, SLOPE_RELU, at->t->h0, b->du1, b->du0);
    norm_measure_backward(NORM_EMBED_0, b->du0, b->u0, at->count, at->sums);
}

static void embed_0_backward(const struct at_work *at)
{
    struct part *p = at->p;
    norm_backward(NORM_EMBED_0, at->s, at->b->u0, at->count, at->b->du0);
    bits_to_x(at);
    BACKWARD_WEIGHTS(EMBED_0, at->t->x, at->b->du0);
}

/* ---- a task: the stages, and the sums between them --------------------------------------------------------------- */

struct over_blocks {
    struct workspace *s;
    void (*stage)(const struct at_work *at);
};

/* Part p has blocks p, p + MS_PARTS, ..., in that order. */
static void do_part(void *context, unsigned part, unsigned worker)
{
    const struct over_blocks *over = context;
    struct workspace *s = over->s;
    for (uint32_t b = part; b < s->blocks; b += MS_PARTS) {
        uint32_t first = b * BLOCK, count = s->n - first < BLOCK ? s->n - first : BLOCK;
        over->stage(&(struct at_work){s, &s->block[b], &s->scratch[worker], &s->part[part], &s->sums[b], first, count});
    }
}

static void each_block(struct pool *pool, struct workspace *s, void (*stage)(const struct at_work *))
{
    pool_run(pool, do_part, &(struct over_blocks){s, stage}, MS_PARTS);
}

static void add_memories(const struct workspace *s, bool gradients, struct slots *sum)
{
    memset(sum, 0, sizeof *sum);
    for (int p = 0; p < MS_PARTS; p++) {
        const struct slots *memory = gradients ? &s->part[p].dmemory : &s->part[p].memory;
        for (int d = 0; d < MS_DEPTH; d++)
            for (int i = 0; i < MS_SLOTS * MS_EMBED; i++) sum->m[d][i] += memory->m[d][i];
    }
}

static struct ms_losses net_task(struct pool *pool, struct workspace *s, real *gradient)
{
    memset(s->part, 0, sizeof s->part);

    each_block(pool, s, embed_0_forward);
    norm_settle(NORM_EMBED_0, s);
    each_block(pool, s, embed_1_forward);
    norm_settle(NORM_EMBED_1, s);
    each_block(pool, s, embed_2_forward);
    norm_settle(NORM_REFINE_0, s);
    each_block(pool, s, refine_1_forward);
    norm_settle(NORM_REFINE_1, s);
    each_block(pool, s, address_forward);
    add_memories(s, false, &s->memory);

    each_block(pool, s, query_both);
    struct ms_losses losses = loss_settle(s, s->part[0].gradient + MS_AT_LOSS);
    add_memories(s, true, &s->dmemory);

    each_block(pool, s, address_backward);
    norm_settle_backward(NORM_REFINE_1, s);
    each_block(pool, s, refine_1_backward);
    norm_settle_backward(NORM_REFINE_0, s);
    each_block(pool, s, embed_2_backward);
    norm_settle_backward(NORM_EMBED_1, s);
    each_block(pool, s, embed_1_backward);
    norm_settle_backward(NORM_EMBED_0, s);
    each_block(pool, s, embed_0_backward);

    for (int i = 0; i < MS_PARAMETERS; i++) {
        double sum = 0;
        for (int p = 0; p < MS_PARTS; p++) sum += (double)s->part[p].gradient[i];
        gradient[i] = (real)sum;
    }
    return losses;
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

static size_t whole_lines(size_t size)
{
    return (size + 63) / 64 * 64;
}

static uint32_t blocks_of(uint32_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static size_t workspace_size(uint32_t n, unsigned workers)
{
    return whole_lines(sizeof(struct workspace)) + whole_lines(blocks_of(n) * sizeof(struct sums)) +
           blocks_of(n) * sizeof(struct items) + workers * sizeof(struct scratch);
}

/* Divides the room, and takes the items in. */
static struct workspace *lay_out(void *room, uint32_t n, unsigned workers, const uint64_t *bits, const float *frequency,
                                 const real *w)
{
    unsigned char *at = room;
    struct workspace *s = room;
    s->w = w;
    s->bits = bits;
    s->n = n;
    s->blocks = blocks_of(n);
    s->total = 0;
    at += whole_lines(sizeof *s);
    s->scratch = (void *)at, at += workers * sizeof *s->scratch;
    s->block = (void *)at, at += s->blocks * sizeof *s->block;
    s->sums = (void *)at;
    for (uint32_t i = 0; i < s->blocks * BLOCK; i++) {
        real f = i < n ? (real)frequency[i] : 0;
        s->block[i / BLOCK].f[0][i % BLOCK] = f;
        s->total += (double)f;
    }
    return s;
}
