/* Answers on standard output; see answer.h. Lines are put together without printf(), which would be slower. */
#include "answer.h"

#include "json.h"
#include "values.h"

#include <stdio.h>
#include <string.h>

enum { SHORT = 64 }; /* bytes of an item, for which a call of fwrite() would be much */

static uint64_t as_u64(const unsigned char bytes[8])
{
    uint64_t number = 0;
    for (int i = 8; i > 0; i--) number = number << 8 | bytes[i - 1];
    return number;
}

static bool print_json(const lego_top_item *answer, bool is_number)
{
    json_line line = json_begin();
    if (is_number) json_u64(&line, "item", as_u64(answer->item));
    else json_item(&line, answer->item, answer->size);
    json_real(&line, "estimate", answer->estimate.value);
    json_i64(&line, "lower", answer->estimate.lower);
    json_i64(&line, "upper", answer->estimate.upper);
    if (answer->exact != ANSWER_PLAIN) json_bool(&line, "exact", answer->exact != 0);
    return json_print(&line);
}

bool answer_print(const lego_top_item *answer, bool as_number, bool json)
{
    bool is_number = as_number && answer->size == 8;
    if (json) return print_json(answer, is_number);
    char line[SHORT + 4 * VALUE_TEXT + 4]; /* without the item, if that is long */
    size_t length = answer->size <= SHORT ? answer->size : 0;
    if (is_number) length = value_write_u64(line, as_u64(answer->item));
    else if (length < answer->size) fwrite(answer->item, 1, answer->size, stdout);
    else memcpy(line, answer->item, length);
    line[length++] = '\t';
    length += value_print_estimate(line + length, answer->estimate.value);
    line[length++] = '\t';
    length += value_write_i64(line + length, answer->estimate.lower);
    line[length++] = '\t';
    length += value_write_i64(line + length, answer->estimate.upper);
    line[length++] = '\n';
    fwrite(line, 1, length, stdout);
    return true;
}
