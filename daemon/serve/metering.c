/* SPDX-License-Identifier: MIT */
#include "daemon/serve/metering.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

/* A short token is refused, because the number of guesses is not limited. */
#define TOKEN_MIN 20

static int read_token(const char *path, struct metering *out, struct err *e)
{
    if (config_read_secret(path, &out->token, e) < 0)
        return -1;
    size_t n = strlen(out->token);
    if (n >= TOKEN_MIN)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "the token in %s has %zu characters; use %d or more, for example from: openssl "
                   "rand -hex 32",
                   path, n, TOKEN_MIN);
}

int metering_open(const struct config *c, struct metering *out, struct err *e)
{
    *out = (struct metering){.networks = xcalloc(c->metrics_networks.n + 1, sizeof *out->networks)};
    for (; out->n < c->metrics_networks.n; out->n++)
        if (network_read(c->metrics_networks.items[out->n], &out->networks[out->n], e) < 0)
            return -1;
    return *c->metrics_token_file ? read_token(c->metrics_token_file, out, e) : 0;
}

void metering_free(struct metering *m)
{
    if (m->token)
        explicit_bzero(m->token, strlen(m->token));
    free(m->token);
    free(m->networks);
    *m = (struct metering){0};
}
