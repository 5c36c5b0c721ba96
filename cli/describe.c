/* What a sketch is; see describe.h. */
#include "describe.h"

#include "advice.h"
#include "json.h"
#include "say.h"
#include "secret.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* How much is kept in the top. */
typedef struct kept {
    uint64_t items, exact;
} kept;

static int count_kept(void *context, const lego_top_item *item)
{
    kept *found = context;
    found->items++;
    found->exact += item->exact != 0;
    return 0;
}

static const char *const kinds[] = {"none", "bytes", "integers", "mixed"}; /* in the order of lego_kind */

/* Up to the last that has items; bricks, whose classes are not numbers, have none. */
static int classes_of(const lego_info *info)
{
    int classes = LEGO_CLASSES;
    while (classes > 0 && !(info->classes[classes - 1] > 0)) classes--;
    return classes;
}

static void put_classes(json_line *line, const char *name, const lego_info *info, const double *values)
{
    if (isnan(info->classes[0])) json_text(line, name, NULL);
    else json_reals(line, name, values, classes_of(info));
}

static bool print_json(const lego_info *info, const lego_model_info *model, const kept *top)
{
    char fingerprint[FINGERPRINT_TEXT];
    json_line line = json_begin();
    json_text(&line, "kind", "sketch");
    json_text(&line, "model", model->name);
    if (info->secret) json_text(&line, "secret_seed", secret_fingerprint(fingerprint, info->seed));
    else json_u64(&line, "seed", info->seed);
    json_i64(&line, "total", info->total);
    json_text(&line, "items", kinds[info->items]);
    json_real(&line, "distinct", info->distinct);
    json_real(&line, "distinct_error", info->distinct_error); /* null where it is not a number */
    json_bool(&line, "exact", info->exact != 0);
    json_real(&line, "keeping", info->keeping);
    json_real(&line, "expected_aae", info->expected_aae);
    json_real(&line, "expected_aae_error", info->expected_aae_error);
    json_real(&line, "expected_are", info->expected_are);
    json_real(&line, "expected_are_error", info->expected_are_error);
    put_classes(&line, "classes", info, info->classes);
    put_classes(&line, "class_errors", info, info->class_errors);
    uint64_t good = advice_budget(info);
    json_real(&line, "good_budget", good > 0 ? (double)good : NAN); /* null where the budget is good */
    json_u64(&line, "bytes", info->bytes);
    json_real(&line, "bytes_per_distinct", (double)info->bytes / info->distinct);
    json_u64(&line, "budget", info->budget);
    json_u64(&line, "cache_bytes", info->cache_bytes);
    json_u64(&line, "blocks", info->blocks);
    json_u64(&line, "rows", model->rows);
    json_u64(&line, "columns", info->columns);
    json_u64(&line, "top_bytes", info->top_bytes);
    json_u64(&line, "top_budget", info->top_budget);
    json_i64(&line, "top_total", info->top_total);
    json_u64(&line, "top_items", top->items);
    json_u64(&line, "top_exact", top->exact);
    return json_print(&line);
}

static void print_memory(const lego_info *info)
{
    char size[VALUE_TEXT];
    printf("memory        %" PRIu64 " bytes (%s)", info->bytes, value_print_size(size, info->bytes));
    if (info->budget > info->bytes)
        printf(" of a budget of %" PRIu64 " (%s)", info->budget, value_print_size(size, info->budget));
    if (info->cache_bytes > 0) printf(", and %" PRIu64 " of results, which can be had again", info->cache_bytes);
    printf("\n");
}

/* Some of the blocks are neither none nor all of them, however rounded. */
static void print_keeping(const lego_info *info)
{
    double share = 100 * info->keeping;
    if (share > 0 && share < 100) share = fmin(fmax(share, 0.1), 99.9);
    printf("keeping       %.3g %% of the blocks keep only their heaviest items: bytes follow from the %s\n", share,
           info->keeping > 0      ? "order of additions, too"
           : info->top_bytes == 0 ? "content alone"
                                  : "order of additions, too, since a top is kept");
}

