/* SPDX-License-Identifier: MIT
 *
 * The state directory: everything that the daemon keeps, in one place, closed to others (0700; 0711
 * if jobs have accounts of their own, which pass to storage/ and nodes/).
 *
 *     lock              held while a daemon serves; its pid
 *     endpoint          JSON, exists while requests are served: URL, pid, subscription
 *     batchaid.db       the database; secret.key seals its secrets (storage/)
 *     samples.db        the history of samples (storage/history/)
 *     credentials.json  the first service principal
 *     token.key         signs access tokens and download links
 *     ca.pem, server.pem and their keys (certs.h)
 *     id_ed25519        the key for logins on machines (`batchaid keygen`)
 *     known_hosts       the host keys of machines (nodeagent-proto/)
 *     azure/            configuration directory of `az`
 *     share-server/     the SSH server for shares on machines
 * (nodeagent-proto/login/share_server.h) storage/          <account>/files/<share>,
 * <account>/blobs/<container> under-way         work that has crashed the daemon (under_way.h)
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
    char *azure, *storage, *nodes, *packages, *under_way, *backed_up, *samples;
    bool without_sync; /* ephemeral: written files are not synced */
};

/* Finds the state directory: `given` (--state-dir; NULL or "" if not given), otherwise `configured`
 * (NULL or "" too), otherwise the environment (see config_table.c). Makes nothing. ERR_CONFIG if
 * none is set. */
int state_locate(const char *given, const char *configured, struct state *out,
                 struct err *e) MUST_CHECK;
void state_free(struct state *s);

/* The daemon holds two locks. One is on the file `lock`: the file has the process id, and others
 * may query the lock. The other is on the directory itself, because a file can be removed. */
struct state_lock {
    int file, directory; /* -1: not held */
};
#define STATE_LOCK_NONE                                                                            \
    {                                                                                              \
        -1, -1                                                                                     \
    }

/* Makes the directory, closed to others, and its missing parents: as root, open, because accounts
 * of jobs must pass them. */
int state_make(const struct state *s, struct err *e) MUST_CHECK;
/* Makes the directory, takes the locks, and removes unfinished files of a killed daemon.
 * ERR_ALREADY_RUNNING names the daemon that holds them; then only the directory was touched. */
int state_acquire(const struct state *s, struct state_lock *out, struct err *e) MUST_CHECK;
void state_release(struct state_lock *lock);

/* Makes the subdirectories. `jobs`: the group of the accounts of jobs; if the daemon is root, this
 * group must be able to pass. 0: there are no such accounts. */
int state_make_dirs(const struct state *s, gid_t jobs, struct err *e) MUST_CHECK;

#define TOKEN_KEY_SIZE 32

struct credentials {
    char *client_id, *client_secret; /* owned */
    uint8_t token_key[TOKEN_KEY_SIZE];
};

/* Reads both files, and makes them if they are missing. credentials_free() wipes. */
int credentials_load(const struct state *s, struct credentials *out, struct err *e) MUST_CHECK;
void credentials_free(struct credentials *c);

/* A running daemon's description of itself; owned. */
struct endpoint {
    char *url; /* its address, on loopback if possible: https://127.0.0.1:7443 */
    char *subscription_id;
    char *config;      /* its configuration file, absolute; NULL: none */
    char *testing_key; /* the key for tests; NULL: it accepts no requests of tests */
    pid_t pid;
};

/* Writes `ep`, with the pid of this process. */
int endpoint_publish(const struct state *s, const struct endpoint *ep, struct err *e) MUST_CHECK;
void endpoint_withdraw(const struct state *s);
/* ERR_UNAVAILABLE, with how to start a daemon, if none serves this directory. */
int endpoint_read(const struct state *s, struct endpoint *out, struct err *e) MUST_CHECK;
void endpoint_free(struct endpoint *ep);

/* The URL for clients on this machine: https://localhost:PORT for a loopback or wildcard address,
 * so that the certificate's names match; otherwise `url` itself. Caller frees. */
char *endpoint_for_clients(const char *url);

#endif
