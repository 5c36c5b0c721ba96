/* Reading files through read(2), and what is compressed through zlib, liblzma, libzstd and libbz2; see input.h.
 *
 * The libraries differ in what they do after a member: some go on, some ignore what follows. So they are given one
 * member at a time, and what lies between members is looked at here, once for all. */
#define ZLIB_CONST /* or zlib would want to write to its input */
#include "input.h"

#include "output.h"
#include "say.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    INPUT_SIZE = 1 << 17,
    OUTPUT_SIZE = 1 << 20, /* of a block, also of a file that is not compressed */
    SIGN_MAX = 10,         /* bytes of the longest sign by which a member is recognised */
    /* The most memory a file may ask for, 2^30 bytes: `xz -9` asks for 2^26, and a few hostile bytes for 2^32. */
    MEMORY_LOG_MAX = 30,
};

typedef enum outcome {
    GOES_ON,
    MEMBER_ENDED,
    FILE_ENDED,
    CUT,
    DAMAGED,
    FOLLOWED, /* by something that is no member */
    NOT_SUPPORTED,
    TOO_LARGE,
    NO_MEMORY,
} outcome;

/* What a step may take and where it may write; it moves the beginnings. */
typedef struct window {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size;
} window;

/* A library's state; all zero before the first member. */
typedef union codec {
    z_stream gzip;
    lzma_stream xz;
    ZSTD_DCtx *zstd;
    bz_stream bzip2;
} codec;

/* Bytes at a beginning, compared where the mask has bits. */
typedef struct sign {
    const char *bytes, *mask;
    size_t size;
} sign;

typedef struct compression {
    const char *suffix;
    const char *name;
    size_t padding;                /* zeros may follow a member, in multiples of this */
    sign signs[2];                 /* how a member begins: like one of these */
    outcome (*begin)(codec *with); /* a member: the first, or the next */
    outcome (*step)(codec *with, window *view);
    void (*close)(codec *with);
} compression;

struct input {
    const char *name; /* for messages */
    int file;
    uint64_t *done;          /* bytes read */
    bool recognised;         /* the first bytes were looked at */
    const compression *kind; /* NULL if it is read as it is, straight into the output but for these bytes */
    codec with;
    bool inside;     /* a member */
    bool any;        /* member has begun */
    bool file_ended; /* nothing more to read */
    size_t at, size; /* of the input that is not used yet */
    unsigned char input[INPUT_SIZE];
    unsigned char output[OUTPUT_SIZE];
};

/* ---- gzip -------------------------------------------------------------------------------------------------------- */

static outcome gzip_outcome(int result)
{
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: /* it needs more input */ return GOES_ON;
    case Z_STREAM_END: return MEMBER_ENDED;
    case Z_MEM_ERROR: return NO_MEMORY;
    default: return DAMAGED;
    }
}

static outcome gzip_begin(codec *with)
{
    if (with->gzip.state != NULL) return gzip_outcome(inflateReset(&with->gzip));
    return gzip_outcome(inflateInit2(&with->gzip, MAX_WBITS + 16)); /* 16: gzip only, with its checksum */
}

static outcome gzip_step(codec *with, window *view)
{
    z_stream *stream = &with->gzip;
    stream->next_in = view->in;
    stream->avail_in = (uInt)view->in_size;
    stream->next_out = view->out;
    stream->avail_out = (uInt)view->out_size;
    int result = inflate(stream, Z_NO_FLUSH);
    *view = (window){stream->next_in, stream->avail_in, stream->next_out, stream->avail_out};
    return gzip_outcome(result);
}

static void gzip_close(codec *with)
{
    inflateEnd(&with->gzip);
}

/* ---- xz ---------------------------------------------------------------------------------------------------------- */

static outcome xz_outcome(lzma_ret result)
{
    switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR: /* it needs more input */ return GOES_ON;
    case LZMA_STREAM_END: return MEMBER_ENDED;
    case LZMA_MEM_ERROR: return NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR: return TOO_LARGE;
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK: return NOT_SUPPORTED;
    default: return DAMAGED;
    }
}

