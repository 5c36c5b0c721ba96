/* hash: items through XXH3, which has been frozen since xxHash 0.8.0, so that files keep their meaning. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hash.h"

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
