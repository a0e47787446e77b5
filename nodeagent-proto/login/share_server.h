/* SPDX-License-Identifier: MIT
 *
 * Offers shares of this machine to other machines by SFTP: a separate sshd with its own
 * configuration, host key and port. Each key gives access to its folders only, by the command of
 * share_serve.h. The sshd runs as long as there is a key. It outlives this process, so that mounts
 * continue while the daemon is restarted; the next daemon finds it by its pid file.
 *
 * Files below the directory: sshd_config, host_key, authorized_keys, sshd.pid, sshd.log; keys/ID
 * (share_serve.h). The private half of a key is sent to its machine and not kept.
 *
 * Everything that blocks runs on one thread, in the order of the calls.
 */
#ifndef NODEAGENT_PROTO_LOGIN_SHARE_SERVER_H
#define NODEAGENT_PROTO_LOGIN_SHARE_SERVER_H

#include "lib/err.h"
#include "lib/log.h"
#include "lib/loop.h"

struct share_server;

struct share_server_config { /* texts are copied */
    struct loop *loop;       /* borrowed */
    const struct log *log;   /* borrowed */
    const char *dir;
    const char *storage_dir;
    const char *program; /* batchaid itself */
    int port;
    /* if this process is root, the user id of sessions; 0: an account that owns nothing */
    unsigned account;
    bool ends; /* when this process ends, the sshd ends too, and its files are removed */
};

struct share_server *share_server_create(const struct share_server_config *c);
int share_server_port(const struct share_server *s);
/* Ends the thread. The sshd continues, unless `ends` is set. */
void share_server_close(struct share_server *s, void (*closed)(void *ctx), void *ctx);

/* The data with which a machine logs in; borrowed for the call. */
struct share_key {
    const char *private_key; /* OpenSSH's format; secret */
    const char *host_key;    /* "ssh-ed25519 AAAA..." */
    const char *user;
};
/* `why` NULL: the key is valid now, and the sshd listens. */
typedef void (*share_server_cb)(void *ctx, const struct err *why, const struct share_key *key);

/* Makes a key for these folders (relative to the storage directory; missing folders are made). It
 * replaces an earlier key of this id; sessions of the earlier key continue. `id`: letters, digits,
 * '-', '_', '.'. */
void share_server_give(struct share_server *s, const char *id, const char *const *folders, size_t n,
                       share_server_cb cb, void *ctx);
/* Removes the keys whose ids begin with `prefix`, and ends their sessions. */
void share_server_take_back(struct share_server *s, const char *prefix);
/* Called after a start: removes all keys except the keys whose ids begin with one of the prefixes.
 * Starts the sshd if a key is left and no sshd runs. */
void share_server_keep(struct share_server *s, const char *const *prefixes, size_t n);

#endif
