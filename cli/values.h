/* Numbers and sizes between text and machine, strictly: the whole text or nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal digits only: no sign, no spaces. */
bool value_u64(const char *text, size_t length, uint64_t *value);

/* Bytes: 4096, 300K, 1.5M, 2G, 1T; units are powers of 1024, of either case, and may end in B or iB. */
bool value_size(const char *text, size_t length, uint64_t *bytes);

/* How many: 1000, 300K, 1.5M, 2G, 1T; units are powers of 1000. */
bool value_count(const char *text, double *count);

/* A share: 1%, 0.5 %, 0.01; from 0 to 100 %. */
bool value_share(const char *text, double *share);

/* A finite decimal number of at least 0. */
bool value_real(const char *text, double *value);

/* Every text below fits. */
enum { VALUE_TEXT = 32 };

/* 300K, 1M, or with a decimal where it is not whole; plain bytes below 1024. Returns the text. */
const char *value_print_size(char text[VALUE_TEXT], uint64_t bytes);

/* Two digits, which is all that an expectation or a mean is good for; whole numbers have all of theirs. */
const char *value_print_rough(char text[VALUE_TEXT], double value);

/* A size that value_print_size() prints in full: so many bytes or some more, by less than a tenth. */
uint64_t value_round_up(uint64_t bytes);

/* Whole numbers without decimals, others with three. Returns the length, as the next two do, which end in no zero. */
size_t value_print_estimate(char text[VALUE_TEXT], double value);

/* For text by the million: a tenth of what printf() takes. */
size_t value_write_u64(char *text, uint64_t value);
size_t value_write_i64(char *text, int64_t value);