static outcome xz_begin(codec *with)
{
    /* It would pass over a checksum that it cannot compute, without a word, if it were not told to tell. */
    return xz_outcome(lzma_stream_decoder(&with->xz, UINT64_C(1) << MEMORY_LOG_MAX, LZMA_TELL_UNSUPPORTED_CHECK));
}

static outcome xz_step(codec *with, window *view)
{
    lzma_stream *stream = &with->xz;
    stream->next_in = view->in;
    stream->avail_in = view->in_size;
    stream->next_out = view->out;
    stream->avail_out = view->out_size;
    lzma_ret result = lzma_code(stream, LZMA_RUN);
    *view = (window){stream->next_in, stream->avail_in, stream->next_out, stream->avail_out};
    return xz_outcome(result);
}

static void xz_close(codec *with)
{
    lzma_end(&with->xz);
}

/* ---- zstd -------------------------------------------------------------------------------------------------------- */

static outcome zstd_error(size_t result)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation: return NO_MEMORY;
    case ZSTD_error_frameParameter_windowTooLarge: return TOO_LARGE;
    case ZSTD_error_frameParameter_unsupported:
    case ZSTD_error_version_unsupported:
    case ZSTD_error_dictionary_wrong: return NOT_SUPPORTED;
    default: return DAMAGED;
    }
}

static outcome zstd_begin(codec *with)
{
    if (with->zstd != NULL) return GOES_ON; /* it is ready for the next */
    with->zstd = ZSTD_createDCtx();
    if (with->zstd == NULL) return NO_MEMORY;
    size_t result = ZSTD_DCtx_setParameter(with->zstd, ZSTD_d_windowLogMax, MEMORY_LOG_MAX);
    return ZSTD_isError(result) ? zstd_error(result) : GOES_ON;
}

static outcome zstd_step(codec *with, window *view)
{
    ZSTD_inBuffer in = {view->in, view->in_size, 0};
    ZSTD_outBuffer out = {view->out, view->out_size, 0};
    size_t result = ZSTD_decompressStream(with->zstd, &out, &in);
    *view = (window){view->in + in.pos, view->in_size - in.pos, view->out + out.pos, view->out_size - out.pos};
    if (ZSTD_isError(result)) return zstd_error(result);
    return result == 0 ? MEMBER_ENDED : GOES_ON;
}

static void zstd_close(codec *with)
{
    ZSTD_freeDCtx(with->zstd);
}

/* ---- bzip2 ------------------------------------------------------------------------------------------------------- */

static outcome bzip2_outcome(int result)
{
    switch (result) {
    case BZ_OK: return GOES_ON;
    case BZ_STREAM_END: return MEMBER_ENDED;
    case BZ_MEM_ERROR: return NO_MEMORY;
    default: return DAMAGED;
    }
}

static void bzip2_close(codec *with)
{
    BZ2_bzDecompressEnd(&with->bzip2);
}

static outcome bzip2_begin(codec *with)
{
    bzip2_close(with); /* nothing, before the first */
    return bzip2_outcome(BZ2_bzDecompressInit(&with->bzip2, 0, 0));
}

