/* SPDX-License-Identifier: MIT
 *
 * Folders in which several jobs write, each under another account. Everybody who can reach a folder
 * may do everything in it, as on Azure Files; the directories above it decide who can reach it.
 */
#ifndef LIB_SHARE_H
#define LIB_SHARE_H

#include <stdbool.h>

#include "lib/err.h"

bool share_is_open(const char *dir);
/* Opens the present content (slow for large trees) and future content: mode 0777, and a default ACL
 * with the same rights. On file systems without ACLs, jobs cannot write to files that others make
 * later. For a worker, unless the folder is open already or empty. Jobs may write in the folder
 * meanwhile: nothing outside it is opened. */
int share_open(const char *dir, struct err *e) MUST_CHECK;
/* Like share_open(), for an open directory (O_PATH is enough); `name` is for the message. */
int share_open_at(int dir, const char *name, struct err *e) MUST_CHECK;

#endif
