/* SPDX-License-Identifier: MIT
 *
 * The text that is signed with an account's key, made of any head. The input is
 *
 *     METHOD PATH
 *     Authorization, as it was sent
 *     ?name=value            a parameter of the query, decoded
 *     Name: value            a header
 *
 * The text must not depend on the order in which headers and parameters came, nor on how names are
 * spelled; and heads that mean something else must not have the same text, so that no signature is
 * good for another request.
 */
#include <ctype.h>
#include <stdbool.h>
#include <strings.h>

#include "api/plane/storage/shared_key.h"
#include "test/fuzz/fuzz.h"

#define PAIRS_MAX 40

struct head {
    struct named_value query[PAIRS_MAX], header[PAIRS_MAX];
    size_t n_query, n_headers;
};

/* Texts of the lines, which `a` has. */
static void read_head(struct pieces *in, struct arena *a, struct head *h)
{
    while (in->p < in->end) {
        char *line = next_line(in), *text = arena_strdup(a, line);
        free(line);
        bool is_query = *text == '?';
        char *value = strchr(text, is_query ? '=' : ':');
        if (value)
            *value++ = '\0';
        struct named_value v = {is_query ? text + 1 : text, value ? value : ""};
        if (is_query && h->n_query < PAIRS_MAX)
            h->query[h->n_query++] = v;
        else if (!is_query && h->n_headers < PAIRS_MAX)
            h->header[h->n_headers++] = v;
    }
}

static struct strbuf text_of(const struct head *h, const char *method, const char *path,
                             enum shared_key_form form, enum name_order order, struct arena *a)
{
    struct strbuf out = STRBUF_INIT;
    const struct signed_head s = {method, path, h->query, h->n_query, h->header, h->n_headers};
    shared_key_text(&s, "account", form, order, a, &out);
    return out;
}

static bool is_same(const struct strbuf *a, const struct strbuf *b)
{
    return a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
}

static const char *upper(struct arena *a, const char *s)
{
    char *copy = arena_strdup(a, s);
    for (char *p = copy; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return copy;
}

static bool has_before(const struct named_value *v, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(v[i].name, name) == 0)
            return true;
    return false;
}

/* The other way round, with names in capitals. Of headers that were sent twice the first counts,
 * or both in their order, so these are left out. */
static void turn(struct head *h, struct arena *a, struct head *out)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n_headers; i++)
        if (!has_before(h->header, n, h->header[i].name))
            h->header[n++] = h->header[i];
    h->n_headers = n;
    *out = *h;
    for (size_t i = 0; i < n; i++)
        out->header[i] =
            (struct named_value){upper(a, h->header[n - 1 - i].name), h->header[n - 1 - i].value};
    for (size_t i = 0; i < h->n_query; i++)
        out->query[i] = h->query[h->n_query - 1 - i];
}

/* One more header of the service's, or another value, makes another text. */
static void compare_more(const struct head *h, const char *method, const char *path,
                         enum shared_key_form form, struct arena *a, const struct strbuf *text)
{
    struct head more = *h;
    if (more.n_headers == PAIRS_MAX || has_before(h->header, h->n_headers, "x-ms-one-more"))
        return;
    more.header[more.n_headers++] = (struct named_value){"x-ms-one-more", ""};
    struct strbuf other = text_of(&more, method, path, form, NAMES_AS_SERVICE, a);
    CLAIM(!is_same(text, &other));
    more.header[more.n_headers - 1].value = "x";
    struct strbuf third = text_of(&more, method, path, form, NAMES_AS_SERVICE, a);
    CLAIM(!is_same(&third, &other));
    strbuf_free(&other);
    strbuf_free(&third);
}

static void sign(struct head *h, const char *method, const char *path, struct arena *a)
{
    struct head turned;
    turn(h, a, &turned);
    for (int form = SHARED_KEY; form <= SHARED_KEY_LITE; form++) {
        for (int order = 0; order < NAME_ORDERS; order++) {
            enum shared_key_form f = (enum shared_key_form)form;
            struct strbuf one = text_of(h, method, path, f, (enum name_order)order, a);
            struct strbuf other = text_of(&turned, method, path, f, (enum name_order)order, a);
            CLAIM(is_same(&one, &other));
            CLAIM(strncmp(one.s, method, strlen(method)) == 0);
            if (order == NAMES_AS_SERVICE)
                compare_more(h, method, path, f, a, &one);
            strbuf_free(&one);
            strbuf_free(&other);
        }
    }
}

static void read_authorization(const char *text, struct arena *a)
{
    struct signed_by by;
    int rc = shared_key_read(text, a, &by);
    tell("authorization", rc - 1, "is none");
    if (rc <= 0)
        return;
    CLAIM(!strchr(by.account, ':') && by.signature > text);
    CLAIM(strcmp(by.account, arena_lower(a, by.account)) == 0);
    CLAIM(by.signature[-1] == ':' && strlen(by.account) + strlen(by.signature) < strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    struct head h = {0};
    struct arena a;
    arena_init(&a);
    char *method = next_line(&in), *authorization = next_line(&in), *path = strchrnul(method, ' ');
    if (*path)
        *path++ = '\0';
    read_authorization(authorization, &a);
    read_head(&in, &a, &h);
    sign(&h, method, path, &a);
    arena_free(&a);
    free(method);
    free(authorization);
    return 0;
}
