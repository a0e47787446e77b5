/* SPDX-License-Identifier: MIT
 *
 * Splits a URL into host and path, and checks its signature against the account's keys. Texts are
 * the arena's. On the loop's thread.
 */
#include "api/plane/storage/storage_url.h"

#include <string.h>
#include <strings.h>

#include "api/http/url.h"
#include "api/plane/storage/devstore.h"
#include "api/plane/storage/items.h"
#include "api/plane/storage/sas.h"
#include "api/plane/storage/shared_key.h"
#include "api/plane/storage/tiers.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "model/spec.h"
#include "storage/storage.h"

/* --- taking it apart -------------------------------------------------------------------------- */

static int split_query(struct arena *a, struct storage_url *u, const char *text)
{
    while (text && *text) {
        size_t n = strcspn(text, "&"), name = strcspn(text, "=&");
        const char *value = name < n ? text + name + 1 : text + n;
        const char *k = url_decode(a, text, name);
        const char *v = url_decode(a, value, n - (size_t)(value - text));
        if (!k || !v || u->n_query == STORAGE_URL_PARAMETERS)
            return -1;
        u->query[u->n_query++] = (struct named_value){k, v};
        text += n + (text[n] == '&');
    }
    return 0;
}

static bool find_account(struct arena *a, const char *own_host, enum share_kind own,
                         struct storage_url *u)
{
    static const struct {
        const char *label;
        enum share_kind kind;
    } services[] = {{".file.", SHARE_FILES}, {".blob.", SHARE_BLOBS}};
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        size_t n = strcspn(u->authority, ".");
        if (strncmp(u->authority + n, services[i].label, 6) != 0)
            continue;
        u->account = arena_strndup(a, u->authority, n);
        u->kind = services[i].kind;
        return true;
    }
    size_t n = strcspn(u->path + 1, "/");
    u->account = arena_lower(a, arena_strndup(a, u->path + 1, n));
    enum share_kind other = own == SHARE_FILES ? SHARE_BLOBS : SHARE_FILES;
    u->kind = !own_host || strcasecmp(u->authority, own_host) == 0 ? own : other;
    u->path += 1 + n;
    return *u->path == '/';
}

int storage_url_split(struct arena *a, const char *text, const char *own, enum share_kind kind,
                      struct storage_url *out)
{
    *out = (struct storage_url){.https = strncasecmp(text, "https://", 8) == 0};
    if (!out->https && strncasecmp(text, "http://", 7) != 0)
        return -1;
    const char *host = text + (out->https ? 8 : 7), *path = strchr(host, '/');
    if (!path)
        return -1;
    size_t n = strcspn(path, "?#");
    out->authority = arena_lower(a, arena_strndup(a, host, (size_t)(path - host)));
    out->path = url_decode(a, path, n);
    if (!out->path || split_query(a, out, path[n] == '?' ? path + n + 1 : NULL) < 0)
        return -1;
    return find_account(a, own, kind, out) ? 0 : -1;
}

/* --- the right to read a URL ------------------------------------------------------------------ */

struct data_place url_target_place(const struct url_target *t)
{
    return (struct data_place){t->account, t->u->kind, t->share->name};
}

bool storage_url_is_signed(struct storage *st, struct arena *a, const struct url_target *t,
                           const struct sas *s, bool dev, struct err *e)
{
    const struct storage_account *account = t->account;
    const struct storage_url *u = t->u;
    struct account_keys keys;
    struct strbuf text = STRBUF_INIT;
    bool same = false;
    if (st_account_keys(st, account->id, &keys, e) < 0)
        return false;
    if (dev && strcmp(account->name, DEVSTORE_ACCOUNT) == 0)
        devstore_key(keys.key[1]);
    sas_text(s, u->kind == SHARE_FILES ? SAS_FILE : SAS_BLOB, account->name,
             sas_path(s, u->path, a), a, &text);
    for (int i = 0; i < 2 && !same; i++) {
        char made[SIGNATURE_SIZE];
        signature_make(keys.key[i], ACCOUNT_KEY_BYTES, text.s, text.len, made);
        same = signature_equals(s->field[SAS_SIGNATURE], made);
    }
    st_account_forget_keys(&keys);
    strbuf_free(&text);
    return same;
}

#define NEVER_OPEN ((enum public_access)(PUBLIC_CONTAINER + 1))

/* An access that a URL may give: by a signature with each of these grants, or by the public access
 * of the container. */
