/* How items and the names of files, which may be any bytes, are shown: as they are, but for
 *
 *     \t  \n  \r  \\      a tab, a line feed, a carriage return, a backslash
 *     \x1b and the like   other control bytes
 *
 * so that a line stays a line, nothing happens to a terminal, and what was there can be had back. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SHOWN_MOST = 4 }; /* bytes that one becomes, at most */

typedef enum shown_in {
    SHOWN_IN_TABS,    /* for programs: of bytes above 127 nothing is known */
    SHOWN_TO_PEOPLE,  /* what is not UTF-8, and its longer control characters, is written like a control byte, too */
    SHOWN_IN_MESSAGE, /* to people, among words of ours: a backslash stays one */
} shown_in;

/* Writes to where there is room, and returns how many bytes. */
size_t shown_write(char *to, const void *bytes, size_t size, shown_in where);

/* The bytes of the UTF-8 character that starts here; 0 if none does. */
size_t shown_utf8(const unsigned char *at, size_t left);

/* Whether the character of so many bytes, 1 to 4, does something to a terminal. */
bool shown_controls(const unsigned char *at, size_t length);
