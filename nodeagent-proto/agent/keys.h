/* SPDX-License-Identifier: MIT
 *
 * What an account's home has in .ssh: who may log in, and the pair that its owner logs in elsewhere
 * with. Files are written with the rights of the account, because its home may be full of links. In
 * a worker, as root.
 */
#ifndef NODEAGENT_PROTO_AGENT_KEYS_H
#define NODEAGENT_PROTO_AGENT_KEYS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"

/* Makes `public_line` (NULL: none) and the public half of `private_key` (NULL: none) the only lines
 * of authorized_keys, and the pair id_rsa and id_rsa.pub, which ssh(1) looks for whatever kind of
 * key it is. A pair that is there stays without a `private_key`. ERR_INVALID_PROPERTY: ssh-keygen
 * cannot use the key. */
int keys_set(const struct account *a, const char *public_line, const char *private_key,
             struct err *e) MUST_CHECK;

#endif
