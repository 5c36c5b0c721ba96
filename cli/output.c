/* Writing; see output.h. A file is written under a temporary name in its own folder, synced, and renamed over the old
 * one; then the folder is synced too. */
#define _XOPEN_SOURCE 700 /* realpath() is not in plain POSIX */
#include "output.h"

#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file to remove if a signal ends the program; empty if there is none. Signals are blocked while it changes. */
static char temporary[PATH_MAX];

static void remove_and_die(int signal_number)
{
    if (temporary[0] != '\0') unlink(temporary);
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* held back until this handler returns, then fatal as the sender meant it */
}

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP};

/* Every descriptor up to standard error exists, or the first file opened would take its place. */
static void open_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
        /* in the wrong direction, so that using it is an error */
        if (fcntl(file, F_GETFD) == -1 && open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) != file)
            _Exit(EXIT_FAILED);
    }
}

void output_prepare(void)
{
    open_standard_files();
    struct sigaction action = {.sa_handler = remove_and_die};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction before;
        /* a signal that was ignored when we started, as under nohup, stays ignored */
        if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(deadly[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static sigset_t block_signals(void)
{
    sigset_t set, before;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) sigaddset(&set, deadly[i]);
    sigprocmask(SIG_BLOCK, &set, &before);
    return before;
}

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Whether there is no error; else says it. */
static bool is_fine(const char *path, int error)
{
    return error == 0 || say("cannot write %s: %s", path, strerror(error));
}

/* Where a file goes. */
typedef struct place {
    char path[PATH_MAX]; /* without symbolic links, so that one stays one and its target is replaced */
    char folder[PATH_MAX];
    bool in_place; /* a device or a pipe, which cannot be replaced */
    mode_t mode;   /* of the file that was there, or what a new one gets */
} place;

static int find_place(const char *path, place *where)
{
    if (strlen(path) >= sizeof where->path) return ENAMETOOLONG;
    where->in_place = false;
    struct stat status;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode)) return EISDIR;
        if (realpath(path, where->path) == NULL) return errno;
        where->in_place = !S_ISREG(status.st_mode);
        where->mode = status.st_mode & 0777;
    } else if (errno == ENOENT) {
        strcpy(where->path, path);
        mode_t mask = umask(0);
        umask(mask);
        where->mode = 0666 & ~mask;
    } else {
        return errno;
    }
    strcpy(where->folder, where->path);
    char *slash = strrchr(where->folder, '/');
    if (slash == NULL) strcpy(where->folder, ".");
    else slash[slash == where->folder] = '\0'; /* keep the slash that is the root */
    return 0;
}

bool output_is(const char *path, const struct stat *other)
{
    struct stat status;
    int error = is_stdout(path) ? fstat(STDOUT_FILENO, &status) : stat(path, &status);
    return error == 0 && S_ISREG(status.st_mode) && status.st_dev == other->st_dev && status.st_ino == other->st_ino;
}

bool output_check(const char *path, const char *needed)
{
    struct stat status;
    if (needed != NULL && stat(needed, &status) == 0 && output_is(path, &status))
        return say("%s is needed, and would be replaced by the output: name another file for that", needed);
    if (is_stdout(path) && isatty(STDOUT_FILENO))
        return say("standard output is a terminal, which cannot show a sketch: name a file, or send it into a pipe");
    if (is_stdout(path)) return true;
    place where;
    int error = find_place(path, &where);
    if (error == 0 && access(where.in_place ? where.path : where.folder, W_OK) != 0) error = errno;
    return is_fine(path, error);
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static int write_some(void *context, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size ? 0 : -1;
}

/* Writes to an open file; 0 or an error number, as from all that follow. */
static int save(output_save *saver, const void *what, FILE *file)
{
    errno = 0;
    lego_status status = saver(what, write_some, file);
    if (status == LEGO_OK && fflush(file) == 0) return 0;
    if (status == LEGO_ERR_MEMORY) return ENOMEM;
    return errno != 0 ? errno : EIO;
}

static int save_and_close(output_save *saver, const void *what, FILE *file, bool synced)
{
    if (file == NULL) return errno;
    int error = save(saver, what, file);
    if (error == 0 && synced && fsync(fileno(file)) != 0) error = errno;
    if (fclose(file) != 0 && error == 0) error = errno;
    return error;
}

/* Creates the temporary file, so that no signal can come between it and its name being known. */
static FILE *open_temporary(const place *where)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/.legosketch-XXXXXX", where->folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    sigset_t before = block_signals();
    int descriptor = mkstemp(path);
    if (descriptor >= 0) strcpy(temporary, path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (descriptor < 0) return NULL;
    FILE *file = fchmod(descriptor, where->mode) == 0 ? fdopen(descriptor, "wb") : NULL;
    if (file == NULL) {
        int error = errno;
        close(descriptor);
        errno = error;
    }
    return file;
}

/* The temporary file gets its name, or is removed if there was or is an error. */
static int end_temporary(int error, const place *where)
{
    sigset_t before = block_signals();
    if (error == 0 && rename(temporary, where->path) != 0) error = errno;
    if (error != 0 && temporary[0] != '\0') unlink(temporary);
    temporary[0] = '\0';
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno == EACCES ? 0 : errno; /* a folder one may write but not read cannot be synced */
    int error = fsync(folder) == 0 || errno == EINVAL ? 0 : errno; /* some file systems have nothing to sync */
    close(folder);
    return error;
}

static int replace(output_save *saver, const void *what, const place *where)
{
    int error = save_and_close(saver, what, open_temporary(where), true);
    error = end_temporary(error, where);
    return error != 0 ? error : sync_folder(where->folder);
}

bool output_file(const char *path, output_save *saver, const void *what)
{
    if (is_stdout(path)) {
        save(saver, what, stdout); /* leaves the failure in the stream, where the flush finds it */
        return output_flush();
    }
    place where;
    int error = find_place(path, &where);
    if (error == 0)
        error =
            where.in_place ? save_and_close(saver, what, fopen(where.path, "wb"), false) : replace(saver, what, &where);
    return is_fine(path, error);
}

static lego_status save_sketch(const void *sketch, lego_write write, void *context)
{
    return lego_save(sketch, write, context);
}

bool output_sketch(const char *path, const lego_sketch *sketch)
{
    return output_file(path, save_sketch, sketch);
}

bool output_flush(void)
{
    static bool failed;
    if (failed) return false;
    if (!ferror(stdout)) errno = 0; /* else it is still that of the write that failed */
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    failed = true;
    if (errno != EPIPE) say("cannot write standard output: %s", strerror(errno != 0 ? errno : EIO));
    return false;
}
