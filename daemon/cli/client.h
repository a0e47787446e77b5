/* SPDX-License-Identifier: MIT
 *
 * The command line as a client of a daemon: of the daemon that serves a state directory, with the
 * directory's certificate authority and credentials; or of the daemon of `batchaid login`, with the
 * authority and the login that it has stored. Calls block.
 */
#ifndef DAEMON_CLI_CLIENT_H
#define DAEMON_CLI_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/cli/environment.h"
#include "daemon/config/state.h"
#include "lib/err.h"

struct daemon_client;

/* Statuses of replies that commands distinguish. */
enum {
    HTTP_OK = 200,
    HTTP_REFUSE = 400, /* from 400 on, the request was refused */
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_CONFLICT = 409,
    HTTP_TOO_MANY = 429,
    HTTP_OF_DAEMON = 500 /* from 500 on, the daemon is the cause */
};

/* Finds the daemon and logs in. If no daemon runs, the error says how to start one. */
int client_open(const struct state *s, struct daemon_client **out, struct err *e) MUST_CHECK;
/* Like client_open(), but without a login: for requests that need no token. */
int client_reach(const struct state *s, struct daemon_client **out, struct err *e) MUST_CHECK;
/* Logs in a client that client_reach() has returned. */
int client_enter(struct daemon_client *c, struct err *e) MUST_CHECK;
/* Like client_open(), for requests to the testing service: uses the key of a daemon that was
 * started with --testing. */
int client_open_testing(const struct state *s, struct daemon_client **out,
                        struct err *e) MUST_CHECK;
/* Like client_open(), for the daemon of a login (login_file.h); takes ownership of `login`. */
int client_open_login(struct environment *login, struct daemon_client **out,
                      struct err *e) MUST_CHECK;
int client_reach_login(struct environment *login, struct daemon_client **out,
                       struct err *e) MUST_CHECK;

/* The certificate of the authority of the daemon at this URL, fetched without a check of the
 * server: anybody may have sent it. Caller frees. */
int client_fetch_authority(const char *url, char **pem, struct err *e) MUST_CHECK;

/* The daemon's URL, without a slash at its end; its subscription; the user of the login (NULL: the
 * credentials are the state directory's). Borrowed. */
const char *client_endpoint(const struct daemon_client *c);
const char *client_subscription(const struct daemon_client *c);
const char *client_user(const struct daemon_client *c);
/* From now on, names of jobs mean jobs of this subscription, an id that the caller keeps; NULL:
 * jobs of all subscriptions. */
void client_mean(struct daemon_client *c, const char *subscription);
const char *client_meant(const struct daemon_client *c);

/* The body of the request POST /batchaid/session, by which a browser logs in with this client's
 * login. Caller decrefs. */
json_t *client_login_body(const struct daemon_client *c);

/* The time limit of one request; by default a minute. */
void client_limit(struct daemon_client *c, long milliseconds);

/* Sets the words (borrowed) that a terminal shows while a request takes longer than a second.
 * Without words it shows that the client waits for the daemon. */
void client_doing(struct daemon_client *c, const char *words);
/* `quiet`: the client shows no progress of requests, because the caller shows it. */
void client_quiet(struct daemon_client *c, bool quiet);

/* Sends one request. If the daemon refuses the token, and the login can get another, sends the
 * request once more with that. `body` may be NULL. The caller frees *out (NULL if the reply has no
 * body). If the daemon refuses the request, the error has its code and message. */
int client_call(struct daemon_client *c, const char *method, const char *path, const json_t *body,
                json_t **out, struct err *e) MUST_CHECK;

/* Gets a list, page by page with the `next` of each reply: *out has the rows of all pages as
 * `value`. `path` may have a query. */
int client_call_pages(struct daemon_client *c, const char *path, json_t **out,
                      struct err *e) MUST_CHECK;

/* Like client_call(), but any status is a success. *out NULL: the reply is not JSON. */
int client_try(struct daemon_client *c, const char *method, const char *path, const json_t *body,
               long *status, json_t **out, struct err *e) MUST_CHECK;
/* Whether a request may succeed if it is sent again later: the daemon did not answer, or could not
 * carry it out now. */
bool client_may_pass(const struct err *e);
/* Sets the error of a reply with status 400 or more; the error's target is the reply's code.
 * Returns -1. */
int client_refused(const json_t *reply, long status, struct err *e);

/* Sends a POST whose body is a text of this content type. */
int client_send(struct daemon_client *c, const char *path, const char *type, const char *text,
                json_t **out, struct err *e) MUST_CHECK;

/* Sends a GET; any status is a success. The caller frees *out (NULL: the reply is not JSON). */
int client_look(struct daemon_client *c, const char *path, long *status, json_t **out,
                struct err *e) MUST_CHECK;

/* Whether a client that uses this URL, and trusts only the daemon's authority, gets a valid
 * certificate. Connects to the daemon on this machine, whatever address the URL's host has. */
int client_check_name(struct daemon_client *c, const char *url, struct err *e) MUST_CHECK;

/* --- files (client_files.c) --- */

/* A request for a file of a share: `path` is below the share, and includes the query. */
struct client_put {
    const char *method; /* NULL: PUT */
    const char *account, *share, *path;
    const char *const *headers; /* lines, up to a NULL */
    const void *bytes;
    size_t n;
};
int client_put_file(struct daemon_client *c, const struct client_put *put,
                    struct err *e) MUST_CHECK;

/* Receives bytes of a download. Returns -1 to end the download, else 0. */
typedef int (*client_sink)(void *ctx, const void *bytes, size_t n);
/* Downloads from a link, starting at byte `from`. The link has its own signature. It is no error if
 * the file has no bytes from there on. */
int client_fetch(struct daemon_client *c, const char *url, int64_t from, client_sink sink,
                 void *ctx, struct err *e) MUST_CHECK;

/* Downloads a path of batchaid's own services (not a service of Azure), with the client's token. */
int client_fetch_own(struct daemon_client *c, const char *path, client_sink sink, void *ctx,
                     struct err *e) MUST_CHECK;

/* `name` escaped as one segment of a path. Caller frees. */
char *client_escape(struct daemon_client *c, const char *name);

void client_close(struct daemon_client *c);

#endif
