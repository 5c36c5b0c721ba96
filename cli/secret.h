/* The secret seed of a command, if it was given one: --seed-file FILE, or 32 hex digits in LEGOSKETCH_SEED. */
#pragma once

#include "legosketch.h"
#include "options.h"

#include <stdbool.h>

extern const char *secret_file; /* what --seed-file names, or NULL */

#define OPTION_SEED_FILE(help) "seed-file", 0, OPTION_TEXT, "FILE", &secret_file, help
#define OPTION_SEED_FILE_READ                                                                                          \
    OPTION_SEED_FILE("the secret seed the sketch was made with (what LEGOSKETCH_SEED says, if it was made with one)")

/* The seed, as the options of a sketch have it, or NULL if none was given. Says what is wrong with one. */
bool secret_find(const void **secret);

/* The same for a sketch that is made: a file that is not there is written, with a random seed. */
bool secret_find_or_make(const void **secret);

/* 16 hex digits and a zero: what may be seen of a secret seed. */
enum { FINGERPRINT_TEXT = 17 };
const char *secret_fingerprint(char digits[FINGERPRINT_TEXT], uint64_t fingerprint);
