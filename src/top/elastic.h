/* elastic: a heavy part (heavy.h) in front of a sketch, the light part, in one budget: D-Lego in the paper.
 *
 *     item -> hash -> its bucket: a resident, or room?  votes, with the key: exact, and it can be listed
 *                        | no                           ^ |
 *                        v                    moves in  | | leaves, with its votes
 *                     the sketch  <---------------------+-+
 *
 * The mass of the light sketch, which keeps its sums from overflowing, counts what the heavy part holds as well. So
 * what leaves the heavy part always finds room, and an addition is refused before anything has changed, or never. */
#ifndef LEGO_SRC_ELASTIC_H
#define LEGO_SRC_ELASTIC_H

#include "top/heavy.h"
#include "sketch/sketch.h"

struct lego_elastic {
    lego_sketch *light;
    void *bytes; /* of the buckets */
    struct heavy heavy;
};

/* What a budget gives the heavy part if nobody says: a share of it (docs/accuracy.md has what was measured). */
enum { ELASTIC_SHARE = 8 };

extern const char elastic_magic[8];

/* A heavy part with nothing in it in front of a sketch, which it takes if this succeeds. */
lego_status elastic_make(lego_sketch *light, uint32_t buckets, lego_elastic **elastic);

#endif
