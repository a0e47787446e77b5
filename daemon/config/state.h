/* SPDX-License-Identifier: MIT
 *
 * The state directory: everything the daemon keeps, in one place, closed to others
 * (0700; 0711 where jobs have accounts of their own, which pass to storage/ and nodes/).
 *
 *     lock              held while a daemon serves; its pid
 *     endpoint          JSON, there while requests are served: where, pid, subscription
 *     batchaid.db       the database; secret.key seals what is secret in it (storage/)
 *     credentials.json  the one service principal
 *     token.key         signs access tokens and download links
 *     ca.pem, server.pem and their keys (certs.h)
 *     id_ed25519        the key to log in with on machines (`batchaid keygen`)
 *     known_hosts       the host keys of machines (nodeagent-proto/)
 *     azure/            configuration directory of `az`
 *     storage/          <account>/files/<share>, <account>/blobs/<container>
 *     under-way         what the daemon ended badly with (under_way.h)
 *     nodes/            the roots of local nodes
 *     packages/         archives of applications of Batch accounts (storage/packages)
 */
#ifndef DAEMON_CONFIG_STATE_H
#define DAEMON_CONFIG_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/err.h"

/* Paths, absolute; owned. */
struct state {
    char *dir;
    char *lock, *endpoint, *db, *secret_key, *credentials, *token_key;
    char *ca_cert, *ca_key, *server_cert, *server_key;
    char *azure, *storage, *nodes, *packages, *under_way;
    bool without_sync; /* it need not last: files that are written are not synced */
};

/* Finds the state directory: `given` (--state-dir; NULL or "" if not given), otherwise `configured`
 * (likewise), otherwise the environment (see config_table.c). Makes nothing. ERR_CONFIG if none is
 * given. */
int state_locate(const char *given, const char *configured, struct state *out,
                 struct err *e) MUST_CHECK;
void state_free(struct state *s);

/* The daemon holds two locks: one on the file `lock`, which names the process and which others may
 * query, and one on the directory itself, because a file can be removed. */
struct state_lock {
    int file, directory; /* -1: not held */
};
#define STATE_LOCK_NONE                                                                            \
    {                                                                                              \
        -1, -1                                                                                     \
    }

/* Makes the directory, closed to others, and what is missing above it: of root, so that others can
 * pass, as accounts of jobs have to. */
int state_make(const struct state *s, struct err *e) MUST_CHECK;
/* Makes the directory, takes the locks, and removes what a killed daemon did not finish writing.
 * ERR_ALREADY_RUNNING names the daemon that holds them; nothing but the directory was touched. */
int state_acquire(const struct state *s, struct state_lock *out, struct err *e) MUST_CHECK;
void state_release(struct state_lock *lock);

/* Makes the directories below it. `jobs`: the group of the accounts of jobs, which must be able to
 * pass if the daemon is root; 0: there are no such accounts. */
int state_make_dirs(const struct state *s, gid_t jobs, struct err *e) MUST_CHECK;

#define TOKEN_KEY_SIZE 32

struct credentials {
    char *client_id, *client_secret; /* owned */
    uint8_t token_key[TOKEN_KEY_SIZE];
};

/* Reads both files, and makes them if they are missing. credentials_free() wipes. */
int credentials_load(const struct state *s, struct credentials *out, struct err *e) MUST_CHECK;
void credentials_free(struct credentials *c);

/* What a running daemon says about itself; owned. */
struct endpoint {
    char *url; /* where it listens, on loopback if it does: https://127.0.0.1:7443 */
    char *subscription_id;
    char *config;      /* the configuration file that it has read, absolute; NULL: none */
    char *testing_key; /* what tests show; NULL: it takes no requests of tests */
    pid_t pid;
};

/* Writes `ep`, with the pid of this process. */
int endpoint_publish(const struct state *s, const struct endpoint *ep, struct err *e) MUST_CHECK;
void endpoint_withdraw(const struct state *s);
/* ERR_UNAVAILABLE, saying how to start a daemon, if none serves this directory. */
int endpoint_read(const struct state *s, struct endpoint *out, struct err *e) MUST_CHECK;
void endpoint_free(struct endpoint *ep);

/* The URL that clients on this machine use: https://localhost:PORT for a loopback or wildcard
 * address, so that the names of the certificate fit; else `url` itself. Caller frees. */
char *endpoint_for_clients(const char *url);

#endif
