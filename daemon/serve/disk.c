/* SPDX-License-Identifier: MIT */
#include "daemon/serve/disk.h"

#include "storage/storage.h"

static bool has_pending(void *ctx)
{
    return st_has_pending(ctx);
}

static void when_durable(void *ctx, void (*cb)(void *cb_ctx, const struct err *why), void *cb_ctx)
{
    st_when_durable(ctx, cb, cb_ctx);
}

struct api_disk disk_of(struct storage *st)
{
    return (struct api_disk){has_pending, when_durable, st};
}
