/* SPDX-License-Identifier: MIT */
#include "api/http/auth.h"

#include <assert.h>
#include <jwt.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/audience.h"
#include "api/http/http_priv.h"

#define US_PER_S        1000000LL
#define TOKEN_KEY_BYTES 32

/* A token may seem to be from the near future if the clock was set back a little. */
#define CLOCK_SKEW_US (300 * US_PER_S)

/* Verified tokens, replaced round-robin. 32 clients at once is plenty; a miss costs 30 us. */
#define CACHE_SLOTS      32
#define TOKEN_HASH_BYTES 32
static_assert(TOKEN_HASH_BYTES >= crypto_generichash_BYTES_MIN &&
                  TOKEN_HASH_BYTES <= crypto_generichash_BYTES_MAX,
              "a length that the hash has");

struct cached_token {
    unsigned char hash[TOKEN_HASH_BYTES];
    int64_t expires_us; /* 0: empty */
    unsigned audience;
    struct principal who;
};

struct token_cache {
    struct cached_token slot[CACHE_SLOTS];
    unsigned next;
};

struct token_cache *token_cache_create(void)
{
    return xcalloc(1, sizeof(struct token_cache));
}

void token_cache_destroy(struct token_cache *cache)
{
    free(cache);
}

static const struct cached_token *cache_find(const struct token_cache *cache,
                                             const unsigned char *hash, int64_t now_us)
{
    for (int i = 0; i < CACHE_SLOTS; i++)
        if (cache->slot[i].expires_us > now_us &&
            memcmp(cache->slot[i].hash, hash, TOKEN_HASH_BYTES) == 0)
            return &cache->slot[i];
    return NULL;
}

static const struct cached_token *cache_add(struct token_cache *cache, const struct cached_token *t)
{
    struct cached_token *slot = &cache->slot[cache->next++ % CACHE_SLOTS];
    *slot = *t;
    return slot;
}

void auth_forget(struct request *r, const char *object_id)
{
    struct token_cache *cache = r->api->tokens;
    for (int i = 0; i < CACHE_SLOTS; i++)
        if (strcasecmp(cache->slot[i].who.object_id, object_id) == 0)
            cache->slot[i].expires_us = 0;
}

char *auth_issue(const struct api_config *c, const struct principal *who, const char *client_id,
                 const char *audience, int64_t now_us, int *lifetime_s)
{
    jwt_t *jwt;
    if (jwt_new(&jwt) != 0)
        abort();
    long now = (long)(now_us / US_PER_S);
    jwt_add_grant(jwt, "aud", audience);
    jwt_add_grant(jwt, "iss", "batchaid");
    jwt_add_grant(jwt, "appid", client_id);
    jwt_add_grant(jwt, "sub", who->object_id);
    jwt_add_grant(jwt, "oid", who->object_id);
    if (who->kind == PRINCIPAL_USER)
        jwt_add_grant(jwt, "upn", who->name);
    jwt_add_grant(jwt, "tid", "adfs");
    jwt_add_grant_int(jwt, "iat", now);
    jwt_add_grant_int(jwt, "nbf", now);
    jwt_add_grant_int(jwt, "exp", now + c->token_lifetime_s);
    jwt_set_alg(jwt, JWT_ALG_HS256, c->token_key, TOKEN_KEY_BYTES);
    char *text = jwt_encode_str(jwt);
    jwt_free(jwt);
    if (!text)
        abort();
    *lifetime_s = c->token_lifetime_s;
    return text;
}

static int bad_token(struct err *e, const char *why)
{
    return err_set(e, ERR_INVALID_TOKEN, NULL,
                   "The access token is invalid: %s. Get one from the token endpoint "
                   "('batchaid az-login' does for az).",
                   why);
}

