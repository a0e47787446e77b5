/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"

#define SECRET_BYTES 20
static_assert(2 * SECRET_BYTES < ACCESS_SECRET_SIZE, "it fits");
static_assert(crypto_pwhash_STRBYTES <= ACCESS_HASH_SIZE, "it fits");

/* Less memory than libsodium's "interactive" setting, because many clients may log in at once. It
 * is enough, because most secrets are random. */
#define PASSES 2
#define MEMORY (16 * 1024 * 1024)

void access_make_secret(char out[ACCESS_SECRET_SIZE])
{
    unsigned char bytes[SECRET_BYTES];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(out, ACCESS_SECRET_SIZE, bytes, sizeof bytes);
    sodium_memzero(bytes, sizeof bytes);
}

/* Runs on a thread: hashes the secret, or finds the hash that it matches. */
static void work(void *ctx)
{
    struct secret_work *w = ctx;
    size_t len = strlen(w->secret);
    if (w->n == 0 && crypto_pwhash_str(w->hash, w->secret, len, PASSES, MEMORY) != 0)
        abort(); /* out of memory */
    for (w->fits = 0; w->fits < w->n; w->fits++)
        if (crypto_pwhash_str_verify(w->hashes[w->fits], w->secret, len) == 0)
            break;
}

static int unavailable(struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, NULL,
                   "Too many logins are being checked at the moment; try again.");
}

/* Whether the sender of a new secret still has the right to the request. The right may have ended,
 * or the sender may have been removed, while the request waited for the hash. */
static int check_again(const struct secret_work *w, struct err *e)
{
    struct request *r = w->r;
    bool is_new = w->n == 0 && r->service->may && !(r->route->flags & ROUTE_OPEN);
    return is_new ? r->service->may(r, e) : 0;
}

static void worked(void *ctx, enum loop_work_end end)
{
    struct secret_work *w = ctx;
    struct err e;
    int rc = end == LOOP_WORK_DROPPED ? unavailable(&e) : check_again(w, &e);
    w->done(w, rc < 0 ? &e : NULL);
}

int access_work(const struct access *x, struct secret_work *w, struct err *e)
{
    return loop_work(x->lane, work, worked, w) ? 0 : unavailable(e);
}
