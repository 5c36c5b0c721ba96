/* group: which of several sketches counts an item, where one machine is too small. */
#include "core/hash.h"

/* The bits of a row that no model has. Bits that a sketch takes a place from would leave places empty: were G groups
 * (hi >> 32) mod G, as bricks are, all items of a group would be in every gcd(G, K)-th of its K bricks; and buckets of
 * heavy items come from the other half of hi. Modulo, so that the groups can be halved. */
static uint32_t group_of(struct hash h, uint32_t groups)
{
    return groups == 0 ? 0 : (uint32_t)(hash_row_bits(h, ROWS_MAX) >> 32) % groups;
}

uint32_t lego_group(const void *item, size_t size, uint64_t seed, uint32_t groups)
{
    return group_of(hash_bytes(item, size, seed_of(seed)), groups);
}

uint32_t lego_group_u64(uint64_t item, uint64_t seed, uint32_t groups)
{
    return group_of(hash_u64(item, seed_of(seed)), groups);
}
