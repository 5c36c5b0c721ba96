/* mutator: makes good files and damages them, then mostly repairs length and checksum, so that the content is reached.
 * Random bytes would never be a canonical list; one bit away from one they are all that a loader has to refuse. */
#include "binary.h"

#include <stdbool.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max); /* libFuzzer's own */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max, unsigned seed);

enum { HEAD = 80, SEALED = 32 }; /* bytes, rounded up, of the longest head; of the least that has length and checksum */

/* A field of the head, 4 bytes each, gets a value from the edges of what it can be. */
static void edit_head(uint8_t *bytes, size_t size, uint32_t *random)
{
    static const uint32_t values[] = {0, 1, 2, 3, 16, 255, 1u << 28, 1u << 31, INT32_MAX, UINT32_MAX};
    uint32_t at = 4 * drawn(random, (uint32_t)(size < HEAD ? size : HEAD) / 4), field;
    memcpy(&field, bytes + at, 4);
    switch (drawn(random, 3)) {
    case 0: field = values[drawn(random, sizeof values / sizeof *values)]; break;
    case 1: field += 1; break;
    default: field -= 1;
    }
    memcpy(bytes + at, &field, 4);
}

/* Bytes to elsewhere, as where blocks or buckets change places. */
static void copy_range(uint8_t *bytes, size_t size, uint32_t *random)
{
    uint32_t from = drawn(random, (uint32_t)size), to = drawn(random, (uint32_t)size);
    uint32_t most = (uint32_t)size - (from > to ? from : to);
    memmove(bytes + to, bytes + from, drawn(random, most) + 1);
}

static size_t damage(uint8_t *bytes, size_t size, size_t max, uint32_t *random)
{
    size_t now;
    switch (drawn(random, 8)) {
    case 0:
    case 1:
    case 2:
        for (uint32_t n = 1 + drawn(random, 3); n > 0; n--)
            bytes[drawn(random, (uint32_t)size)] ^= (uint8_t)(1u << drawn(random, 8));
        return size;
    case 3: bytes[drawn(random, (uint32_t)size)] += (uint8_t)(drawn(random, 2) ? 1 : -1); return size;
    case 4: edit_head(bytes, size, random); return size;
    case 5: copy_range(bytes, size, random); return size;
    case 6: /* the shape says how long a file is, so here it stays that long */
        now = LLVMFuzzerMutate(bytes, size, max);
        if (now < size) memset(bytes + now, 0, size - now);
        return size;
    default: return LLVMFuzzerMutate(bytes, size, max);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max, unsigned seed)
{
    uint32_t random = seed;
    bool made = false;
    if (size < SEALED || drawn(&random, 8) == 0) {
        size_t fresh = make(bytes, max, random);
        made = fresh > 0;
        if (made) size = fresh;
    }
    if (made && drawn(&random, 2)) return size;
    if (size > 0) size = damage(bytes, size, max, &random);
    else size = LLVMFuzzerMutate(bytes, size, max);
    if (drawn(&random, 16)) reseal(bytes, size); /* the rest tests the checks of length and checksum themselves */
    return size;
}
