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
 * Only what is needed across stages is kept for each item (struct items); what is cheap to compute again goes to the
 * scratch. Gradients have a d before the name of what they are the gradient of.
 *
 *     ms_blocks.h   struct items and the others, products over items     ms_norm.h     batch norm
 *     ms_slots.h    sparsemax, memory                                    ms_decode.h   reads, decoder, loss
 *     here          the stages, and the task that they make */
#include "ms_decode.h"
#include "ms_norm.h"

/* ---- the stages, for one block each ------------------------------------------------------------------------------ */

static void bits_to_x(const struct items *b, struct scratch *t)
{
    for (uint32_t c = 0; c < BLOCK; c++)
        for (int i = 0; i < MS_BITS; i++) t->x[i][c] = c < b->count ? (real)(b->bits[c] >> i & 1) : 0;
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

static void embed_0_forward(struct workspace *s, struct items *b, struct scratch *t)
{
    bits_to_x(b, t);
    FORWARD_BARE(EMBED_0, t->x, b->u0);
    norm_measure(NORM_EMBED_0, b->u0, b->u0, b);
}

static void embed_1_forward(struct workspace *s, struct items *b, struct scratch *t)
{
    norm_forward(NORM_EMBED_0, s, b->u0, t->h0);
    FORWARD_BARE(EMBED_1, t->h0, b->u1);
    norm_measure(NORM_EMBED_1, b->u1, b->u1, b);
}

static void embed_2_forward(struct workspace *s, struct items *b, struct scratch *t)
{
    norm_forward(NORM_EMBED_1, s, b->u1, t->h1);
    FORWARD(EMBED_2, SLOPE_RELU, t->h1, b->z);
    FORWARD_BARE(REFINE_0, b->z, b->v0);
    norm_measure(NORM_REFINE_0, b->v0, b->v0, b);
}

static void refine_1_forward(struct workspace *s, struct items *b, struct scratch *t)
{
    norm_forward(NORM_REFINE_0, s, b->v0, t->r0);
    FORWARD_BARE(REFINE_1, t->r0, b->v1);
    norm_measure(NORM_REFINE_1, b->v1, b->v1, b);
}

/* A [5][50] of a depth is read as [50][5]: row step 1, inner step 50. */
static void address_forward(struct workspace *s, struct items *b, struct scratch *t)
{
    norm_forward(NORM_REFINE_1, s, b->v1, t->r1);
    FORWARD(REFINE_2, SLOPE_LINEAR, t->r1, b->q);
    for (int d = 0; d < MS_DEPTH; d++) {
        const real *address = s->w + MS_AT_ADDRESS + d * MS_REFINED * MS_SLOTS;
        product(
            (struct product){address, NULL, 1, MS_REFINED, MS_SLOTS, b->q[0], b->a[d][0], NULL, SLOPE_LINEAR, BLOCK},
            MS_SLOTS);
        sparsemax_forward(b->a[d]);
    }
    for (int k = 0; k < MS_EMBED; k++)
        for (int c = 0; c < BLOCK; c++) t->fz[k][c] = b->f[0][c] * b->z[k][c];
    for (int d = 0; d < MS_DEPTH; d++) slots_add(s->memory.m[d], b->a[d], t->fz);
}

static void query_both(struct workspace *s, struct items *b, struct scratch *t)
{
    read_forward(s, b, t);
    decode_forward(s, t);
    loss_block(s, b, t);
    decode_backward(s, t);
    read_backward(s, b, t);
}

/* dmemory, da, dz -> da and dz with what was stored counted too, then back to the last batch norm */
static void address_backward(struct workspace *s, struct items *b, struct scratch *t)
{
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
        matrix_backward(MS_SLOTS, MS_REFINED, b->da[d][0], b->q[0], s->gradient + place);
        product((struct product){s->w + place, NULL, MS_SLOTS, MS_SLOTS, 1, b->da[d][0], t->part[0], NULL, SLOPE_LINEAR,
                                 BLOCK},
                MS_REFINED);
        for (int r = 0; r < MS_REFINED; r++)
            for (int c = 0; c < BLOCK; c++) t->dq[r][c] += t->part[r][c];
    }
    norm_forward(NORM_REFINE_1, s, b->v1, t->r1);
    BACKWARD(REFINE_2, SLOPE_LEAKY, t->r1, t->dq, b->dv1);
    norm_measure(NORM_REFINE_1, b->dv1, b->v1, b);
}

