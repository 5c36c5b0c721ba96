/* Sketches and models from files; see load.h. Files are read, and not mapped: one that somebody cuts short meanwhile
 * would end the program by a signal. */
#include "load.h"

#include "say.h"
#include "secret.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static lego_model *loaded; /* the program needs one at most */

void load_close(void)
{
    lego_model_destroy(loaded);
    loaded = NULL;
}

/* As many bytes as the first of them announce, and one more if it is there, which the library then refuses; only the
 * first if they are of nothing that it knows. So a wrong file costs nothing, whatever its size, and a wrong pipe is
 * refused before it ends. */
static int read_saved(int file, text *all)
{
    enum { HEAD = 24 };
    uint64_t length;
    int error = text_read(all, file, HEAD);
    if (error != 0 || lego_saved_length(all->bytes, all->size, &length) != LEGO_OK) return error;
    return text_read(all, file, length < SIZE_MAX ? (size_t)length + 1 : SIZE_MAX);
}

static bool open_contents(const char *path, text *all)
{
    *all = (text){0};
    bool from_stdin = strcmp(path, "-") == 0;
    int file = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int error = file < 0 ? errno : read_saved(file, all);
    if (file > STDIN_FILENO) close(file);
    if (error == 0) return true;
    text_free(all);
    return say_unreadable(path, strerror(error));
}

static bool needs_secret(const text *all)
{
    uint64_t seed;
    int secret;
    return lego_saved_seed(all->bytes, all->size, &seed, &secret) == LEGO_OK && secret;
}

/* Whether it went well; if not, says why. */
static bool check(const char *path, const text *all, lego_status status, const char *wanted)
{
    char name[16], fingerprint[FINGERPRINT_TEXT];
    uint64_t seed;
    int secret;
    if (strcmp(path, "-") == 0) path = "stdin";
    if (status == LEGO_ERR_MAGIC) say("%s is not %s", path, wanted);
    else if (status == LEGO_ERR_MODEL && lego_saved_model(all->bytes, all->size, name) == LEGO_OK)
        say("%s was made with the model '%s': %s", path, name,
            lego_model_builtin(name) != NULL ? "leave --model out" : "give its file with --model");
    else if (status == LEGO_ERR_SECRET && lego_saved_seed(all->bytes, all->size, &seed, &secret) == LEGO_OK)
        say("%s was made with a secret seed, whose fingerprint is %s: give it with --seed-file FILE, or in "
            "LEGOSKETCH_SEED",
            path, secret_fingerprint(fingerprint, seed));
    else say_status(path, status);
    return status == LEGO_OK;
}

bool load_model(const char *name, const lego_model **model)
{
    *model = name == NULL ? NULL : lego_model_builtin(name);
    if (name == NULL || *model != NULL) return true;
    *model = loaded;
    if (loaded != NULL) return true;
    if (access(name, F_OK) != 0) return say("'%s' is neither a built-in model nor a file", name);
    text all;
    if (!open_contents(name, &all)) return false;
    lego_status status = lego_model_load(all.bytes, all.size, NULL, &loaded);
    bool ok = check(name, &all, status, "a model");
    text_free(&all);
    *model = loaded;
    return ok;
}

bool load_sketch(const char *path, const char *model_name, lego_sketch **sketch, const lego_model **found)
{
    text all;
    lego_options options = LEGO_OPTIONS_INIT;
    *sketch = NULL;
    if (found != NULL) *found = NULL;
    if (!load_model(model_name, &options.model) || !open_contents(path, &all)) return false;
    if (needs_secret(&all) && !secret_find(&options.secret)) return false;
    lego_status status = lego_load(all.bytes, all.size, &options, sketch);
    if (status == LEGO_ERR_MAGIC && found != NULL) {
        load_close(); /* a model that was named for a sketch, and there is none */
        status = lego_model_load(all.bytes, all.size, NULL, &loaded);
        *found = loaded;
    }
    bool ok =
        check(path, &all, status, found != NULL ? "a sketch or a model" : "a sketch, which 'legosketch build' makes");
    text_free(&all);
    return ok;
}
