/* SPDX-License-Identifier: MIT */
#include "api/azstorage/storage_url.h"

#include <string.h>
#include <strings.h>

#include "api/azstorage/devstore.h"
#include "api/http/url.h"
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

/* --- who may read it -------------------------------------------------------------------------- */

bool storage_url_is_signed(struct storage *st, struct arena *a, const struct storage_url *u,
                           const struct sas *s, const struct storage_account *account, bool dev,
                           struct err *e)
{
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

static int may_read(const struct azstorage *z, struct arena *a, const struct storage_url *u,
                    const struct storage_account *account, const struct share *share,
                    int64_t now_us, struct err *e)
{
    struct sas s;
    const struct sas_use use = {.now_us = now_us,
                                .peer = "127.0.0.1",
                                .https = u->https,
                                .service = u->kind == SHARE_FILES ? 'f' : 'b',
                                .resource_type = 'o',
                                .permissions = "r"};
    int found = sas_read(u->query, u->n_query, &s, e);
    if (found == 0 && share->public_access > PUBLIC_NONE)
        return 0;
    if (found == 1 && s.kind != SAS_DELEGATED && !s.field[SAS_POLICY] &&
        storage_url_is_signed(z->storage, a, u, &s, account, true, e) &&
        sas_check(&s, &use, e) == 0)
        return 0;
    return err_set(e, ERR_FORBIDDEN, NULL, "%s",
                   found == 0 ? "its URL has no signature, and its container is not public"
                              : "the signature of its URL does not let it be read");
}

/* --- where it is ------------------------------------------------------------------------------ */

static int not_there(struct err *e)
{
    return err_set(e, ERR_FILE_NOT_FOUND, NULL, "it does not exist");
}

/* Of a share that may be read. */
static int find_bytes(const struct azstorage *z, struct arena *a, const struct storage_url *u,
                      const struct share *share, const char *path, struct file_place *out,
                      struct err *e)
{
    struct share_item item;
    int rc = st_item_get(z->storage, a, share->id, path, &item, e);
    if (rc < 0)
        return -1;
    if (rc == 1 && item.aside)
        *out =
            (struct file_place){arena_concat(a, z->storage_dir, "/", share->account), item.aside};
    else
        *out = (struct file_place){
            share_folder(a, z->storage_dir, share->account, u->kind, share->name), path};
    return 1;
}

int storage_url_open(const struct azstorage *z, struct arena *a, const char *url, int64_t now_us,
                     struct file_place *out, struct err *e)
{
    struct storage_url u;
    struct storage_account account;
    struct share share;
    if (storage_url_split(a, url, NULL, SHARE_BLOBS, &u) < 0)
        return 0;
    int rc = st_account_by_name(z->storage, a, u.account, &account, e);
    if (rc <= 0)
        return rc;
    const char *name = u.path + 1, *slash = strchr(name, '/');
    if (!slash || !slash[1])
        return not_there(e);
    rc = st_share_by_name(z->storage, a, account.id, u.kind,
                          arena_strndup(a, name, (size_t)(slash - name)), &share, e);
    if (rc < 0)
        return -1;
    if (rc == 0 || share.state != SHARE_THERE)
        return not_there(e);
    if (may_read(z, a, &u, &account, &share, now_us, e) < 0)
        return -1;
    return find_bytes(z, a, &u, &share, slash + 1, out, e);
}
