/* Secret seeds; see secret.h. The command that is run needs one at most, which lives as long as the program. */
#include "secret.h"

#include "output.h"
#include "say.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { DIGITS = 2 * LEGO_SECRET_SIZE };

const char *secret_file;
static unsigned char seed[LEGO_SECRET_SIZE];

/* Says nothing of what it found instead: that may be all but a digit of a secret. */
static bool wrong(const char *where)
{
    return say("%s: a secret seed is 32 hex digits, such as 'openssl rand -hex 16' prints", where);
}

static bool parse(const char *where, const char *at, size_t size)
{
    unsigned half = 0;
    while (size > 0 && isspace((unsigned char)*at)) at++, size--;
    while (size > 0 && isspace((unsigned char)at[size - 1])) size--;
    if (size != DIGITS) return wrong(where);
    for (size_t i = 0; i < DIGITS; i++) {
        if (!isxdigit((unsigned char)at[i])) return wrong(where);
        unsigned digit = (unsigned)(isdigit((unsigned char)at[i]) ? at[i] - '0' : (at[i] | 32) - 'a' + 10);
        seed[i / 2] = (unsigned char)((unsigned)seed[i / 2] << 4 | digit);
    }
    for (size_t i = LEGO_SECRET_SIZE / 2; i < LEGO_SECRET_SIZE; i++) half |= seed[i];
    return half != 0 || say("%s: no secret seed ends in 16 zeros", where);
}

static bool read_seed(const char *path)
{
    enum { MOST = 4096 }; /* with room for spaces, and far less than a file that is something else */
    text all = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    int error = file < 0 ? errno : text_read(&all, file, MOST);
    if (file >= 0) close(file);
    bool ok = error == 0 ? parse(path, all.bytes, all.size) : say_unreadable(path, strerror(error));
    text_free(&all);
    return ok;
}

bool secret_find(const void **secret)
{
    const char *named = getenv("LEGOSKETCH_SEED");
    *secret = NULL;
    if (secret_file == NULL && named == NULL) return true;
    if (secret_file != NULL ? !read_seed(secret_file) : !parse("LEGOSKETCH_SEED", named, strlen(named))) return false;
    *secret = seed;
    return true;
}

static lego_status write_digits(const void *what, lego_write write, void *context)
{
    const unsigned char *bytes = what;
    char line[DIGITS + 2];
    for (size_t i = 0; i < LEGO_SECRET_SIZE; i++) snprintf(line + 2 * i, 3, "%02x", bytes[i]);
    line[DIGITS] = '\n';
    return write(context, line, DIGITS + 1) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

bool secret_find_or_make(const void **secret)
{
    bool taken;
    if (secret_file == NULL || access(secret_file, F_OK) == 0 || errno != ENOENT) return secret_find(secret);
    if (getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed) return say("no random seed: %s", strerror(errno));
    seed[LEGO_SECRET_SIZE - 1] |= 1; /* so that the second half is not 0 */
    if (!output_private(secret_file, write_digits, seed, &taken)) return taken && secret_find(secret);
    *secret = seed;
    say("wrote a secret seed to %s: keep it, without it nobody reads what is made with it", secret_file);
    return true;
}

const char *secret_fingerprint(char digits[FINGERPRINT_TEXT], uint64_t fingerprint)
{
    snprintf(digits, FINGERPRINT_TEXT, "%016" PRIx64, fingerprint);
    return digits;
}
