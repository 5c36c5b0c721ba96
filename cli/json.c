/* JSON lines through cJSON; see json.h. Integers are written as text, since cJSON's numbers are doubles. */
#include "json.h"

#include "say.h"
#include "shown.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_line json_begin(void)
{
    cJSON *object = cJSON_CreateObject();
    return (json_line){object, object != NULL};
}

static void note(json_line *line, const cJSON *added)
{
    line->ok = line->ok && added != NULL;
}

void json_text(json_line *line, const char *name, const char *text)
{
    note(line,
         text != NULL ? cJSON_AddStringToObject(line->object, name, text) : cJSON_AddNullToObject(line->object, name));
}

void json_u64(json_line *line, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    note(line, cJSON_AddRawToObject(line->object, name, text));
}

void json_i64(json_line *line, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    note(line, cJSON_AddRawToObject(line->object, name, text));
}

void json_real(json_line *line, const char *name, double value)
{
    note(line, cJSON_AddNumberToObject(line->object, name, value));
}

void json_bool(json_line *line, const char *name, bool value)
{
    note(line, cJSON_AddBoolToObject(line->object, name, value));
}

void json_reals(json_line *line, const char *name, const double *values, int n)
{
    cJSON *array = cJSON_CreateDoubleArray(values, n);
    bool ok = array != NULL && cJSON_AddItemToObject(line->object, name, array);
    if (!ok) cJSON_Delete(array);
    line->ok = line->ok && ok;
}

static bool is_text(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t length = shown_utf8(bytes + i, size - i);
        if (length == 0 || bytes[i] == '\0') return false; /* cJSON ends strings there */
        i += length;
    }
    return true;
}

void json_item(json_line *line, const void *bytes, size_t size)
{
    bool text = is_text(bytes, size);
    char *copy = malloc(2 * size + 1);
    if (copy == NULL) {
        line->ok = false;
        return;
    }
    if (text && size > 0) memcpy(copy, bytes, size);
    for (size_t i = 0; i < size && !text; i++) snprintf(copy + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
    copy[text ? size : 2 * size] = '\0';
    json_text(line, text ? "item" : "item_hex", copy);
    free(copy);
}

/* cJSON escapes the control characters of one byte but DEL; those of more are escaped here, for a terminal's sake. */
static void print_escaped(const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *from = at, *end = at + strlen(text);
    for (size_t length; at < end; at += length) {
        length = shown_utf8(at, (size_t)(end - at));
        if (length == 0) length = 1;
        if (!shown_controls(at, length)) continue;
        uint32_t code = at[0] & (length == 1 ? 0x7fu : length == 2 ? 0x1fu : 0x0fu);
        for (size_t i = 1; i < length; i++) code = code << 6 | (at[i] & 0x3fu);
        fwrite(from, 1, (size_t)(at - from), stdout);
        printf("\\u%04" PRIx32, code);
        from = at + length;
    }
    puts((const char *)from);
}

bool json_print(json_line *line)
{
    char *text = line->ok ? cJSON_PrintUnformatted(line->object) : NULL;
    cJSON_Delete(line->object);
    if (text == NULL) return say_no_memory();
    print_escaped(text);
    cJSON_free(text);
    return true;
}
