/* How items are shown; see shown.h. */
#include "shown.h"

#include <stdint.h>
#include <string.h>

size_t shown_utf8(const unsigned char *at, size_t left)
{
    if (at[0] < 0x80) return 1;
    size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    uint32_t code = at[0] & (0xffu >> (length + 1));
    if (at[0] < 0xc2 || at[0] > 0xf4 || length > left) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* a longer form than needed is not UTF-8 */
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code >= least[length] && code <= 0x10ffff && !surrogate ? length : 0;
}

bool shown_controls(const unsigned char *at, size_t length)
{
    if (length == 1) return at[0] < 0x20 || at[0] == 0x7f;
    if (length == 2) return at[0] == 0xc2 && at[1] < 0xa0;
    /* U+202A to 202E and 2066 to 2069 turn the direction of a line of text. */
    bool marks = length == 3 && at[0] == 0xe2;
    return marks &&
           ((at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) || (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
}

static size_t write_escaped(char *to, unsigned char byte)
{
    static const char letters[] = "\t\n\r\\", names[] = "tnr\\", digits[] = "0123456789abcdef";
    const char *letter = memchr(letters, byte, sizeof letters - 1);
    to[0] = '\\';
    to[1] = letter != NULL ? names[letter - letters] : 'x';
    if (letter != NULL) return 2;
    to[2] = digits[byte >> 4];
    to[3] = digits[byte & 15];
    return 4;
}

size_t shown_write(char *to, const void *bytes, size_t size, shown_in where)
{
    char *begin = to;
    const unsigned char *at = bytes, *end = size > 0 ? at + size : at;
    while (at < end) {
        size_t length = where == SHOWN_IN_TABS ? 1 : shown_utf8(at, (size_t)(end - at));
        bool plain = length > 0 && (*at != '\\' || where == SHOWN_IN_MESSAGE) && !shown_controls(at, length);
        if (!plain) {
            to += write_escaped(to, *at++);
            continue;
        }
        for (; length > 0; length--) *to++ = (char)*at++;
    }
    return (size_t)(to - begin);
}
