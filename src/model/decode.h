/* decode: what the sketch of spill and ladder still asks for under the old names. Goes with it. */
#ifndef LEGO_SRC_DECODE_H
#define LEGO_SRC_DECODE_H

#include "paper/decode.h"
#include "paper/scan.h"

static inline lego_estimate decode(const struct lego_model *model, const struct reads *reads,
                                   const struct stream *stream)
{
    return stream ? decode_item(model, reads, stream) : decode_rule(reads);
}

#endif
