/* SPDX-License-Identifier: MIT */
#include "daemon/batch_blobs.h"

#include "api/azstorage/storage_url.h"

static int open_blob(void *ctx, struct arena *a, const char *url, int64_t now_us,
                     struct file_place *out, struct err *e)
{
    return storage_url_open(ctx, a, url, now_us, out, e);
}

static int open_all(void *ctx, struct arena *a, const char *url, int64_t now_us,
                    const char **folder, struct err *e)
{
    return storage_url_open_all(ctx, a, url, now_us, folder, e);
}

static int home(void *ctx, struct arena *a, const char *url, const char **out, struct err *e)
{
    return storage_url_home(ctx, a, url, out, e);
}

static int writable(void *ctx, struct arena *a, const char *account, const char *container,
                    int64_t now_us, const char **url, struct err *e)
{
    return storage_container_url(ctx, a, account, container, now_us, url, e);
}

static int folder(void *ctx, struct arena *a, const char *account, const char *container,
                  const char **out, struct err *e)
{
    return storage_container_folder(ctx, a, account, container, out, e);
}

struct batch_blobs batch_blobs_of(struct azstorage *z)
{
    return (struct batch_blobs){open_blob, open_all, home, writable, folder, z};
}
