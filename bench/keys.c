/* The stream; see keys.h. Random numbers are splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
#include "keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS_MOST = 8000000, TEXT_LEAST = 5, TEXT_LENGTHS = 8, TEXT_ROOM = 16 };

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

/* The rank's digits, then letters up to a length that depends on the rank: different ranks, different texts. */
static void write_texts(struct keys *self)
{
    uint64_t end = 0;
    for (size_t i = 0; i < self->length; i++) {
        self->offsets[i] = end;
        uint64_t rank = self->numbers[i];
        uint64_t most = end + TEXT_LEAST + rank % TEXT_LENGTHS;
        end += (uint64_t)snprintf(self->text + end, TEXT_ROOM, "%u", (unsigned)rank);
        while (end < most) self->text[end++] = 'k';
    }
    self->offsets[self->length] = end;
}

bool keys_make(struct keys *self, uint32_t ranks, size_t length, bool text)
{
    *self = (struct keys){.length = length, .ranks = ranks};
    self->numbers = malloc(length * sizeof *self->numbers);
    self->truth = calloc((size_t)ranks + 1, sizeof *self->truth);
    bool ok = self->numbers != NULL && self->truth != NULL;
    if (text) {
        self->text = malloc(length * TEXT_ROOM);
        self->offsets = malloc((length + 1) * sizeof *self->offsets);
        ok = ok && self->text != NULL && self->offsets != NULL;
    }
    if (!ok) {
        keys_free(self);
        return false;
    }
    draw(self);
    if (text) write_texts(self);
    return true;
}

void keys_free(struct keys *self)
{
    free(self->numbers);
    free(self->truth);
    free(self->text);
    free(self->offsets);
    *self = (struct keys){0};
}
