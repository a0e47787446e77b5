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
    /* the header line, with a token or the key of the testing service; secret */
    char *authorization;
    char *for_storage; /* the same for storage accounts; NULL before its first use; secret */
    bool renewable;    /* both tokens are from the login, which can get new ones */
    long limit_ms;     /* of a request */
    const char *doing; /* see client_doing(); NULL: no words */
    const char *meant; /* see client_mean() */
    bool quiet;
    struct progress progress; /* of the request */
};

void client_wipe(char *secret); /* NULL: nothing */
/* Prepares the curl handle for a request to this URL. `trouble`: CURL_ERROR_SIZE bytes for curl's
 * error message. */
void client_set(struct daemon_client *c, const char *url, char *trouble);
/* Gets a token for the services of this scope; NULL: for batchaid's own services. */
int client_log_in(struct daemon_client *c, const char *scope, char **authorization,
                  struct err *e) MUST_CHECK;
/* Carries out the prepared request, and shows its progress. */
CURLcode client_perform(struct daemon_client *c);
int client_not_reached(CURLcode rc); /* the error code */
/* Whether a reply of this status means that the token must be replaced by client_renew(). */
bool client_may_renew(const struct daemon_client *c, long status);
int client_renew(struct daemon_client *c, const char *scope, char **authorization,
                 struct err *e) MUST_CHECK;

#endif
