/* SPDX-License-Identifier: MIT */
#include "daemon/cli/environment.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cloud.h"
#include "lib/arena.h"
#include "lib/strbuf.h"

void environment_add(struct environment *env, const char *name, const char *value)
{
    if (env->n == sizeof env->vars / sizeof env->vars[0])
        abort();
    env->vars[env->n].name = name;
    env->vars[env->n++].value = xstrdup(value);
}

static bool uses_proxy(void)
{
    static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *v = getenv(names[i]);
        if (v && *v)
            return true;
    }
    return false;
}

/* Excludes this machine's loopback addresses from proxies, because a proxy cannot reach them. */
static void add_no_proxy(struct environment *env)
{
    const char *old = getenv("no_proxy");
    if (!old || !*old)
        old = getenv("NO_PROXY");
    struct strbuf b = STRBUF_INIT;
    if (old && *old)
        strbuf_printf(&b, "%s,", old);
    strbuf_puts(&b, "localhost,.localhost,127.0.0.1,::1");
    environment_add(env, "NO_PROXY", b.s);
    strbuf_free(&b);
}

int environment_build(const struct state *s, struct environment *out, struct err *e)
{
    struct endpoint ep;
    struct credentials cr;
    memset(out, 0, sizeof *out);
    if (endpoint_read(s, &ep, e) < 0)
        return -1;
    if (credentials_load(s, &cr, e) < 0) {
        endpoint_free(&ep);
        return -1;
    }
    char *url = endpoint_for_clients(ep.url);
    environment_add(out, "BATCHAID_ENDPOINT", url);
    environment_add(out, "AZURE_CONFIG_DIR", s->azure);
    environment_add(out, "REQUESTS_CA_BUNDLE", s->ca_cert);
    environment_add(out, "NODE_EXTRA_CA_CERTS", s->ca_cert);
    environment_add(out, "SSL_CERT_FILE", s->ca_cert);
    environment_add(out, "AZURE_SUBSCRIPTION_ID", ep.subscription_id);
    environment_add(out, "AZURE_TENANT_ID", CLOUD_TENANT);
    environment_add(out, "AZURE_CLIENT_ID", cr.client_id);
    environment_add(out, "AZURE_CLIENT_SECRET", cr.client_secret);
    environment_add(out, "AZURE_AUTHORITY_HOST", url);
    environment_add(out, "AZURE_CORE_COLLECT_TELEMETRY", "no");
    if (ep.testing_key)
        environment_add(out, "BATCHAID_TESTING_KEY", ep.testing_key);
    if (uses_proxy())
        add_no_proxy(out);
    free(url);
    credentials_free(&cr);
    endpoint_free(&ep);
    return 0;
}

const char *environment_get(const struct environment *env, const char *name)
{
    for (size_t i = 0; i < env->n; i++)
        if (strcmp(env->vars[i].name, name) == 0)
            return env->vars[i].value;
    return NULL;
}

void environment_free(struct environment *env)
{
    for (size_t i = 0; i < env->n; i++) {
        sodium_memzero(env->vars[i].value, strlen(env->vars[i].value));
        free(env->vars[i].value);
    }
    memset(env, 0, sizeof *env);
}
