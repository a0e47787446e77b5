/* SPDX-License-Identifier: MIT
 *
 * The command line as a client of a daemon. Either of the daemon that serves a state directory,
 * with the directory's certificate authority and credentials; or of the daemon of `batchaid login`,
 * with the authority and the login that were kept. Blocks.
 */
#ifndef DAEMON_CLI_CLIENT_H
#define DAEMON_CLI_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/cli/environment.h"
#include "daemon/config/state.h"
#include "lib/err.h"

struct daemon_client;

/* Statuses of replies that commands tell apart. */
enum {
    HTTP_OK = 200,
    HTTP_REFUSE = 400, /* from here on the request is refused */
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_CONFLICT = 409,
    HTTP_TOO_MANY = 429,
    HTTP_OF_DAEMON = 500 /* from here on the daemon is the cause */
};

/* Finds the daemon and logs in. If there is none, the error says how to start one. */
int client_open(const struct state *s, struct daemon_client **out, struct err *e) MUST_CHECK;
/* Like client_open() without a login, for requests that need no token. */
int client_reach(const struct state *s, struct daemon_client **out, struct err *e) MUST_CHECK;
/* Logs a client in that was only reached. */
int client_enter(struct daemon_client *c, struct err *e) MUST_CHECK;
/* Like client_open() for requests of tests: with the key of a daemon that was started with
 * --testing. */
int client_open_testing(const struct state *s, struct daemon_client **out,
                        struct err *e) MUST_CHECK;
/* Like client_open(), for the daemon of a login (login_file.h); takes over `login`. */
int client_open_login(struct environment *login, struct daemon_client **out,
                      struct err *e) MUST_CHECK;
int client_reach_login(struct environment *login, struct daemon_client **out,
                       struct err *e) MUST_CHECK;

/* The certificate of the authority of the daemon at this URL, fetched without trust: anybody may
 * have sent it. Caller frees. */
int client_fetch_authority(const char *url, char **pem, struct err *e) MUST_CHECK;

/* The daemon's URL, without a slash at its end; its subscription; the name of the login's user,
 * NULL: the credentials are the state directory's. Borrowed. */
const char *client_endpoint(const struct daemon_client *c);
const char *client_subscription(const struct daemon_client *c);
const char *client_user(const struct daemon_client *c);
/* Names of jobs are those of this subscription, an id that the caller keeps; NULL: of all. */
void client_mean(struct daemon_client *c, const char *subscription);
const char *client_meant(const struct daemon_client *c);

/* The body of a request by which a browser logs in as this client does (POST /batchaid/session).
 * Caller decrefs. */
json_t *client_login_body(const struct daemon_client *c);

/* The time limit of one request; by default a minute. */
void client_limit(struct daemon_client *c, long milliseconds);

/* If a request takes longer than a second, a terminal shows these words (borrowed). Without words
 * it shows that the client waits for the daemon. */
void client_doing(struct daemon_client *c, const char *words);
/* Whether it is not told, because the caller does it. */
void client_quiet(struct daemon_client *c, bool quiet);

/* Sends one request. If the daemon refuses the token, sends it once more with a new token, if the
 * login can give one. `body` may be NULL. The caller frees *out (NULL if the reply has no body). If
 * the daemon refuses the request, the error has its code and message. */
int client_call(struct daemon_client *c, const char *method, const char *path, const json_t *body,
                json_t **out, struct err *e) MUST_CHECK;

/* GET of a list, page by page as the reply's `next` says: *out has the rows of all pages as
 * `value`. `path` may have a query. */
int client_call_pages(struct daemon_client *c, const char *path, json_t **out,
                      struct err *e) MUST_CHECK;

/* Like client_call(), but any status is a success. *out NULL: the reply has no JSON. */
int client_try(struct daemon_client *c, const char *method, const char *path, const json_t *body,
               long *status, json_t **out, struct err *e) MUST_CHECK;
/* Whether a request may succeed if it is sent again later: the daemon did not answer, or could not
 * carry it out now. */
bool client_may_pass(const struct err *e);
/* The error of such a reply of 400 and above; its target is the reply's code. Returns -1. */
int client_refused(const json_t *reply, long status, struct err *e);

/* POST with a text of this type as its body. */
int client_send(struct daemon_client *c, const char *path, const char *type, const char *text,
                json_t **out, struct err *e) MUST_CHECK;

/* GET; any status is a success. The caller frees *out (NULL: no JSON). */
int client_look(struct daemon_client *c, const char *path, long *status, json_t **out,
                struct err *e) MUST_CHECK;

/* Whether a client that uses this URL, and trusts only the daemon's authority, gets a valid
 * certificate. Connects to the daemon on this machine, wherever the URL leads. */
int client_check_name(struct daemon_client *c, const char *url, struct err *e) MUST_CHECK;

/* --- files (client_files.c) --- */

/* A request at a share of a storage account: `path` is below the share, with its query. */
struct client_put {
    const char *method; /* NULL: PUT */
    const char *account, *share, *path;
    const char *const *headers; /* lines, up to a NULL */
    const void *bytes;
    size_t n;
};
int client_put_file(struct daemon_client *c, const struct client_put *put,
                    struct err *e) MUST_CHECK;

/* Gets bytes of a download. -1: it is to end. */
typedef int (*client_sink)(void *ctx, const void *bytes, size_t n);
/* GET of a download link, from this byte on. The link has its own signature. Nothing
 * from there on is no error. */
int client_fetch(struct daemon_client *c, const char *url, int64_t from, client_sink sink,
                 void *ctx, struct err *e) MUST_CHECK;

/* GET of a path of batchaid's own services (no service of Azure), with the client's token. */
int client_fetch_own(struct daemon_client *c, const char *path, client_sink sink, void *ctx,
                     struct err *e) MUST_CHECK;

/* `name` as one segment of a path. Caller frees. */
char *client_escape(struct daemon_client *c, const char *name);

void client_close(struct daemon_client *c);

#endif
