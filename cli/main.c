/* legosketch: the command. Finds the subcommand and runs it; everything else is in the subcommand's file. */
#include "legosketch.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "record.h"
#include "say.h"

#include <stdio.h>
#include <string.h>

static const command *const commands[] = {
    &command_count,   &command_build, &command_query, &command_top,  &command_merge, &command_fold, &command_info,
    &command_suggest, &command_gen,   &command_eval,  &command_demo, &command_train, &command_lab,  &command_report,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fprintf(to, "Usage: legosketch COMMAND [OPTION...] [ARGUMENT...]\n\n"
                "How often did item x occur? Counts any stream in a memory of fixed size.\n\n"
                "Commands:\n");
    for (int i = 0; i < COMMANDS; i++) fprintf(to, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "\n'legosketch COMMAND --help' or 'legosketch help COMMAND' tells more about one;\n"
                "'legosketch --version' tells the version.\n\n"
                "Examples:\n"
                "  legosketch demo\n"
                "  legosketch count words.txt\n"
                "  legosketch build -o words.sketch --budget 300K words.txt\n"
                "  legosketch query words.sketch apple pear\n");
}

/* The command of that name, or NULL after saying which one was probably meant. */
static const command *find_command(const char *name)
{
    const char *names[COMMANDS + 2];
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
        names[i] = commands[i]->name;
    }
    names[COMMANDS] = "help";
    names[COMMANDS + 1] = NULL;
    const char *closest = options_closest(name, names);
    if (closest != NULL) say("there is no command '%s'; did you mean '%s'?", name, closest);
    else say("there is no command '%s'; 'legosketch --help' lists them", name);
    return NULL;
}

static int run_help(const char *topic)
{
    if (topic == NULL) {
        print_help(stdout);
        return EXIT_DONE;
    }
    const command *found = find_command(topic);
    if (found != NULL) options_help(found);
    return found != NULL ? EXIT_DONE : EXIT_WRONG_USAGE;
}

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (name == NULL) {
        print_help(stderr);
        return EXIT_WRONG_USAGE;
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return run_help(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("legosketch %s\n", LEGO_VERSION);
        return EXIT_DONE;
    }
    const command *found = find_command(name);
    return found != NULL ? options_run(found, argc - 1, argv + 1) : EXIT_WRONG_USAGE;
}

int main(int argc, char **argv)
{
    output_prepare();
    record_command(argc, argv);
    int status = run(argc, argv);
    load_close();
    if (!output_flush() && status == EXIT_DONE) status = EXIT_FAILED;
    return status;
}
