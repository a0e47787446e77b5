/* SPDX-License-Identifier: MIT
 *
 * Two tables, of commands (commands.c) and of options (options.c), drive parsing, help and errors.
 * Options form groups, with a bit for each group; a command has the bits of its groups. Options on
 * the command line override environment variables.
 */
#include "daemon/cli/cli.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/commands.h"
#include "daemon/cli/complete.h"
#include "daemon/cli/options.h"
#include "daemon/config/config.h"
#include "daemon/config/variables.h"
#include "lib/nearest.h"
#include "lib/strbuf.h"

enum { LONG = 1 }; /* getopt_long() returns it for options with two dashes */

static void list_commands(const struct cli_table *t, FILE *out)
{
    fprintf(out, "usage: batchaid COMMAND [OPTIONS] [ARGUMENTS]\n\n");
    for (size_t i = 0; i < t->n; i++)
        fprintf(out, "  %-13s %s\n", t->commands[i].name, t->commands[i].help);
    char *docs = docs_path_find();
    fprintf(out, "\n`batchaid help COMMAND` explains a command.%s%s%s\n",
            docs ? " The docs are in " : "", docs ? docs : "", docs ? "." : "");
    free(docs);
}

static void describe_command(const struct cli_command *c, FILE *out)
{
    fprintf(out, "usage: batchaid %s%s%s%s\n", c->name, c->options ? " [OPTIONS]" : "",
            *c->arguments ? " " : "", c->arguments);
    fprintf(out, "%s%s", *c->details ? "\n" : "", c->details);
    int name = 10, argument = 10; /* the least widths */
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct cli_option *o = &known_options[i];
        if (!(c->options & o->bit))
            continue;
        name = (int)strlen(o->name) > name ? (int)strlen(o->name) : name;
        argument = (int)strlen(o->argument) > argument ? (int)strlen(o->argument) : argument;
    }
    if (c->options)
        fprintf(out, "\nOptions:\n");
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct cli_option *o = &known_options[i];
        if (c->options & o->bit)
            fprintf(out, "  --%-*s %-*s %s%s%.1s%s\n", name, o->name, argument, o->argument,
                    o->help, o->letter ? " (-" : "", &o->letter, o->letter ? ")" : "");
    }
}

static const struct cli_command *find_command(const struct cli_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->commands[i].name, name) == 0)
            return &t->commands[i];
    return NULL;
}

