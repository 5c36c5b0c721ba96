/* sealed: head and tail of checkpoints, as sealed.h lays them out. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "sealed.h"

#include <string.h>

void cursor_field(struct cursor *cursor, void *value, size_t size)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "checkpoints are little-endian: swap the bytes here"
#endif
    if (cursor->write)
        memcpy(cursor->at, value, size);
    else
        memcpy(value, cursor->at, size);
    cursor->at += size;
}

static void head_fields(struct cursor *c, struct seal *seal)
{
    cursor_field(c, seal->magic, sizeof seal->magic);
    cursor_field(c, &seal->version, sizeof seal->version);
    cursor_field(c, &seal->parameters, sizeof seal->parameters);
    cursor_field(c, &seal->size, sizeof seal->size);
}

void sealed_close(const struct seal *seal, unsigned char *bytes)
{
    struct seal copy = *seal;
    struct cursor cursor = {bytes, true};
    head_fields(&cursor, &copy);
    uint64_t checksum = XXH3_64bits(bytes, seal->size - SEALED_TAIL);
    cursor = (struct cursor){bytes + seal->size - SEALED_TAIL, true};
    cursor_field(&cursor, &checksum, sizeof checksum);
}

const char *sealed_problem(const struct seal *seal, const unsigned char *bytes, size_t size)
{
    unsigned char head[SEALED_HEAD];
    struct seal found;
    uint64_t checksum;
    if (size < sizeof seal->magic || memcmp(bytes, seal->magic, sizeof seal->magic) != 0) return seal->stranger;
    if (size < sizeof head) return "ends too early";
    memcpy(head, bytes, sizeof head);
    struct cursor cursor = {head, false};
    head_fields(&cursor, &found);
    if (found.version != seal->version) return "is a checkpoint of another version of legosketch";
    if (found.parameters != seal->parameters) return "is a checkpoint of other networks";
    if (found.size != seal->size || size != seal->size) return "ends too early, or goes on too long";
    memcpy(&checksum, bytes + size - SEALED_TAIL, sizeof checksum);
    if (checksum != XXH3_64bits(bytes, size - SEALED_TAIL)) return "was damaged: its checksum is wrong";
    return NULL;
}
