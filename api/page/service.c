/* SPDX-License-Identifier: MIT
 *
 * GET / returns index.html, GET /page/HASH/NAME another file of this build (embed_page.py). A
 * browser requests index.html at each visit, and may cache the other files for ever. Files of
 * another build are not found; the error asks to load the page again. On the loop's thread; no
 * state.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "api/http/error.h"
#include "api/http/request.h"
#include "api/page/page.h"
#include "api/page/routes.h"

/* argument of inflateInit2(): the largest window, and 16 for a gzip header */
#define GZIP_WINDOW (15 + 16)

struct page_file {
    const char *name, *type;
    size_t bytes, packed_bytes;
    const unsigned char *packed;
};

#include "page_files.inc"

static const struct page_file *file_named(const char *name)
{
    for (size_t i = 0; i < sizeof page_files / sizeof *page_files; i++)
        if (strcmp(page_files[i].name, name) == 0)
            return &page_files[i];
    return NULL;
}

/* The caller frees the bytes. */
static unsigned char *unpacked(const struct page_file *f)
{
    unsigned char *bytes = malloc(f->bytes);
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)f->packed,
                  .avail_in = (unsigned)f->packed_bytes,
                  .next_out = bytes,
                  .avail_out = (unsigned)f->bytes};
    if (!bytes || inflateInit2(&z, GZIP_WINDOW) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    inflateEnd(&z);
    return bytes;
}

static struct replied *reply_file(struct request *r, const struct page_file *f)
{
    reply_header_text(r, "Vary", "Accept-Encoding");
    reply_header_text(r, "X-Content-Type-Options", "nosniff");
    if (!request_takes_gzip(r))
        return reply_bytes(r, 200, f->type, unpacked(f), f->bytes);
    reply_header_text(r, "Content-Encoding", "gzip");
    return reply_static(r, 200, f->type, f->packed, f->packed_bytes);
}

/* The browser runs scripts of this daemon only, connects to this daemon only, and refuses to show
 * the page in a frame. Images may be blobs or data URLs, because the page draws some itself. */
#define CONTENT_POLICY                                                                             \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self' blob: data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

static struct replied *page_get(struct request *r)
{
    reply_header_text(r, "Content-Security-Policy", CONTENT_POLICY);
    reply_header_text(r, "X-Frame-Options", "DENY");
    reply_header_text(r, "Referrer-Policy", "no-referrer");
    reply_header_text(r, "Cross-Origin-Opener-Policy", "same-origin");
    reply_header_text(r, "Cache-Control", "no-cache");
    return reply_file(r, file_named("index.html"));
}

static struct replied *page_file_get(struct request *r)
{
    struct err e;
    bool ours = strcmp(request_param(r, "hash"), PAGE_HASH) == 0;
    const struct page_file *f = ours ? file_named(request_param(r, "name")) : NULL;
    if (!f) {
        err_set(&e, ERR_ROUTE_NOT_FOUND, NULL,
                "The page has no file '%s' in the build '%s'; this daemon has the build '%s'. "
                "Load the page again.",
                request_param(r, "name"), request_param(r, "hash"), PAGE_HASH);
        return reply_err(r, &e);
    }
    reply_header_text(r, "Cache-Control", "public, max-age=31536000, immutable");
    return reply_file(r, f);
}

static const struct route routes[] = {
    {"GET", "/", 0, 0, page_get, "Page_Get"},
    {"GET", "/page/{hash}/{name}", 0, 0, page_file_get, "Page_GetFile"},
};

static const char *const paths[] = {"/", "/page/{rest*}", NULL};

const struct service page_service = {
    .name = "page",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .body_max = REQUEST_BODY_MAX,
    .words = http_words,
    .own_headers = true,
};
