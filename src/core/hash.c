/* hash: items through XXH3, which has been frozen since xxHash 0.8.0, so that files keep their meaning, or through
 * SipHash if the seed is secret. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/hash.h"
#include "core/sip.h"

/* ---- seeds ------------------------------------------------------------------------------------------------------- */

static struct seed seed_of_secret(const void *secret)
{
    const unsigned char *p = secret;
    return (struct seed){XXH_readLE64(p), XXH_readLE64(p + 8)};
}

bool seed_wanted(const lego_options *options, struct seed *seed)
{
    *seed = options->secret ? seed_of_secret(options->secret) : seed_of(options->seed);
    return !options->secret || (seed_is_secret(*seed) && options->seed == 0);
}

uint64_t seed_shown(struct seed seed)
{
    static const char label[] = "fingerprint of a secret seed";
    return seed_is_secret(seed) ? hash_bytes(label, sizeof label - 1, seed).lo : seed.number;
}

uint64_t lego_secret_fingerprint(const void *secret)
{
    return seed_shown(seed_of_secret(secret));
}

/* ---- hashing ----------------------------------------------------------------------------------------------------- */

#define SIP_WORD(x) (x)

static struct hash sip_bytes(const unsigned char *item, size_t size, struct seed seed)
{
    uint64_t v[4], last = (uint64_t)size << 56;
    SIP_BEGIN(v, SIP_WORD, seed.number, seed.key);
    for (size_t left = size / 8; left > 0; left--, item += 8) {
        uint64_t word = XXH_readLE64(item);
        SIP_TAKE(v, word);
    }
    for (unsigned i = 0; i < size % 8; i++) last |= (uint64_t)item[i] << (8 * i);
    SIP_END(v, last);
    return hash_of_sip(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

static inline struct hash hash_one(const void *item, size_t size, struct seed seed)
{
    if (seed_is_secret(seed)) return sip_bytes(item, size, seed);
    XXH128_hash_t h = XXH3_128bits_withSeed(item, size, seed.number);
    return (struct hash){h.low64, h.high64};
}

struct hash hash_bytes(const void *item, size_t size, struct seed seed)
{
    return hash_one(item, size, seed);
}

struct hash hash_u64(uint64_t item, struct seed seed)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(item >> (8 * i)); /* one store on a little-endian CPU */
    return hash_one(bytes, sizeof bytes, seed);
}

void hash_texts(const unsigned char *bytes, const uint64_t offsets[], size_t n, struct seed seed, struct hash hash[])
{
    for (size_t i = 0; i < n; i++)
        hash[i] = hash_one(item_at(bytes, offsets[i]), (size_t)(offsets[i + 1] - offsets[i]), seed);
}

struct hash_way hash_short_way(struct seed seed)
{
    uint64_t turned = seed.number ^ (uint64_t)XXH_swap32((uint32_t)seed.number) << 32;
    return (struct hash_way){.flip = (XXH_readLE64(XXH3_kSecret + 16) ^ XXH_readLE64(XXH3_kSecret + 24)) + turned,
                             .prime = XXH_PRIME64_1 + (8 << 2), /* by the length */
                             .low = UINT64_C(0x9fb21c651e98df25),
                             .high = UINT64_C(0x165667919e3779f9),
                             .seed = seed};
}
