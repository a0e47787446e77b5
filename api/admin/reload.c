/* SPDX-License-Identifier: MIT
 *
 * The HTTPS route that makes the daemon read its configuration again. `batchaid reload` is the
 * client.
 */
#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/http/request.h"

static void reply_reloaded(void *ctx, const json_t *changed, const struct err *why)
{
    struct request *r = ctx;
    struct err e;
    if (!why) {
        request_finish(r, reply_json(r, 200, json_deep_copy(changed)));
        return;
    }
    e = *why;
    if (e.code == ERR_CONFIG) /* the request is right, the file is not */
        err_set(&e, ERR_CONFLICT, NULL, "Nothing has changed: %s", why->msg);
    request_finish(r, reply_err(r, &e));
}

struct replied *configuration_reload(struct request *r)
{
    const struct admin_reload *reload = &admin_of(r)->reload;
    reload->ask(reload->of, reply_reloaded, r);
    return reply_later(r);
}
