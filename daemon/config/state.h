/* SPDX-License-Identifier: MIT
 *
 * The state directory: everything that the daemon keeps, in one place, closed to others (mode 0700;
 * 0711 if jobs have accounts of their own, which must pass to storage/ and nodes/).
 *
 *     lock              locked while a daemon serves; contains its process id
 *     endpoint          JSON, exists while requests are served: URL, pid, subscription
 *     batchaid.db       the database; secret.key seals its secrets (storage/)
 *     samples.db        the history of samples (storage/history/)
 *     credentials.json  the first service principal
 *     token.key         signs access tokens and download links
 *     ca.pem, server.pem and their keys (certs.h)
 *     id_ed25519        the key for logins on machines (`batchaid keygen`)
 *     known_hosts       the host keys of machines (nodeagent-proto/)
 *     azure/            configuration directory of `az`
 *     share-server/     the SSH server for shares (nodeagent-proto/login/share_server.h)
 *     storage/          ACCOUNT/files/SHARE, ACCOUNT/blobs/CONTAINER
 *     under-way         work that has crashed the daemon (under_way.h)
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

/* Finds the state directory: `given` (of --state-dir; NULL or "": not given), otherwise
 * `configured` (NULL or "": not configured), otherwise from the environment (see config_table.c).
 * Creates nothing. ERR_CONFIG if there is none. */
int state_locate(const char *given, const char *configured, struct state *out,
                 struct err *e) MUST_CHECK;
void state_free(struct state *s);

/* Whether the directory `name` (below `dirfd`, as for openat(2)) is the state directory of a
 * daemon: its database and the key of its tokens are there. */
bool state_is_in(int dirfd, const char *name);

/* The daemon holds two locks. One is on the file `lock`, which contains the process id; other
 * processes may query it. The other is on the directory itself, because a file can be removed. */
struct state_lock {
    int file, directory; /* -1: not held */
};
#define STATE_LOCK_NONE                                                                            \
    {                                                                                              \
        -1, -1                                                                                     \
    }

/* Makes the directory, closed to others, and its missing parents. If root makes the parents, others
 * may pass them, because the accounts of jobs must. */
int state_make(const struct state *s, struct err *e) MUST_CHECK;
/* Makes the directory, takes the locks, and removes unfinished files of a killed daemon.
 * ERR_ALREADY_RUNNING names the daemon that holds the locks; then nothing in the directory was
 * changed. */
int state_acquire(const struct state *s, struct state_lock *out, struct err *e) MUST_CHECK;
void state_release(struct state_lock *lock);

/* Makes the subdirectories. `jobs`: the group of the accounts of jobs (0: there are no such
 * accounts); if the daemon is root, this group gets permission to pass the directories. */
int state_make_dirs(const struct state *s, gid_t jobs, struct err *e) MUST_CHECK;

#define TOKEN_KEY_SIZE 32

struct credentials {
    char *client_id, *client_secret; /* owned */
    uint8_t token_key[TOKEN_KEY_SIZE];
};

/* Reads the credentials and the token key, and makes missing files. credentials_free() wipes the
 * secrets. */
int credentials_load(const struct state *s, struct credentials *out, struct err *e) MUST_CHECK;
void credentials_free(struct credentials *c);

/* A running daemon's description of itself; owned. */
struct endpoint {
    char *url; /* its address, on loopback if possible: https://127.0.0.1:7443 */
    char *subscription_id;
    char *config;      /* the absolute path of its configuration file; NULL: none */
    char *testing_key; /* the key of the testing service; NULL: there is no such service */
    pid_t pid;
};

/* Writes `ep`, with the process id of this process. */
int endpoint_publish(const struct state *s, const struct endpoint *ep, struct err *e) MUST_CHECK;
void endpoint_withdraw(const struct state *s);
/* ERR_UNAVAILABLE if no daemon serves this directory; the message says how to start one. */
int endpoint_read(const struct state *s, struct endpoint *out, struct err *e) MUST_CHECK;
void endpoint_free(struct endpoint *ep);

/* The URL for clients on this machine: https://localhost:PORT for a loopback or wildcard address,
 * so that the certificate's names match; otherwise `url` itself. Caller frees. */
char *endpoint_for_clients(const char *url);

#endif