struct need {
    const char *grants; /* pairs of a type of resource and a permission, as in srt and sp */
    enum public_access open;
    const char *what;
    bool changes; /* the signer's roles must allow writing and deleting too */
};
static const struct need one_blob = {"or", PUBLIC_BLOB, "read", false},
                         all_blobs = {"clor", PUBLIC_CONTAINER, "listed and read", false},
                         mounted = {"clorowod", NEVER_OPEN, "listed, read, written and deleted",
                                    true};

/* A URL, and the access that it must give. */
struct asked_url {
    struct url_target of;
    const struct need *need;
    int64_t now_us;
};

static bool is_allowed(const struct asked_url *x, const struct sas *s,
                       const struct sas_policy *policy, struct err *e)
{
    const struct storage_url *u = x->of.u;
    for (const char *g = x->need->grants; *g; g += 2) {
        const char permission[] = {g[1], '\0'};
        const struct sas_use use = {.now_us = x->now_us,
                                    .peer = "127.0.0.1",
                                    .https = u->https,
                                    .service = u->kind == SHARE_FILES ? 'f' : 'b',
                                    .resource_type = g[0],
                                    .permissions = permission,
                                    .policy = s->field[SAS_POLICY] ? policy : NULL};
        if (sas_check(s, &use, e) != 0)
            return false;
    }
    return true;
}

static int is_forbidden(struct err *e, const char *why)
{
    return err_set(e, ERR_FORBIDDEN, NULL, "%s", why);
}

/* Checks that a role of the signer allows the access, because a signature gives no more rights than
 * its signer has. */
static int check_role(const struct azstorage *z, struct arena *a, const struct asked_url *x,
                      const struct principal *who, struct err *e)
{
    bool changes = x->need->changes;
    const struct data_place place = url_target_place(&x->of);
    int rc = (changes ? roles_change : roles_read)(z->access, a, who, &place, e);
    if (rc == 0)
        return err_set(e, ERR_FORBIDDEN, NULL, "%s signed its URL but has no role to %s it",
                       who->name, changes ? "read, write and delete" : "read");
    return rc < 0 ? -1 : 0;
}

/* Checks that the URL is signed by a principal whose roles allow the access. */
static int check_delegated(const struct azstorage *z, struct arena *a, const struct asked_url *x,
                           const struct sas *s, struct err *e)
{
    const struct directory directory = {.find = access_find, .ctx = (void *)(uintptr_t)z->access};
    struct strbuf text = STRBUF_INIT;
    struct principal who;
    const char *why;
    sas_text(s, x->of.u->kind == SHARE_FILES ? SAS_FILE : SAS_BLOB, x->of.account->name,
             sas_path(s, x->of.u->path, a), a, &text);
    bool same = delegation_signed(z->token_key, s, &text);
    strbuf_free(&text);
    if (!same)
        return is_forbidden(e, "the signature of its URL is wrong");
    int rc = delegation_who(&directory, s, x->now_us, &who, &why, e);
    if (rc == 0)
        return is_forbidden(e, why);
    return rc < 0 ? -1 : check_role(z, a, x, &who, e);
}

/* Checks that the URL is signed with a key of the account, and that the account permits keys. */
static int check_signed(const struct azstorage *z, struct arena *a, const struct asked_url *x,
                        const struct sas *s, struct err *e)
{
    if (account_forbids(x->of.account, "allowSharedKeyAccess"))
        return err_set(e, ERR_FORBIDDEN, NULL,
                       "its URL is signed with a key of the account %s, which does not allow "
                       "access with keys (allowSharedKeyAccess)",
                       x->of.account->name);
    if (!storage_url_is_signed(z->storage, a, &x->of, s, true, e))
        return is_forbidden(e, "the signature of its URL is wrong");
    return 0;
}

static int may_read(const struct azstorage *z, struct arena *a, const struct asked_url *x,
                    struct err *e)
{
    struct sas s;
    struct sas_policy policy = {.permissions = ""};
    const struct url_target *t = &x->of;
    int found = sas_read(t->u->query, t->u->n_query, &s, e);
    if (found == 0 && t->share->public_access >= x->need->open &&
        !account_forbids(t->account, "allowBlobPublicAccess"))
        return 0;
    if (found == 0)
        return is_forbidden(e, "its URL has no signature, and its container is not public");
    if (found == 1 && (s.kind == SAS_DELEGATED ? check_delegated(z, a, x, &s, e)
                                               : check_signed(z, a, x, &s, e)) < 0)
        return -1;
    if (found == 1 && (!s.field[SAS_POLICY] || sas_find_policy(&s, t->share->acl, a, &policy)) &&
        is_allowed(x, &s, &policy, e))
        return 0;
    return err_set(e, ERR_FORBIDDEN, NULL, "the signature of its URL does not permit that it is %s",
                   x->need->what);
}

