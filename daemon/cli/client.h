/* SPDX-License-Identifier: MIT
 *
 * The command line as a client of the daemon that serves a state directory: HTTPS with the
 * directory's own certificate authority, logged in with its own credentials. Blocks.
 */
#ifndef DAEMON_CLI_CLIENT_H
#define DAEMON_CLI_CLIENT_H

#include <jansson.h>

#include "daemon/config/state.h"
#include "lib/err.h"

struct daemon_client;

/* Finds the daemon and logs in. If there is none, the error says how to start one. */
int client_open(const struct state *s, struct daemon_client **out, struct err *e) MUST_CHECK;
/* Like client_open() without a login, for requests that need no token. */
int client_reach(const struct state *s, struct daemon_client **out, struct err *e) MUST_CHECK;
/* Like client_open() for requests of tests: with the key of a daemon that was started with
 * --testing. */
int client_open_testing(const struct state *s, struct daemon_client **out,
                        struct err *e) MUST_CHECK;
/* The time limit of one request; by default a minute. */
void client_limit(struct daemon_client *c, long milliseconds);

/* Sends one request; `body` may be NULL. The caller frees *out (NULL if the reply has no body). If
 * the daemon refuses, the error has its code and message. */
int client_call(struct daemon_client *c, const char *method, const char *path, const json_t *body,
                json_t **out, struct err *e) MUST_CHECK;

/* POST with a text of this type as its body. */
int client_send(struct daemon_client *c, const char *path, const char *type, const char *text,
                json_t **out, struct err *e) MUST_CHECK;

/* GET; any status is a success. The caller frees *out (NULL: no JSON). */
int client_look(struct daemon_client *c, const char *path, long *status, json_t **out,
                struct err *e) MUST_CHECK;

/* Whether a client that uses this URL, and trusts only the daemon's authority, gets a valid
 * certificate. Connects to the daemon on this machine, wherever the URL leads. */
int client_check_name(struct daemon_client *c, const char *url, struct err *e) MUST_CHECK;

/* `name` as one segment of a path. Caller frees. */
char *client_escape(struct daemon_client *c, const char *name);

void client_close(struct daemon_client *c);

#endif
