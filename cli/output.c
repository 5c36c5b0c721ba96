/* Writing; see output.h. A file is written without a name, where the file system has that, synced, and gets its name in
 * one step; then the folder is synced too. So a program that is killed leaves nothing behind.
 *
 * Two things need a name before: a file on other file systems, and, for an instant, one that replaces another, since a
 * link cannot. It is .legosketch-XXXXXX in the same folder. Whoever writes there next removes those of its own user
 * that no living process has locked. The Python package has the same rule (bindings/python/legosketch/_saving.py). */
#define _GNU_SOURCE /* O_TMPFILE; not everywhere, and then every file has a name */
#include "output.h"

#include "say.h"
#include "secret.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX ".legosketch-"
enum { PREFIX_SIZE = sizeof PREFIX - 1, NAME_SIZE = PREFIX_SIZE + 6 };

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
    char path[PATH_MAX]; /* no symbolic link, so that one stays one and its target is replaced */
    char folder[PATH_MAX];
    bool there;    /* it replaces something, */
    bool in_place; /* or is a device or a pipe, which cannot be replaced, */
    bool only_new; /* or must not replace anything */
    mode_t mode;   /* of the file that was there; of a new one as much of it as the umask leaves */
} place;

/* A path becomes where it leads, whether there is anything or not. */
static int follow_links(char found[PATH_MAX])
{
    enum { LINKS_MOST = 40 }; /* as many as the kernel follows */
    for (int links = 0; links < LINKS_MOST; links++) {
        char target[PATH_MAX];
        ssize_t size = readlink(found, target, sizeof target - 1);
        if (size < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno; /* EINVAL: it is no link */
        target[size] = '\0';
        char *slash = strrchr(found, '/');
        char *name = target[0] == '/' || slash == NULL ? found : slash + 1;
        if ((size_t)(name - found) + (size_t)size >= PATH_MAX) return ENAMETOOLONG;
        strcpy(name, target);
    }
    return ELOOP;
}

static int find_place(const char *path, place *where)
{
    if (strlen(path) >= sizeof where->path) return ENAMETOOLONG;
    struct stat status;
    where->there = stat(path, &status) == 0;
    if (!where->there && errno != ENOENT) return errno;
    if (where->there && S_ISDIR(status.st_mode)) return EISDIR;
    where->in_place = where->there && !S_ISREG(status.st_mode);
    where->only_new = false;
    where->mode = where->there ? status.st_mode & 0777 : 0666;
    strcpy(where->path, path);
    int error = where->in_place ? 0 : follow_links(where->path);
    if (error != 0) return error;
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
    const char *const kept[] = {needed, secret_file};
    for (int i = 0; i < 2; i++) {
        struct stat status;
        if (kept[i] != NULL && stat(kept[i], &status) == 0 && output_is(path, &status))
            return say("%s is needed, and would be replaced by the output: name another file for that", kept[i]);
    }
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

static int save_and_close(output_save *saver, const void *what, FILE *file)
{
    if (file == NULL) return errno;
    int error = save(saver, what, file);
    if (fclose(file) != 0 && error == 0) error = errno;
    return error;
}

/* ---- files that get their name in the end ------------------------------------------------------------------------ */

enum { LINKED_SIZE = 32 };

/* By what name the kernel knows an open file. */
static const char *name_of(int file, char name[LINKED_SIZE])
{
    snprintf(name, LINKED_SIZE, "/proc/self/fd/%d", file);
    return name;
}

/* A file without a name, which can get one; -1 where that is not possible. */
static int open_nameless(const place *where)
{
    int file = -1;
#ifdef O_TMPFILE
    char name[LINKED_SIZE];
    file = open(where->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, where->mode);
    if (file >= 0 && access(name_of(file, name), F_OK) != 0) { /* there is no /proc */
        close(file);
        file = -1;
    }
#else
    (void)where;
#endif
    return file;
}

/* Gives an open file a temporary name, or makes one that has such a name if `file` is negative; returns it or -1. No
 * signal can come between the file and its name being known. */
static int make_temporary(const place *where, int file)
{
    char path[PATH_MAX], name[LINKED_SIZE];
    int made = -1;
    sigset_t before = block_signals();
    errno = EEXIST;
    for (unsigned i = 0; made < 0 && errno == EEXIST && i < 1u << 24; i++) {
        unsigned number = ((unsigned)getpid() + i) & 0xffffff;
        int length = snprintf(path, sizeof path, "%s/" PREFIX "%06x", where->folder, number);
        if (length < 0 || (size_t)length >= sizeof path) errno = ENAMETOOLONG;
        else if (file < 0) made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, where->mode);
        else if (linkat(AT_FDCWD, name_of(file, name), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) made = file;
    }
    if (made >= 0) strcpy(temporary, path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return made;
}

/* Holds the lock that says that somebody writes; false if the file was swept before. A file system without locks has no
 * sweeping either. */
static bool hold(int file)
{
    struct stat status;
    return flock(file, LOCK_EX) != 0 || fstat(file, &status) != 0 || status.st_nlink > 0 || temporary[0] == '\0';
}

/* A locked file, new and empty; -1. */
static int open_new(const place *where)
{
    int file = open_nameless(where);
    if (file < 0) file = make_temporary(where, -1);
    while (file >= 0 && !hold(file)) {
        close(file);
        file = make_temporary(where, -1);
    }
    return file;
}

/* The file gets the name it is to have. If there was or is an error, its temporary name is removed. */
static int name_file(int error, int file, const place *where)
{
    char name[LINKED_SIZE];
    sigset_t before = block_signals();
    bool named = temporary[0] != '\0';
    if (error == 0 && !named) { /* a link is enough where nothing has that name */
        named = linkat(AT_FDCWD, name_of(file, name), AT_FDCWD, where->path, AT_SYMLINK_FOLLOW) != 0;
        if (named && (errno != EEXIST || where->only_new || make_temporary(where, file) < 0)) error = errno;
    }
    if (error == 0 && named && !where->only_new && rename(temporary, where->path) != 0) error = errno;
    if (error == 0 && named && where->only_new && link(temporary, where->path) != 0) error = errno;
    if ((error != 0 || where->only_new) && temporary[0] != '\0') unlink(temporary);
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

/* Removes a temporary file that nobody writes any more. */
static void sweep_file(int folder, const char *name)
{
    struct stat status;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        flock(file, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(file);
}

static void sweep(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strlen(entry->d_name) == NAME_SIZE && strncmp(entry->d_name, PREFIX, PREFIX_SIZE) == 0)
            sweep_file(dirfd(folder), entry->d_name);
    closedir(folder);
}

static int write_file(output_save *saver, const void *what, const place *where)
{
    int file = open_new(where), error = file < 0 ? errno : 0;
    if (error == 0 && where->there && fchmod(file, where->mode) != 0) error = errno; /* whatever the umask is */
    if (error == 0) error = save_and_close(saver, what, fdopen(dup(file), "wb"));
    if (error == 0 && fsync(file) != 0) error = errno;
    error = name_file(error, file, where);
    if (file >= 0) close(file);
    return error;
}

/* After it got its name. */
static bool sync_name(const char *path, const place *where)
{
    sweep(where->folder);
    int error = sync_folder(where->folder);
    return error == 0 || say("%s is in place, but its folder cannot be synced, and a power cut could undo that: %s",
                             path, strerror(error));
}

bool output_file(const char *path, output_save *saver, const void *what)
{
    if (is_stdout(path)) {
        save(saver, what, stdout); /* leaves the failure in the stream, where the flush finds it */
        return output_flush();
    }
    place where;
    int error = find_place(path, &where);
    if (error == 0 && where.in_place) error = save_and_close(saver, what, fopen(where.path, "wb"));
    else if (error == 0) error = write_file(saver, what, &where);
    return is_fine(path, error) && (where.in_place || sync_name(path, &where));
}

bool output_private(const char *path, output_save *saver, const void *what, bool *taken)
{
    place where;
    int error = find_place(path, &where);
    if (error == 0 && where.there) error = EEXIST;
    where.only_new = true;
    where.mode = 0600;
    if (error == 0) error = write_file(saver, what, &where);
    *taken = error == EEXIST;
    return !*taken && is_fine(path, error) && sync_name(path, &where);
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
