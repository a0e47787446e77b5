/* SPDX-License-Identifier: MIT */
#include "api/admin/page.h"
#include "api/arm/errors.h"
#include "lib/strbuf.h"

#define TITLE "batchaid " BATCHAID_VERSION

static const char text[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\"><title>" TITLE "</title></head><body>\n"
    "<h1>" TITLE "</h1>\n"
    "<p>A daemon answers here that serves the REST APIs of Azure Batch AI, Azure Batch, Azure "
    "Files "
    "and Blob,\nKey Vault secrets, and a directory with roles, on machines of its owner. It is not "
    "Azure.</p>\n"
    "<h2>Log in</h2>\n"
    "<p>On the daemon's own machine, in a shell:</p>\n"
    "<pre>eval \"$(batchaid env)\"\nbatchaid az-login\nbatchaid az group list</pre>\n"
    "<p>From another machine: the daemon's administrator runs <code>batchaid user add</code>, and "
    "<code>batchaid help env</code>\nsays how to get what clients need to know.</p>\n"
    "<h2>Docs</h2>\n"
    "<p>On the daemon's machine: <code>batchaid help</code>, <code>man batchaid</code>, and the "
    "folder of pages that\n<code>batchaid help</code> names in its last line.</p>\n"
    "</body></html>\n";

/* Nothing of another site's is loaded, and no other site shows the page in a frame. */
static struct replied *page_get(struct request *r)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, text);
    reply_header(r, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    reply_header(r, "X-Frame-Options", "DENY");
    reply_header(r, "Referrer-Policy", "no-referrer");
    return reply_text(r, 200, "text/html; charset=utf-8", strbuf_take(&b));
}

static const struct route routes[] = {
    {"GET", "/", 0, 0, page_get, "Page_Get"},
};

ERROR_TABLE(page_words, ARM_ERRORS, NO_OWN_ERRORS)

static const char *const paths[] = {"/", NULL};

const struct service page_service = {
    .name = "page",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .body_max = REQUEST_BODY_MAX,
    .words = page_words,
};