static int unknown_command(const struct cli_table *t, const char *name)
{
    char words[NEAREST_SIZE];
    struct nearest near = nearest_to(name);
    for (size_t i = 0; i < t->n; i++)
        nearest_offer(&near, t->commands[i].name);
    fprintf(stderr, "batchaid: unknown command '%s'%s; use one of", name,
            nearest_words(&near, "", words));
    for (size_t i = 0; i < t->n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", t->commands[i].name);
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

static int help_config(const char *format)
{
    struct strbuf b = STRBUF_INIT;
    if (!config_describe(format, &b)) {
        fprintf(stderr, "batchaid: unknown format '%s'; use text, yaml, man or markdown\n", format);
        return EXIT_USAGE;
    }
    fputs(b.s, stdout);
    strbuf_free(&b);
    return EXIT_DONE;
}

int cmd_help(const struct options *o)
{
    if (o->n_args == 0) {
        list_commands(o->table, stdout);
        return EXIT_DONE;
    }
    if (strcmp(o->args[0], "config") == 0)
        return help_config(o->n_args > 1 ? o->args[1] : "text");
    const struct cli_command *c = find_command(o->table, o->args[0]);
    if (!c)
        return unknown_command(o->table, o->args[0]);
    describe_command(c, stdout);
    return EXIT_DONE;
}

/* --- options -------------------------------------------------------------------------------- */

static int wrong_option(const struct cli_command *c, const char *given, const char *what)
{
    char words[NEAREST_SIZE], name[NEAREST_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
    struct nearest near = nearest_to(name + strspn(name, "-"));
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (c->options & known_options[i].bit)
            nearest_offer(&near, known_options[i].name);
    fprintf(stderr, "batchaid: %s: %s '%s'", c->name, what, given);
    if (strstr(c->arguments, " -- "))
        fprintf(stderr, " (options of the program come after --: %s)", c->arguments);
    fprintf(stderr, "%s; %s",
            /* distance 0: the option is known, but its value is missing */
            near.distance ? nearest_words(&near, "--", words) : "",
            c->options ? "the options are" : "there are no options");
    const char *separator = " ";
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (c->options & known_options[i].bit) {
            const char *argument = known_options[i].argument;
            fprintf(stderr, "%s--%s%s%s", separator, known_options[i].name, *argument ? " " : "",
                    argument);
            separator = ", ";
        }
    fprintf(stderr, "\n");
    return EXIT_USAGE;
}

/* Finds the option among those of this command, because commands may have options with the same
 * name and different meanings. */
static const struct cli_option *find_option(const struct cli_command *c, const char *name)
{
    const struct cli_option *o = known_options;
    while (!(c->options & o->bit) || strcmp(o->name, name) != 0)
        o++; /* ends, because getopt_long() returns only options of the command */
    return o;
}

/* The option with this letter; NULL: there is none. */
static const struct cli_option *find_letter(const struct cli_command *c, int letter)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if ((c->options & known_options[i].bit) && known_options[i].letter == letter)
            return &known_options[i];
    return NULL;
}

static struct option option_of(const struct cli_option *o)
{
    int takes = *o->argument ? required_argument : no_argument;
    return (struct option){.name = o->name, .has_arg = takes, .val = LONG};
}

/* Lists the command's options for getopt_long(). */
static void tell_getopt(const struct cli_command *c, struct option *table, struct strbuf *shorts)
{
    /* "+": stops at the first argument, because the options after it belong to it; ":": reports a
     * missing value. */
    strbuf_puts(shorts, c->rest ? "+:h" : ":h");
    *table++ = (struct option){"help", no_argument, NULL, 'h'};
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct cli_option *known = &known_options[i];
        if (!(c->options & known->bit))
            continue;
        *table++ = option_of(known);
        if (known->letter)
            strbuf_printf(shorts, "%c%s", known->letter, *known->argument ? ":" : "");
    }
    *table = (struct option){.name = NULL};
}

/* The option that getopt_long() has refused, for the error message. A short option may be one of
 * several letters in its word. For a long option `optopt` is the option's value, which no wrong
 * letter has. If a letter is not ASCII, `optopt` is one of its bytes, so the whole word is
 * returned; `optind` is behind that word only after its last byte. */
static const char *refused_option(char *const *argv, char letter[3])
{
    size_t n = strlen(argv[optind - 1]);
    if ((unsigned char)optopt >= 0x80)
        return n > 0 && argv[optind - 1][n - 1] == (char)optopt ? argv[optind - 1] : argv[optind];
    snprintf(letter, 3, "-%c", optopt);
    return optopt > LONG && optopt != 'h' ? letter : argv[optind - 1];
}

/* The command's options in the form that getopt_long() takes. */
struct told {
    const struct option *table;
    const char *shorts;
};

/* Returns 0; an exit code after an error; or -1 if help was printed. */
static int take_options(const struct cli_command *c, int argc, char **argv, const struct told *told,
                        struct options *o)
{
    int which = 0, opt;
    char letter[3];
    struct err e;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, told->shorts, told->table, &which)) != -1) {
        if (opt == 'h') {
            describe_command(c, stdout);
            return -1;
        }
        if (opt == ':')
            return wrong_option(c, refused_option(argv, letter), "no value after");
        if (opt == '?' && c->run == cmd_az && strcmp(argv[optind - 1], "--version") == 0) {
            optind--; /* stop before "az" itself, with which the commands of the guides begin */
            break;
        }
        if (opt == '?')
            return wrong_option(c, refused_option(argv, letter), "unknown option");
        const struct cli_option *known =
            opt == LONG ? find_option(c, told->table[which].name) : find_letter(c, opt);
        if (option_take(o, known, optarg, &e) < 0) {
            err_prefix(&e, "%s", c->name);
            return cli_fail(EXIT_USAGE, &e);
        }
    }
    return 0;
}

