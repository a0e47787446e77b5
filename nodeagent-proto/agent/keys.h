/* SPDX-License-Identifier: MIT
 *
 * The files in .ssh of an account's home: keys that may log in, and the key pair with which the
 * account logs in elsewhere. Files are written with the rights of the account, because its home may
 * be full of links. In a worker, as root.
 */
#ifndef NODEAGENT_PROTO_AGENT_KEYS_H
#define NODEAGENT_PROTO_AGENT_KEYS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"

/* Makes `public_line` (NULL: none) and the public half of `private_key` (NULL: none) the only lines
 * of authorized_keys. Writes the pair as id_rsa and id_rsa.pub: ssh(1) reads these for any kind of
 * key. Without `private_key` an existing pair stays. ERR_INVALID_PROPERTY: ssh-keygen cannot use
 * the key. */
int keys_set(const struct account *a, const char *public_line, const char *private_key,
             struct err *e) MUST_CHECK;

#endif
