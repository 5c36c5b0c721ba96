/* The mark by which a server knows that this module was compiled for it, and what is done when it is loaded.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "secrets.h"

PG_MODULE_MAGIC;

void _PG_init(void);

void _PG_init(void)
{
    secrets_define_setting();
}
