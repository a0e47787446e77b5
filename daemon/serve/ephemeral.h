/* SPDX-License-Identifier: MIT
 *
 * A state directory that is removed with its daemon, even if the daemon is killed: a separate
 * process waits for the end, then kills remaining processes of local nodes, unmounts everything
 * below the directory, and removes it. As long as there is a mount nothing is removed. If that
 * process is killed too, the next daemon that makes a directory in that place removes it.
 */
#ifndef DAEMON_SERVE_EPHEMERAL_H
#define DAEMON_SERVE_EPHEMERAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/err.h"

struct files;
struct log;

struct ephemeral {
    char *dir;     /* owned */
    pid_t remover; /* 0: there is none */
    int alive_fd;  /* closed when the daemon ends */
    int lock_fd;   /* the lock that shows that somebody will remove it; -1: for a directory with a
                      given name */
};
#define EPHEMERAL_NONE                                                                             \
    {                                                                                              \
        NULL, 0, -1, -1                                                                            \
    }

/* Where directories for a while are made: $TMPDIR, otherwise in memory if there is enough space,
 * otherwise /tmp. */
const char *ephemeral_place(void);
/* Makes the directory, which must be missing or empty; NULL: a new directory in ephemeral_place().
 * Call it before there are threads. */
int ephemeral_begin(const char *dir, struct ephemeral *out, struct err *e) MUST_CHECK;
/* Disables needless work for ephemeral files: syncs, and workers for files in memory. */
void ephemeral_files(struct files *f, bool ephemeral, bool sync, const char *folder,
                     const struct log *log);
/* Waits until the directory is removed, or the time limit has passed. */
void ephemeral_end(struct ephemeral *p);

#endif
