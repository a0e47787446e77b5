/* SPDX-License-Identifier: MIT
 *
 * The key pair with which the daemon logs in on its machines.
 */
#ifndef NODEAGENT_PROTO_LINK_IDENTITY_H
#define NODEAGENT_PROTO_LINK_IDENTITY_H

#include "lib/err.h"

/* Makes an ed25519 key pair in OpenSSH's format: `path` (mode 0600, no passphrase, because a daemon
 * cannot ask for one) and `path`.pub, the line for authorized_keys. ERR_CONFLICT if a file exists;
 * no file is ever replaced. `*public_line` (may be NULL) is the line of `path`.pub; the caller
 * frees. */
int node_identity_create(const char *path, const char *comment, char **public_line,
                         struct err *e) MUST_CHECK;

/* Makes a key pair without files: the text of the private file, to be wiped and freed by the
 * caller, and the public line. */
int node_identity_make(const char *comment, char **private_text, char **public_line,
                       struct err *e) MUST_CHECK;

#endif