static void refine_1_backward(struct workspace *s, struct items *b, struct scratch *t)
{
    norm_backward(NORM_REFINE_1, s, b->v1, b->count, b->dv1);
    norm_forward(NORM_REFINE_0, s, b->v0, t->r0);
    BACKWARD_BARE(REFINE_1, SLOPE_LEAKY, t->r0, b->dv1, b->dv0);
    norm_measure(NORM_REFINE_0, b->dv0, b->v0, b);
}

static void embed_2_backward(struct workspace *s, struct items *b, struct scratch *t)
{
    norm_backward(NORM_REFINE_0, s, b->v0, b->count, b->dv0);
    BACKWARD_BARE(REFINE_0, SLOPE_LINEAR, b->z, b->dv0, t->fz);
    for (int k = 0; k < MS_EMBED; k++)
        for (int c = 0; c < BLOCK; c++) b->dz[k][c] = b->z[k][c] > 0 ? b->dz[k][c] + t->fz[k][c] : 0;
    norm_forward(NORM_EMBED_1, s, b->u1, t->h1);
    BACKWARD(EMBED_2, SLOPE_RELU, t->h1, b->dz, b->du1);
    norm_measure(NORM_EMBED_1, b->du1, b->u1, b);
}

static void embed_1_backward(struct workspace *s, struct items *b, struct scratch *t)
{
    norm_backward(NORM_EMBED_1, s, b->u1, b->count, b->du1);
    norm_forward(NORM_EMBED_0, s, b->u0, t->h0);
    BACKWARD_BARE(EMBED_1, SLOPE_RELU, t->h0, b->du1, b->du0);
    norm_measure(NORM_EMBED_0, b->du0, b->u0, b);
}

static void embed_0_backward(struct workspace *s, struct items *b, struct scratch *t)
{
    norm_backward(NORM_EMBED_0, s, b->u0, b->count, b->du0);
    bits_to_x(b, t);
    matrix_backward(MS_BITS, MS_OUT_EMBED_0, t->x[0], b->du0[0], s->gradient + MS_AT_EMBED_0);
}

/* ---- a task: the stages, and the sums between them --------------------------------------------------------------- */

typedef void stage(struct workspace *s, struct items *b, struct scratch *t);

static void each_block(struct workspace *s, stage *todo)
{
    for (uint32_t b = 0; b < s->blocks; b++) todo(s, &s->block[b], &s->scratch);
}

/* A stage that ends before a batch norm, and the sums that it needs. */
static void forward_to(const struct norm norm, struct workspace *s, stage *todo)
{
    each_block(s, todo);
    norm_settle(norm, s);
}

static void back_to(const struct norm norm, struct workspace *s, stage *todo)
{
    each_block(s, todo);
    norm_settle_backward(norm, s);
}

/* The gradient is then in s. */
static struct ms_losses net_task(struct workspace *s)
{
    memset(s->gradient, 0, sizeof s->gradient);
    memset(&s->memory, 0, sizeof s->memory);
    memset(&s->dmemory, 0, sizeof s->dmemory);

    forward_to(NORM_EMBED_0, s, embed_0_forward);
    forward_to(NORM_EMBED_1, s, embed_1_forward);
    forward_to(NORM_REFINE_0, s, embed_2_forward);
    forward_to(NORM_REFINE_1, s, refine_1_forward);
    each_block(s, address_forward);

    each_block(s, query_both);
    struct ms_losses losses = loss_settle(s);

    back_to(NORM_REFINE_1, s, address_backward);
    back_to(NORM_REFINE_0, s, refine_1_backward);
    back_to(NORM_EMBED_1, s, embed_2_backward);
    back_to(NORM_EMBED_0, s, embed_1_backward);
    each_block(s, embed_0_backward);
    return losses;
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

static uint32_t blocks_of(uint32_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static size_t workspace_size(uint32_t n)
{
    return sizeof(struct workspace) + blocks_of(n) * sizeof(struct items);
}

/* Divides the room, and takes the items in. */
static struct workspace *lay_out(void *room, uint32_t n, const uint64_t *bits, const float *frequency, const real *w)
{
    struct workspace *s = room;
    s->w = w;
    s->n = n;
    s->blocks = blocks_of(n);
    s->total = 0;
    s->block = (struct items *)(s + 1);
    for (uint32_t i = 0; i < s->blocks; i++) {
        struct items *b = &s->block[i];
        b->bits = bits + i * BLOCK;
        b->count = n - i * BLOCK < BLOCK ? n - i * BLOCK : BLOCK;
        for (uint32_t c = 0; c < BLOCK; c++) {
            b->f[0][c] = c < b->count ? (real)frequency[i * BLOCK + c] : 0;
            s->total += (double)b->f[0][c];
        }
    }
    return s;
}
