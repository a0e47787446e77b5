/* SPDX-License-Identifier: MIT
 *
 * Requests of tests: a URL and headers as a client sends them, taken apart.
 */
#ifndef TEST_UNIT_AZSTORAGE_SIGNED_H
#define TEST_UNIT_AZSTORAGE_SIGNED_H

#include <sodium.h>
#include <string.h>

#include "api/http/url.h"
#include "api/plane/storage/sas.h"
#include "test/unit/support/tests.h"

#define PARAMETERS_MAX 40

struct taken_apart {
    struct arena arena;
    struct signed_head head;
    struct named_value query[PARAMETERS_MAX];
};

/* "a=b&c=d", decoded. */
static inline size_t take_query(struct arena *a, const char *text, struct named_value *out)
{
    size_t n = 0;
    while (*text) {
        const char *end = strchrnul(text, '&'), *equals = memchr(text, '=', (size_t)(end - text));
        const char *value = equals ? equals + 1 : end;
        size_t name = (size_t)((equals ? equals : end) - text);
        assert_true(n < PARAMETERS_MAX);
        out[n++] = (struct named_value){url_decode(a, text, name),
                                        url_decode(a, value, (size_t)(end - value))};
        text = *end ? end + 1 : end;
    }
    return n;
}

/* taken_apart's arena is the caller's to free. */
static inline void take_apart(const char *method, const char *url, const struct named_value *header,
                              size_t n_headers, struct taken_apart *t)
{
    arena_init(&t->arena);
    const char *path = strchrnul(strstr(url, "://") + 3, '/'), *query = strchrnul(path, '?');
    t->head = (struct signed_head){
        .method = method,
        .path = arena_strndup(&t->arena, path, (size_t)(query - path)),
        .query = t->query,
        .n_query = take_query(&t->arena, *query ? query + 1 : query, t->query),
        .header = header,
        .n_headers = n_headers,
    };
}

/* The key of an account, as its owner has it. */
struct account_key {
    unsigned char bytes[64];
    size_t n;
};

static inline struct account_key key_of(const char *base64)
{
    struct account_key k;
    assert_int_equal(sodium_base642bin(k.bytes, sizeof k.bytes, base64, strlen(base64), NULL, &k.n,
                                       NULL, sodium_base64_VARIANT_ORIGINAL),
                     0);
    return k;
}

#endif
