/* SPDX-License-Identifier: MIT
 *
 * Changes az commands as the guides of 2017 and 2018 contain them into commands of today. The table
 * is in az_old.c.
 */
#ifndef DAEMON_CLI_AZ_OLD_H
#define DAEMON_CLI_AZ_OLD_H

#include "daemon/cli/az_change.h"

/* The option for a file, in today's az. */
#define AZ_FILE_TODAY "-f --config-file --config"

/* Changes a command of an old az into a command line of today, or into a request that replaces az.
 * Reads the files that the command names. A command of today stays unchanged; *old: whether it was
 * an old command. Fails if the line is incomplete or wrong. In every case the caller must free the
 * change with az_old_free(). */
int az_old_change(const struct az_facts *facts, struct arena *a, char *const *args, size_t n,
                  struct az_change *out, bool *old, struct err *e) MUST_CHECK;
void az_old_free(struct az_change *c);

#endif
