/* secrets: the secret seeds that this database knows. They are the rows of the extension's table lego_secrets, of which
 * a process keeps a copy until the table changes.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

/* Defines the setting of whether new sketches get a secret seed; once, when the module is loaded. */
void secrets_define_setting(void);

/* The secret of new sketches for which no seed was given: the oldest row; NULL, where the setting is off. Ends the
 * statement if there is no row. What these return stays where it is until the process ends. */
const void *secrets_for_new(void);

/* The secret with that fingerprint, or NULL. */
const void *secrets_find(uint64_t fingerprint);
