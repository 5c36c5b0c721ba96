/* A sketch, plain or elastic, for the commands that take either.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_ANY_H
#define CLI_ANY_H

#include "items.h"
#include "legosketch.h"

#include <stdbool.h>

/* One of the two is NULL. */
typedef struct any_sketch {
    lego_sketch *plain;
    lego_elastic *elastic;
} any_sketch;

void any_destroy(any_sketch *any);

/* The plain sketch, or the light part of the elastic one: for its model and its shape. */
const lego_sketch *any_light(const any_sketch *any);

lego_status any_add(const any_sketch *any, const void *item, size_t size, int64_t count);
lego_status any_add_batch(const any_sketch *any, const item_batch *batch);
lego_status any_estimate(const any_sketch *any, const item_batch *batch, lego_estimate *answers);

/* LEGO_ERR_ARGUMENT if they are not of the same kind. */
lego_status any_merge(const any_sketch *into, const any_sketch *from);

/* As output_file(). */
bool any_output(const char *path, const any_sketch *any);

#endif
