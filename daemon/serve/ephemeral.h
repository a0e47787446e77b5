/* SPDX-License-Identifier: MIT
 *
 * A state directory that is removed with its daemon, even if the daemon is killed: a separate
 * process (the remover) waits for the daemon's end, then kills remaining processes of local nodes,
 * unmounts everything below the directory, and removes the directory. While there is still a mount,
 * nothing is removed. If the remover is killed too, the next daemon that makes a directory in the
 * same place removes the old one.
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
    pid_t remover; /* the process that removes the directory; 0: none */
    /* the write end of a pipe to the remover; the kernel closes it when the daemon ends */
    int alive_fd;
    /* the lock that shows that a process will remove the directory; -1: the directory's name was
     * given */
    int lock_fd;
};
#define EPHEMERAL_NONE                                                                             \
    {                                                                                              \
        NULL, 0, -1, -1                                                                            \
    }

/* Where temporary directories are made: $TMPDIR, otherwise in memory if there is enough space,
 * otherwise /tmp. */
const char *ephemeral_place(void);
/* Makes the directory, which must be missing or empty; `dir` NULL: makes a new directory in
 * ephemeral_place(). Call it before there are threads, because it forks. */
int ephemeral_begin(const char *dir, struct ephemeral *out, struct err *e) MUST_CHECK;
/* For ephemeral files, turns off syncs, and worker threads for files in memory. */
void ephemeral_files(struct files *f, bool ephemeral, bool sync, const char *folder,
                     const struct log *log);
/* Waits until the directory is removed, or the time limit has passed. */
void ephemeral_end(struct ephemeral *p);

#endif
