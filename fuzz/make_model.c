/* make_model: models of random weights, as files. */
#include "binary.h"

#include <string.h>

size_t make(uint8_t *bytes, size_t most, uint32_t random)
{
    uint8_t file[RANDOM_MODEL_MAX];
    uint32_t rows = 1 + drawn(&random, 8), columns = 16 + 2 * drawn(&random, 4096);
    size_t size = random_model(file, rows, columns, rows + drawn(&random, 4096 - rows));
    if (size > most) return 0;
    memcpy(bytes, file, size);
    return size;
}
