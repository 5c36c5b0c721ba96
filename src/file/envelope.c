/* envelope: the writer and the first checks of every file format. */
#include "file/envelope.h"

void writer_init(struct writer *writer, lego_write write, void *context)
{
    writer->write = write;
    writer->context = context;
    writer->status = LEGO_OK;
    writer->size = 0;
    XXH3_64bits_reset(&writer->checksum);
}

static void writer_flush(struct writer *writer)
{
    if (writer->status == LEGO_OK && writer->size > 0 &&
        writer->write(writer->context, writer->buffer, writer->size) != 0)
        writer->status = LEGO_ERR_WRITE;
    writer->size = 0;
}

void write_bytes(struct writer *writer, const void *bytes, size_t size)
{
    XXH3_64bits_update(&writer->checksum, bytes, size);
    if (size > sizeof writer->buffer - writer->size) writer_flush(writer);
    if (size > sizeof writer->buffer) {
        if (writer->status == LEGO_OK && writer->write(writer->context, bytes, size) != 0)
            writer->status = LEGO_ERR_WRITE;
        return;
    }
    memcpy(writer->buffer + writer->size, bytes, size);
    writer->size += size;
}

void write_int(struct writer *writer, uint64_t x, unsigned bytes)
{
    unsigned char p[8];
    put_int(p, x, sizeof p); /* all of it: a compiler can not know that `bytes` is not 0 */
    write_bytes(writer, p, bytes);
}

void write_floats(struct writer *writer, const float *floats, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, floats + i, sizeof bits);
        write_int(writer, bits, 4);
    }
}

lego_status writer_finish(struct writer *writer)
{
    write_int(writer, XXH3_64bits_digest(&writer->checksum), CHECKSUM);
    writer_flush(writer);
    return writer->status;
}

void write_head(struct writer *writer, const struct format *format, uint32_t kind, uint64_t length)
{
    write_bytes(writer, format->magic, 8);
    write_int(writer, format->version, 4);
    write_int(writer, kind, 4);
    write_int(writer, length, 8);
}

const struct format sketch_format = {{'L', 'E', 'G', 'O', 'S', 'K', 'C', 'H'}, SKETCH_OLDEST, SKETCH_VERSION};
const struct format model_format = {{'L', 'E', 'G', 'O', 'M', 'O', 'D', 'L'}, MODEL_VERSION, MODEL_VERSION};

lego_status check_head(const unsigned char *p, size_t size, const struct format *format)
{
    if (size > 0 && memcmp(p, format->magic, size < 8 ? size : 8) != 0) return LEGO_ERR_MAGIC;
    if (size < HEAD_COMMON) return LEGO_ERR_TRUNCATED;
    const uint32_t version = get32(p + 8);
    return version >= format->oldest && version <= format->version ? LEGO_OK : LEGO_ERR_VERSION;
}

lego_status check_envelope(const unsigned char *p, size_t size, const struct format *format, size_t head)
{
    lego_status status = check_head(p, size, format);
    if (status != LEGO_OK) return status;
    if (get(p + 16, 8) != size || size < head + CHECKSUM) return LEGO_ERR_TRUNCATED;
    if (get(p + size - CHECKSUM, CHECKSUM) != XXH3_64bits(p, size - CHECKSUM)) return LEGO_ERR_CHECKSUM;
    return LEGO_OK;
}

lego_status lego_saved_length(const void *bytes, size_t size, uint64_t *length)
{
    const unsigned char *p = bytes;
    lego_status status = check_head(p, size, &sketch_format);
    if (status == LEGO_ERR_MAGIC) status = check_head(p, size, &model_format);
    if (status == LEGO_OK) *length = get(p + 16, 8);
    return status;
}

bool name_valid(const char name[NAME_SIZE])
{
    size_t n = 0;
    while (n < NAME_SIZE && name[n] && strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", name[n])) n++;
    for (size_t i = n; i < NAME_SIZE; i++)
        if (name[i]) return false;
    return n > 0 && n < NAME_SIZE;
}
