/* SPDX-License-Identifier: MIT */
#include "api/http/jwt.h"

#include <assert.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

#define US_PER_S INT64_C(1000000)
#define BASE64   sodium_base64_VARIANT_URLSAFE_NO_PADDING

static_assert(JWT_KEY_BYTES == crypto_auth_hmacsha256_KEYBYTES, "the length of the key");

enum { PARTS = 3 }; /* header, claims, signature, with dots between them */

/* --- signing -------------------------------------------------------------------------------- */

static void add_part(struct strbuf *b, const void *bytes, size_t n)
{
    size_t room = sodium_base64_ENCODED_LEN(n, BASE64);
    char *text = xcalloc(room, 1);
    sodium_bin2base64(text, room, bytes, n, BASE64);
    strbuf_puts(b, text);
    free(text);
}

void jwt_add(json_t *claims, const char *name, const char *value)
{
    json_object_set_new(claims, name, json_string(value));
}

json_t *jwt_begin(const char *issuer, const char *audience, const char *object_id, int64_t now_us,
                  int64_t lifetime_s)
{
    json_int_t now = now_us / US_PER_S;
    json_t *claims = json_pack("{s:I, s:I, s:I}", "iat", now, "nbf", now, "exp", now + lifetime_s);
    if (!claims)
        abort();
    jwt_add(claims, "iss", issuer);
    jwt_add(claims, "aud", audience);
    jwt_add(claims, "sub", object_id);
    jwt_add(claims, "oid", object_id);
    return claims;
}

char *jwt_sign(const json_t *claims, const uint8_t key[JWT_KEY_BYTES])
{
    static const char header[] = "{\"alg\":\"HS256\",\"typ\":\"JWT\"}";
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    struct strbuf b = STRBUF_INIT;
    char *text = json_dumps(claims, JSON_COMPACT);
    if (!text)
        abort();
    add_part(&b, header, sizeof header - 1);
    strbuf_putc(&b, '.');
    add_part(&b, text, strlen(text));
    crypto_auth_hmacsha256(mac, (const unsigned char *)b.s, b.len, key);
    strbuf_putc(&b, '.');
    add_part(&b, mac, sizeof mac);
    free(text);
    return strbuf_take(&b);
}

/* --- reading -------------------------------------------------------------------------------- */

struct part {
    const char *text;
    size_t n;
};

/* False: there are not three of them. */
static bool split(const char *token, struct part parts[PARTS])
{
    for (int i = 0; i < PARTS; i++) {
        parts[i] = (struct part){token, strcspn(token, ".")};
        token += parts[i].n;
        if (*token != (i + 1 < PARTS ? '.' : '\0'))
            return false;
        token++;
    }
    return true;
}

/* Decodes a part into at most `max` bytes. */
static bool decode(struct part p, unsigned char *out, size_t max, size_t *n)
{
    return sodium_base642bin(out, max, p.text, p.n, NULL, n, NULL, BASE64) == 0;
}

static bool is_signed(const char *token, const struct part parts[PARTS],
                      const uint8_t key[JWT_KEY_BYTES])
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    size_t n;
    size_t signed_bytes = (size_t)(parts[2].text - 1 - token);
    return decode(parts[2], mac, sizeof mac, &n) && n == sizeof mac &&
           crypto_auth_hmacsha256_verify(mac, (const unsigned char *)token, signed_bytes, key) == 0;
}

/* Caller decrefs; NULL: it is none. */
static json_t *object_of(struct part p)
{
    unsigned char *bytes = xcalloc(p.n + 1, 1);
    size_t n;
    json_t *o = decode(p, bytes, p.n, &n) ? json_loadb((char *)bytes, n, 0, NULL) : NULL;
    free(bytes);
    if (json_is_object(o))
        return o;
    json_decref(o);
    return NULL;
}

json_t *jwt_claims(const char *token, const uint8_t key[JWT_KEY_BYTES])
{
    struct part parts[PARTS];
    if (!split(token, parts) || !is_signed(token, parts, key))
        return NULL;
    json_t *header = object_of(parts[0]);
    const char *algorithm = jwt_text(header, "alg");
    bool ours = algorithm && strcmp(algorithm, "HS256") == 0;
    json_decref(header);
    return ours ? object_of(parts[1]) : NULL;
}

const char *jwt_text(const json_t *claims, const char *name)
{
    return json_string_value(json_object_get(claims, name));
}

int64_t jwt_number(const json_t *claims, const char *name)
{
    return json_integer_value(json_object_get(claims, name));
}
