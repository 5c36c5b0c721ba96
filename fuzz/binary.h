/* binary: what the fuzz targets of the file formats share. */
#pragma once

#include "legosketch.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { VERSION_AT = 8 }; /* in all formats */

/* All formats hold their length at 16 and end with the XXH3-64 of what is before; this makes both right. */
void reseal(uint8_t *bytes, size_t size);

/* A number from 0 to most - 1, and the next state of the generator. */
uint32_t drawn(uint32_t *random, uint32_t most);

/* A good file of the target's format, another for each state of the generator; its size, or 0 if it is larger than
 * `most`. Each target has its own: make_sketch.c, make_model.c, make_checkpoint.c. */
size_t make(uint8_t *bytes, size_t most, uint32_t random);

/* An allocator that aborts once more than `left` bytes are asked for, and gives nothing once `calls` are used up (-1:
 * never); `held` tells what was not freed. */
struct purse {
    size_t left, held;
    int calls;
};
lego_allocator purse_allocator(struct purse *purse);

/* Bytes written to memory; more than there is room for are refused. */
struct paper {
    uint8_t *bytes;
    size_t size, used;
};
int paper_write(void *paper, const void *bytes, size_t size);

/* A model with networks of random weights, as a file; returns its size. bytes has room for RANDOM_MODEL_MAX. */
#define RANDOM_MODEL_MAX 32768
size_t random_model(uint8_t *bytes, uint32_t rows, uint32_t columns, uint32_t quantum);

/* The model of that kind that sketches of the paper's kind are made with, named "fuzz". */
const lego_model *trained_model(void);

/* The one secret seed that there is, and what a file is loaded with: that, and the model that it asks for. */
extern const uint8_t secret_seed[LEGO_SECRET_SIZE];
lego_options options_of(const uint8_t *bytes, size_t size, const lego_allocator *allocator);
