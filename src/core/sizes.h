/* sizes: how large a shape or a model may be, in one place. */
#ifndef LEGO_SRC_SIZES_H
#define LEGO_SRC_SIZES_H

enum {
    COLUMNS_MAX = 8192,  /* a fold keeps half a row of 4-byte cells on the stack: 32 KB */
    COLUMNS_STEP = 16,   /* columns halve up to three times, and a row stays aligned for any cell */
    TABLE_MAX = 256,     /* entries of V */
    QUANTUM_MAX = 4096,  /* Q */
    NAME_SIZE = 16,      /* of a model, with the zero at the end */
    LEVELS_MAX = 4,      /* 8, 16, 32, 64 bits */
};

#define BRICKS_MAX (UINT32_C(1) << 26) /* a brick hash of 32 bits is then still even to 2 % between any two bricks */

#endif