/* The instant of a claim in seconds; 0 if it is missing or out of range. */
static int64_t instant_of(jwt_t *jwt, const char *claim)
{
    int64_t s = (int64_t)jwt_get_grant_int(jwt, claim);
    return s > 0 && s < INT64_MAX / US_PER_S ? s * US_PER_S : 0;
}

static int check_times(int64_t begins_us, int64_t expires_us, int64_t now_us, struct err *e)
{
    if (begins_us > now_us + CLOCK_SKEW_US)
        return bad_token(e, "it is not valid yet");
    if (expires_us > now_us)
        return 0;
    char when[TIMEFMT_SIZE];
    timefmt_seconds(expires_us, when);
    return err_set(e, ERR_EXPIRED_TOKEN, NULL,
                   "The access token expired at %s. Get a new one from the token endpoint.", when);
}

/* Whose it is, if that is still somebody. */
static int check_owner(struct request *r, const char *object_id, struct principal *who,
                       struct err *e)
{
    const struct directory *d = r->config->directory;
    int rc = object_id ? d->find(d->ctx, object_id, who, e) : 0;
    return rc == 0 ? bad_token(e, "whom it was issued to is not known here (any more)") : rc;
}

/* Signature, issuer, times and owner of one token. */
static int verify(struct request *r, const char *token, struct cached_token *out, struct err *e)
{
    jwt_t *jwt = NULL;
    if (jwt_decode(&jwt, token, r->config->token_key, TOKEN_KEY_BYTES) != 0 || !jwt)
        return bad_token(e, "it is malformed or was not signed by this daemon");
    /* Unsigned tokens decode too, so the algorithm must be checked. */
    const char *issuer = jwt_get_grant(jwt, "iss");
    bool ours = jwt_get_alg(jwt) == JWT_ALG_HS256 && issuer && strcmp(issuer, "batchaid") == 0;
    out->expires_us = instant_of(jwt, "exp");
    out->audience = audience_find(r, jwt_get_grant(jwt, "aud"));
    int rc = !ours ? bad_token(e, "it was not signed by this daemon")
                   : check_times(instant_of(jwt, "nbf"), out->expires_us, r->now_us, e);
    if (rc == 0)
        rc = check_owner(r, jwt_get_grant(jwt, "oid"), &out->who, e);
    jwt_free(jwt);
    return rc < 0 ? -1 : 0;
}

/* The text behind "Bearer"; NULL: there is none. */
static const char *bearer_of(const struct request *r, struct err *e)
{
    const char *header = request_header(r, "Authorization");
    if (header && strncasecmp(header, "Bearer ", 7) == 0)
        return header + 7;
    size_t scheme = header ? strcspn(header, " ") : 0;
    if (header)
        err_set(e, ERR_NO_TOKEN, NULL,
                "Authentication failed. The 'Authorization' header uses the scheme '%.*s'; only "
                "Bearer is accepted.",
                (int)(scheme < 40 ? scheme : 40), header);
    else
        err_set(e, ERR_NO_TOKEN, NULL,
                "Authentication failed. The 'Authorization' header is missing; it must be "
                "'Bearer <access token>'.");
    return NULL;
}

int auth_check(struct request *r, struct err *e)
{
    const char *token = bearer_of(r, e);
    if (!token)
        return -1;
    struct cached_token fresh;
    crypto_generichash(fresh.hash, sizeof fresh.hash, (const unsigned char *)token, strlen(token),
                       NULL, 0);
    const struct cached_token *t = cache_find(r->api->tokens, fresh.hash, r->now_us);
    if (!t && verify(r, token, &fresh, e) < 0)
        return -1;
    if (!((t ? t : &fresh)->audience & r->service->audiences))
        return bad_token(e, "it was issued for another audience");
    if (!t)
        t = cache_add(r->api->tokens, &fresh);
    /* A copy, because the slot may get another token while the request is under way. */
    r->who = memcpy(arena_alloc(&r->arena, sizeof t->who), &t->who, sizeof t->who);
    return 0;
}
