/* envelope: what all file formats share. Little-endian numbers; eight letters, a version, a kind and the length in
 * front; the XXH3 of everything at the end.
 *
 *     0        8         12     16       24                        length - 8
 *     | magic  | version | kind | length | ... the format's own ... | checksum |
 *
 * The room file holds the formats: sketches (sketch.c), those of before (format4.c), models (model.c) and this. It may
 * include every room but cuda. */
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdbool.h>
#include <string.h>

#include "core/sizes.h"
#include "legosketch.h"

enum { HEAD_COMMON = 24, CHECKSUM = 8, MODEL_VERSION = 1, SKETCH_OLDEST = 4, SKETCH_VERSION = 5 };

/* Its eight letters, and the versions that are read; the last of them is written. */
struct format {
    char magic[8];
    uint32_t oldest, version;
};
extern const struct format sketch_format, model_format;

/* ---- little-endian ----------------------------------------------------------------------------------------------- */

static inline uint64_t get(const unsigned char *p, unsigned bytes)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < bytes; i++) x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static inline void put_int(unsigned char *p, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> (8 * i));
}

static inline uint32_t get32(const unsigned char *p)
{
    return (uint32_t)get(p, 4);
}

static inline float get_float(const unsigned char *p)
{
    uint32_t bits = get32(p);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---- writing: through a buffer, with the checksum at the end ----------------------------------------------------- */

struct writer {
    lego_write write;
    void *context;
    XXH3_state_t checksum;
    lego_status status; /* once something failed, nothing more is written */
    size_t size;
    unsigned char buffer[4096];
};

void writer_init(struct writer *writer, lego_write write, void *context);
void write_head(struct writer *writer, const struct format *format, uint32_t kind, uint64_t length);
void write_bytes(struct writer *writer, const void *bytes, size_t size);
void write_int(struct writer *writer, uint64_t x, unsigned bytes);
void write_floats(struct writer *writer, const float *floats, uint64_t n);
lego_status writer_finish(struct writer *writer);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Magic, version, and that there is a length, in this order: the first that is wrong names the error. */
lego_status check_head(const unsigned char *p, size_t size, const struct format *format);

/* The same, then length and checksum. head: how many bytes the format has in front at least. */
lego_status check_envelope(const unsigned char *p, size_t size, const struct format *format, size_t head);

/* What follows a head, as far as it was read. */
struct rest {
    const unsigned char *at, *end;
    bool fits;
};

static inline uint64_t take_int(struct rest *rest, unsigned bytes)
{
    rest->fits = rest->fits && (size_t)(rest->end - rest->at) >= bytes;
    uint64_t x = rest->fits ? get(rest->at, bytes) : 0;
    rest->at += rest->fits ? bytes : 0;
    return x;
}

/* Whether a model may have this name: small letters, digits, dashes and dots, then zeros to the end. */
bool name_valid(const char name[NAME_SIZE]);
