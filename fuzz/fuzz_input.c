/* fuzz_input: what the command decompresses. By its first byte the input is either a file as it is, of which nothing is
 * known but that it does no harm, or a text, which is compressed in one of four ways, in pieces of one member each, and
 * has to come back. */
#define ZLIB_CONST
#include "input.h"

#include <bzlib.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { ROOM = 1 << 20, BLOCKS = 3 }; /* of a file; of blocks of a megabyte that are read of it: a bomb has thousands */

static size_t pack_gzip(const uint8_t *bytes, size_t size, uint8_t *to, size_t room)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 1, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    stream.next_in = bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) abort();
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static size_t pack_xz(const uint8_t *bytes, size_t size, uint8_t *to, size_t room)
{
    size_t used = 0;
    if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, bytes, size, to, &used, room) != LZMA_OK) abort();
    return used;
}

static size_t pack_zstd(const uint8_t *bytes, size_t size, uint8_t *to, size_t room)
{
    size_t used = ZSTD_compress(to, room, bytes, size, 1);
    if (ZSTD_isError(used)) abort();
    return used;
}

static size_t pack_bzip2(const uint8_t *bytes, size_t size, uint8_t *to, size_t room)
{
    unsigned used = (unsigned)room;
    if (BZ2_bzBuffToBuffCompress((char *)to, &used, (char *)(uintptr_t)bytes, (unsigned)size, 1, 0, 0) != BZ_OK)
        abort();
    return used;
}

/* Of 64 bytes and more each, so that no input has more than a few members. */
static size_t pack(const uint8_t *bytes, size_t size, unsigned how, uint8_t *to)
{
    static size_t (*const packs[])(const uint8_t *, size_t, uint8_t *, size_t) = {pack_gzip, pack_xz, pack_zstd,
                                                                                  pack_bzip2};
    size_t used = 0, piece = size / (1 + (how >> 2) % 4) + 64;
    for (size_t at = 0; at < size || at == 0; at += piece)
        used += packs[how % 4](bytes + at, size - at < piece ? size - at : piece, to + used, ROOM - used);
    return used;
}

/* Whether the file could be read, as far as it was; what it has goes to `out`. */
static bool read_all(int file, uint8_t *out, size_t room, size_t *size)
{
    char path[32];
    uint64_t done = 0;
    input *in;
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    if (!input_open(&in, path, &done)) abort();
    const unsigned char *block;
    size_t got = 1;
    bool ok = true;
    *size = 0;
    for (int i = 0; ok && got > 0 && i < BLOCKS; i++) {
        ok = input_next(in, &block, &got);
        if (!ok) break;
        if (got <= room - *size) memcpy(out + *size, block, got);
        *size += got <= room - *size ? got : 0;
    }
    input_close(in);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static uint8_t packed[ROOM], out[ROOM];
    static FILE *file;
    if (size == 0 || size > ROOM / 4) return 0;
    unsigned how = bytes[0];
    size_t length = size - 1, found;
    if (!file && !(file = tmpfile())) abort();
    const uint8_t *content = bytes + 1;
    if (how < 16) {
        length = pack(bytes + 1, size - 1, how, packed);
        content = packed;
    }
    if (ftruncate(fileno(file), 0) != 0 || pwrite(fileno(file), content, length, 0) != (ssize_t)length) abort();
    bool ok = read_all(fileno(file), out, sizeof out, &found);
    if (how < 16 && !(ok && found == size - 1 && memcmp(out, bytes + 1, found) == 0)) abort();
    return 0;
}
