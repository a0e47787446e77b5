/* SPDX-License-Identifier: MIT
 *
 * Signatures of the published set, which real clients made. Skipped where it is not at hand
 * (BATCHAID_STORAGE_DIR, default ../shared/storage).
 */
#include <jansson.h>
#include <unistd.h>

#include "test/unit/api/plane/storage/signed.h"
#include "test/unit/support/skip.h"

#define HEADERS_MAX 16

static json_t *load(void)
{
    char path[1024];
    const char *dir = getenv("BATCHAID_STORAGE_DIR");
    snprintf(path, sizeof path, "%s/signing-vectors.json", dir && *dir ? dir : "../shared/storage");
    return access(path, R_OK) == 0 ? json_load_file(path, 0, NULL) : NULL;
}

static const char *text(const json_t *vector, const char *name)
{
    const char *s = json_string_value(json_object_get(vector, name));
    if (!s)
        fail_msg("a vector has no %s", name);
    return s;
}

static void check(const json_t *vector, const struct strbuf *made, const char *sent)
{
    struct account_key k = key_of(text(vector, "key"));
    char signature[SIGNATURE_SIZE];
    if (strcmp(made->s, text(vector, "string_to_sign")) != 0)
        fail_msg("%s (%s):\n%s\ninstead of\n%s", text(vector, "kind"), text(vector, "client"),
                 made->s, text(vector, "string_to_sign"));
    signature_make(k.bytes, k.n, made->s, made->len, signature);
    assert_true(signature_equals(sent, signature));
}

static void check_request(const json_t *vector)
{
    struct named_value header[HEADERS_MAX];
    struct taken_apart t;
    struct strbuf made = STRBUF_INIT;
    size_t n = 0;
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(vector, "headers"), name, value) {
        assert_true(n < HEADERS_MAX);
        header[n++] = (struct named_value){name, json_string_value(value)};
    }
    take_apart(text(vector, "method"), text(vector, "url"), header, n, &t);
    shared_key_text(&t.head, text(vector, "account"), SHARED_KEY, NAMES_AS_SERVICE, &t.arena,
                    &made);
    check(vector, &made, strchr(text(vector, "authorization"), ':') + 1);
    strbuf_free(&made);
    arena_free(&t.arena);
}

/* The path that the text names: what was granted is not in the query. */
static const char *granted_path(struct arena *a, const json_t *vector, enum sas_service *service)
{
    const char *line = strstr(text(vector, "string_to_sign"), "\n/");
    *service = line && strncmp(line, "\n/file", 6) == 0 ? SAS_FILE : SAS_BLOB;
    if (!line)
        return "";
    line = strchr(strchr(line + 2, '/') + 1, '/'); /* after the service and the account */
    return arena_strndup(a, line, (size_t)(strchrnul(line, '\n') - line));
}

static void check_grant(const json_t *vector)
{
    struct arena a;
    struct named_value query[PARAMETERS_MAX];
    struct strbuf made = STRBUF_INIT;
    enum sas_service service;
    struct sas s;
    struct err e;
    arena_init(&a);
    assert_int_equal(sas_read(query, take_query(&a, text(vector, "query"), query), &s, &e), 1);
    const char *path = granted_path(&a, vector, &service);
    sas_text(&s, service, text(vector, "account"), path, &a, &made);
    check(vector, &made, s.field[SAS_SIGNATURE]);
    strbuf_free(&made);
    arena_free(&a);
}

TEST(every_published_signature_is_found_again)
{
    size_t i;
    json_t *vector, *all = load();
    if (!all)
        skip_because("the published signatures are not at hand");
    assert_true(json_array_size(all) >= 20);
    json_array_foreach(all, i, vector)
        (strcmp(text(vector, "kind"), "SharedKey") == 0 ? check_request : check_grant)(vector);
    json_decref(all);
}
