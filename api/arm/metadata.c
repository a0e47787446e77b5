/* SPDX-License-Identifier: MIT
 *
 * /metadata/endpoints: returns the addresses of a cloud's services. The reply has three forms: a
 * short object (2015-01-01, for old `az cloud register`), an array of clouds (2019-05-01, for
 * ARM_CLOUD_METADATA_URL and old Terraform), and one cloud (2022-09-01 and later, for Terraform and
 * newer `az cloud register`, which fails on an array).
 */
#include <string.h>

#include "api/arm/kind.h"
#include "api/arm/routes.h"

/* The names in a reply that tell clients how to log in. */
struct login_names {
    const char *tenant, *provider;
};
static const struct login_names adfs = {"adfs", "ADFS"};
/* Terraform's azurerm takes a cloud with any other pair for Azure Stack, and refuses it. az uses
 * only the login endpoint: its last segment shows az that this is ADFS. */
static const struct login_names aad = {"common", "AAD"};

static json_t *authentication(const char *base, const struct login_names *d)
{
    return json_pack("{s:o, s:[s], s:s, s:s}", "loginEndpoint", json_sprintf("%s/adfs", base),
                     "audiences", base, "tenant", d->tenant, "identityProvider", d->provider);
}

/* The domain of a service. That of storage must begin with "core.", because the SDKs split an
 * account's host name there. */
static json_t *suffix(struct request *r, const char *below, const char *host)
{
    const char *own = request_own_suffix(r, below);
    return own ? json_string(own) : json_sprintf("%s%s", below, host);
}

static json_t *suffixes(struct request *r)
{
    const char *host = strstr(request_base(r), "://") + strlen("://");
    return json_pack("{s:o, s:o, s:o, s:o}", "storage", suffix(r, "core.", host), "keyVaultDns",
                     suffix(r, "vault.", host), "acrLoginServer", json_sprintf("azurecr.%s", host),
                     "sqlServerHostname", json_sprintf("database.%s", host));
}

static json_t *cloud(struct request *r, const struct login_names *d)
{
    const char *base = request_base(r);
    return json_pack("{s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s}", "name", "batchaid",
                     "authentication", authentication(base, d), "resourceManager", base, "portal",
                     base, "graph", base, "graphAudience", base, "microsoftGraphResourceId", base,
                     "gallery", base, "batch", base, "suffixes", suffixes(r), "media", base);
}

static json_t *legacy(const char *base)
{
    return json_pack("{s:s, s:s, s:s, s:o}", "galleryEndpoint", base, "graphEndpoint", base,
                     "portalEndpoint", base, "authentication", authentication(base, &adfs));
}

struct replied *metadata_endpoints(struct request *r)
{
    const char *base = request_base(r);
    if (strcmp(r->version_name, "2018") < 0)
        return reply_json(r, 200, legacy(base));
    if (strcmp(r->version_name, "2022-09-01") < 0)
        return reply_json(r, 200, json_pack("[o]", cloud(r, &adfs)));
    return reply_json(r, 200, cloud(r, &aad));
}
