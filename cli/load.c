/* Sketches and models from files; see load.h. Files are mapped, so that a damaged one costs no memory; what cannot be
 * mapped, such as a pipe, is read. */
#include "load.h"

#include "say.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct contents {
    void *bytes;
    size_t size;
    bool mapped;
} contents;

static lego_model *loaded; /* the program needs one at most */

void load_close(void)
{
    lego_model_destroy(loaded);
    loaded = NULL;
}

static int map_or_read(int file, contents *all)
{
    struct stat status;
    if (fstat(file, &status) != 0) return errno;
    if (!S_ISREG(status.st_mode) || status.st_size == 0) {
        text piped = {0};
        int error = text_read(&piped, file, SIZE_MAX);
        *all = (contents){piped.bytes, piped.size, false};
        return error;
    }
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return errno;
    *all = (contents){bytes, (size_t)status.st_size, true};
    return 0;
}

static void release(contents *all)
{
    if (all->mapped) munmap(all->bytes, all->size);
    else free(all->bytes);
}

static bool open_contents(const char *path, contents *all)
{
    *all = (contents){0};
    bool from_stdin = strcmp(path, "-") == 0;
    int file = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int error = file < 0 ? errno : map_or_read(file, all);
    if (file > STDIN_FILENO) close(file);
    if (error == 0) return true;
    release(all);
    return say_unreadable(path, strerror(error));
}

/* Whether it went well; if not, says why. */
static bool check(const char *path, const contents *all, lego_status status, const char *wanted)
{
    char name[16];
    if (status == LEGO_ERR_MAGIC) say("%s is not %s", path, wanted);
    else if (status == LEGO_ERR_MODEL && lego_saved_model(all->bytes, all->size, name) == LEGO_OK)
        say("%s was made with the model '%s': %s", path, name,
            lego_model_builtin(name) != NULL ? "leave --model out" : "give its file with --model");
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
    contents all;
    if (!open_contents(name, &all)) return false;
    lego_status status = lego_model_load(all.bytes, all.size, NULL, &loaded);
    bool ok = check(name, &all, status, "a model");
    release(&all);
    *model = loaded;
    return ok;
}

bool load_sketch(const char *path, const char *model_name, lego_sketch **sketch, const lego_model **found)
{
    contents all;
    const lego_model *model;
    *sketch = NULL;
    if (found != NULL) *found = NULL;
    if (!load_model(model_name, &model) || !open_contents(path, &all)) return false;
    lego_status status = lego_load(all.bytes, all.size, model, NULL, sketch);
    if (status == LEGO_ERR_MAGIC && found != NULL) {
        load_close(); /* a model that was named for a sketch, and there is none */
        status = lego_model_load(all.bytes, all.size, NULL, &loaded);
        *found = loaded;
    }
    bool ok =
        check(path, &all, status, found != NULL ? "a sketch or a model" : "a sketch, which 'legosketch build' makes");
    release(&all);
    return ok;
}
