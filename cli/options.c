/* Parsing and help from the option tables; see options.h. */
#include "options.h"

#include "say.h"
#include "values.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    OPTIONS_MAX = 32, /* a table has fewer */
    FIRST_LONG = 256, /* what getopt_long returns for table entry 0: above every letter */
    HELP_COLUMN = 26, /* where the explanations start */
    HELP_WIDTH = 80,
    NAME_MAX_CHARS = 24, /* longer words have no close names */
};

static const option_entry help_entry = {"help", 'h', OPTION_FLAG, NULL, NULL, "show this help"};

static const char *program_of(const command *self)
{
    return self->alone ? "" : "legosketch ";
}

int options_wrong(const command *self, const char *format, ...)
{
    char message[512];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    say("%s: %s", self->name, message);
    say("'%s%s --help' shows how it is used", program_of(self), self->name);
    return EXIT_WRONG_USAGE;
}

/* ---- names that are nearly right ------------------------------------------------------------------------------ */

/* Letters to change, insert or drop. */
static int distance(const char *a, const char *b)
{
    int row[NAME_MAX_CHARS + 1];
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > NAME_MAX_CHARS || m > NAME_MAX_CHARS) return NAME_MAX_CHARS;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int before = row[0]++; /* what the row above had one to the left */
        for (int j = 1; j <= m; j++) {
            int changed = before + (a[i - 1] != b[j - 1]), other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            before = row[j];
            row[j] = changed < other ? changed : other;
        }
    }
    return row[m];
}

const char *options_closest(const char *word, const char *const *names)
{
    const char *closest = NULL;
    int least = (int)strlen(word) < 4 ? 2 : 3; /* one letter wrong in a short word, two in a longer one */
    for (; *names != NULL; names++) {
        int difference = distance(word, *names);
        if (difference < least) {
            least = difference;
            closest = *names;
        }
    }
    return closest;
}

/* ---- parsing -------------------------------------------------------------------------------------------------- */

static bool store_u32(const char *text, uint32_t *target)
{
    uint64_t number;
    if (!value_u64(text, strlen(text), &number) || number == 0 || number > UINT32_MAX) return false;
    *target = (uint32_t)number;
    return true;
}

/* The place of the word among those between bars. */
static bool store_choice(const char *choices, const char *word, int *target)
{
    size_t length = strlen(word);
    for (int index = 0;; index++) {
        size_t size = strcspn(choices, "|");
        if (size == length && memcmp(choices, word, size) == 0) {
            *target = index;
            return true;
        }
        if (choices[size] == '\0') return false;
        choices += size + 1;
    }
}

/* NULL, or what the text should have been. */
static const char *store(const option_entry *entry, const char *text)
{
    void *target = entry->target;
    switch (entry->kind) {
    case OPTION_FLAG: *(bool *)target = true; return NULL;
    case OPTION_TEXT: *(const char **)target = text; return NULL;
    case OPTION_SIZE_IF_ANY:
        *(uint64_t *)target = OPTION_NO_SIZE;
        if (text == NULL) return NULL;
        /* fall through */
    case OPTION_SIZE: return value_size(text, strlen(text), target) ? NULL : "a size such as 300K, 1.5M or 4096";
    case OPTION_COUNT: return value_count(text, target) ? NULL : "a number such as 10M, which is ten million";
    case OPTION_U64: return value_u64(text, strlen(text), target) ? NULL : "a whole number of at most 64 bits";
    case OPTION_U32: return store_u32(text, target) ? NULL : "a whole number from 1 to 4294967295";
    case OPTION_REAL: return value_real(text, target) ? NULL : "a number that is not negative";
    case OPTION_CHOICE: return store_choice(entry->value, text, target) ? NULL : "one of these words: ";
    }
    return NULL;
}

