/* SPDX-License-Identifier: MIT
 *
 * Reads a token from environment variables. That is safe enough, because tokens are valid only for
 * a short time, and only the user can read the environment of the user's processes. Passwords and
 * refresh tokens are never in it.
 */
#include "daemon/cli/login_token.h"

#include <stdlib.h>

#include "daemon/cli/remote.h"

/* The variables, and the name of each in struct environment if it differs. */
static const struct {
    const char *variable, *name;
    bool required;
} variables[] = {{"SSL_CERT_FILE", "SSL_CERT_FILE", true},
                 {"AZURE_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID", true},
                 {"AZURE_USERNAME", LOGIN_USER, false},
                 {"BATCHAID_STORAGE_TOKEN", LOGIN_STORAGE_TOKEN, false}};
enum { N_VARIABLES = sizeof variables / sizeof variables[0] };

static int missing(const char *variable, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL,
                   "BATCHAID_TOKEN is set, and %s is not; set it as `batchaid env` prints it, or "
                   "unset BATCHAID_TOKEN",
                   variable);
}

static int add_endpoint(struct environment *out, struct err *e)
{
    const char *url = getenv("BATCHAID_ENDPOINT");
    if (!url || !*url)
        return missing("BATCHAID_ENDPOINT", e);
    if (remote_check_endpoint(url, e) < 0)
        return err_prefix(e, "BATCHAID_ENDPOINT");
    char *plain = remote_plain_url(url);
    environment_add(out, "BATCHAID_ENDPOINT", plain);
    free(plain);
    return 0;
}

static int add_variable(size_t i, struct environment *out, struct err *e)
{
    const char *value = getenv(variables[i].variable);
    if (value && *value)
        environment_add(out, variables[i].name, value);
    else if (variables[i].required)
        return missing(variables[i].variable, e);
    return 0;
}

int login_token_read(struct environment *out, struct err *e)
{
    const char *token = getenv("BATCHAID_TOKEN");
    *out = (struct environment){.n = 0};
    if (!token || !*token)
        return 0;
    environment_add(out, LOGIN_TOKEN, token);
    int rc = add_endpoint(out, e);
    for (size_t i = 0; rc == 0 && i < N_VARIABLES; i++)
        rc = add_variable(i, out, e);
    if (rc < 0)
        environment_free(out);
    return rc < 0 ? -1 : 1;
}
