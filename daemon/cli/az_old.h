/* SPDX-License-Identifier: MIT
 *
 * Commands of az as the guides of 2017 and 2018 write them, and what they are today. The table is
 * in az_old.c.
 */
#ifndef DAEMON_CLI_AZ_OLD_H
#define DAEMON_CLI_AZ_OLD_H

#include "daemon/cli/az_change.h"

/* The option for a file, in today's az. */
#define AZ_FILE_TODAY "-f --config-file --config"

/* Changes a command into today's: the line, or a request in place of az; and reads its files. What
 * is of today stays unchanged; *old tells. Errors: the line is incomplete or wrong. In every case
 * the change is freed with az_old_free(). */
int az_old_change(const struct az_facts *facts, struct arena *a, char *const *args, size_t n,
                  struct az_change *out, bool *old, struct err *e) MUST_CHECK;
void az_old_free(struct az_change *c);

#endif
