/* SPDX-License-Identifier: MIT */
#include "daemon/serve/listens.h"

#include <stdlib.h>

#include "api/plane/blob/azblob.h"
#include "api/plane/file/azfiles.h"
#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/devstore.h"
#include "lib/arena.h"

static enum api_http plain_http(const struct config *c, bool wanted)
{
    if (!c->http_serve && !wanted)
        return API_HTTP_NONE;
    return c->http_expose ? API_HTTP_ANY : API_HTTP_LOCAL;
}

static int add(const struct config *c, const struct config_list *list,
               const struct service *service, struct listens *out, struct err *e)
{
    for (size_t i = 0; i < list->n; i++) {
        struct api_listen *l = &out->item[out->n];
        *l = (struct api_listen){.host = out->host[out->n],
                                 .http = plain_http(c, service != NULL),
                                 .service = service ? service->name : NULL};
        if (config_parse_listen(list->items[i], out->host[out->n], &l->port, e) < 0)
            return -1;
        out->n++;
    }
    return 0;
}

int listens_make(const struct config *c, struct listens *out, struct err *e)
{
    size_t room = c->listen.n + c->blob_listen.n + c->file_listen.n + c->queue_listen.n;
    *out = (struct listens){.item = xcalloc(room, sizeof *out->item),
                            .host = xcalloc(room, sizeof *out->host)};
    if (add(c, &c->listen, NULL, out, e) == 0 &&
        add(c, &c->blob_listen, &azblob_service, out, e) == 0 &&
        add(c, &c->file_listen, &azfiles_service, out, e) == 0 &&
        add(c, &c->queue_listen, &unserved_service, out, e) == 0)
        return 0;
    listens_free(out);
    return -1;
}

void listens_free(struct listens *l)
{
    free(l->item);
    free(l->host);
    *l = (struct listens){0};
}

int listens_open_storage(const struct listens *l, struct storage *st, const struct config *c,
                         const struct credentials *who, int64_t now_us, struct err *e)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->item[i].service)
            return devstore_open(st, c->subscription_id, who->client_id, now_us, e);
    return 0;
}
