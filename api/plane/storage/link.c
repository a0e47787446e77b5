/* SPDX-License-Identifier: MIT */
#include "api/plane/storage/link.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "api/http/url.h"
#include "api/plane/storage/errors.h"

#define LINK_VERSION     "2016-05-31" /* the sv that Azure wrote into such links */
#define LINK_PERMISSIONS "rl"
#define SIG_BYTES        crypto_auth_BYTES
#define SIG_SIZE         (SIG_BYTES * 4 / 3 + 8)

static const struct {
    const char *prefix, *sr; /* the beginning of the path; the value in the query */
} kinds[] = {
    [LINK_FILE] = {"files", "f"},
    [LINK_BLOB] = {"blobs", "b"},
    [LINK_NODE] = {"nodes", "n"},
};
static_assert(sizeof kinds / sizeof kinds[0] == LINK_NODE + 1, "a row a kind");
static_assert(SIG_SIZE >= sodium_base64_ENCODED_LEN(SIG_BYTES, sodium_base64_VARIANT_ORIGINAL),
              "a signature has room");

/* The parameters of a link; the signature covers all of them. */
struct link_grant {
    const char *sv, *sr, *sp, *se;
};

/* Signs the fields, separated by newlines. No two links have the same text: the kind determines the
 * number of fields, and only the path, which is last, may contain a newline. */
static void sign(const struct request *r, const struct file_ref *f, const struct link_grant *g,
                 char out[SIG_SIZE])
{
    struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "link\n%s\n%s\n%s\n%s\n", g->sv, g->sr, g->sp, g->se);
    for (int i = 0; i < LINK_SCOPE_MAX && f->scope[i]; i++)
        strbuf_printf(&text, "%s\n", f->scope[i]);
    strbuf_puts(&text, f->path);
    unsigned char mac[SIG_BYTES];
    crypto_auth(mac, (const unsigned char *)text.s, text.len, r->config->token_key);
    sodium_bin2base64(out, SIG_SIZE, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
    strbuf_free(&text);
}

const char *link_create(struct request *r, const struct file_ref *f, int64_t expires_us)
{
    char se[TIMEFMT_SIZE], sig[SIG_SIZE];
    timefmt_seconds(expires_us, se);
    struct link_grant g = {LINK_VERSION, kinds[f->kind].sr, LINK_PERMISSIONS, se};
    sign(r, f, &g, sig);
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s/%s/", request_base(r), kinds[f->kind].prefix);
    for (int i = 0; i < LINK_SCOPE_MAX && f->scope[i]; i++) {
        url_encode(&b, f->scope[i], 0);
        strbuf_putc(&b, '/');
    }
    url_encode(&b, f->path, 1);
    strbuf_printf(&b, "?sv=%s&sr=%s&sig=", LINK_VERSION, g.sr);
    url_encode(&b, sig, 0);
    strbuf_puts(&b, "&se=");
    url_encode(&b, se, 0);
    strbuf_printf(&b, "&sp=%s", g.sp);
    const char *url = arena_strdup(&r->arena, b.s);
    strbuf_free(&b);
    return url;
}

static bool equals(const char *given, const char *want)
{
    return given && strcmp(given, want) == 0;
}

int link_check(struct request *r, const struct file_ref *f, struct err *e)
{
    struct link_grant g = {LINK_VERSION, kinds[f->kind].sr, LINK_PERMISSIONS,
                           request_query(r, "se")};
    const char *given = request_query(r, "sig");
    char sig[SIG_SIZE];
    int64_t expires_us;
    if (!g.se || !given || timefmt_parse(g.se, &expires_us) < 0)
        return err_set(e, AZSTORAGE_LINK_EXPIRED, NULL,
                       "The link lacks a valid signature (sig, se). List the job's files again for "
                       "fresh links.");
    sign(r, f, &g, sig);
    if (!equals(request_query(r, "sv"), g.sv) || !equals(request_query(r, "sr"), g.sr) ||
        !equals(request_query(r, "sp"), g.sp) || strlen(given) != strlen(sig) ||
        sodium_memcmp(given, sig, strlen(sig)) != 0)
        return err_set(e, AZSTORAGE_LINK_EXPIRED, NULL,
                       "The link's signature does not match its target.");
    if (expires_us <= r->now_us)
        return err_set(e, AZSTORAGE_LINK_EXPIRED, NULL,
                       "The link expired at %s. List the job's files again for fresh links.", g.se);
    return 0;
}
