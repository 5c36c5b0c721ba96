/* binary: what the fuzz targets of the file formats share. */
#pragma once

#include "legosketch.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* All formats hold their length at 16 and end with the XXH3-64 of what is before; this makes both right. */
void patch(uint8_t *bytes, size_t size);

/* An allocator that aborts once more than `left` bytes are asked for; `held` tells what was not freed. */
struct purse {
    size_t left, held;
};
lego_allocator purse_allocator(struct purse *purse);

/* Bytes written to memory; aborts if they pass the end. */
struct paper {
    uint8_t *bytes;
    size_t size, used;
};
int paper_write(void *paper, const void *bytes, size_t size);

/* A model with networks of random weights, as a file; returns its size. bytes has room for RANDOM_MODEL_MAX. */
#define RANDOM_MODEL_MAX 32768
size_t random_model(uint8_t *bytes, uint32_t rows, uint32_t columns, uint32_t quantum);
