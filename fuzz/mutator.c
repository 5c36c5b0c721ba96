/* mutator: lets libFuzzer change what it likes, then repairs length and checksum, so that the content is reached. */
#include "binary.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max); /* libFuzzer's own */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max, unsigned seed)
{
    size_t now = LLVMFuzzerMutate(bytes, size, max);
    /* The shape says how long a file is, so one whose length has changed rarely gets far: half of them get it back. */
    if (seed % 2 && size >= 32) {
        if (now < size) memset(bytes + now, 0, size - now);
        now = size;
    }
    if (seed % 16 < 15) patch(bytes, now); /* the rest tests the checks of length and checksum themselves */
    return now;
}
