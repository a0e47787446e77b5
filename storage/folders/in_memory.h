/* SPDX-License-Identifier: MIT
 *
 * Whether a folder is in a file system in memory, where no call hangs. Only folders below one given
 * folder are, as long as there is no mount on them, between them and that folder, or in them.
 */
#ifndef STORAGE_FOLDERS_IN_MEMORY_H
#define STORAGE_FOLDERS_IN_MEMORY_H

#include <stdbool.h>

struct in_memory;

/* NULL: the folder's file system is not in memory. The caller closes the result. */
struct in_memory *in_memory_open(const char *folder);
void in_memory_close(struct in_memory *m); /* NULL is accepted */
/* Whether the folder is in memory; valid until in_memory_changed() returns true. False if `m` is
 * NULL. */
bool in_memory_has(const struct in_memory *m, const char *folder);
/* Whether any mount has changed since the last call: a system call of a microsecond. */
bool in_memory_changed(struct in_memory *m);

#endif
