/* SPDX-License-Identifier: MIT
 *
 * The files of fake nodes that have some (fake_config.keeps_files): what requests about files ask
 * for is done in the node's root, a directory of this machine, at once and without sync. Mounted
 * folders are links, as on a real local node, so what tasks write there is in the share. What is
 * written is of the nodes' time, which the file system does not know.
 */
#ifndef NODEAGENT_PROTO_LINK_FAKE_DISK_H
#define NODEAGENT_PROTO_LINK_FAKE_DISK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/requests.h"

/* What an answer has besides the usual. */
struct fake_answer {
    json_t *says; /* an object whose members the answer gets; owned by the caller; NULL: none */
    char *bytes;  /* raw bytes of it; the caller frees; NULL: none */
    size_t n;
};

/* Carries out a request on the node with this root. 1: done; -1: `e` says why not; 0: it is not
 * about files. */
int fake_disk_serve(const char *root, const struct node_request *r, int64_t now_us,
                    struct fake_answer *out, struct err *e) MUST_CHECK;

/* Where a path of that node lies: what is not below its root is below "host" in it, as a fake node
 * has no disk of its own and must leave nothing on this machine's. The caller frees it. */
char *fake_disk_place(const char *root, const char *path);

/* Appends to a file, which is made with its folders if it is missing. */
int fake_disk_append(const char *path, const char *text, size_t n, int64_t now_us,
                     struct err *e) MUST_CHECK;

#endif
