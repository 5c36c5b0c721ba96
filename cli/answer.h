/* Answers as query and top print them: a line of tabs, or a JSON object. */
#pragma once

#include "legosketch.h"

#include <stdbool.h>

/* The words of --format: how items are told and shown. tsv is not among them, for a question has no count. */
#define ANSWER_CHOICES "lines|u32|u64"

enum { ANSWER_PLAIN = -1 }; /* for `exact`, where JSON should not tell whether it is */

/* as_number: an item of 8 bytes is shown as the whole number that it is. Says what went wrong before it returns
 * false. */
bool answer_print(const lego_top_item *answer, bool as_number, bool json);
