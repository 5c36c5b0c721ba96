/* The secret seeds that this server knows; see secrets.h.
 *
 * In an RDB file they are
 *
 *     unsigned   1, the version of what follows
 *     unsigned   how many there are
 *     string     for each, that which new sketches get first, its 16 bytes
 *
 * SPDX-License-Identifier: MIT */
#include "secrets.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { SAVED_VERSION = 1 };

/* Seeds are only ever added, at the end, by the server's own thread; other threads read what they have counted. */
static struct {
    struct secret known[SECRETS_MAX];
    atomic_int n;
    int first;    /* of them, what new sketches get, where there is one */
    bool is_said; /* by a file, so that nothing else says it */
} ring;

/* ---- the ring ---------------------------------------------------------------------------------------------------- */

static int find(uint64_t fingerprint)
{
    int n = atomic_load(&ring.n), i = 0;
    while (i < n && ring.known[i].fingerprint != fingerprint) i++;
    return i < n ? i : -1;
}

const struct secret *secrets_find(uint64_t fingerprint)
{
    int at = find(fingerprint);
    return at < 0 ? NULL : &ring.known[at];
}

int secrets_count(void)
{
    return atomic_load(&ring.n);
}

const struct secret *secrets_at(int i)
{
    return &ring.known[i == 0 ? ring.first : i <= ring.first ? i - 1 : i];
}

bool secrets_add(const struct secret *secret)
{
    int n = atomic_load(&ring.n);
    if (find(secret->fingerprint) >= 0) return true;
    if (n == SECRETS_MAX) return false;
    ring.known[n] = *secret;
    atomic_store(&ring.n, n + 1);
    return true;
}

void secrets_prefer(const struct secret *secret)
{
    if (!ring.is_said) ring.first = find(secret->fingerprint);
}

/* A seed whose second half is 0 is none. */
static bool is_seed(const unsigned char bytes[LEGO_SECRET_SIZE])
{
    unsigned half = 0;
    for (unsigned i = LEGO_SECRET_SIZE / 2; i < LEGO_SECRET_SIZE; i++) half |= bytes[i];
    return half != 0;
}

const struct secret *secrets_first(void)
{
    struct secret made;
    if (secrets_count() > 0) return secrets_at(0);
    if (getrandom(made.bytes, sizeof made.bytes, 0) != (ssize_t)sizeof made.bytes) return NULL;
    if (!is_seed(made.bytes)) return NULL;
    made.fingerprint = lego_secret_fingerprint(made.bytes);
    secrets_add(&made);
    return secrets_at(0);
}

/* ---- as text ----------------------------------------------------------------------------------------------------- */

const char *secret_show(const struct secret *secret, char text[SECRET_TEXT])
{
    for (unsigned i = 0; i < LEGO_SECRET_SIZE; i++) snprintf(text + 2 * i, 3, "%02x", secret->bytes[i]);
    return text;
}

const char *fingerprint_show(uint64_t fingerprint, char text[FINGERPRINT_TEXT])
{
    snprintf(text, FINGERPRINT_TEXT, "%016" PRIx64, fingerprint);
    return text;
}

/* What n hex digits stand for, two in a byte; false if they are none. */
static bool read_hex(const char *digits, size_t n, unsigned char *bytes)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)digits[i];
        if (!isxdigit(c)) return false;
        int digit = isdigit(c) ? c - '0' : (c | 32) - 'a' + 10;
        bytes[i / 2] = (unsigned char)(bytes[i / 2] << 4 | digit);
    }
    return true;
}

bool fingerprint_parse(const char *digits, uint64_t *fingerprint)
{
    unsigned char bytes[8];
    if (!read_hex(digits, FINGERPRINT_TEXT - 1, bytes)) return false;
    *fingerprint = 0;
    for (unsigned i = 0; i < sizeof bytes; i++) *fingerprint = *fingerprint << 8 | bytes[i];
    return true;
}