/* --- where it is ------------------------------------------------------------------------------ */

static int not_there(struct err *e)
{
    return err_set(e, ERR_FILE_NOT_FOUND, NULL, "it does not exist");
}

static const char *account_folder(const struct azstorage *z, struct arena *a,
                                  const struct share *share)
{
    return arena_concat(a, z->storage_dir, "/", share->account);
}

static bool is_archived(const struct azstorage *z, struct arena *a, const char *subscription,
                        const struct share_item *i)
{
    return tier_of(a, z->wakes, subscription, i, NULL).archived;
}

static struct archived_blob archived_of(const struct share_item *i)
{
    return (struct archived_blob){i->path, (uint64_t)i->inode, (uint64_t)i->size, i->mtime_ns};
}

bool storage_path_is_file(const char *path)
{
    return fs_path_is_safe(path) && strcmp(path, ".") != 0;
}

int storage_url_item(struct storage *st, struct arena *a, const struct storage_url *u,
                     const struct item_path *of, struct share_item *out, bool *is_snapshot,
                     struct err *e)
{
    struct blob_snapshot s;
    const char *when = NULL;
    int64_t taken_us;
    for (size_t i = 0; u->kind == SHARE_BLOBS && i < u->n_query; i++)
        if (strcasecmp(u->query[i].name, "snapshot") == 0)
            when = u->query[i].value;
    *is_snapshot = when != NULL;
    if (!when)
        return st_item_get(st, a, of->share_id, of->path, out, e);
    if (item_time_read(when, &taken_us) < 0)
        return 0;
    int rc = st_snapshot_get(st, a, of->share_id, of->path, taken_us, &s, e);
    if (rc > 0)
        *out = s.item;
    return rc;
}

/* The file of a snapshot is only its own, and its row has the facts of the blob's file: so an
 * archived snapshot is refused here, and not when its file is opened. */
static int refuse_archived(const struct azstorage *z, struct arena *a, const char *subscription,
                           const struct share_item *i, struct err *e)
{
    if (!is_archived(z, a, subscription, i))
        return 0;
    return err_set(e, ERR_IO, NULL,
                   "it is an archived snapshot, which must be rehydrated first (Set Blob Tier)");
}

/* Finds the bytes of a file or blob that may be read. */
static int find_bytes(const struct azstorage *z, struct arena *a, const struct url_target *x,
                      const char *path, struct blob_place *out, struct err *e)
{
    struct share_item item;
    bool is_snapshot;
    const struct share *share = x->share;
    const char *subscription = x->account->scope.subscription;
    int rc = storage_url_item(z->storage, a, x->u, &(struct item_path){share->id, path}, &item,
                              &is_snapshot, e);
    if (rc < 0 || (is_snapshot && rc == 1 && refuse_archived(z, a, subscription, &item, e) < 0))
        return -1;
    if (!(rc == 1 && item.aside) && (is_snapshot || !storage_path_is_file(path)))
        return not_there(e);
    *out = (struct blob_place){.archived = NULL};
    if (rc == 1 && item.aside)
        out->at = (struct file_place){account_folder(z, a, share), item.aside};
    else
        out->at = (struct file_place){
            share_folder(a, z->storage_dir, share->account, x->u->kind, share->name), path};
    if (rc == 1 && is_archived(z, a, subscription, &item)) {
        struct archived_blob *found = arena_alloc(a, sizeof *found);
        *found = archived_of(&item);
        out->archived = found;
    }
    return 1;
}

#define ARCHIVED_MAX 100001 /* greater than the most files of a task */

