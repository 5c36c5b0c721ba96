/* hash: items through XXH3, which has been frozen since xxHash 0.8.0, so that files keep their meaning. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/hash.h"

struct hash hash_bytes(const void *item, size_t size, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(item, size, seed);
    return (struct hash){h.low64, h.high64};
}

struct hash hash_u64(uint64_t item, uint64_t seed)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(item >> (8 * i)); /* one store on a little-endian CPU */
    return hash_bytes(bytes, sizeof bytes, seed);
}

void hash_texts(const unsigned char *bytes, const uint64_t offsets[], size_t n, uint64_t seed, struct hash hash[])
{
    for (size_t i = 0; i < n; i++) {
        size_t size = (size_t)(offsets[i + 1] - offsets[i]);
        XXH128_hash_t h = XXH3_128bits_withSeed(item_at(bytes, offsets[i]), size, seed);
        hash[i] = (struct hash){h.low64, h.high64};
    }
}

struct hash_way hash_short_way(uint64_t seed)
{
    uint64_t turned = seed ^ (uint64_t)XXH_swap32((uint32_t)seed) << 32;
    return (struct hash_way){.flip = (XXH_readLE64(XXH3_kSecret + 16) ^ XXH_readLE64(XXH3_kSecret + 24)) + turned,
                             .prime = XXH_PRIME64_1 + (8 << 2), /* by the length */
                             .low = UINT64_C(0x9fb21c651e98df25),
                             .high = UINT64_C(0x165667919e3779f9)};
}
