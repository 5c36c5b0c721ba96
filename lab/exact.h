/* Exact counts of every distinct item: the truth beside which estimates are measured. */
#pragma once

#include "legosketch.h"

#include <stddef.h>
#include <stdint.h>

typedef struct exact_table exact_table;

lego_status exact_create(exact_table **table);
void exact_destroy(exact_table *table); /* NULL is fine */

/* LEGO_ERR_MEMORY, or LEGO_ERR_RANGE if the item's count or the total would leave 64 bits; either changes nothing. */
lego_status exact_add(exact_table *table, const void *item, size_t size, int64_t count);

/* 0 for an item that never came. */
int64_t exact_count(const exact_table *table, const void *item, size_t size);

/* Item number `index`, below exact_size(), in the order in which they first came. The bytes live until the next add. */
typedef struct exact_item {
    const void *bytes;
    size_t size;
    int64_t count;
} exact_item;
exact_item exact_at(const exact_table *table, size_t index);

/* The index of the item last added; there must be one. */
size_t exact_latest(const exact_table *table);

size_t exact_size(const exact_table *table);
int64_t exact_total(const exact_table *table); /* the sum of all counts */
uint64_t exact_bytes(const exact_table *table);
