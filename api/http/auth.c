/* SPDX-License-Identifier: MIT */
#include "api/http/auth.h"

#include <assert.h>
#include <jwt.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static bool cache_has(const struct token_cache *cache, const unsigned char *hash, int64_t now_us)
{
    for (int i = 0; i < CACHE_SLOTS; i++)
        if (cache->slot[i].expires_us > now_us &&
            memcmp(cache->slot[i].hash, hash, TOKEN_HASH_BYTES) == 0)
            return true;
    return false;
}

static void cache_add(struct token_cache *cache, const unsigned char *hash, int64_t expires_us)
{
    struct cached_token *slot = &cache->slot[cache->next++ % CACHE_SLOTS];
    memcpy(slot->hash, hash, TOKEN_HASH_BYTES);
    slot->expires_us = expires_us;
}

char *auth_issue(const struct api_config *c, const char *client_id, const char *audience,
                 int64_t now_us, int *lifetime_s)
{
    jwt_t *jwt;
    if (jwt_new(&jwt) != 0)
        abort();
    long now = (long)(now_us / US_PER_S);
    jwt_add_grant(jwt, "aud", audience);
    jwt_add_grant(jwt, "iss", "batchaid");
    jwt_add_grant(jwt, "appid", client_id);
    jwt_add_grant(jwt, "sub", client_id);
    jwt_add_grant(jwt, "oid", client_id);
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

/* The audiences of clients that know only the public cloud. */
static const char *const arm_audiences[] = {"https://management.azure.com",
                                            "https://management.core.windows.net"};

/* `audience` is `base`, or something below it, over https or http. */
static bool is_below(const char *audience, const char *base)
{
    const char *a = strstr(audience, "://"), *b = strstr(base, "://");
    size_t n = strlen(b);
    return a && strncasecmp(a, b, n) == 0 && (a[n] == '\0' || a[n] == '/');
}

bool audience_served(struct request *r, const char *audience)
{
    if (!audience)
        return false;
    for (size_t i = 0; i < sizeof arm_audiences / sizeof arm_audiences[0]; i++)
        if (is_below(audience, arm_audiences[i]))
            return true;
    return is_below(audience, request_base(r)) || is_below(audience, r->api->endpoint);
}

/* The instant of a claim in seconds; 0 if it is missing or out of range. */
static int64_t instant_of(jwt_t *jwt, const char *claim)
{
    int64_t s = (int64_t)jwt_get_grant_int(jwt, claim);
    return s > 0 && s < INT64_MAX / US_PER_S ? s * US_PER_S : 0;
}

/* Signature, issuer, audience and times of one token. */
static int verify(struct request *r, const char *token, int64_t *expires_us, struct err *e)
{
    const struct api_config *c = r->config;
    int64_t now_us = r->now_us;
    jwt_t *jwt = NULL;
    if (jwt_decode(&jwt, token, c->token_key, TOKEN_KEY_BYTES) != 0 || !jwt)
        return bad_token(e, "it is malformed or was not signed by this daemon");
    /* Unsigned tokens decode too, so the algorithm must be checked. */
    const char *issuer = jwt_get_grant(jwt, "iss");
    bool ours = jwt_get_alg(jwt) == JWT_ALG_HS256 && issuer && strcmp(issuer, "batchaid") == 0;
    bool for_us = audience_served(r, jwt_get_grant(jwt, "aud"));
    int64_t begins_us = instant_of(jwt, "nbf");
    *expires_us = instant_of(jwt, "exp");
    jwt_free(jwt);
    if (!ours)
        return bad_token(e, "it was not signed by this daemon");
    if (!for_us)
        return bad_token(e, "it was issued for another audience");
    if (begins_us > now_us + CLOCK_SKEW_US)
        return bad_token(e, "it is not valid yet");
    if (*expires_us > now_us)
        return 0;
    char when[TIMEFMT_SIZE];
    timefmt_seconds(*expires_us, when);
    return err_set(e, ERR_EXPIRED_TOKEN, NULL,
                   "The access token expired at %s. Get a new one from the token endpoint.", when);
}

int auth_check(struct request *r, struct err *e)
{
    const char *header = request_header(r, "Authorization");
    if (!header)
        return err_set(e, ERR_NO_TOKEN, NULL,
                       "Authentication failed. The 'Authorization' header is missing; it must be "
                       "'Bearer <access token>'.");
    size_t scheme = strcspn(header, " ");
    if (strncasecmp(header, "Bearer ", 7) != 0)
        return err_set(e, ERR_NO_TOKEN, NULL,
                       "Authentication failed. The 'Authorization' header uses the scheme "
                       "'%.*s'; only Bearer is accepted.",
                       (int)(scheme < 40 ? scheme : 40), header);
    const char *token = header + 7;
    unsigned char hash[TOKEN_HASH_BYTES];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)token, strlen(token), NULL, 0);
    if (cache_has(r->api->tokens, hash, r->now_us))
        return 0;
    int64_t expires_us = 0;
    if (verify(r, token, &expires_us, e) < 0)
        return -1;
    cache_add(r->api->tokens, hash, expires_us);
    return 0;
}
