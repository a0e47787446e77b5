/* SPDX-License-Identifier: MIT */
#include "api/http/audience.h"

#include <string.h>
#include <strings.h>

#include "api/http/http_priv.h"

/* The names of clients that know only the public cloud. */
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

/* Hosts of accounts and vaults, by what is in their names. Which domain they are in does not
 * matter, because only this daemon takes its tokens: a token must tell services apart, not clouds.
 */
static const struct {
    const char *part;
    unsigned audience;
} host_parts[] = {
    {"://vault.", AUDIENCE_VAULT},      {".vault.", AUDIENCE_VAULT},
    {".blob.core.", AUDIENCE_STORAGE},  {".file.core.", AUDIENCE_STORAGE},
    {".queue.core.", AUDIENCE_STORAGE}, {".batch.", AUDIENCE_BATCH},
};

/* `audience` is `base`, or something below it, over https or http. */
static bool is_below(const char *audience, const char *base)
{
    const char *a = strstr(audience, "://"), *b = strstr(base, "://");
    size_t n = strlen(b);
    return a && strncasecmp(a, b, n) == 0 && (a[n] == '\0' || a[n] == '/');
}

static unsigned by_host(const char *audience)
{
    const char *host = strstr(audience, "://");
    const char *end = host ? strchrnul(host + strlen("://"), '/') : NULL;
    for (size_t i = 0; host && i < sizeof host_parts / sizeof host_parts[0]; i++) {
        const char *at = strcasestr(host, host_parts[i].part);
        if (at && at < end)
            return host_parts[i].audience;
    }
    return 0;
}

unsigned audience_find(struct request *r, const char *audience)
{
    if (!audience)
        return 0;
    for (size_t i = 0; i < sizeof public_names / sizeof public_names[0]; i++)
        if (is_below(audience, public_names[i].url))
            return public_names[i].audience;
    /* The host of an account or a vault is no base of the cloud. */
    bool ours =
        is_below(audience, r->api->endpoint) || (!r->label && is_below(audience, request_base(r)));
    return by_host(audience) | (ours ? AUDIENCE_ARM | AUDIENCE_GRAPH : 0);
}
