/* SPDX-License-Identifier: MIT
 *
 * All options of commands; cli.c parses by this table.
 */
#ifndef DAEMON_CLI_OPTIONS_H
#define DAEMON_CLI_OPTIONS_H

#include "daemon/cli/cli.h"

struct cli_option {
    const char *name, *argument; /* argument: "" for an option without an argument */
    int bit;
    size_t at; /* offset of the text, or of the bool of an option without an argument */
    int (*check)(const char *value, struct err *e);                   /* or NULL */
    int (*take)(struct options *o, const char *value, struct err *e); /* instead of `at`, or NULL */
    const char *help;
    char letter; /* -f; 0: none */
    /* the only valid values, separated by blanks; NULL: other values are possible */
    const char *values;
};

extern const struct cli_option known_options[];

/* Stores the value of an option in *o; `value` NULL: the option has no argument. */
int option_take(struct options *o, const struct cli_option *known, const char *value,
                struct err *e) MUST_CHECK;

enum { N_OPTIONS = 71 };

#endif
