/* format4: the blocks of files of format 4, which 0.2 wrote, as blocks of today. */
#pragma once

#include "block/blocks.h"
#include "file/envelope.h"

/* Fills empty blocks, and passes the caps behind them. What was read is possible block by block; sums, and what blocks
 * say together, are left to the caller. LEGO_ERR_VERSION: items share cells, which can not be told apart any more. */
lego_status format4_read(struct rest *rest, struct blocks *blocks);