static outcome bzip2_step(codec *with, window *view)
{
    bz_stream *stream = &with->bzip2;
    stream->next_in = (char *)view->in; /* it only reads there */
    stream->avail_in = (unsigned)view->in_size;
    stream->next_out = (char *)view->out;
    stream->avail_out = (unsigned)view->out_size;
    int result = BZ2_bzDecompress(stream);
    *view = (window){(unsigned char *)stream->next_in, stream->avail_in, (unsigned char *)stream->next_out,
                     stream->avail_out};
    return bzip2_outcome(result);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

#define ALL_BITS "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
#define BZIP2_MASK "\xff\xff\xff\xf0\xff\xff\xff\xff\xff\xff"

/* gzip(1) ignores zeros at the end, a custom of tapes; today they are rather the place of members that were lost. A
 * frame of zstd may be one to be skipped. Behind "BZh1" to "BZh9", as a text too could begin, bzip2 has the digits of
 * pi, or where there is nothing of its root. */
static const compression compressions[] = {
    {".gz", "gzip", 0, {{"\x1f\x8b\x08", ALL_BITS, 3}}, gzip_begin, gzip_step, gzip_close},
    {".xz", "xz", 4, {{"\xfd\67zXZ", ALL_BITS, 6}}, xz_begin, xz_step, xz_close},
    {".zst",
     "zstd",
     0,
     {{"\x28\xb5\x2f\xfd", ALL_BITS, 4}, {"\x50\x2a\x4d\x18", "\xf0\xff\xff\xff", 4}},
     zstd_begin,
     zstd_step,
     zstd_close},
    {".bz2",
     "bzip2",
     0,
     {{"BZh\x30\x31\x41\x59\x26\x53\x59", BZIP2_MASK, 10}, {"BZh\x30\x17\x72\x45\x38\x50\x90", BZIP2_MASK, 10}},
     bzip2_begin,
     bzip2_step,
     bzip2_close},
};
enum { COMPRESSIONS = sizeof compressions / sizeof *compressions };

size_t input_stem(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < COMPRESSIONS; i++) {
        size_t size = strlen(compressions[i].suffix);
        if (length > size && strcasecmp(path + length - size, compressions[i].suffix) == 0) return length - size;
    }
    return length;
}

typedef enum match { NO_SIGN, PART_OF_SIGN, WHOLE_SIGN } match;

static match match_sign(const sign *like, const unsigned char *bytes, size_t size)
{
    size_t i = 0;
    while (i < size && i < like->size && (((unsigned char)like->bytes[i] ^ bytes[i]) & like->mask[i]) == 0) i++;
    return i == like->size ? WHOLE_SIGN : i == size ? PART_OF_SIGN : NO_SIGN;
}

/* Whether a member begins there, or as much of one as there is. */
static match match_member(const compression *kind, const unsigned char *bytes, size_t size)
{
    match best = NO_SIGN;
    for (size_t i = 0; i < 2 && kind->signs[i].size > 0; i++) {
        match found = match_sign(&kind->signs[i], bytes, size);
        if (found > best) best = found;
    }
    return best;
}

static const char *const messages[] = {
    [CUT] = "it ends too early",
    [DAMAGED] = "it is damaged",
    [NOT_SUPPORTED] = "it is damaged, or compressed in a way that is not supported",
    [TOO_LARGE] = "to decompress it takes more than 1 GiB of memory",
    [NO_MEMORY] = "Cannot allocate memory",
};

