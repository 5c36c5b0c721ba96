/* How items, which may be any bytes, are shown to people and in lines of tabs: as they are, but for
 *
 *     \t  \n  \r  \\      a tab, a line feed, a carriage return, a backslash
 *     \x1b and the like   other control bytes
 *
 * so that a line stays a line, nothing happens to a terminal, and what was there can be had back. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SHOWN_MOST = 4 }; /* bytes that one becomes, at most */

/* Writes to where there is room, and returns how many bytes. to_people: what is not UTF-8, and its control characters
 * of two bytes, is written like a control byte, too. */
size_t shown_write(char *to, const void *bytes, size_t size, bool to_people);

/* The bytes of the UTF-8 character that starts here; 0 if none does. */
size_t shown_utf8(const unsigned char *at, size_t left);
