/* kernels: the network that decodes items of shared cells, for many of them at once. The body, kernels_decode.h, is
 * compiled once for each kind of CPU, as those of block/kernels.h are, and all give the same bits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    DECODE_MOST = 64, /* items at once */
    DECODE_VALUES = 3,
    DECODE_READS = 10,
    DECODE_HIDDEN = 40,
    DECODE_MIXED = 24, /* of compact.h */
    DECODE_HIDDEN_ROOM = 48,
    DECODE_MIXED_ROOM = 32 /* the same in whole vectors */
};

/* Items of blocks that share, [..][item]: the cells of rows 0 and 1 and of the cap, as blocks_read() has them. */
struct decode_items {
    int64_t value[DECODE_VALUES][DECODE_MOST];
    uint8_t width[DECODE_VALUES][DECODE_MOST]; /* log2, 3 to 9 */
    uint8_t step[DECODE_MOST];                 /* of the block, from STEP_SHARE on */
};

/* The weights of the decoder, [in][out], without the inputs that all items of a sketch share. */
struct decode_weights {
    float reads[DECODE_READS][DECODE_HIDDEN_ROOM];
    float mix[DECODE_HIDDEN][DECODE_MIXED_ROOM], mix_bias[DECODE_MIXED_ROOM];
    float answer[DECODE_MIXED_ROOM], answer_bias;
};

/* What all items share: the first layer's bias with what the stream's shape adds to it; what values are multiplied with
 * before they are seen; and so multiplied, the mean mass of a block and of the blocks of a cap. */
struct decode_stream {
    const float *bias; /* [DECODE_HIDDEN_ROOM] */
    float scale, mean, cap_mean;
};

/* A value as far as it is seen. */
static inline int64_t decode_seen(int64_t value)
{
    const int64_t most = (INT64_C(1) << 61) - 1;
    return value < 0 ? 0 : value < most ? value : most;
}

struct decode_kernels {
    const char *name;
    bool (*supported)(void);

    /* h of n items, 1 to DECODE_MOST. Behind the n-th, items may be written to. */
    void (*decode)(const struct decode_weights *weights, const struct decode_stream *stream, struct decode_items *items,
                   unsigned n, float h[DECODE_MOST]);
};

/* Best first; those that do not run on this CPU say so. NULL ends the list. */
extern const struct decode_kernels *const decode_kernels_all[];

/* The first of them that is supported. */
const struct decode_kernels *decode_kernels_best(void);