/* Returns what take_options() returns. argv[0] is the command's name. */
static int parse_options(const struct cli_command *c, int argc, char **argv, struct options *o)
{
    struct option table[N_OPTIONS + 2];
    struct strbuf shorts = STRBUF_INIT;
    tell_getopt(c, table, &shorts);
    int rc = take_options(c, argc, argv, &(struct told){table, shorts.s}, o);
    strbuf_free(&shorts);
    o->args = argv + optind;
    o->n_args = argc - optind;
    return rc;
}

/* Reads an environment variable, for example BATCHAID_FAKE_NODES for --fake-nodes; the option
 * overrides the variable. */
static int take_variable(struct options *o, const struct cli_option *known, struct err *e)
{
    char name[VARIABLE_SIZE];
    void *at = (char *)o + known->at;
    bool wanted = false;
    const char *text = getenv(variable_of_switch(known->name, name));
    bool given = *known->argument ? *(const char **)at != NULL : *(bool *)at;
    if (!text || given)
        return 0;
    int rc =
        *known->argument ? option_take(o, known, text, e) : config_parse_truth(text, &wanted, e);
    if (rc < 0)
        return err_prefix(e, "$%s", name);
    if (wanted)
        *(bool *)at = true;
    return 0;
}

/* Options for tests may also be environment variables, because some environments, such as
 * services of GitHub Actions, cannot set a command line. --testing has no variable. */
static int take_variables(const struct cli_command *c, struct options *o, struct err *e)
{
    const char *switches[N_OPTIONS];
    size_t n = 0;
    if (!(c->options & OPT_EPHEMERAL))
        return 0;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (known_options[i].bit != OPT_EPHEMERAL)
            continue;
        switches[n++] = known_options[i].name;
        if (take_variable(o, &known_options[i], e) < 0)
            return -1;
    }
    return variables_check(switches, n, e);
}

static int wrong_arguments(const struct cli_command *c, const struct options *o)
{
    if (o->n_args > c->max_args)
        fprintf(stderr, "batchaid: %s: unexpected argument '%s'", c->name, o->args[c->max_args]);
    else
        fprintf(stderr, "batchaid: %s: it takes %d argument%s, not %d", c->name, c->min_args,
                c->min_args == 1 ? "" : "s", o->n_args);
    fprintf(stderr, "; use: batchaid %s%s%s%s\n", c->name, c->options ? " [OPTIONS]" : "",
            *c->arguments ? " " : "", c->arguments);
    return EXIT_USAGE;
}

int cli_main(const struct cli_table *t, int argc, char **argv)
{
    if (argc < 2) {
        list_commands(t, stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, SHARE_SERVE_COMMAND) == 0) /* sshd calls this command, not people */
        return cmd_share_serve(argc, argv);
    if (strcmp(name, COMPLETE_COMMAND) == 0) /* completion scripts of shells call this command */
        return complete(t, argc - 2, argv + 2);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0)
        name = "version";
    const struct cli_command *c = find_command(t, name);
    if (!c)
        return unknown_command(t, name);
    struct options o = {.table = t};
    int rc = parse_options(c, argc - 1, argv + 1, &o);
    if (rc != 0)
        return rc < 0 ? EXIT_DONE : rc;
    if (o.n_args < c->min_args || o.n_args > c->max_args)
        return wrong_arguments(c, &o);
    struct err e;
    if (take_variables(c, &o, &e) < 0)
        return cli_fail(EXIT_CONFIGURATION, &e);
    rc = c->run(&o);
    if (rc == EXIT_DONE && (fflush(stdout) == EOF || ferror(stdout))) {
        fprintf(stderr, "batchaid: %s: cannot write to standard output\n", c->name);
        return EXIT_FAILED;
    }
    return rc;
}
