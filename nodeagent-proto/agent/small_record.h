/* SPDX-License-Identifier: MIT
 *
 * Slips: records of one line, in a file each whose inode serves again for a later one. (ext4 looks
 * past all files that were removed lately whenever one is made.) A slip appears whole and under its
 * name, never over another. It says its name itself: after a power cut a file may have a name
 * already, and still the text of before; then it is none.
 *
 * In one directory, one process at a time writes slips with the same `mark`; the files between two
 * uses are called SLIP_SPARE and SLIP_NEW with that mark. Whoever reads or drops needs no lock.
 */
#ifndef NODEAGENT_PROTO_AGENT_SMALL_RECORD_H
#define NODEAGENT_PROTO_AGENT_SMALL_RECORD_H

#include <sys/types.h>

#include "lib/err.h"

#define SLIP_SPARE ".spare"
#define SLIP_NEW   ".new"

/* -1 with errno on failure; EEXIST: there is one of that name. `text` has no newline. */
int slip_write(int dir, const char *mark, const char *name, const char *text) MUST_CHECK;
/* Reads what the file `file` says if it is the slip called `name` (NULL: any), as a text. Older
 * agents made symbolic links, and these are read as well. The length; -1 with errno on failure.
 * ENODATA: it is no slip, or not whole. EINVAL: something of another form. */
ssize_t slip_read(int dir, const char *file, const char *name, char *out, size_t size);
/* Removes a slip and keeps its file. -1 with errno on failure. */
int slip_drop(int dir, const char *mark, const char *file) MUST_CHECK;

#endif
