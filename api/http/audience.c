/* SPDX-License-Identifier: MIT
 *
 * Reads audiences of tokens: URLs of this daemon, and, by a table, names of resources in the public
 * cloud. Changes nothing. Called only on the loop's thread.
 */
#include "api/http/audience.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/http/http_priv.h"

/* Names of resources in the public cloud, because some clients use only these as audiences. */
static const struct {
    const char *url;
    unsigned audience;
} public_names[] = {
    {"https://management.azure.com", AUDIENCE_ARM},
    {"https://management.core.windows.net", AUDIENCE_ARM},
    {"https://graph.microsoft.com", AUDIENCE_GRAPH},
    {"https://graph.windows.net", AUDIENCE_GRAPH},
    {"https://storage.azure.com", AUDIENCE_STORAGE},
    {"https://batch.core.windows.net", AUDIENCE_BATCH},
};

/* Some clients request tokens for hosts of accounts and vaults in other domains, such as the public
 * cloud's. A part of the host's name shows which service is meant. */
static const struct {
    const char *part;
    unsigned audience;
} host_parts[] = {
    {".vault.", AUDIENCE_VAULT},       {".blob.core.", AUDIENCE_STORAGE},
    {".file.core.", AUDIENCE_STORAGE}, {".queue.core.", AUDIENCE_STORAGE},
    {".batch.", AUDIENCE_BATCH},
};
/* The first label of the host name that is the audience for all vaults, in any domain. */
static const char all_vaults[] = "vault.";

/* The host and port of a URL, in lower case and without the default port of its scheme. NULL: not a
 * URL. */
static const char *authority_of(const char *url, char out[256])
{
    const char *host = url ? strstr(url, "://") : NULL;
    if (!host)
        return NULL;
    bool tls = strncasecmp(url, "https:", 6) == 0;
    size_t n = strcspn(host + 3, "/");
    if (n == 0 || n >= 256)
        return NULL;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)tolower((unsigned char)host[3 + i]);
    out[n] = '\0';
    const char *usual = tls ? ":443" : ":80";
    size_t m = strlen(usual);
    if (n > m && strcmp(out + n - m, usual) == 0)
        out[n - m] = '\0';
    return out;
}

static void take(struct token_audience *out, unsigned services, const char *host, size_t account)
{
    if (account >= sizeof out->account)
        return; /* too long: no account here has such a name */
    out->services = services;
    memcpy(out->account, host, account);
    out->account[account] = '\0';
}

/* Reads the host of a service of this daemon. */
static bool read_own(const struct api_config *c, const char *host, struct token_audience *out)
{
    size_t account = 0;
    const struct served *s = served_named(c, host, &account);
    if (s) /* AUDIENCE_ARM is not for hosts that only this service has */
        take(out, s->service->audiences & ~(unsigned)AUDIENCE_ARM, host, account);
    return s != NULL;
}

static void read_foreign(const char *host, struct token_audience *out)
{
    char at[256];
    for (size_t i = 0; i < sizeof public_names / sizeof public_names[0]; i++)
        if (strcmp(host, authority_of(public_names[i].url, at)) == 0) {
            take(out, public_names[i].audience, host, 0);
            return;
        }
    if (strncmp(host, all_vaults, strlen(all_vaults)) == 0) {
        take(out, AUDIENCE_VAULT, host, 0);
        return;
    }
    for (size_t i = 0; i < sizeof host_parts / sizeof host_parts[0]; i++)
        if (strstr(host, host_parts[i].part)) {
            take(out, host_parts[i].audience, host, strcspn(host, "."));
            return;
        }
}

void audience_read(const struct api_config *c, const char *audience, bool base,
                   struct token_audience *out)
{
    char host[256];
    *out = (struct token_audience){0};
    if (!authority_of(audience, host) || read_own(c, host, out))
        return;
    read_foreign(host, out);
    if (base || out->services == 0) /* a base URL, even if it looks like an account's host */
        take(out, out->services | AUDIENCE_ARM | AUDIENCE_GRAPH, host, 0);
}

static bool is_base(const char *host, const char *base)
{
    char other[256];
    return authority_of(base, other) && strcmp(host, other) == 0;
}

bool audience_is_ours(struct request *r, const char *audience, bool *base)
{
    char host[256];
    struct token_audience a = {0};
    *base = false;
    if (!authority_of(audience, host))
        return false;
    if (read_own(r->config, host, &a))
        return a.services != 0; /* a host of an account or a vault is no base URL */
    read_foreign(host, &a);
    *base = is_base(host, r->api->endpoint) || is_base(host, request_base(r));
    return a.services != 0 || *base;
}
