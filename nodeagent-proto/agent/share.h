/* SPDX-License-Identifier: MIT
 *
 * Folders that all jobs write in, each with an account of its own: everybody who gets there may do
 * everything, as on Azure Files. Who gets there is the way's to say.
 */
#ifndef NODEAGENT_PROTO_AGENT_SHARE_H
#define NODEAGENT_PROTO_AGENT_SHARE_H

#include <stdbool.h>

#include "lib/err.h"

bool share_is_open(const char *dir);
/* Opens what is there, which takes its time, then what will be made there: mode 0777, and a default
 * list of access rights of the same. Where the file system has no such lists, jobs cannot write in
 * what others will make. For a worker, unless it is open or empty. */
int share_open(const char *dir, struct err *e) MUST_CHECK;

#endif