int storage_archived_blobs(const struct azstorage *z, struct arena *a,
                           const struct container_place *c, const char *prefix,
                           struct archived_blobs *out, struct err *e)
{
    struct share_item_rows rows;
    const struct st_paths all = {
        .from = prefix, .to = arena_concat(a, prefix, "\xff"), .limit = ARCHIVED_MAX};
    if (st_item_list_archived(z->storage, a, c->share_id, &all, &rows, e) < 0)
        return -1;
    struct archived_blob *found = arena_alloc(a, (rows.n + 1) * sizeof *found);
    *out = (struct archived_blobs){found, 0};
    for (size_t i = 0; i < rows.n; i++)
        if (is_archived(z, a, c->subscription, &rows.items[i]))
            found[out->n++] = archived_of(&rows.items[i]);
    return 0;
}

/* A share or container with its account. */
struct held_share {
    struct storage_account account;
    struct share share;
};

/* Finds a share and its account. 0: the account does not exist. */
static int find_share(const struct azstorage *z, struct arena *a, const struct share_name *n,
                      struct held_share *out, struct err *e)
{
    int rc = st_account_by_name(z->storage, a, n->account, &out->account, e);
    if (rc <= 0)
        return rc;
    rc = *n->share
             ? st_share_by_name(z->storage, a, out->account.id, n->kind, n->share, &out->share, e)
             : 0;
    if (rc < 0)
        return -1;
    if (rc == 1 && out->share.state == SHARE_THERE)
        return 1;
    (void)not_there(e);
    return -1;
}

/* Checks the auto-storage account of a Batch account. The Batch account uses it with the rights of
 * its keys, because there are no managed identities, which could have a role. */
static int check_owner(const struct storage_account *account, struct err *e)
{
    if (!account_forbids(account, "allowSharedKeyAccess"))
        return 0;
    return err_set(
        e, ERR_FORBIDDEN, NULL,
        "the auto-storage account %s does not allow access with its keys (allowSharedKeyAccess), "
        "and managed identities are not supported; give the URL a user delegation signature",
        account->name);
}

static struct container_place container_of(const struct azstorage *z, struct arena *a,
                                           const struct held_share *found)
{
    const struct share *share = &found->share;
    return (struct container_place){
        .folder = share_folder(a, z->storage_dir, share->account, SHARE_BLOBS, share->name),
        .aside = account_folder(z, a, share),
        .share_id = share->id,
        .subscription = found->account.scope.subscription};
}

int storage_container_open(const struct azstorage *z, struct arena *a,
                           const struct share_name *container, struct container_place *out,
                           struct err *e)
{
    struct held_share found;
    int rc = find_share(z, a, container, &found, e);
    if (rc == 1 && check_owner(&found.account, e) < 0)
        return -1;
    if (rc == 1)
        *out = container_of(z, a, &found);
    return rc;
}

/* Finds the share that a URL names. *rest: the path after the share. */
static int find_share_of(const struct azstorage *z, struct arena *a, const struct storage_url *u,
                         struct held_share *out, const char **rest, struct err *e)
{
    const char *name = u->path + 1;
    size_t n = strcspn(name, "/");
    *rest = name + n;
    return find_share(z, a,
                      &(struct share_name){.account = u->account,
                                           .share = arena_strndup(a, name, n),
                                           .kind = u->kind},
                      out, e);
}

/* Checks that the reader may read what the URL names. */
static int check_reader(const struct azstorage *z, struct arena *a, const struct url_target *t,
                        const struct need *need, const struct url_reader *reader, struct err *e)
{
    if (reader->owner && strcasecmp(t->account->name, reader->owner) == 0)
        return check_owner(t->account, e);
    return may_read(z, a, &(struct asked_url){*t, need, reader->now_us}, e);
}

int storage_url_open(const struct azstorage *z, struct arena *a, const char *url,
                     const struct url_reader *reader, struct blob_place *out, struct err *e)
{
    struct storage_url u;
    struct held_share found;
    const char *rest;
    if (storage_url_split(a, url, NULL, SHARE_BLOBS, &u) < 0)
        return 0;
    int rc = find_share_of(z, a, &u, &found, &rest, e);
    if (rc <= 0)
        return rc;
    if (!*rest || !rest[1])
        return not_there(e);
    const struct url_target t = {&u, &found.account, &found.share};
    if (check_reader(z, a, &t, &one_blob, reader, e) < 0)
        return -1;
    return find_bytes(z, a, &t, rest + 1, out, e);
}