/* An option that is not in the table. */
static int unknown(const command *self, const char *word)
{
    char name[NAME_MAX_CHARS + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *names[OPTIONS_MAX];
    size_t n = 0;
    for (const option_entry *entry = self->options; entry->name != NULL; entry++) names[n++] = entry->name;
    names[n++] = help_entry.name;
    names[n] = NULL;
    const char *closest = options_closest(name, names);
    if (closest != NULL) return options_wrong(self, "there is no option '%s'; did you mean '--%s'?", word, closest);
    return options_wrong(self, "there is no option '%s', or it is short for more than one", word);
}

/* What getopt_long returned `code` for. */
static int refused(const command *self, int code, const char *word)
{
    if (code == ':') return options_wrong(self, "option '%s' needs a value", word);
    if (optopt == 0) return unknown(self, word);
    if (optopt < FIRST_LONG) return options_wrong(self, "there is no option '-%c'", optopt);
    return options_wrong(self, "option '%.*s' takes no value", (int)strcspn(word, "="), word);
}

/* getopt's two descriptions of a table, made from it. */
static void describe(const command *self, struct option longs[OPTIONS_MAX], char shorts[2 * OPTIONS_MAX + 2])
{
    char *letter = shorts;
    *letter++ = ':'; /* so that a missing value is told from an unknown option */
    size_t n = 0;
    for (; self->options[n].name != NULL && n + 2 < OPTIONS_MAX; n++) {
        const option_entry *entry = &self->options[n];
        int has_value = entry->kind == OPTION_FLAG          ? no_argument
                        : entry->kind == OPTION_SIZE_IF_ANY ? optional_argument
                                                            : required_argument;
        longs[n] = (struct option){entry->name, has_value, NULL, FIRST_LONG + (int)n};
        if (entry->letter != 0) {
            *letter++ = entry->letter;
            if (has_value == required_argument) *letter++ = ':';
        }
    }
    longs[n] = (struct option){help_entry.name, no_argument, NULL, 'h'};
    longs[n + 1] = (struct option){0};
    *letter++ = 'h';
    *letter = '\0';
}

static const option_entry *entry_of(const command *self, int code)
{
    const option_entry *entry = self->options;
    if (code >= FIRST_LONG) return entry + (code - FIRST_LONG);
    while (entry->letter != code) entry++;
    return entry;
}

static bool seen[OPTIONS_MAX]; /* entries of the table that the command line has; there is one */

bool options_given(const command *self, const char *name)
{
    size_t i = 0;
    while (strcmp(self->options[i].name, name) != 0) i++;
    return seen[i];
}

static int run_parsed(const command *self, int count, char **operands)
{
    if (self->output != NULL && *self->output == NULL)
        return options_wrong(self, "-o FILE is missing: where should the sketch go?");
    if (self->operands != OPERANDS_ANY && count == 0) return options_wrong(self, "it takes a file, and none is named");
    if (self->operands == OPERANDS_ONE && count > 1)
        return options_wrong(self, "it takes one file, and %d are named", count);
    return self->run(count, operands);
}

int options_run(const command *self, int argc, char **argv)
{
    struct option longs[OPTIONS_MAX];
    char shorts[2 * OPTIONS_MAX + 2];
    describe(self, longs, shorts);
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (code == 'h') {
            options_help(self);
            return EXIT_DONE;
        }
        if (code == '?' || code == ':') return refused(self, code, argv[optind - 1]);
        const option_entry *entry = entry_of(self, code);
        const char *expected = store(entry, optarg);
        seen[entry - self->options] = true;
        if (expected != NULL)
            return options_wrong(self, "--%s '%s' is not %s%s", entry->name, optarg, expected,
                                 entry->kind == OPTION_CHOICE ? entry->value : "");
    }
    return run_parsed(self, argc - optind, argv + optind);
}

/* ---- help ----------------------------------------------------------------------------------------------------- */

/* Prints words from `column` on, broken before HELP_WIDTH; further lines start at `indent`. */
static void print_wrapped(const char *text, int column, int indent)
{
    const char *space = "";
    while (*text != '\0') {
        int size = (int)strcspn(text, " ");
        if (column + (int)strlen(space) + size > HELP_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
            space = "";
        }
        column += printf("%s%.*s", space, size, text);
        space = " ";
        text += size;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_option(const option_entry *entry)
{
    int column = entry->letter != 0 ? printf("  -%c, ", entry->letter) : printf("      ");
    column += printf("--%s", entry->name);
    if (entry->value != NULL) column += printf(entry->kind == OPTION_SIZE_IF_ANY ? "[=%s]" : " %s", entry->value);
    if (column + 2 > HELP_COLUMN) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    print_wrapped(entry->help, HELP_COLUMN, HELP_COLUMN);
}

void options_help(const command *self)
{
    printf("Usage: %s%s %s\n\n%s\n\nOptions:\n", program_of(self), self->name, self->synopsis, self->text);
    for (const option_entry *entry = self->options; entry->name != NULL; entry++) print_option(entry);
    print_option(&help_entry);
    printf("\nExamples:\n%s", self->examples);
}
