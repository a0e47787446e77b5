/* SPDX-License-Identifier: MIT
 *
 * Access to a storage account's data: by a signature with an account key, a shared access
 * signature, or a token of this daemon; anonymous if a container is public.
 * https://learn.microsoft.com/rest/api/storageservices/authorize-requests-to-azure-storage
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "api/http/auth.h"
#include "api/http/principal.h"
#include "api/http/url.h"
#include "api/plane/storage/asked.h"
#include "api/plane/storage/data_plane.h"
#include "api/plane/storage/devstore.h"
#include "api/plane/storage/sas.h"
#include "api/plane/storage/storage_url.h"
#include "scheduler/wake/paced.h"
#include "storage/storage.h"

#define SECONDARY "-secondary"

#define REFUSED                                                                                    \
    "Server failed to authenticate the request. Make sure the value of Authorization header is "   \
    "formed correctly including the signature."

/* --- refusals ------------------------------------------------------------------------------- */

static int refused(struct request *r, const char *detail, struct err *e)
{
    grant_of(r)->detail = detail;
    LOG_INFO(r->config->log, "request.not_authenticated", LF_STR("service", "storage"),
             LF_STR("account", r->label), LF_STR("from", request_peer(r)), LF_STR("why", detail),
             LF_STR("req", r->correlation_id));
    return err_set(e, AZSTORAGE_AUTHENTICATION, NULL, REFUSED);
}

static int malformed(struct err *e)
{
    return err_set(e, AZSTORAGE_AUTHENTICATION_INFO, NULL,
                   "Authentication information is not given in the correct format. Check the value "
                   "of Authorization header.");
}

/* For a wrong signature: shows the text that should have been signed, for debugging. */
static int wrong_signature(struct request *r, const char *sent, const struct strbuf *signed_text,
                           struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b,
                  "The MAC signature found in the HTTP request '%.100s' is not the same as any "
                  "computed signature. Server used following string to sign: '",
                  sent);
    strbuf_add(&b, signed_text->s, signed_text->len);
    strbuf_puts(&b, "'.");
    const char *detail = arena_strdup(&r->arena, b.s);
    strbuf_free(&b);
    return refused(r, detail, e);
}

/* --- signed with a key ---------------------------------------------------------------------- */

static bool is_made_with(const unsigned char *key, size_t n, const struct strbuf *text,
                         const char *sent)
{
    char made[SIGNATURE_SIZE];
    signature_make(key, n, text->s, text->len, made);
    return signature_equals(sent, made);
}

static bool made_with(const struct account_keys *keys, const struct strbuf *text, const char *sent)
{
    return is_made_with(keys->key[0], ACCOUNT_KEY_BYTES, text, sent) ||
           is_made_with(keys->key[1], ACCOUNT_KEY_BYTES, text, sent);
}

static int check_date(struct request *r, struct err *e)
{
    const char *date = request_header(r, "x-ms-date");
    const char *wrong = signed_date_error(&r->arena, date ? date : request_header(r, "Date"));
    return wrong ? refused(r, wrong, e) : 0;
}

/* https://learn.microsoft.com/azure/storage/common/shared-key-authorization-prevent */
static int check_keys_allowed(struct request *r, struct err *e)
{
    if (!account_forbids(&grant_of(r)->account, "allowSharedKeyAccess"))
        return 0;
    return err_set(e, AZSTORAGE_KEYS_OFF, NULL,
                   "Key based authentication is not permitted on this storage account "
                   "(allowSharedKeyAccess).");
}

static int signed_with_key(struct request *r, const struct account_keys *keys,
                           const struct signed_by *by, struct err *e)
{
    if (strcmp(by->account, r->label) != 0 && strcmp(by->account, grant_of(r)->account.name) != 0)
        return refused(r,
                       arena_printf(&r->arena,
                                    "The Authorization header is for the account '%.60s', the "
                                    "request for '%.60s'.",
                                    by->account, r->label),
                       e);
    struct signed_head head = {.method = r->method, .path = r->target};
    head.header = request_headers(r, &head.n_headers);
    head.query = request_parameters(r, &head.n_query);
    struct strbuf text = STRBUF_INIT;
    bool same = false;
    for (int order = NAME_ORDERS - 1; order >= 0 && !same; order--) {
        /* The order of the service comes last, because the error shows the text of the last
         * attempt. */
        static const enum name_order orders[] = {NAMES_AS_SERVICE, NAMES_AS_ICU, NAMES_BY_BYTE};
        strbuf_reset(&text);
        shared_key_text(&head, grant_of(r)->account.name, by->form, orders[order], &r->arena,
                        &text);
        same = made_with(keys, &text, by->signature);
    }
    int rc = same ? check_date(r, e) : wrong_signature(r, by->signature, &text, e);
    if (rc == 0)
        rc = check_keys_allowed(r, e);
    strbuf_free(&text);
    grant_of(r)->how = GRANT_KEY;
    return rc;
}

