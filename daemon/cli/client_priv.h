/* SPDX-License-Identifier: MIT
 *
 * Shared by the client's files.
 */
#ifndef DAEMON_CLI_CLIENT_PRIV_H
#define DAEMON_CLI_CLIENT_PRIV_H

#include <stdbool.h>

#include "daemon/cli/client.h"
#include "daemon/cli/progress.h"
#include "scheduler/fleet/transfer/curl_functions.h"

struct daemon_client {
    struct curl_functions lib;
    CURL *curl;
    struct environment env;
    char *authorization; /* the header's line, with a token or the key of tests; secret */
    char *for_storage;   /* the same for storage accounts; NULL until the first use; secret */
    bool renewable;      /* both are of the login, which gives others */
    long limit_ms;       /* of a request */
    const char *doing;   /* client_doing(); NULL: nothing in particular */
    const char *meant;   /* client_mean() */
    bool quiet;
    struct progress progress; /* of the request */
};

void client_wipe(char *secret); /* NULL: nothing */
/* Prepares the handle for a request to this URL. `trouble`: CURL_ERROR_SIZE bytes. */
void client_set(struct daemon_client *c, const char *url, char *trouble);
/* Gets a token for the services of this scope; NULL: for batchaid's own services. */
int client_log_in(struct daemon_client *c, const char *scope, char **authorization,
                  struct err *e) MUST_CHECK;
/* Carries out the prepared request. Shows its progress. */
CURLcode client_perform(struct daemon_client *c);
int client_not_reached(CURLcode rc); /* the code of the error */
/* Whether a reply of this status means that the token is to be replaced: client_renew(). */
bool client_may_renew(const struct daemon_client *c, long status);
int client_renew(struct daemon_client *c, const char *scope, char **authorization,
                 struct err *e) MUST_CHECK;

#endif