static bool fail(const input *self, outcome why)
{
    if (why == FOLLOWED)
        return say("cannot read %s: it is damaged: after its end comes something that is not %s data", self->name,
                   self->kind->name);
    return say_unreadable(self->name, messages[why]);
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

static bool read_file(input *self, unsigned char *buffer, size_t size, size_t *got)
{
    ssize_t count;
    do count = read(self->file, buffer, size);
    while (count < 0 && errno == EINTR);
    if (count < 0) return say_unreadable(self->name, strerror(errno));
    *got = (size_t)count;
    *self->done += *got;
    return true;
}

static void use(input *self, size_t size)
{
    self->at += size;
    self->size -= size;
}

/* Has at least that much input ready, unless the file ends before. */
static bool fill(input *self, size_t wanted)
{
    if (self->size >= wanted || self->file_ended) return true;
    memmove(self->input, self->input + self->at, self->size);
    self->at = 0;
    while (self->size < wanted && !self->file_ended) {
        size_t got = 0;
        if (!read_file(self, self->input + self->size, sizeof self->input - self->size, &got)) return false;
        self->size += got;
        self->file_ended = got == 0;
    }
    return true;
}

/* Between members. The input has SIGN_MAX bytes, unless the file ends before. */
static outcome find_member(input *self)
{
    static const unsigned char zeros[SIGN_MAX];
    const compression *kind = self->kind;
    const unsigned char *bytes = self->input + self->at;
    if (self->size == 0) return FILE_ENDED;
    if (self->any && kind->padding > 0 && self->size >= kind->padding && memcmp(bytes, zeros, kind->padding) == 0) {
        use(self, kind->padding);
        return GOES_ON;
    }
    if (match_member(kind, bytes, self->size) == NO_SIGN) return FOLLOWED;
    self->any = self->inside = true;
    return kind->begin(&self->with);
}

/* Inside a member. There is input, unless the file has ended. */
static outcome unpack(input *self, size_t *size)
{
    window view = {self->input + self->at, self->size, self->output + *size, sizeof self->output - *size};
    outcome result = self->kind->step(&self->with, &view);
    size_t before = *size;
    *size = sizeof self->output - view.out_size;
    /* without input it may still have had something to give; once it has not, it waits for what never comes */
    if (result == GOES_ON && self->size == 0 && *size == before) return CUT;
    use(self, self->size - view.in_size);
    self->inside = result != MEMBER_ENDED;
    return result;
}

/* Fills the output, unless the file ends before. */
static bool next_unpacked(input *self, size_t *size)
{
    while (*size < sizeof self->output) {
        if (!fill(self, self->inside ? 1 : SIGN_MAX)) return false;
        outcome result = self->inside ? unpack(self, size) : find_member(self);
        if (result == FILE_ENDED) break;
        if (result != GOES_ON && result != MEMBER_ENDED) return fail(self, result);
    }
    return true;
}

/* What the file is by its first bytes. Of these it waits for no more than it takes to tell, also whether they are the
 * mark of UTF-8: whoever takes that off has it whole in the first block. */
static bool recognise(input *self)
{
    static const sign mark = {"\xef\xbb\xbf", ALL_BITS, 3};
    match best = PART_OF_SIGN;
    while (best == PART_OF_SIGN && !self->file_ended) {
        if (!fill(self, self->size + 1)) return false;
        best = match_sign(&mark, self->input, self->size);
        for (size_t i = 0; i < COMPRESSIONS && self->size > 0; i++) {
            match found = match_member(&compressions[i], self->input, self->size);
            if (found == WHOLE_SIGN) self->kind = &compressions[i];
            if (found > best) best = found;
        }
    }
    self->recognised = true;
    size_t stem = input_stem(self->name);
    return self->kind != NULL || self->name[stem] == '\0' ||
           say("cannot read %s: it is named %s, but is not compressed, or was cut", self->name, self->name + stem);
}

bool input_next(input *self, const unsigned char **block, size_t *size)
{
    if (!self->recognised && !recognise(self)) return false;
    *block = self->output;
    *size = 0;
    if (self->kind != NULL) return next_unpacked(self, size);
    if (self->size == 0) return read_file(self, self->output, sizeof self->output, size);
    *block = self->input + self->at;
    *size = self->size;
    use(self, self->size);
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool input_open(input **opened, const char *path, uint64_t *done)
{
    input *self = malloc(sizeof *self);
    if (self == NULL) return say_unreadable(path, messages[NO_MEMORY]);
    memset(self, 0, offsetof(input, input)); /* the whole union too, whichever member comes first */
    self->name = is_stdin(path) ? "stdin" : path;
    self->done = done;
    self->file = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *opened = self;
    if (self->file >= 0) return true;
    int error = errno;
    input_close(self);
    return say_unreadable(path, strerror(error));
}

void input_close(input *self)
{
    if (self->kind != NULL) self->kind->close(&self->with);
    if (self->file > STDIN_FILENO) close(self->file);
    free(self);
}

const char *input_name(const input *self)
{
    return self->name;
}

bool input_measure(char *const *paths, int count, const char *output, uint64_t *bytes)
{
    uint64_t sum = 0;
    bool known = true;
    for (int i = 0; i < count; i++) {
        struct stat status;
        if ((is_stdin(paths[i]) ? fstat(STDIN_FILENO, &status) : stat(paths[i], &status)) != 0)
            return say_unreadable(paths[i], strerror(errno));
        if (output_is(output, &status))
            return say("%s is the input, and would be replaced by the output: name another file for that",
                       is_stdin(paths[i]) ? "stdin" : paths[i]);
        known = known && S_ISREG(status.st_mode);
        sum += (uint64_t)status.st_size;
    }
    *bytes = known ? sum : 0;
    return true;
}
