/* SPDX-License-Identifier: MIT
 *
 * A state directory that goes with its daemon, however that ends: a process of its own waits for
 * the end, then kills what still runs on local nodes, unmounts what is mounted below the directory,
 * and removes it. Nothing is removed as long as something is mounted there. If that process is
 * killed too, the next daemon that makes a directory in that place removes it.
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
    int lock_fd;   /* whether anybody is there who will remove it; -1: of a directory that was named
                    */
};
#define EPHEMERAL_NONE                                                                             \
    {                                                                                              \
        NULL, 0, -1, -1                                                                            \
    }

/* Makes the directory, which must not be there yet or be empty; NULL: one in $TMPDIR, else in
 * memory if there is room, else in /tmp. Call it before there are threads. */
int ephemeral_begin(const char *dir, struct ephemeral *out, struct err *e) MUST_CHECK;
/* What is left out with files that are not to last: syncs, and workers for what is in memory. */
void ephemeral_files(struct files *f, bool ephemeral, bool sync, const char *folder,
                     const struct log *log);
/* Waits until the directory is gone, or it takes too long. */
void ephemeral_end(struct ephemeral *p);

#endif
