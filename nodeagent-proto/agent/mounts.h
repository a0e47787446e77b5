/* SPDX-License-Identifier: MIT
 *
 * The mounts of the machine, from the kernel's list (/proc/self/mountinfo), because a system call
 * on a dead mount would hang.
 */
#ifndef NODEAGENT_PROTO_AGENT_MOUNTS_H
#define NODEAGENT_PROTO_AGENT_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct mount_point {
    char *path, *type; /* "/mnt/x", "fuse.sshfs" */
    char device[24];   /* major:minor, as "0:42"; all mounts of one file system share it */
};

struct agent_mounts {
    struct mount_point *items; /* in the order they were made */
    size_t n;
};

int mounts_read(struct agent_mounts *out, struct err *e) MUST_CHECK;
void mounts_free(struct agent_mounts *m);

/* The list, kept until the kernel reports a change, and for a second at most, because not every
 * kernel reports changes. */
struct mounts_kept {
    int fd; /* -1: nothing is kept */
    int64_t until_ms;
    struct agent_mounts list;
};
#define MOUNTS_NOT_KEPT                                                                            \
    {                                                                                              \
        .fd = -1                                                                                   \
    }
/* Borrowed until the next call. NULL: the list cannot be read. */
const struct agent_mounts *mounts_now(struct mounts_kept *k);
void mounts_let_go(struct mounts_kept *k);

/* True if `path` is `top` or below it. */
bool mounts_is_within(const char *top, const char *path);
/* The last mount made within `top`; NULL: none. */
const struct mount_point *mounts_last_within(const struct agent_mounts *m, const char *top);
/* True if the file system is also mounted at a place that is not within `top`. */
bool mounts_is_shared(const struct agent_mounts *m, const char *device, const char *top);

/* Whether there is a mount at `path`, within it, or between `path` and `root`. */
bool mounts_concern(const char *root, const char *path);
/* Whether the way to `path`, symbolic links included, crosses a mount that may hang: a network or
 * FUSE file system. Touches nothing behind such a mount. The file system of `root` itself does not
 * count. */
bool mounts_may_hang(struct mounts_kept *k, const char *root, const char *path);
/* Fails with ERR_CONFLICT and the mount's name if there is a mount at `path` or within it. `k` may
 * be NULL: then the list is read. */
int mounts_refuse_within(struct mounts_kept *k, const char *path, struct err *e) MUST_CHECK;

/* Unmounts everything at or within `top`, strictly below `root`, the last mount first. Tries a
 * normal unmount, then force if no other mount shares the file system, and at least detaches the
 * mount. Takes seconds at most, even if a mount is stuck; for a worker. Succeeds if there is no
 * mount. */
int mounts_detach_within(const char *root, const char *top, struct err *e) MUST_CHECK;

#endif
