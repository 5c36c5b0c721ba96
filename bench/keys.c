/* The stream; see keys.h. Random numbers are splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
#include "keys.h"

#include <math.h>
#include <stdlib.h>

enum { RANKS_MOST = 8000000, TEXT_SIZE = 8 };

uint32_t keys_for_budget(uint64_t bytes)
{
    return bytes / 2 < RANKS_MOST ? (uint32_t)(bytes / 2) : RANKS_MOST;
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void draw(struct keys *self)
{
    uint64_t state = 0;
    double scale = log((double)self->ranks + 1);
    for (size_t i = 0; i < self->length; i++) {
        double uniform = (double)(random_next(&state) >> 11) * 0x1p-53;
        uint32_t rank = (uint32_t)exp(uniform * scale);
        rank = rank < 1 ? 1 : rank > self->ranks ? self->ranks : rank; /* exp() may round across either end */
        self->distinct += self->truth[rank]++ == 0;
        self->numbers[i] = rank;
    }
}

/* The rank's 8 hexadecimal digits. */
static void write_texts(struct keys *self)
{
    for (size_t i = 0; i < self->length * TEXT_SIZE; i++)
        self->text[i] = "0123456789abcdef"[self->numbers[i / TEXT_SIZE] >> 4 * (TEXT_SIZE - 1 - i % TEXT_SIZE) & 15];
    for (size_t i = 0; i <= self->length; i++) self->offsets[i] = i * TEXT_SIZE;
}

static void draw_counts(struct keys *self)
{
    uint64_t state = 1;
    for (size_t i = 0; i < self->length; i++) self->counts[i] = 1 + (int64_t)(random_next(&state) >> 61);
}

bool keys_make(struct keys *self, uint32_t ranks, size_t length, const bool kinds[KEY_KINDS])
{
    *self = (struct keys){.length = length, .ranks = ranks};
    self->numbers = malloc(length * sizeof *self->numbers);
    self->truth = calloc((size_t)ranks + 1, sizeof *self->truth);
    bool ok = self->numbers != NULL && self->truth != NULL;
    if (kinds[TEXTS]) {
        self->text = malloc(length * TEXT_SIZE);
        self->offsets = malloc((length + 1) * sizeof *self->offsets);
        ok = ok && self->text != NULL && self->offsets != NULL;
    }
    if (kinds[COUNTED]) {
        self->counts = malloc(length * sizeof *self->counts);
        ok = ok && self->counts != NULL;
    }
    if (!ok) {
        keys_free(self);
        return false;
    }
    draw(self);
    if (kinds[TEXTS]) write_texts(self);
    if (kinds[COUNTED]) draw_counts(self);
    return true;
}

void keys_crowd(struct keys *self, uint64_t from)
{
    uint64_t state = from;
    for (size_t i = 0; i < self->length; i++) {
        double uniform = (double)((random_next(&state) >> 11) + 1) * 0x1p-53;
        self->numbers[i] = (UINT64_C(1) << 32) + from + i;
        self->counts[i] = (int64_t)fmin(1 / uniform, 0x1p20);
    }
}

void keys_free(struct keys *self)
{
    free(self->numbers);
    free(self->truth);
    free(self->text);
    free(self->offsets);
    free(self->counts);
    *self = (struct keys){0};
}
