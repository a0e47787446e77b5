/* SPDX-License-Identifier: MIT
 *
 * A request to the daemon in place of a command that az no longer has, or that is broken in az: the
 * request, the command with which people can send it themselves, and how its reply is printed.
 */
#ifndef DAEMON_CLI_AZ_REQUEST_H
#define DAEMON_CLI_AZ_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/cli/az_line.h"
#include "lib/err.h"

#define AZ_PROVIDER "/providers/Microsoft.BatchAI"
#define AZ_TODAY    "2018-05-01"
#define AZ_OLD      "2018-03-01" /* the last version without workspaces */

/* How requests reach the daemon; tests use functions of their own. */
struct az_daemon {
    int (*look)(void *ctx, const char *path, long *status, json_t **out, struct err *e);
    int (*send)(void *ctx, const char *method, const char *path, const json_t *body, json_t **out,
                struct err *e);
    void *ctx;
};

/* Sends a GET; any status is a success. The caller frees *out (NULL: the reply is not JSON). */
int az_daemon_look(const struct az_daemon *d, const char *path, long *status, json_t **out,
                   struct err *e) MUST_CHECK;

/* A column of -o table. `text` contains members in braces: "{dataDisks.diskCount} x". For a member
 * with a "/" at its end, the last part of the id is shown. */
struct az_column {
    const char *name, *text;
};

struct az_request {
    const char *method;   /* NULL: no request */
    const char *path;     /* with the query; or a whole URL: then only az can send the request */
    const char *resource; /* for a whole URL: the audience of the token */
    json_t *body;         /* owned; NULL: none */
    bool list;            /* the reply is a list, in pages */
    bool waits;           /* waits until the resource is created or removed */
    const struct az_column *columns; /* the last has no name; NULL: no table */
};

/* The line of `az rest` that sends the request, with the global options of `from`. for_az: leaves
 * out the body, because az reads it from standard input. */
struct az_line az_request_line(const struct az_request *r, const struct az_line *from,
                               const char *subscription, bool for_az);
/* Whether only az can carry out the request: for --query, another host, or an output format other
 * than JSON and table. */
bool az_request_needs_az(const struct az_request *r, const struct az_line *from);
/* Sends the request and prints the reply as az printed it. */
int az_request_run(const struct az_request *r, const struct az_line *from,
                   const struct az_daemon *d, struct err *e) MUST_CHECK;

#endif
