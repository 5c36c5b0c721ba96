/* allocate: the caller's allocator, or the library's own. */
#pragma once

#include "legosketch.h"

/* malloc and free, with large pages for large memory, if NULL. */
lego_allocator allocator_or_default(const lego_allocator *allocator);
