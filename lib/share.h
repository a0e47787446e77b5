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
/* Gives everybody access to the present content (slow for large trees) and to future content: mode
 * 0777, and a default ACL with the same rights. On file systems without ACLs, a job cannot write to
 * files that other jobs make later. Call this on a worker thread, unless the folder is open to all
 * already or empty. Jobs may write in the folder meanwhile: nothing outside it is opened to
 * them. */
int share_open(const char *dir, struct err *e) MUST_CHECK;
/* Like share_open(), for an open directory (O_PATH is enough); `name` is for the message. */
int share_open_at(int dir, const char *name, struct err *e) MUST_CHECK;

#endif