int storage_url_open_all(const struct azstorage *z, struct arena *a, const char *url,
                         const struct url_reader *reader, struct container_place *out,
                         struct err *e)
{
    struct storage_url u;
    struct held_share found;
    const char *rest;
    if (storage_url_split(a, url, NULL, SHARE_BLOBS, &u) < 0 || u.kind != SHARE_BLOBS)
        return 0;
    int rc = find_share_of(z, a, &u, &found, &rest, e);
    if (rc <= 0)
        return rc;
    const struct url_target t = {&u, &found.account, &found.share};
    if (check_reader(z, a, &t, &all_blobs, reader, e) < 0)
        return -1;
    *out = container_of(z, a, &found);
    return 1;
}

int storage_sas_mounts(const struct azstorage *z, struct arena *a,
                       const struct share_name *container, const char *sas, int64_t now_us,
                       struct err *e)
{
    struct storage_url u;
    struct held_share found;
    const char *rest;
    const char *url =
        arena_concat(a, "https://", arena_lower(a, container->account), ".blob.core.windows.net/",
                     arena_lower(a, container->share), "?", sas + (*sas == '?'));
    if (storage_url_split(a, url, NULL, SHARE_BLOBS, &u) < 0)
        return is_forbidden(e, "it is not a query of a URL");
    int rc = find_share_of(z, a, &u, &found, &rest, e);
    if (rc <= 0)
        return rc;
    const struct asked_url x = {{&u, &found.account, &found.share}, &mounted, now_us};
    return may_read(z, a, &x, e);
}

/* --- URLs at the daemon itself ---------------------------------------------------------------- */

/* A URL with localhost as its host, because each daemon has this name and a certificate for it. */
static const char *home_url(struct arena *a, const char *account, const char *container,
                            const char *query)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "https://%s.blob.core.localhost/", account);
    url_encode(&b, container, 0);
    if (*query)
        strbuf_concat(&b, "?", query);
    const char *url = arena_strdup(a, b.s);
    strbuf_free(&b);
    return url;
}

int storage_url_home(const struct azstorage *z, struct arena *a, const char *url, const char **out,
                     struct err *e)
{
    struct storage_url u;
    struct storage_account account;
    if (storage_url_split(a, url, NULL, SHARE_BLOBS, &u) < 0 || u.kind != SHARE_BLOBS)
        return 0;
    int rc = st_account_by_name(z->storage, a, u.account, &account, e);
    const char *query = strchr(url, '?'), *name = u.path + 1;
    size_t n = strcspn(name, "/");
    if (rc == 1)
        *out = home_url(a, account.name, arena_strndup(a, name, n),
                        query ? arena_strndup(a, query + 1, strcspn(query + 1, "#")) : "");
    return rc;
}

#define HOME_URL_LIFE_US     (INT64_C(24) * 3600 * 1000000)
#define HOME_URL_SAS_VERSION "2018-03-28"

int storage_container_url(const struct azstorage *z, struct arena *a,
                          const struct share_name *container, int64_t now_us, const char **out,
                          struct err *e)
{
    struct held_share found;
    struct account_keys keys;
    struct strbuf text = STRBUF_INIT, query = STRBUF_INIT;
    char expiry[TIMEFMT_SIZE], made[SIGNATURE_SIZE];
    int rc = find_share(z, a, container, &found, e);
    if (rc == 1 && check_owner(&found.account, e) < 0)
        return -1;
    if (rc == 1)
        rc = st_account_keys(z->storage, found.account.id, &keys, e);
    if (rc <= 0)
        return rc;
    timefmt_seconds(now_us + HOME_URL_LIFE_US, expiry);
    struct sas s = {.kind = SAS_OF_SERVICE};
    s.field[SAS_VERSION] = HOME_URL_SAS_VERSION;
    s.field[SAS_RESOURCE_KIND] = "c";
    s.field[SAS_PERMISSIONS] = "cw";
    s.field[SAS_EXPIRY] = expiry;
    sas_text(&s, SAS_BLOB, found.account.name, arena_concat(a, "/", found.share.name), a, &text);
    signature_make(keys.key[0], ACCOUNT_KEY_BYTES, text.s, text.len, made);
    st_account_forget_keys(&keys);
    strbuf_puts(&query, "sv=" HOME_URL_SAS_VERSION "&sr=c&sp=cw&sig=");
    url_encode(&query, made, 0);
    strbuf_puts(&query, "&se=");
    url_encode(&query, expiry, 0);
    *out = home_url(a, found.account.name, found.share.name, query.s);
    strbuf_free(&text);
    strbuf_free(&query);
    return 1;
}
