/* SPDX-License-Identifier: MIT
 *
 * A file that `get` downloads. It is written under a temporary name in the final folder, and
 * renamed when it is whole, so a download that fails leaves an earlier file as it was. Neither the
 * name nor a folder on the way may be a link, because names come from jobs.
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
    char partial[40]; /* the temporary name in that folder, until the file is whole */
    mode_t mode;      /* of the file that it replaces; 0: there is none */
    int trouble;      /* errno of a write that failed; 0: none has */
    int64_t bytes;    /* how many bytes were written */
};

/* Makes ROOT and the folders of NAME, and opens ROOT/NAME. Ctrl-C removes the file. */
int get_file_open(const char *root, const char *name, struct get_file *out,
                  struct err *e) MUST_CHECK;
int get_file_write(void *file, const void *bytes, size_t n); /* a client_sink */
/* `whole`: it takes its name; otherwise it is removed. Ends it in any case. */
int get_file_end(struct get_file *f, bool whole, struct err *e) MUST_CHECK;

#endif
