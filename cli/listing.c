/* The most frequent items; see listing.h. */
#include "listing.h"

#include "output.h"
#include "say.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const rows_column columns[] = {
    {"item", "item"},     {"estimate", "count"}, {"lower", "at least"}, {"upper", "at most"},
    {"likely", "likely"}, {"share", "share"},    {"exact", NULL},       {0},
};
static const rows_column columns_above[] = {
    {"item", "item"},     {"estimate", "count"}, {"lower", "at least"},
    {"upper", "at most"}, {"likely", "likely"},  {"share", "share"},
    {"exact", NULL},      {"above", "above"},    {0},
};

/* The count that items have to be above, in a stream of so many; false if the word is neither a share nor a count. */
static bool threshold_of(const char *word, int64_t total, double *threshold)
{
    if (strchr(word, '%') == NULL) return value_count(word, threshold) && *threshold == floor(*threshold);
    if (!value_share(word, threshold)) return false;
    *threshold *= (double)total;
    double whole = round(*threshold); /* 0.7 % of 1000 is 7, whatever floats make of it */
    if (fabs(*threshold - whole) < 1e-9 * fmax(whole, 1)) *threshold = whole;
    return true;
}

bool listing_check(const command *self, const listing *given)
{
    double threshold;
    bool ok = given->above == NULL || threshold_of(given->above, 0, &threshold);
    if (!ok) options_wrong(self, "--above '%s' is neither a share such as 0.1%% nor a whole number", given->above);
    return ok && rows_check(self, &given->how);
}

typedef struct list {
    rows rows;
    double total, above; /* above is negative if all are listed */
    size_t left;         /* items that may still be */
    bool numbers, exact; /* all of them */
    bool ok;
} list;

/* Lower bounds hold for 99 % of all items, but those that are too high are among the first to be above something. */
static const char *how_surely(const list *self, const lego_top_item *item)
{
    if (!((double)item->estimate.lower > self->above)) return "possibly";
    return self->exact || item->exact ? "certainly" : "probably";
}

static int print_item(void *context, const lego_top_item *item)
{
    list *self = context;
    const lego_estimate *e = &item->estimate;
    if (!((double)e->upper > self->above)) return 0; /* the next, of a lower estimate, may have a higher bound */
    rows_item(&self->rows, item->item, item->size, self->numbers && item->size == 8);
    rows_estimate(&self->rows, e->value);
    rows_i64(&self->rows, e->lower);
    rows_i64(&self->rows, e->upper);
    rows_i64(&self->rows, e->likely);
    rows_share(&self->rows, self->total > 0 ? e->value / self->total : NAN);
    rows_bool(&self->rows, self->exact || item->exact != 0);
    if (self->above >= 0) rows_word(&self->rows, how_surely(self, item));
    self->ok = rows_next(&self->rows);
    return !self->ok || --self->left == 0;
}

/* Whether what is not kept, all of it together, is too little to be above. */
static bool is_complete(const lego_info *info, const list *self)
{
    return (double)(info->total - info->top_total) <= self->above;
}

/* What people want to know below the list. */
static void print_summary(const lego_info *info, const list *self)
{
    char distinct[DISTINCT_TEXT], errors[ERRORS_TEXT];
    printf("\n%" PRId64 " items counted, %s; %s\n", info->total, say_distinct(distinct, info),
           say_errors(errors, info));
    if (self->above >= 0 && is_complete(info, self)) printf("no other item can be above\n");
}

/* Whoever takes the list for a whole one must know, wherever it goes. */
static void say_incomplete(const lego_info *info, const list *self, const listing *given)
{
    if (self->above >= 0 ? is_complete(info, self)
                         : given->items == 0 || self->left == 0 || info->top_total == info->total)
        return;
    if (self->above >= 0) say("an item that is not kept could be above as well");
    else say("no more items are kept than these, but more were counted");
}

bool listing_print(const lego_sketch *sketch, const char *name, const listing *given, uint32_t most)
{
    lego_info info;
    lego_describe(sketch, &info);
    list self = {.total = (double)info.total,
                 .above = -1,
                 .left = given->items > 0       ? given->items
                         : given->above != NULL ? SIZE_MAX
                                                : most,
                 .numbers = info.items == LEGO_ITEMS_INTEGERS,
                 .exact = info.exact != 0,
                 .ok = true};
    if (given->above != NULL) threshold_of(given->above, info.total > 0 ? info.total : 0, &self.above);
    self.rows = rows_begin(&given->how, true, given->above != NULL ? columns_above : columns);
    lego_status status = lego_top(sketch, SIZE_MAX, print_item, &self);
    bool ok = say_status(name, status) && self.ok;
    bool people = self.rows.form == ROWS_PEOPLE;
    ok = rows_end(&self.rows) && ok;
    if (ok && people) print_summary(&info, &self);
    ok = ok && output_flush();
    if (ok) say_incomplete(&info, &self, given);
    return ok;
}
