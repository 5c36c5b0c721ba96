/* frequent: see frequent.h. */
#include "sketch/frequent.h"

#include <string.h>

enum {
    STRETCHES = 32,
    STRETCH_MOST = 1024, /* of the batch that are looked at, and items of each */
    PART = 8
}; /* the sample is at most this part of it */

bool frequent_find(struct frequent *frequent, const uint64_t keys[], size_t n)
{
    const size_t part = n / STRETCHES, stretch = part / PART < STRETCH_MOST ? part / PART : STRETCH_MOST;
    uint32_t credit[FREQUENT_SLOTS] = {0}, seen = 0;
    memset(frequent, 0, sizeof *frequent);
    if (stretch == 0 || n > UINT32_MAX) return false;
    for (unsigned s = 0; s < STRETCHES; s++) {
        const uint64_t *key = keys + part * s;
        for (size_t i = 0; i < stretch; i++) { /* the most frequent item of a slot wins it, if it has more than half */
            unsigned slot = frequent_slot(key[i]);
            if (credit[slot] == 0) frequent->key[slot] = key[i];
            bool is_there = frequent->key[slot] == key[i];
            seen += is_there && credit[slot] > 0;
            credit[slot] += is_there ? 1 : UINT32_MAX;
        }
    }
    return seen >= STRETCHES * stretch / 6; /* where it costs as much as it saves, 2 of 12 ns */
}