const char *secrets_parse(const char *text, size_t size, struct secret *secret)
{
    while (size > 0 && isspace((unsigned char)*text)) text++, size--; /* as a file has it */
    while (size > 0 && isspace((unsigned char)text[size - 1])) size--;
    if (size != 2 * LEGO_SECRET_SIZE || !read_hex(text, size, secret->bytes))
        return "a secret seed is 32 hex digits, such as 'openssl rand -hex 16' prints";
    if (!is_seed(secret->bytes)) return "no secret seed ends in 16 zeros";
    secret->fingerprint = lego_secret_fingerprint(secret->bytes);
    return NULL;
}

const char *secrets_read_file(const char *path)
{
    char text[4096]; /* with room for spaces, and far less than a file that is something else */
    struct secret read;
    FILE *file = fopen(path, "re");
    if (file == NULL) return strerror(errno);
    size_t size = fread(text, 1, sizeof text, file);
    int error = ferror(file) ? errno : 0;
    fclose(file);
    if (error != 0) return strerror(error);
    const char *wrong = secrets_parse(text, size, &read);
    if (wrong != NULL) return wrong;
    secrets_add(&read);
    secrets_prefer(&read);
    ring.is_said = true;
    return NULL;
}

/* ---- with the data ----------------------------------------------------------------------------------------------- */

/* Where logs and replicas read it, the first that is named is what new sketches get there. */
void secrets_replicate(RedisModuleCtx *ctx, const struct secret *secret)
{
    char first[SECRET_TEXT], other[SECRET_TEXT];
    secret_show(secrets_at(0), first);
    if (secret == secrets_at(0)) RedisModule_Replicate(ctx, "LEGO.SECRET", "c", first);
    else RedisModule_Replicate(ctx, "LEGO.SECRET", "cc", first, secret_show(secret, other));
}

void secrets_emit(RedisModuleIO *aof, const struct secret *secret)
{
    char first[SECRET_TEXT], other[SECRET_TEXT];
    secret_show(secrets_at(0), first);
    if (secret == secrets_at(0)) RedisModule_EmitAOF(aof, "LEGO.SECRET", "c", first);
    else RedisModule_EmitAOF(aof, "LEGO.SECRET", "cc", first, secret_show(secret, other));
}

void secrets_save(RedisModuleIO *rdb, int when)
{
    (void)when;
    int n = secrets_count();
    RedisModule_SaveUnsigned(rdb, SAVED_VERSION);
    RedisModule_SaveUnsigned(rdb, (uint64_t)n);
    for (int i = 0; i < n; i++) RedisModule_SaveStringBuffer(rdb, (const char *)secrets_at(i)->bytes, LEGO_SECRET_SIZE);
}

/* One of a file; false if it is none, or too many. */
static bool load_one(RedisModuleIO *rdb, struct secret *secret)
{
    size_t size;
    char *bytes = RedisModule_LoadStringBuffer(rdb, &size);
    bool ok = bytes != NULL && size == LEGO_SECRET_SIZE;
    if (ok) memcpy(secret->bytes, bytes, size);
    RedisModule_Free(bytes);
    if (!ok || !is_seed(secret->bytes)) return false;
    secret->fingerprint = lego_secret_fingerprint(secret->bytes);
    return secrets_add(secret);
}

/* A replica goes on with the master's first one, so that one which becomes a master does what its master did. */
int secrets_load(RedisModuleIO *rdb, int version, int when)
{
    (void)version;
    (void)when;
    uint64_t saved = RedisModule_LoadUnsigned(rdb), n = saved == SAVED_VERSION ? RedisModule_LoadUnsigned(rdb) : 0;
    if (RedisModule_IsIOError(rdb)) return REDISMODULE_ERR;
    if (saved != SAVED_VERSION) {
        RedisModule_LogIOError(rdb, "warning", "secret seeds were saved by a later version of this module");
        return REDISMODULE_ERR;
    }
    for (uint64_t i = 0; i < n; i++) {
        struct secret loaded;
        if (!load_one(rdb, &loaded)) {
            RedisModule_LogIOError(rdb, "warning", "secret seeds: the file is damaged, or there are more than %d",
                                   SECRETS_MAX);
            return REDISMODULE_ERR;
        }
        if (i == 0) secrets_prefer(&loaded);
    }
    return REDISMODULE_OK;
}