static void print_answers(const lego_info *info)
{
    char errors[ERRORS_TEXT], words[ADVICE_TEXT], each[VALUE_TEXT];
    if (info->columns == 0) print_keeping(info);
    printf("answers       %s\n", info->exact ? "exact: every item is listed" : "estimates");
    if (info->distinct < 1) return;
    printf("              %s bytes a distinct item; %s\n",
           value_print_rough(each, (double)info->bytes / info->distinct), say_errors(errors, info));
    if (advice_say(words, info) != NULL) printf("              %s\n", words);
}

static const char *class_range(char text[2 * VALUE_TEXT], int class)
{
    if (class < 2) return class == 0 ? "once" : "twice";
    snprintf(text, 2 * VALUE_TEXT, "%" PRIu64 " to %" PRIu64, (UINT64_C(1) << (class - 1)) + 1, UINT64_C(1) << class);
    return text;
}

/* How many items come how often, a line each with a bar. */
static void print_classes(const lego_info *info)
{
    static const char bar[] = "##############################";
    int classes = classes_of(info), first = 0;
    double most = 0;
    for (int k = classes - 1; k >= 0; k--) {
        most = fmax(most, info->classes[k]);
        if (info->classes[k] > 0) first = k;
    }
    char range[2 * VALUE_TEXT], deviation[DEVIATION_TEXT];
    int widest = classes > 0 ? (int)strlen(class_range(range, classes - 1)) : 0,
        digits = snprintf(NULL, 0, "%.0f", most);
    for (int k = first; k < classes; k++)
        printf("%-13s %-*s  %*.0f%-10s %.*s\n", k == first ? "items come" : "", widest, class_range(range, k), digits,
               info->classes[k], say_deviation(deviation, info->class_errors[k]),
               (int)ceil((sizeof bar - 1) * info->classes[k] / most), bar);
}

static void print_shape(const lego_info *info, const lego_model_info *model)
{
    if (info->columns == 0) printf("blocks        at most %" PRIu32 ", of 256 bytes\n", info->blocks);
    else
        printf("bricks        %" PRIu32 ", of %" PRIu32 " rows and %" PRIu32 " columns\n", info->blocks, model->rows,
               info->columns);
}

static void print_text(const lego_info *info, const lego_model_info *model, const kept *top)
{
    char distinct[DISTINCT_TEXT], fingerprint[FINGERPRINT_TEXT];
    printf("stream        %" PRId64 " items counted, %s\n", info->total, say_distinct(distinct, info));
    if (info->items != LEGO_ITEMS_NONE) printf("items         %s\n", say_kind(info->items));
    print_memory(info);
    printf("model         %s\n", model->name);
    if (info->secret) printf("seed          secret, fingerprint %s\n", secret_fingerprint(fingerprint, info->seed));
    else printf("seed          %" PRIu64 "\n", info->seed);
    print_shape(info, model);
    if (info->top_bytes > 0) {
        printf("top           %" PRIu64 " bytes: %" PRIu64 " items kept, %" PRIu64 " of them exact\n", info->top_bytes,
               top->items, top->exact);
        printf("              %" PRId64 " of the items counted\n", info->top_total);
    }
    print_answers(info);
    print_classes(info);
}

bool describe_sketch(const lego_sketch *sketch, const char *path, bool json)
{
    lego_info info;
    lego_model_info model;
    kept top = {0};
    lego_describe(sketch, &info);
    lego_model_describe(info.model, &model);
    lego_status status = info.top_bytes > 0 ? lego_top(sketch, SIZE_MAX, count_kept, &top) : LEGO_OK;
    if (!say_status(path, status)) return false;
    if (json) return print_json(&info, &model, &top);
    print_text(&info, &model, &top);
    return true;
}
