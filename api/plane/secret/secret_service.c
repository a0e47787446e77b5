/* SPDX-License-Identifier: MIT
 *
 * The hosts of vaults as a service. A client's first request has neither token nor body. The reply
 * is a challenge, which names the login URL and the resource of the token.
 */
#include <string.h>
#include <strings.h>

#include "api/http/auth.h"
#include "api/http/http.h"
#include "api/plane/secret/secret_errors.h"
#include "api/plane/secret/secrets.h"

#define SECRET  "/secrets/{name}"
#define DELETED "/deletedsecrets/{name}"

/* Most bytes of a body. A value has at most 25,600 bytes, which JSON escapes can make six times as
 * long. */
#define BODY_MAX (256 * 1024)
/* Most KiB of the body of a restore: a backup contains all versions of a secret. */
#define BACKUP_KIB (16 * 1024)

static const struct route routes[] = {
    {"GET", "/secrets", 0, 0, secrets_list, "GetSecrets"},
    {"POST", "/secrets/restore", 0, ROUTE_JSON | ROUTE_BODY_KIB(BACKUP_KIB), secrets_restore,
     "RestoreSecret"},
    {"PUT", SECRET, 0, ROUTE_JSON, secrets_set, "SetSecret"},
    {"GET", SECRET, 0, 0, secrets_get, "GetNewestSecret"},
    {"PATCH", SECRET, 0, ROUTE_JSON, secrets_update, "UpdateNewestSecret"},
    {"DELETE", SECRET, 0, 0, secrets_delete, "DeleteSecret"},
    {"POST", SECRET "/backup", 0, 0, secrets_backup, "BackupSecret"},
    {"GET", SECRET "/versions", 0, 0, secrets_versions, "GetSecretVersions"},
    {"GET", SECRET "/{version}", 0, 0, secrets_get, "GetSecret"},
    {"PATCH", SECRET "/{version}", 0, ROUTE_JSON, secrets_update, "UpdateSecret"},
    {"GET", "/deletedsecrets", 0, 0, deleted_secrets_list, "GetDeletedSecrets"},
    {"GET", DELETED, 0, 0, deleted_secrets_get, "GetDeletedSecret"},
    {"DELETE", DELETED, 0, 0, deleted_secrets_purge, "PurgeDeletedSecret"},
    {"POST", DELETED "/recover", 0, 0, deleted_secrets_recover, "RecoverDeletedSecret"},
    {"GET", "/certificates/contacts", 0, 0, certificate_contacts_get, "GetCertificateContacts"},
};

/* Whether the host's domain is a suffix from the site's settings, such as vault.azure.net. Such a
 * domain has no other hosts of the daemon. */
static bool is_foreign(const struct keyvault *k, const char *domain)
{
    size_t n = strcspn(domain, ":");
    for (size_t i = 0; i < k->n_suffixes; i++)
        if (strlen(k->suffixes[i]) == n && strncasecmp(k->suffixes[i], domain, n) == 0)
            return true;
    return false;
}

/* Adds the challenge. The resource is the part of the host after the vault's name, with the port,
 * because clients check that the host ends with it. */
static void challenge(struct request *r)
{
    const char *dot = strchr(r->host, '.');
    if (!dot)
        return; /* a host without a vault's name belongs to another service */
    const char *domain = dot + 1, *site = strchr(domain, '.');
    const char *scheme = arena_strndup(&r->arena, request_base(r), strcspn(request_base(r), ":"));
    const char *login = site && !is_foreign(keyvault_of(r), domain)
                            ? arena_concat(&r->arena, scheme, "://", site + 1)
                            : api_endpoint(r->api);
    reply_header(r, "WWW-Authenticate", "Bearer authorization=\"%s/adfs\", resource=\"%s://%s\"",
                 login, scheme, domain);
}

static void headers(struct request *r)
{
    reply_header_text(r, "x-ms-request-id", r->request_id);
    reply_header_text(r, "Cache-Control", "no-cache");
}

const struct service secret_service = {
    .name = "vault",
    .deps = "keyvault",
    .deps_begin_with_arm = true,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_ANY,
    .may = auth_check,
    .audiences = AUDIENCE_VAULT,
    .challenge = challenge,
    .body_max = BODY_MAX,
    .words = secret_words,
    .error = secret_error,
    .headers = headers,
};
