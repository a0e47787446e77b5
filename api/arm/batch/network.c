/* SPDX-License-Identifier: MIT
 *
 * The network resources of a Batch account: the one endpoint that nodes need; the lists of private
 * endpoints and of detectors are empty.
 */
#include <stdlib.h>
#include <string.h>

#include "api/arm/batch/account.h"
#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"

static struct replied *empty_list(struct request *r)
{
    struct err e;
    struct batch_account b;
    return find_made_batch_account(r, &b, &e) < 0
               ? reply_err(r, &e)
               : reply_json(r, 200, json_pack("{s:[]}", "value"));
}

/* Replies that an item was not found: its list is always empty. */
static struct replied *not_there(struct request *r, const char *what, const char *param)
{
    struct err e;
    struct batch_account b;
    if (find_made_batch_account(r, &b, &e) == 0)
        err_set(&e, ERR_RESOURCE_NOT_FOUND, NULL, "The Batch account %s has no %s '%.100s'.",
                b.name, what, request_param(r, param));
    return reply_err(r, &e);
}

struct replied *batch_endpoints_list(struct request *r)
{
    struct err e;
    struct batch_account b;
    if (find_made_batch_account(r, &b, &e) < 0)
        return reply_err(r, &e);
    const char *domain = batch_account_endpoint(r, &b), *colon = strrchr(domain, ':');
    int port = colon ? (int)strtol(colon + 1, NULL, 10) : 443;
    if (colon)
        domain = arena_strndup(&r->arena, domain, (size_t)(colon - domain));
    return reply_json(r, 200,
                      json_pack("{s:[{s:s, s:[{s:s, s:s, s:[{s:i}]}]}]}", "value", "category",
                                "Azure Batch", "endpoints", "domainName", domain, "description",
                                "For tasks that call the Batch service themselves.",
                                "endpointDetails", "port", port));
}

struct replied *batch_detectors_list(struct request *r)
{
    return empty_list(r);
}

struct replied *batch_detectors_get(struct request *r)
{
    return not_there(r, "detector", "detector");
}

struct replied *batch_private_connections_list(struct request *r)
{
    return empty_list(r);
}

struct replied *batch_private_connections_get(struct request *r)
{
    return not_there(r, "private endpoint connection", "connection");
}

struct replied *batch_private_connections_change(struct request *r)
{
    return batch_private_connections_get(r);
}

struct replied *batch_private_links_list(struct request *r)
{
    return empty_list(r);
}

struct replied *batch_private_links_get(struct request *r)
{
    return not_there(r, "private link resource", "resource");
}
