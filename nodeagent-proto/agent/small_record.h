/* SPDX-License-Identifier: MIT
 *
 * Slips: records of one line, each in a file whose inode is reused for a later slip. (When a file
 * is made, ext4 searches past all recently removed inodes.) A slip appears whole and under its
 * name, never over another slip. Its text contains its name: after a power cut a file may have the
 * new name but the old text, and then it is not a slip.
 *
 * In one directory, one process at a time writes slips with the same `mark`; unused files are
 * called SLIP_SPARE and SLIP_NEW with that mark. Reading and dropping need no lock.
 */
#ifndef NODEAGENT_PROTO_AGENT_SMALL_RECORD_H
#define NODEAGENT_PROTO_AGENT_SMALL_RECORD_H

#include <sys/types.h>

#include "lib/err.h"

#define SLIP_SPARE ".spare"
#define SLIP_NEW   ".new"

/* -1 with errno on failure; EEXIST: the name is taken. `text` has no newline. */
int slip_write(int dir, const char *mark, const char *name, const char *text) MUST_CHECK;
/* Reads the text of `file` if it is the slip called `name` (NULL: any). Symbolic links of older
 * agents are read as well. Returns the length; -1 with errno on failure. ENODATA: not a slip, or
 * not whole. EINVAL: another format. */
ssize_t slip_read(int dir, const char *file, const char *name, char *out, size_t size);
/* Removes a slip and keeps its file as the spare file. -1 with errno on failure. */
int slip_drop(int dir, const char *mark, const char *file) MUST_CHECK;

#endif
