/* SPDX-License-Identifier: MIT
 *
 * Completion. The shells' scripts are short: they ask this program, which knows its tables and asks
 * the daemon for names.
 */
#ifndef DAEMON_CLI_COMPLETE_H
#define DAEMON_CLI_COMPLETE_H

#include "daemon/cli/commands.h"

/* The command of the scripts, not in the table. Its arguments are the words behind `batchaid`; the
 * last one is completed. */
#define COMPLETE_COMMAND "--complete"

/* Prints a line for each possible word, with a description after a tab; or only COMPLETE_FILES or
 * COMPLETE_FOLDERS. */
#define COMPLETE_FILES   ":files"
#define COMPLETE_FOLDERS ":folders"
int complete(const struct cli_table *t, int argc, char **argv);

#endif
