/* item: what a value of SQL is as an item, by the table of docs/postgres.md, which is that of docs/python.md.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

struct item {
    bool integer; /* it is `key`; else it is bytes */
    uint64_t key;
    const char *bytes;
    size_t size;
};

/* A type whose values can be items. */
struct item_type {
    Oid oid;
    lego_kind kind; /* what all of its values are; LEGO_ITEMS_MIXED: numbers, which are integers where they have such a
                       value, and text where not */
    bool (*read)(Datum value, struct item *item); /* false: the value is no item, as NaN. Allocates where it must */
};

/* Ends the statement if the type is none. */
const struct item_type *item_type(Oid type);

/* The same of a function's argument. */
const struct item_type *item_type_of_argument(FunctionCallInfo fcinfo, int argument);

/* Makes an item fit a sketch of this kind: where all are integers, text that is an integer's becomes that integer. Ends
 * the statement where a value of this type could not have been counted there. */
void item_fit(struct item *item, const struct item_type *type, lego_kind kind);

/* Items that are counted, but never among the most frequent. */
static inline bool item_is_long(const struct item *item)
{
    return !item->integer && item->size > LEGO_TOP_ITEM_MAX;
}

void item_warn_of_length(void);

void item_write_key(char bytes[8], uint64_t key);
