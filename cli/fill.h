/* From files into a sketch, as build and count do it. */
#pragma once

#include "stream.h"

/* Counts the items of the files, or of standard input if there are none. The stream says how it is to be read and what
 * it is called; what is done with its batches is added here. Says what went wrong before it returns false. */
bool fill_sketch(lego_sketch *sketch, stream *from, char *const *paths, int count);
