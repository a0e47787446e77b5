/* SPDX-License-Identifier: MIT
 *
 * The files of fake nodes that have files (fake_config.keeps_files): requests about files are
 * carried out in the node's root, a directory of this machine, at once and without sync. Mounted
 * folders are links, as on a real local node, so output of tasks is in the share. New files get the
 * time of the nodes' clock, because the file system does not know that clock.
 */
#ifndef NODEAGENT_PROTO_LINK_FAKE_DISK_H
#define NODEAGENT_PROTO_LINK_FAKE_DISK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/requests.h"

/* Additional parts of an answer. */
struct fake_answer {
    /* an object whose members are added to the answer; owned by the caller; NULL: none */
    json_t *says;
    char *bytes; /* raw bytes of the answer; the caller frees; NULL: none */
    size_t n;
};

/* Carries out a request on the node with this root. 1: done; -1: `e` has the reason; 0: the request
 * is not about files. */
int fake_disk_serve(const char *root, const struct node_request *r, int64_t now_us,
                    struct fake_answer *out, struct err *e) MUST_CHECK;

/* The place, on this machine, of the path `path` on the node with this root. A path outside the
 * node's root is placed below "host" in the root, because a fake node has no disk and must not
 * write elsewhere on this machine. The caller frees it. */
char *fake_disk_place(const char *root, const char *path);

/* Appends to a file; makes the file and its folders if they are missing. */
int fake_disk_append(const char *path, const char *text, size_t n, int64_t now_us,
                     struct err *e) MUST_CHECK;

#endif
