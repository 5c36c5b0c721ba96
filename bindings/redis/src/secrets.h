/* secrets: the secret seeds that this server knows, so that its sketches merge and their bytes can be read.
 *
 * They are kept with the data: in RDB files, in logs and at replicas, of which none ever depends on what it would take
 * by itself. Nothing else shows them but LEGO.SECRET.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <legosketch.h>
#include <redismodule.h>
#include <stdbool.h>

/* As text, with the zero at the end. */
enum { SECRET_TEXT = 2 * LEGO_SECRET_SIZE + 1, FINGERPRINT_TEXT = 17 };

/* A server knows so many at most. */
enum { SECRETS_MAX = 1024 };

/* What is said where one is not known, of its fingerprint. */
#define SECRET_UNKNOWN                                                                                                 \
    "no secret seed is known that has the fingerprint %s: give it with LEGO.SECRET, or with the module's SEED-FILE"

struct secret {
    uint64_t fingerprint;
    unsigned char bytes[LEGO_SECRET_SIZE];
};

/* The one of that fingerprint, which stays where it is; NULL if it is not known. In any thread. */
const struct secret *secrets_find(uint64_t fingerprint);

/* The one that new sketches get, which is made if there is none. NULL: the system gave nothing random. */
const struct secret *secrets_first(void);

/* How many there are, and each of them, that which new sketches get at 0. */
int secrets_count(void);
const struct secret *secrets_at(int i);

/* Reads 32 hex digits of text that has that size. NULL, or what is wrong with them, which does not show them. */
const char *secrets_parse(const char *text, size_t size, struct secret *secret);

/* Adds one at the end, if it is not known; false if there is no room for it. */
bool secrets_add(const struct secret *secret);

/* New sketches get this one from now on, which is known, unless a file said which they get. */
void secrets_prefer(const struct secret *secret);

/* The seed in a file is what new sketches get, as long as the server runs. NULL, or what is wrong with the file. */
const char *secrets_read_file(const char *path);

const char *secret_show(const struct secret *secret, char text[SECRET_TEXT]);
const char *fingerprint_show(uint64_t fingerprint, char text[FINGERPRINT_TEXT]);

/* Of 16 hex digits. */
bool fingerprint_parse(const char *digits, uint64_t *fingerprint);

/* Tells logs and replicas of the first and of another, before what needs it. They are told each time, since a log may
 * have been begun, or rewritten, after the last. */
void secrets_replicate(RedisModuleCtx *ctx, const struct secret *secret);
void secrets_emit(RedisModuleIO *aof, const struct secret *secret);

/* All of them, in an RDB file before the keys. */
void secrets_save(RedisModuleIO *rdb, int when);
int secrets_load(RedisModuleIO *rdb, int version, int when);