/* --- a shared access signature -------------------------------------------------------------- */

/* Finds the stored policy that a signature names. */
static int find_policy(struct request *r, const struct sas *s, struct sas_policy *out,
                       struct err *e)
{
    if (sas_find_policy(s, grant_of(r)->policies, &r->arena, out))
        return 0;
    return refused(r,
                   arena_printf(&r->arena, "The stored access policy '%.64s' (si) is not there.",
                                s->field[SAS_POLICY]),
                   e);
}

static const char *decoded_path(struct request *r)
{
    const char *path = url_decode(&r->arena, r->path, strlen(r->path));
    return path ? path : r->path;
}

static int check_use(struct request *r, const struct sas *s, struct err *e)
{
    struct grant *g = grant_of(r);
    const struct storage_need *need = &g->plane->needs[r->route - r->service->routes];
    const char *wanted = s->kind == SAS_OF_ACCOUNT ? need->by_account : need->by_service;
    struct sas_policy policy = {.permissions = ""};
    if (s->field[SAS_POLICY] && find_policy(r, s, &policy, e) < 0)
        return -1;
    const char *own = s->field[SAS_PERMISSIONS];
    g->perms = arena_concat(&r->arena, own ? own : "", policy.permissions);
    const struct sas_use use = {.now_us = r->now_us,
                                .peer = request_peer(r),
                                .https = request_is_tls(r),
                                .service = g->plane->service == SAS_FILE ? 'f' : 'b',
                                .resource_type = need->resource,
                                .permissions = wanted ? wanted : "",
                                .policy = s->field[SAS_POLICY] ? &policy : NULL};
    if (sas_check(s, &use, e) < 0)
        return -1;
    if (wanted)
        return 0;
    return err_set(e, AZSTORAGE_PERMISSION, NULL,
                   "This request is not authorized to perform this operation: the operation needs "
                   "a signature for the account, or the account's key; a signature for a %s does "
                   "not permit the operation.",
                   g->plane->share);
}

bool plane_is_delegated(struct request *r, const struct sas *s, const struct strbuf *text)
{
    return delegation_signed(r->config->token_key, s, text);
}

int plane_delegate_of(struct request *r, const struct sas *s, struct principal **who, struct err *e)
{
    const char *why;
    *who = arena_alloc(&r->arena, sizeof **who);
    int rc = delegation_who(r->config->directory, s, r->now_us, *who, &why, e);
    return rc == 0 ? refused(r, why, e) : rc < 0 ? -1 : 0;
}

/* Checks the owner of a user delegation key: he cannot delegate rights that his roles do not give
 * him. */
static int check_delegate(struct request *r, const struct sas *s, struct err *e)
{
    struct principal *who;
    if (plane_delegate_of(r, s, &who, e) < 0)
        return -1;
    r->who = who;
    return plane_check_role(r, e);
}

static int with_sas(struct request *r, const struct account_keys *keys, struct err *e)
{
    struct grant *g = grant_of(r);
    const struct sas *s = &g->sas;
    struct strbuf text = STRBUF_INIT;
    g->how = GRANT_SAS;
    sas_text(s, g->plane->service, g->account.name, sas_path(s, decoded_path(r), &r->arena),
             &r->arena, &text);
    bool delegated = s->kind == SAS_DELEGATED;
    bool same = delegated ? plane_is_delegated(r, s, &text)
                          : made_with(keys, &text, s->field[SAS_SIGNATURE]);
    int rc = same ? 0 : wrong_signature(r, s->field[SAS_SIGNATURE], &text, e);
    strbuf_free(&text);
    if (rc < 0 || (delegated ? check_delegate(r, s, e) : check_keys_allowed(r, e)) < 0)
        return -1;
    return check_use(r, s, e);
}

/* --- all ways ------------------------------------------------------------------------------- */

/* https://learn.microsoft.com/azure/storage/blobs/anonymous-read-access-configure#about-anonymous-read-access
 * The public may read blobs, their committed blocks and lists of blobs, and a container's
 * properties and metadata, but neither tags nor a container's policies nor anything about the
 * account. */
static bool is_public_read(struct request *r, const struct storage_need *need)
{
    /* the properties of a container need the right of an account's SAS; no service SAS has it */
    const char *of = need->resource == 'c' ? need->by_account : need->by_service;
    const char *letters = of ? of : "", *blocks = request_query(r, "blocklisttype");
    return (strcmp(letters, "r") == 0 || strcmp(letters, "l") == 0) &&
           (!blocks || strcasecmp(blocks, "committed") == 0);
}

