/* SPDX-License-Identifier: MIT
 *
 * /metadata/endpoints: tells clients the addresses of a cloud's services. There are two forms: one
 * object (2015-01-01, by `az cloud register`), and an array of clouds (2019-05-01 and later,
 * through ARM_CLOUD_METADATA_URL and by Terraform).
 */
#include <string.h>

#include "api/arm/handlers.h"

static json_t *authentication(const char *base)
{
    return json_pack("{s:o, s:[s], s:s, s:s}", "loginEndpoint", json_sprintf("%s/adfs", base),
                     "audiences", base, "tenant", "adfs", "identityProvider", "ADFS");
}

/* "localhost:7443" of "https://localhost:7443" */
static const char *authority_of(const char *base)
{
    return base + strlen("https://");
}

static json_t *cloud(const char *base)
{
    const char *host = authority_of(base);
    json_t *suffixes =
        json_pack("{s:s, s:o}", "storage", host, "keyVaultDns", json_sprintf("vault.%s", host));
    return json_pack("{s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s}", "name", "batchaid",
                     "authentication", authentication(base), "resourceManager", base, "portal",
                     base, "graph", base, "graphAudience", base, "gallery", base, "batch", base,
                     "suffixes", suffixes, "media", base);
}

static json_t *legacy(const char *base)
{
    return json_pack("{s:s, s:s, s:s, s:o}", "galleryEndpoint", base, "graphEndpoint", base,
                     "portalEndpoint", base, "authentication", authentication(base));
}

struct replied *metadata_endpoints(struct request *r)
{
    const char *base = request_base(r);
    if (strcmp(r->version_name, "2018") < 0)
        return reply_json(r, 200, legacy(base));
    return reply_json(r, 200, json_pack("[o]", cloud(base)));
}
