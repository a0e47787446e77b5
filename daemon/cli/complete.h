/* SPDX-License-Identifier: MIT
 *
 * Completion in shells. The scripts of the shells call this program, which finds words in its
 * tables, and gets names from the daemon.
 */
#ifndef DAEMON_CLI_COMPLETE_H
#define DAEMON_CLI_COMPLETE_H

#include "daemon/cli/commands.h"

/* The command that the scripts call; it has no row in the table. Its arguments are the words after
 * `batchaid`; the last is completed. */
#define COMPLETE_COMMAND "--complete"

/* Prints a line for each possible word, with a description after a tab; or only COMPLETE_FILES or
 * COMPLETE_FOLDERS: then the shell completes names of files or folders. */
#define COMPLETE_FILES   ":files"
#define COMPLETE_FOLDERS ":folders"
int complete(const struct cli_table *t, int argc, char **argv);

#endif
