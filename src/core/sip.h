/* sip: SipHash-1-3 (Aumasson, Bernstein 2012), a hash that nobody can foretell who does not know its key. The steps are
 * macros, so that a word may be a uint64_t or a vector of them, on a CPU or a GPU. */
#pragma once

#include <stdint.h>

#define SIP_TURNED(x, n) ((x) << (n) | (x) >> (64 - (n)))

#define SIP_ROUND(v)                                                                                                   \
    do {                                                                                                               \
        (v)[0] += (v)[1];                                                                                              \
        (v)[2] += (v)[3];                                                                                              \
        (v)[1] = SIP_TURNED((v)[1], 13) ^ (v)[0];                                                                      \
        (v)[3] = SIP_TURNED((v)[3], 16) ^ (v)[2];                                                                      \
        (v)[0] = SIP_TURNED((v)[0], 32);                                                                               \
        (v)[2] += (v)[1];                                                                                              \
        (v)[0] += (v)[3];                                                                                              \
        (v)[1] = SIP_TURNED((v)[1], 17) ^ (v)[2];                                                                      \
        (v)[3] = SIP_TURNED((v)[3], 21) ^ (v)[0];                                                                      \
        (v)[2] = SIP_TURNED((v)[2], 32);                                                                               \
    } while (0)

/* The state before the first word, each of its four a `word` from a uint64_t. */
#define SIP_BEGIN(v, word, key0, key1)                                                                                 \
    do {                                                                                                               \
        (v)[0] = word(UINT64_C(0x736f6d6570736575) ^ (key0));                                                          \
        (v)[1] = word(UINT64_C(0x646f72616e646f6d) ^ (key1));                                                          \
        (v)[2] = word(UINT64_C(0x6c7967656e657261) ^ (key0));                                                          \
        (v)[3] = word(UINT64_C(0x7465646279746573) ^ (key1));                                                          \
    } while (0)

#define SIP_TAKE(v, m)                                                                                                 \
    do {                                                                                                               \
        (v)[3] ^= (m);                                                                                                 \
        SIP_ROUND(v);                                                                                                  \
        (v)[0] ^= (m);                                                                                                 \
    } while (0)

/* The last word has what is left of the item, and its length mod 256 in its highest byte. The hash is the xor of the
 * four then. */
#define SIP_END(v, m)                                                                                                  \
    do {                                                                                                               \
        SIP_TAKE(v, m);                                                                                                \
        (v)[2] ^= 0xff;                                                                                                \
        SIP_ROUND(v);                                                                                                  \
        SIP_ROUND(v);                                                                                                  \
        SIP_ROUND(v);                                                                                                  \
    } while (0)

#define SIP_EIGHT_BYTES (UINT64_C(8) << 56) /* the last word of an item of 8 */
