/* prepare: see prepare.h. */
#include "cuda/prepare.h"

#include "sketch/blocks_query.h"

_Static_assert((int)ITEM_ROWS == (int)BLOCK_ROWS && (int)ITEM_STEPS == (int)BLOCK_STEPS &&
                   (int)ITEM_CELLS == (int)BLOCK_CELLS && (int)ITEM_READS == (int)DECODE_READS &&
                   (int)ITEM_HIDDEN == (int)DECODE_HIDDEN && (int)ITEM_MIXED == (int)DECODE_MIXED,
               "item.h knows the sizes of blocks and layers");

void prepare_places(const struct dense *dense, uint64_t seed, struct places *places)
{
    /* What XXH3 joins with an item of 8 bytes: bytes 16 to 31 of its secret, and the seed. */
    const uint64_t secret = UINT64_C(0xdb979083e96dd4de) ^ UINT64_C(0x1f67b3b7a4a44072);
    *places = (struct places){.flip = secret + (seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32),
                              .magic = dense->odd.magic,
                              .odd = dense->odd.d,
                              .mask = dense->mask};
    memcpy(places->row, hash_row, sizeof places->row);
    memcpy(places->columns, block_columns, sizeof places->columns);
}

static unsigned width_of(unsigned step, unsigned row)
{
    unsigned columns = block_columns[step][row];
    return columns ? (unsigned)__builtin_ctz(columns) : 0;
}

/* The widths of the rows that there are, half by half. */
static uint32_t widths_of(unsigned s, unsigned t)
{
    const unsigned width[BLOCK_ROWS] = {width_of(s, 0), width_of(s, 2), width_of(t, 1), width_of(t, 3)};
    uint32_t widths = 0;
    for (unsigned i = 0, n = 0; i < BLOCK_ROWS; i++)
        if (width[i]) widths |= width[i] << 4 * n++;
    return widths;
}

void prepare_decoder(const lego_model *model, const struct dense *dense, struct block block[], struct decoder *decoder)
{
    const struct decode_weights *weights = model->decoder;
    struct decode_stream stream;
    struct compact_counts counts;
    float bias[DECODE_HIDDEN_ROOM];
    struct dense sample = *dense;
    sample.block = block;
    compact_count(&sample, &counts);
    query_bias(model, &counts, bias);
    compact_scale(dense, &stream);
    *decoder = (struct decoder){.answer_bias = weights->answer_bias, .scale = stream.scale};
    for (int i = 0; i < DECODE_READS; i++) memcpy(decoder->reads[i], weights->reads[i], sizeof decoder->reads[i]);
    for (int i = 0; i < DECODE_HIDDEN; i++) memcpy(decoder->mix[i], weights->mix[i], sizeof decoder->mix[i]);
    memcpy(decoder->bias, bias, sizeof decoder->bias);
    memcpy(decoder->mix_bias, weights->mix_bias, sizeof decoder->mix_bias);
    memcpy(decoder->answer, weights->answer, sizeof decoder->answer);
    for (int i = 0; i < 8; i++) decoder->noise[i] = 1 / (stream.mean / (float)(1 << i) + 0.5F);
    for (unsigned s = 0; s < BLOCK_STEPS; s++) {
        for (unsigned t = 0; t < BLOCK_STEPS; t++) decoder->slack[s][t] = query_slack(dense, widths_of(s, t));
        for (unsigned k = 0; k < BLOCK_ROWS; k++) {
            unsigned columns = block_columns[s][k];
            decoder->first[s][k] = (uint16_t)block_place(s, k, 0);
            decoder->mask[s][k] = (uint16_t)(columns ? columns - 1 : 0);
            decoder->width[s][k] = (uint8_t)width_of(s, k);
        }
    }
}
