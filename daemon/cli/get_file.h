/* SPDX-License-Identifier: MIT
 *
 * A file that `get` downloads. It is written under a temporary name in the final folder, and
 * renamed when it is complete, so a download that fails does not change an earlier file. Neither
 * the file nor a folder in its path may be a symbolic link, because jobs have chosen the names.
 */
#ifndef DAEMON_CLI_GET_FILE_H
#define DAEMON_CLI_GET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/err.h"

struct get_file {
    int dir, fd;      /* the file's folder; the file that is being written */
    char name[256];   /* in that folder */
    char partial[40]; /* the temporary name in that folder, until the file is complete */
    mode_t mode;      /* the mode of the file that is replaced; 0: there is no such file */
    int trouble;      /* errno of a write that failed; 0: no write has failed */
    int64_t bytes;    /* how many bytes were written */
};

/* Makes ROOT and the folders of NAME, and opens a temporary file for ROOT/NAME. Ctrl-C removes
 * it. */
int get_file_open(const char *root, const char *name, struct get_file *out,
                  struct err *e) MUST_CHECK;
int get_file_write(void *file, const void *bytes, size_t n); /* a client_sink */
/* Ends a download. `whole`: the temporary file gets its final name; otherwise it is removed. */
int get_file_end(struct get_file *f, bool whole, struct err *e) MUST_CHECK;

#endif
