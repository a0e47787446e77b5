/* SPDX-License-Identifier: MIT
 *
 * What strangers send to be believed: shared access signatures and signed heads. The input is
 *
 *     METHOD PATH?QUERY
 *     Name: value
 *
 * What is read must be the same each time, and no signature that was not made with the key is one.
 */
#include "api/http/url.h"
#include "api/plane/storage/errors.h"
#include "api/plane/storage/sas.h"
#include "lib/timefmt.h"
#include "test/fuzz/fuzz.h"

#define PAIRS_MAX 40
#define NOW_US    1700000000000000

static const unsigned char key[] = "the key of an account";

static const char *decoded(struct arena *a, const char *s)
{
    const char *text = url_decode(a, s, strlen(s));
    return text ? text : s;
}

static size_t read_pairs(struct arena *a, char *text, const char *between, char sep,
                         struct named_value *out)
{
    size_t n = 0;
    for (char *one; text && n < PAIRS_MAX && (one = strsep(&text, between));) {
        char *value = strchr(one, sep);
        if (value)
            *value++ = '\0';
        out[n++] = (struct named_value){decoded(a, one), value ? decoded(a, value) : ""};
    }
    return n;
}

static void sign(struct arena *a, const struct sas *s, enum sas_service service, const char *path,
                 char out[SIGNATURE_SIZE])
{
    struct strbuf text = STRBUF_INIT;
    sas_text(s, service, "account", sas_path(s, path, a), a, &text);
    signature_make(key, sizeof key, text.s, text.len, out);
    strbuf_free(&text);
}

static void ask(struct arena *a, const struct sas *s, const char *path)
{
    static const char *const peers[] = {"127.0.0.1", "::1", "unknown", "10.0.0.255"};
    char made[SIGNATURE_SIZE], again[SIGNATURE_SIZE];
    for (int service = SAS_BLOB; service <= SAS_FILE; service++) {
        sign(a, s, (enum sas_service)service, path, made);
        sign(a, s, (enum sas_service)service, path, again);
        CLAIM(signature_equals(made, again));
        CLAIM(!signature_equals(s->field[SAS_SIGNATURE], made)); /* nobody has the key */
    }
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        struct err e = {0};
        struct sas_use use = {.now_us = NOW_US,
                              .peer = peers[i],
                              .https = i % 2,
                              .service = "bfqt"[i],
                              .resource_type = "sco"[i % 3],
                              .permissions = i ? "r" : ""};
        CLAIM(sas_check(s, &use, &e) == 0 || (e.code > AZSTORAGE_RANGE && e.msg[0]));
    }
}

static void compare(const struct named_value *v, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        for (int order = 0; order < NAME_ORDERS; order++) {
            int one = name_compare(v[i].name, v[i + 1].name, (enum name_order)order);
            int other = name_compare(v[i + 1].name, v[i].name, (enum name_order)order);
            CLAIM((one > 0) == (other < 0) && (one == 0) == (other == 0));
            CLAIM(one != 0 || strcmp(v[i].name, v[i + 1].name) == 0);
        }
}

static void sign_head(struct arena *a, const struct signed_head *h)
{
    for (int form = SHARED_KEY; form <= SHARED_KEY_LITE; form++)
        for (int order = 0; order < NAME_ORDERS; order++) {
            struct strbuf text = STRBUF_INIT;
            shared_key_text(h, "account", (enum shared_key_form)form, (enum name_order)order, a,
                            &text);
            CLAIM(text.len > strlen(h->method) + strlen(h->path));
            strbuf_free(&text);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    struct named_value query[PAIRS_MAX], header[PAIRS_MAX];
    struct arena a;
    struct sas s;
    struct err e = {0};
    arena_init(&a);
    char *first = next_line(&in), *path = strchrnul(first, ' '), *lines = NULL;
    if (*path)
        *path++ = '\0';
    char *end = strchrnul(path, '?');
    char *text = *end ? end + 1 : NULL;
    *end = '\0';
    size_t n_query = read_pairs(&a, text, "&", '=', query), n_headers = 0;
    while (in.p < in.end && n_headers < PAIRS_MAX) {
        lines = next_line(&in);
        char *copy = arena_strdup(&a, lines);
        free(lines);
        n_headers += read_pairs(&a, copy, "\n", ':', header + n_headers);
    }
    const char *asked = arena_printf(&a, "/%s", path);
    int found = sas_read(query, n_query, &s, &e);
    CLAIM(found >= 0 || e.msg[0]);
    if (found > 0)
        ask(&a, &s, asked);
    compare(header, n_headers);
    sign_head(&a, &(struct signed_head){first, asked, query, n_query, header, n_headers});
    arena_free(&a);
    free(first);
    return 0;
}
