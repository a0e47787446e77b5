/* SPDX-License-Identifier: MIT
 *
 * Finds mounts of the machine in the kernel's list (/proc/self/mountinfo), because a system call on
 * a dead mount would hang.
 */
#ifndef NODEAGENT_PROTO_AGENT_MOUNTS_H
#define NODEAGENT_PROTO_AGENT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct mount_point {
    char *path, *type; /* "/mnt/x", "fuse.sshfs" */
    char device[24];   /* major:minor, such as "0:42"; equal for all mounts of a file system */
};

struct agent_mounts {
    struct mount_point *items; /* in the order they were made */
    size_t n;
};

int mounts_read(struct agent_mounts *out, struct err *e) MUST_CHECK;
void mounts_free(struct agent_mounts *m);

/* A cache of the list. It is valid until the kernel reports a change, and at most for a second,
 * because not every kernel reports changes. */
struct mounts_kept {
    int fd; /* -1: the cache is empty */
    int64_t until_ms;
    struct agent_mounts list;
};
#define MOUNTS_NOT_KEPT                                                                            \
    {                                                                                              \
        .fd = -1                                                                                   \
    }
/* Returns the present list, borrowed until the next call. NULL: the list cannot be read. */
const struct agent_mounts *mounts_now(struct mounts_kept *k);
void mounts_let_go(struct mounts_kept *k);

/* True if `path` is `top` or below it. */
bool mounts_is_within(const char *top, const char *path);
/* The mount at or below `top` that was made last; NULL: there is none. */
const struct mount_point *mounts_last_within(const struct agent_mounts *m, const char *top);
/* True: the file system of `device` is also mounted at a place that is neither `top` nor below
 * it. */
bool mounts_is_shared(const struct agent_mounts *m, const char *device, const char *top);

/* True: there is a mount at `path`, below it, or between `root` and `path`. */
bool mounts_concern(const char *root, const char *path);
/* True: `path`, with its symbolic links resolved, leads through a mount that may hang: a network or
 * FUSE file system, except the file system of `root` itself. Makes no system call on anything below
 * such a mount. */
bool mounts_may_hang(struct mounts_kept *k, const char *root, const char *path);
/* Fails with ERR_CONFLICT and the mount's name if there is a mount at `path` or within it. If `k`
 * is NULL, reads the list. */
int mounts_refuse_within(struct mounts_kept *k, const char *path, struct err *e) MUST_CHECK;

/* Unmounts everything at or below `top`, which must be below `root`, the last mount first. For each
 * mount, tries a normal unmount, then a forced unmount if the file system has no other mount, and
 * finally detaches the mount. Takes at most seconds, even if a mount hangs. To be called in a
 * worker process. Succeeds if there is no mount. */
int mounts_detach_within(const char *root, const char *top, struct err *e) MUST_CHECK;

#endif
