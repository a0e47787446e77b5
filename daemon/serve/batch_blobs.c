/* SPDX-License-Identifier: MIT */
#include "daemon/serve/batch_blobs.h"

#include "api/http/service.h"
#include "api/plane/storage/storage_url.h"
#include "daemon/serve/serve.h"

/* `rc` as of storage_url_open(). At a host of the daemon's own an account that it does not have is
 * none of somebody else's. */
static int known(const struct batch_blobs_source *s, struct arena *a, const char *url, int rc,
                 struct err *e)
{
    static const enum api_hosts kinds[] = {HOSTS_BLOB, HOSTS_FILE};
    struct storage_url u;
    if (rc != 0 || storage_url_split(a, url, NULL, SHARE_BLOBS, &u) < 0)
        return rc;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (host_is_one_of((const char *const *)s->hosts->of[kinds[i]], u.authority))
            return err_set(e, ERR_FILE_NOT_FOUND, NULL, "there is no storage account %.100s",
                           u.account);
    return 0;
}

static int open_blob(void *ctx, struct arena *a, const char *url, const char *owner, int64_t now_us,
                     struct file_place *out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return known(s, a, url, storage_url_open(&s->store, a, url, owner, now_us, out, e), e);
}

static struct batch_blob_folder container_of(const struct storage_container *c)
{
    return (struct batch_blob_folder){c->folder, c->aside, c->share_id};
}

static int open_all(void *ctx, struct arena *a, const char *url, const char *owner, int64_t now_us,
                    struct batch_blob_folder *out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    struct storage_container c;
    int rc = storage_url_open_all(&s->store, a, url, owner, now_us, &c, e);
    if (rc == 1)
        *out = container_of(&c);
    return known(s, a, url, rc, e);
}

static int home(void *ctx, struct arena *a, const char *url, const char **out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return known(s, a, url, storage_url_home(&s->store, a, url, out, e), e);
}

static int writable(void *ctx, struct arena *a, const char *account, const char *container,
                    int64_t now_us, const char **url, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    return storage_container_url(&s->store, a, account, container, now_us, url, e);
}

static int container(void *ctx, struct arena *a, const char *account, const char *name,
                     struct batch_blob_folder *out, struct err *e)
{
    const struct batch_blobs_source *s = ctx;
    struct storage_container c;
    int rc = storage_container_open(&s->store, a, account, name, &c, e);
    if (rc == 1)
        *out = container_of(&c);
    return rc;
}

struct batch_blobs_source batch_blobs_source_of(struct storage *st, const struct access *access,
                                                const struct serve_config *c,
                                                const struct hosts *hosts)
{
    return (struct batch_blobs_source){{.storage = st,
                                        .access = access,
                                        .storage_dir = c->state->storage,
                                        .token_key = c->credentials->token_key},
                                       hosts};
}

struct batch_blobs batch_blobs_of(struct batch_blobs_source *s)
{
    return (struct batch_blobs){open_blob, open_all, home, writable, container, s};
}
