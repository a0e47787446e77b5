/* SPDX-License-Identifier: MIT
 *
 * Writes the files in .ssh of an account's home: the keys with which people may log in, and the key
 * pair with which the account logs in elsewhere. Files are written with the rights of the account,
 * because its home may contain links to foreign files. To be called as root in a worker process.
 */
#ifndef NODEAGENT_PROTO_AGENT_KEYS_H
#define NODEAGENT_PROTO_AGENT_KEYS_H

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"

/* Writes authorized_keys with only `public_line` (may be NULL) and the public key of `private_key`
 * (may be NULL); if both are NULL, removes it. Writes the key pair as id_rsa and id_rsa.pub,
 * because ssh(1) reads these files for any kind of key. Without `private_key`, an existing pair is
 * not changed. ERR_INVALID_PROPERTY: ssh-keygen cannot use the key. */
int keys_set(const struct account *a, const char *public_line, const char *private_key,
             struct err *e) MUST_CHECK;

#endif
