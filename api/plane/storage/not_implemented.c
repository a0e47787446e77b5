/* SPDX-License-Identifier: MIT
 *
 * The services of a storage account that are not implemented: queues, tables, and the hierarchical
 * view of blobs. The reply to each request for their hosts is an error, in the form that clients of
 * these services can read.
 */
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/data_plane.h"
#include "api/plane/storage/xml_write.h"

#define CODE "NotImplemented"

/* The reply is the same for every kind of error. */
static struct error_words words(int kind)
{
    return kind < ERR_OWN ? (struct error_words){501, CODE, 0} : error_own(NULL, 0, kind);
}

static const char *message(struct request *r)
{
    static const struct {
        const char *label, *what;
    } services[] = {{".queue.", "queues"},
                    {".table.", "tables"},
                    {".dfs.", "the Data Lake's directories (dfs)"}};
    /* for a port of one service, whose host names no service */
    const char *what = "queues or tables";
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        if (strcasestr(r->host, services[i].label))
            what = services[i].what;
    return arena_printf(&r->arena,
                        "batchaid serves the blobs and files of storage accounts, not %s.\n"
                        "RequestId:%s",
                        what, r->request_id);
}

/* Whether this is a client of tables that expects OData's JSON. */
static bool wants_json(struct request *r)
{
    const char *accept = request_header(r, "Accept");
    return accept && strstr(accept, "application/json") && strcasestr(r->host, ".table.");
}

static struct replied *answer(struct request *r, struct error_words w, const struct err *e)
{
    (void)e;
    reply_header_text(r, "x-ms-error-code", w.code);
    if (strcmp(r->method, "HEAD") == 0)
        return reply_empty(r, w.status);
    if (wants_json(r))
        return reply_json(r, w.status,
                          json_pack("{s:{s:s, s:{s:s, s:s}}}", "odata.error", "code", w.code,
                                    "message", "lang", "en-US", "value", message(r)));
    struct strbuf b = STRBUF_INIT;
    xml_begin_document(&b);
    xml_open(&b, "Error");
    xml_element(&b, "Code", w.code);
    xml_element(&b, "Message", message(r));
    xml_close(&b, "Error");
    return reply_text(r, w.status, "application/xml", strbuf_take(&b));
}

const struct service unserved_service = {
    .name = "unserved",
    .deps = "azstorage",
    .versions = VERSIONS_NONE,
    .body_max = REQUEST_BODY_MAX,
    .words = words,
    .error = answer,
    .headers = plane_headers,
    .own_headers = true,
};
