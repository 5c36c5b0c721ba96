/* Subcommands and their options as data. Parsing and help both come from these tables, so nothing is written twice. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_FLAG,        /* bool */
    OPTION_TEXT,        /* const char * */
    OPTION_SIZE,        /* uint64_t: bytes, with K, M, G or T */
    OPTION_SIZE_IF_ANY, /* the same, as --name=SIZE; --name alone is OPTION_NO_SIZE */
    OPTION_COUNT,       /* double: how many, with K, M, G or T for powers of 1000 */
    OPTION_U64,         /* uint64_t */
    OPTION_U32,         /* uint32_t, at least 1 */
    OPTION_REAL,        /* double, at least 0 */
    OPTION_CHOICE,      /* int: the position of the word in `value` */
} option_kind;

#define OPTION_NO_SIZE UINT64_MAX

typedef struct option_entry {
    const char *name; /* the long name; NULL ends the table */
    char letter;      /* the short one, or 0 */
    option_kind kind;
    const char *value; /* how help calls the value; for a choice its words, as "a|b|c" */
    void *target;      /* where it goes, of the type named at the kind */
    const char *help;
} option_entry;

/* Entries that several tables have. */
#define OPTION_OUTPUT(target) "output", 'o', OPTION_TEXT, "FILE", target, "write the sketch here; - is standard output"
#define OPTION_MODEL(target)                                                                                           \
    "model", 'm', OPTION_TEXT, "NAME|FILE", target, "the .lego file the sketch was made with, if not built in"

/* How many words that are not options a command takes. */
typedef enum operand_count { OPERANDS_ANY, OPERANDS_ONE, OPERANDS_SOME /* one or more */ } operand_count;

/* One subcommand. run() gets the words that are not options, and returns the exit status. */
typedef struct command {
    const char *name;
    const char *summary;  /* a line for the list of commands */
    const char *synopsis; /* what follows the name */
    const char *text;     /* some paragraphs */
    const char *examples; /* whole lines */
    const option_entry *options;
    const char *const *output; /* an option that has to be given: where the sketch goes; or NULL */
    operand_count operands;
    int (*run)(int count, char **operands);
    bool alone; /* a program of its own: its name is not said behind legosketch's */
} command;

extern const command command_count, command_build, command_query, command_merge, command_fold, command_top,
    command_info, command_gen, command_eval, command_demo, command_train, command_lab, command_report, command_suggest;

/* Parses and runs it; argv[0] is the name of the command. Returns the exit status. */
int options_run(const command *self, int argc, char **argv);
void options_help(const command *self);

/* Whether the command line has that option, by its long name. */
bool options_given(const command *self, const char *name);

/* Says what is wrong, and where help is; returns EXIT_WRONG_USAGE. */
__attribute__((format(printf, 2, 3))) int options_wrong(const command *self, const char *format, ...);

/* Of the names up to NULL the one most like `word`, or NULL if none is. */
const char *options_closest(const char *word, const char *const *names);
