/* format4: the blocks of files of format 4, which 0.2 wrote, as blocks of today. */
#pragma once

#include "file/envelope.h"
#include "sketch/sketch.h"

/* Fills the empty blocks of a sketch, and passes the caps behind them. All that it reads is possible block by block,
 * and no sum overflows; what they come to is left to the caller. LEGO_ERR_VERSION: items share cells, or prints are
 * shorter than those of today. */
lego_status format4_read(struct rest *rest, lego_sketch *sketch);
