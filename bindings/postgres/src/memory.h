/* memory: the library's memory out of a memory context, so that it goes with it, whatever error ends a statement.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

lego_allocator memory_in(MemoryContext context);
