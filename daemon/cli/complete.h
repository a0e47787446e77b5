/* SPDX-License-Identifier: MIT
 *
 * Completion: the shells' scripts are short and ask the program, which knows its tables and asks
 * the daemon for names.
 */
#ifndef DAEMON_CLI_COMPLETE_H
#define DAEMON_CLI_COMPLETE_H

#include "daemon/cli/commands.h"

/* Not in the table: the command of the scripts. Its arguments are the words behind `batchaid`, of
 * which the last is completed. */
#define COMPLETE_COMMAND "--complete"

/* Prints a line for each possible word, after a tab with a description; or one of these. */
#define COMPLETE_FILES   ":files"
#define COMPLETE_FOLDERS ":folders"
int complete(const struct cli_table *t, int argc, char **argv);

#endif
