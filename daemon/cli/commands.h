/* SPDX-License-Identifier: MIT
 *
 * All commands; cli.c parses by this table, and the completions of shells are made from it.
 */
#ifndef DAEMON_CLI_COMMANDS_H
#define DAEMON_CLI_COMMANDS_H

#include "daemon/cli/cli.h"

struct cli_command {
    const char *name;
    const char *arguments; /* as in the usage line */
    int options;           /* OPT_ bits */
    int min_args, max_args;
    bool rest; /* the first argument and all words after it belong to another program */
    int (*run)(const struct options *);
    const char *help;
    const char *details;
};

struct cli_table {
    const struct cli_command *commands;
    size_t n;
};

extern const struct cli_table all_commands;

#endif
