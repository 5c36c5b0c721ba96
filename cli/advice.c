/* What budget would have been good; see advice.h. */
#include "advice.h"

#include "values.h"
#include "zipf.h"

#include <stdbool.h>
#include <stdio.h>

enum { TRIED = 65536 }; /* items, at which lego_suggest() stops, too */

/* The skewness of the Zipf stream whose items come as often on average. Of a stream that is less skewed than that, and
 * has fewer giants, the other counts are higher and take more: hence a tenth of the error is asked for below. */
static double skew_of(double distinct, double mean)
{
    uint32_t n = distinct < TRIED ? (uint32_t)distinct : TRIED;
    double low = 0, high = 3;
    for (int step = 0; step < 12; step++) {
        double middle = (low + high) / 2;
        uint64_t total;
        bool below = zipf_total(n, middle, &total) && (double)total < mean * n;
        *(below ? &low : &high) = middle;
    }
    return low;
}

uint64_t advice_budget(const lego_info *info)
{
    bool bad = info->columns == 0 && !info->exact && info->expected_are > ADVICE_LIMIT;
    if (!bad || info->distinct < 1 || (double)info->total < info->distinct) return 0;
    lego_wish wish = {.skew = skew_of(info->distinct, (double)info->total / info->distinct),
                      .distinct = info->distinct,
                      .error = ADVICE_ERROR / 10};
    uint64_t budget;
    if (lego_suggest(&wish, NULL, &budget, NULL) != LEGO_OK) return 0;
    budget = value_round_up(budget + info->top_budget);
    return budget > info->budget ? budget : 0;
}

const char *advice_say(char words[ADVICE_TEXT], const lego_info *info)
{
    char size[VALUE_TEXT];
    uint64_t budget = advice_budget(info);
    if (budget == 0) return NULL;
    snprintf(words, ADVICE_TEXT, "an error below %g %% of a count takes a budget of about %s", 100 * ADVICE_ERROR,
             value_print_size(size, budget));
    return words;
}