/* Checks a request without credentials: it may only read public data. */
static int as_anybody(struct request *r, struct err *e)
{
    const struct grant *g = grant_of(r);
    const struct storage_need *need = &g->plane->needs[r->route - r->service->routes];
    enum public_access access =
        g->has_share && g->plane->kind == SHARE_BLOBS ? g->share.public_access : PUBLIC_NONE;
    enum public_access needed = need->resource == 'o' ? PUBLIC_BLOB : PUBLIC_CONTAINER;
    if (access >= needed && is_public_read(r, need) && plane_may_be_public(g))
        return 0;
    return err_set(e, ERR_NO_TOKEN, NULL,
                   "Server failed to authenticate the request. It must have an Authorization "
                   "header, or a shared access signature in its query.");
}

static int authorize(struct request *r, const struct account_keys *keys, struct err *e)
{
    const char *header = request_header(r, "Authorization");
    size_t n;
    const struct named_value *query = request_parameters(r, &n);
    int has_sas = sas_read(query, n, &grant_of(r)->sas, e);
    if (has_sas < 0)
        return -1;
    if (header && has_sas)
        return err_set(e, AZSTORAGE_AUTHENTICATION_INFO, NULL,
                       "The request has both an Authorization header and a signature in its query; "
                       "it must have only one.");
    if (has_sas)
        return with_sas(r, keys, e);
    if (!header)
        return as_anybody(r, e);
    struct signed_by by;
    int by_key = shared_key_read(header, &r->arena, &by);
    if (by_key > 0)
        return signed_with_key(r, keys, &by, e);
    if (by_key < 0 || strncasecmp(header, "Bearer ", 7) != 0)
        return malformed(e);
    grant_of(r)->how = GRANT_TOKEN;
    return auth_check(r, e);
}

/* The name of the account. The host "acct-secondary" means the account "acct", for reading only. */
static const char *account_of(struct request *r, bool *secondary)
{
    size_t n = strlen(r->label), m = strlen(SECONDARY);
    *secondary = n > m && strcmp(r->label + n - m, SECONDARY) == 0;
    return *secondary ? arena_strndup(&r->arena, r->label, n - m) : r->label;
}

/* Whether the account is still being created. Its host name does not exist until then. */
static bool is_being_created(const struct request *r, const struct storage_account *s)
{
    const struct paced creation = {.step = PACE_STORAGE_CREATION,
                                   .subscription = s->scope.subscription,
                                   .since_us = s->created_us};
    return !s->implicit && wakes_paced_until(azstorage_of(r)->wakes, &creation) > 0;
}

static int find_account(struct request *r, struct grant *g, struct err *e)
{
    struct storage *st = azstorage_of(r)->storage;
    const char *name = account_of(r, &g->secondary);
    int rc = st_account_by_name(st, &r->arena, name, &g->account, e);
    if (rc == 0)
        return err_set(
            e, AZSTORAGE_NO_ACCOUNT, NULL,
            "There is no storage account '%.60s'; 'az storage account create' creates it.", name);
    if (rc > 0 && g->account.prov_state == PROV_DELETING)
        return err_set(e, AZSTORAGE_NO_ACCOUNT, NULL,
                       "The storage account '%.60s' is being deleted.", name);
    if (rc > 0 && is_being_created(r, &g->account))
        return err_set(e, AZSTORAGE_NO_ACCOUNT, NULL,
                       "The storage account '%.60s' is still being created (strict mode).", name);
    if (rc < 0 || r->n_segments == 0)
        return rc < 0 ? -1 : 0;
    rc =
        st_share_by_name(st, &r->arena, g->account.id, g->plane->kind, r->segment[0], &g->share, e);
    g->has_share = rc > 0 && g->share.state == SHARE_THERE;
    g->policies = g->has_share ? g->share.acl : NULL;
    return rc < 0 ? -1 : 0;
}

int plane_may(struct request *r, const struct plane *plane, struct err *e)
{
    struct grant *g = arena_alloc(&r->arena, sizeof *g);
    struct account_keys keys;
    r->grant = g;
    g->plane = plane;
    if (plane_read_version(r, e) < 0 || find_account(r, g, e) < 0 ||
        st_account_keys(azstorage_of(r)->storage, g->account.id, &keys, e) < 0)
        return -1;
    if (r->door->service && strcmp(g->account.name, DEVSTORE_ACCOUNT) == 0)
        devstore_key(keys.key[1]);
    int rc = authorize(r, &keys, e);
    st_account_forget_keys(&keys);
    if (rc == 0 && g->how == GRANT_TOKEN)
        rc = plane_check_role(r, e);
    if (rc == 0 && g->secondary && strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
        return err_set(e, AZSTORAGE_READ_ONLY, NULL,
                       "The account's secondary location can only be read.");
    return rc < 0 ? -1 : asked_check(r, e);
}

bool plane_may_be_public(const struct grant *g)
{
    return !account_forbids(&g->account, "allowBlobPublicAccess");
}
