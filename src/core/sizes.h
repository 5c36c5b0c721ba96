/* sizes: how large a shape or a model may be, in one place.
 *
 * The room core is what every other may use: hash (an item's bits), allocate, parallel (a team of threads), status
 * (what codes say), sizes. It includes nothing of ours but the public header. */
#pragma once

#include <float.h>

#if FLT_EVAL_METHOD != 0
#error "floats have to be computed as floats (-fexcess-precision=fast): answers would depend on the machine"
#endif

enum {
    ROWS_MAX = 8,       /* of a model, so the most cells that one item touches */
    COLUMNS_MAX = 8192, /* of a brick as trained */
    COLUMNS_STEP = 16,
    TABLE_MAX = 256,    /* entries of V */
    QUANTUM_MAX = 4096, /* Q */
    NAME_SIZE = 16,     /* of a model, with the zero at the end */
};

#define BRICKS_MAX (UINT32_C(1) << 26) /* a brick hash of 32 bits is then still even to 2 % between any two bricks */
