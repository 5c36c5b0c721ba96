/* What a file is; see look.h. */
#include "look.h"

#include "say.h"

#include <string.h>

/* Files that are no streams of items in any format. */
static const struct {
    size_t at; /* where the sign is */
    const char *sign;
    size_t size;
    const char *what;
} others[] = {
    {0, "LEGOSKCH", 8,
     "a sketch: 'legosketch merge' adds sketches up, 'legosketch query' and 'legosketch top' ask one"},
    {0, "LEGOMODL", 8, "a model: --model takes it"},
    {257, "ustar", 5, "a tar archive: unpack it first, with tar -xO"},
    {0, "PK\3\4", 4, "a zip archive: unpack it first"},
    {0, "7z\xbc\xaf\x27\x1c", 6, "a 7z archive: unpack it first"},
    {0, "\x04\x22\x4d\x18", 4, "compressed by lz4, which is not supported: unpack it first"},
    {0, "%PDF-", 5, "a PDF: take its text first, with pdftotext"},
    {0, "PAR1", 4, "a Parquet file: write its column as CSV or as lines first"},
    {0, "\xff\xfe\0\0", 4, "text in UTF-32: convert it first, with iconv -f UTF-32 -t UTF-8"},
    {0, "\0\0\xfe\xff", 4, "text in UTF-32: convert it first, with iconv -f UTF-32 -t UTF-8"},
    {0, "\xff\xfe", 2, "text in UTF-16: convert it first, with iconv -f UTF-16 -t UTF-8"},
    {0, "\xfe\xff", 2, "text in UTF-16: convert it first, with iconv -f UTF-16 -t UTF-8"},
};

static bool is_readable(unsigned char byte)
{
    return byte < 0x7f && (byte >= ' ' || memchr("\t\n\r", byte, 3) != NULL);
}

static bool is_text(const void *bytes, size_t size)
{
    for (const unsigned char *at = bytes; size > 0; at++, size--)
        if (!is_readable(*at)) return false;
    return true;
}

/* Every second byte is 0, and the others are those of text. */
static bool is_utf16(const unsigned char *bytes, size_t size)
{
    size_t zero = bytes[0] == 0 ? 0 : 1;
    for (size_t i = 0; i + 1 < size; i += 2)
        if (bytes[i + zero] != 0 || bytes[i + 1 - zero] == 0 || !is_readable(bytes[i + 1 - zero])) return false;
    return size > 1;
}

/* Of raw bytes, the format of keys that they look like. */
static const char *likely_keys(const unsigned char *bytes, size_t size)
{
    static const unsigned char zeros[4];
    if (is_utf16(bytes, size)) return "it looks like UTF-16, which iconv -f UTF-16LE or -f UTF-16BE -t UTF-8 converts";
    size_t records = size / 8, wide = 0, narrow = 0;
    for (const unsigned char *at = bytes; at < bytes + 8 * records; at += 8) {
        wide += memcmp(at + 4, zeros, 4) == 0;
        narrow += at[3] == 0 && at[7] == 0;
    }
    if (8 * wide > 7 * records) return "-f u64 looks right";
    if (8 * narrow > 7 * records) return "-f u32 looks right, or -f u64 if its keys have 8 bytes";
    return "-f u32 or -f u64 if it holds raw keys of 4 or 8 bytes";
}

bool look_at(const char *file, const unsigned char *bytes, size_t size, item_format format, bool keep_nul)
{
    bool raw = format_is_raw(format), nul = memchr(bytes, 0, size) != NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (raw && others[i].size < 8) continue;                       /* a key may be anything */
        if (!nul && is_text(others[i].sign, others[i].size)) continue; /* a text may begin like that */
        if (size >= others[i].at + others[i].size && memcmp(bytes + others[i].at, others[i].sign, others[i].size) == 0)
            return say("%s is %s", file, others[i].what);
    }
    if (raw && is_text(bytes, size) && memchr(bytes, '\n', size) != NULL) /* no integer of 4 bytes there is small */
        return say("%s is lines of text, not raw keys: -f lines counts them", file);
    if (raw || keep_nul || !nul) return true;
    return say("%s has NUL bytes, so it is no text: %s; --keep-nul counts lines with NUL bytes", file,
               likely_keys(bytes, size));
}
