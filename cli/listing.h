/* The most frequent items of a sketch, as top and count print them. */
#pragma once

#include "legosketch.h"
#include "options.h"
#include "rows.h"

typedef struct listing {
    uint32_t items;    /* at most; 0: as many as there are, above something, else a default */
    const char *above; /* a share such as 0.1%, or a count; NULL: all */
    rows_options how;
} listing;

#define OPTIONS_LISTING(given)                                                                                         \
    {"above",                                                                                                          \
     0,                                                                                                                \
     OPTION_TEXT,                                                                                                      \
     "SHARE|N",                                                                                                        \
     &(given).above,                                                                                                   \
     "only items that have come more than N times, or are more than such a share as 0.1% of all: certainly, where a "  \
     "count is exact; probably, where its lower bound is above; possibly, where its upper one is"},                    \
        OPTIONS_ROWS((given).how)

/* Whether the options go together; if not, says what is wrong with the command line. */
bool listing_check(const command *self, const listing *given);

/* Prints them, most of them first, and on a terminal what is known of all below. Says what went wrong before it
 * returns false. */
bool listing_print(const lego_sketch *sketch, const char *name, const listing *given, uint32_t most);
