/* block: the table of steps. The code itself is in kernels_block.h. */
#include "block/block.h"

const uint8_t block_columns[BLOCK_STEPS][BLOCK_ROWS] = {
    {128, 64, 64, 64}, {128, 64, 64, 32}, {128, 64, 64, 0}, {128, 64, 32, 0}, {128, 64, 16, 0}, {128, 64, 0, 0},
    {64, 64, 0, 0},    {64, 32, 0, 0},    {32, 32, 0, 0},   {32, 16, 0, 0},   {16, 16, 0, 0},   {16, 8, 0, 0},
    {8, 8, 0, 0},      {8, 4, 0, 0},      {4, 4, 0, 0},     {4, 2, 0, 0},     {2, 2, 0, 0}};
