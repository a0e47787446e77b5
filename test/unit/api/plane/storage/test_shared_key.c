/* SPDX-License-Identifier: MIT
 *
 * Signatures that clients made: azure-storage-blob 12.15 and azure-storage-file-share 12.11, with
 * an account "labdata" and the key below.
 */
#include "test/unit/api/plane/storage/signed.h"
#include "test/unit/support/arena_test.h"

#define KEY                                                                                        \
    "AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dzj6vH4/wYNFBsiKTA3PkVMU1phaG92fYSLkpmgp661vA=="
#define HEADERS_MAX 8

static const struct {
    const char *method, *url;
    struct named_value header[HEADERS_MAX];
    const char *signature;
} requests[] = {
    {"PUT",
     "https://labdata.blob.core.localhost:7443/models?restype=container",
     {{"x-ms-date", "Sun, 22 Nov 2026 08:00:00 GMT"},
      {"x-ms-version", "2021-06-08"},
      {"Content-Length", "0"}},
     "1ito3C/LNZgAfhtY1MWCgraU6dzY0NjxLFYcZwouexU="},
    {"GET",
     "https://labdata.file.core.localhost:7443/runs/d1%2Fa%20b%C3%A9.txt?prefix=x%20y&comp=list&"
     "include=",
     {{"x-ms-version", "2021-06-08"},
      {"x-ms-date", "Sun, 22 Nov 2026 08:00:00 GMT"},
      {"if-none-match", "\"0x9\""},
      {"X-Ms-Range", "bytes=0-9"},
      {"Accept", "*/*"}},
     "GFaoM9x4qxcmD/1Q3qq+F88Y+5Xx4yL5PDNOJF/NIVg="},
    {"PUT",
     "https://labdata.blob.core.localhost:7443/models/w.bin?comp=block&blockid=QUI9",
     {{"x-ms-date", "Sun, 22 Nov 2026 08:00:00 GMT"},
      {"x-ms-version", "2021-06-08"},
      {"Content-Length", "5"},
      {"Content-Type", "application/octet-stream"},
      {"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="},
      {"x-ms-client-request-id", "42"}},
     "YemP9TQ3GqI5qw3j8cjOKO9f6/UvfiezJYJbxiArhz0="},
};

static void text_of(const char *method, const char *url, const struct named_value *header,
                    enum shared_key_form form, enum name_order order, struct strbuf *out)
{
    struct taken_apart t;
    size_t n = 0;
    while (n < HEADERS_MAX && header[n].name)
        n++;
    take_apart(method, url, header, n, &t);
    shared_key_text(&t.head, "labdata", form, order, &t.arena, out);
    arena_free(&t.arena);
}

TEST(what_clients_signed_is_found_again)
{
    struct account_key k = key_of(KEY);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct strbuf text = STRBUF_INIT;
        char made[SIGNATURE_SIZE];
        text_of(requests[i].method, requests[i].url, requests[i].header, SHARED_KEY,
                NAMES_AS_SERVICE, &text);
        signature_make(k.bytes, k.n, text.s, text.len, made);
        assert_string_equal(made, requests[i].signature);
        strbuf_free(&text);
    }
}

TEST(one_character_off_is_another_signature)
{
    char made[SIGNATURE_SIZE], sent[SIGNATURE_SIZE + 1];
    signature_make((const unsigned char *)"k", 1, "some text", 9, made);
    assert_true(signature_equals(made, made));
    for (size_t i = 0; i < SIGNATURE_SIZE - 1; i++) {
        memcpy(sent, made, sizeof made);
        sent[i] = sent[i] == 'A' ? 'B' : 'A';
        assert_false(signature_equals(sent, made));
    }
    assert_false(signature_equals("", made));
    snprintf(sent, sizeof sent, "%s=", made);
    assert_false(signature_equals(sent, made));
}

TEST(an_unescaped_plus_is_taken_as_one)
{
    assert_true(signature_equals("sm5 DR9KaEh1nwwx8xyGSh4AKYLAwGcLkTVPpAvTkyw=",
                                 "sm5+DR9KaEh1nwwx8xyGSh4AKYLAwGcLkTVPpAvTkyw="));
}

#define HEAD "PUT\n\n\n"
#define URL  "https://labdata.blob.core.localhost/c1/a?comp=metadata"

static const struct {
    const char *why;
    struct named_value header[HEADERS_MAX];
    enum shared_key_form form;
    const char *text;
} texts[] = {
    {"a length of 0 before 2015-02-21",
     {{"x-ms-version", "2014-02-14"}, {"Content-Length", "0"}, {"Date", "today"}},
     SHARED_KEY,
     HEAD "0\n\n\ntoday\n\n\n\n\n\nx-ms-version:2014-02-14\n/labdata/c1/a\ncomp:metadata"},
    {"Date is not signed beside x-ms-date",
     {{"x-ms-date", "today"}, {"Date", "yesterday"}, {"Range", "bytes=0-"}},
     SHARED_KEY,
     HEAD "\n\n\n\n\n\n\n\nbytes=0-\nx-ms-date:today\n/labdata/c1/a\ncomp:metadata"},
    {"blanks around values, and a name twice",
     {{"x-ms-meta-k", "  two  words \t"}, {"X-MS-META-K", "again"}, {"x-ms-meta", "stray"}},
     SHARED_KEY,
     HEAD "\n\n\n\n\n\n\n\n\nx-ms-meta:stray\nx-ms-meta-k:two  words,again\n/labdata/c1/a\n"
          "comp:metadata"},
    {"the short form",
     {{"x-ms-date", "today"}, {"Content-Type", "text/x"}, {"Content-Length", "7"}},
     SHARED_KEY_LITE,
     "PUT\n\ntext/x\n\nx-ms-date:today\n/labdata/c1/a?comp=metadata"},
};

TEST(texts_are_as_documented)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct strbuf text = STRBUF_INIT;
        text_of("PUT", URL, texts[i].header, texts[i].form, NAMES_AS_SERVICE, &text);
        if (strcmp(text.s, texts[i].text) != 0)
            fail_msg("%s:\n%s\ninstead of\n%s", texts[i].why, text.s, texts[i].text);
        strbuf_free(&text);
    }
}

/* As the SDKs of Azure Batch sign: test names the one whose way it is. */
static const struct {
    const char *test, *method, *url;
    struct named_value header[HEADERS_MAX];
    struct batch_signing how;
    const char *text;
} batch_texts[] = {
    {"as documented",
     "POST",
     "https://a.eastus.batch.localhost:7443/pools/p%2F1/resize?timeOut=30&api-version=1&x=",
     {{"ocp-date", "today"},
      {"Date", "yesterday"},
      {"Content-Length", "2"},
      {"Content-Type", "application/json; odata=minimalmetadata; charset=utf-8"},
      {"OCP-Range", "bytes=0-1"},
      {"If-Match", "0x1"}},
     {false, false, NULL},
     "POST\n\n\n2\n\napplication/json; odata=minimalmetadata; charset=utf-8\n\n\n0x1\n\n\n\n"
     "ocp-date:today\nocp-range:bytes=0-1\n/a/pools/p%2F1/resize\n"
     "api-version:1\ntimeout:30\nx:"},
    {"Python: names as sent, none without a value, a length of 0",
     "DELETE",
     "https://a.eastus.batch.localhost/jobs/j?timeOut=30&api-version=1&x=",
     {{"ocp-date", "today"}},
     {true, true, "0"},
     "DELETE\n\n\n0\n\n\n\n\n\n\n\n\nocp-date:today\n/a/jobs/j\napi-version:1\ntimeOut:30"},
    {"Date counts if it is alone",
     "GET",
     "https://a.eastus.batch.localhost/pools?api-version=1",
     {{"Date", "today"}},
     {false, false, ""},
     "GET\n\n\n\n\n\ntoday\n\n\n\n\n\n/a/pools\napi-version:1"},
};

TEST(texts_of_batch_are_as_clients_sign_them)
{
    for (size_t i = 0; i < sizeof batch_texts / sizeof batch_texts[0]; i++) {
        struct taken_apart t;
        struct strbuf text = STRBUF_INIT;
        size_t n = 0;
        while (n < HEADERS_MAX && batch_texts[i].header[n].name)
            n++;
        take_apart(batch_texts[i].method, batch_texts[i].url, batch_texts[i].header, n, &t);
        shared_key_batch_text(&t.head, "a", &batch_texts[i].how, &t.arena, &text);
        if (strcmp(text.s, batch_texts[i].text) != 0)
            fail_msg("%s:\n%s\ninstead of\n%s", batch_texts[i].test, text.s, batch_texts[i].text);
        strbuf_free(&text);
        arena_free(&t.arena);
    }
}

TEST(a_parameter_that_comes_twice_is_signed_once)
{
    struct strbuf text = STRBUF_INIT;
    text_of("GET", "http://127.0.0.1/labdata?B=2&a=&b=1&c", (struct named_value[HEADERS_MAX]){{0}},
            SHARED_KEY, NAMES_BY_BYTE, &text);
    assert_string_equal(text.s, "GET\n\n\n\n\n\n\n\n\n\n\n\n/labdata/labdata\na:\nb:1,2\nc:");
    strbuf_free(&text);
}

TEST(orders_differ_in_hyphen_and_underscore_only)
{
    static const struct {
        enum name_order order;
        const char *names[5];
    } sorted[NAME_ORDERS] = {
        {NAMES_AS_SERVICE, {"m-a_b", "m-a1", "m-ab", "m-a-b", "m-abc"}},
        {NAMES_BY_BYTE, {"m-a-b", "m-a1", "m-a_b", "m-ab", "m-abc"}},
        {NAMES_AS_ICU, {"m-a_b", "m-a-b", "m-a1", "m-ab", "m-abc"}},
    };
    for (size_t i = 0; i < NAME_ORDERS; i++)
        for (int a = 0; a < 5; a++)
            for (int b = 0; b < 5; b++) {
                int found = name_compare(sorted[i].names[a], sorted[i].names[b], sorted[i].order);
                assert_int_equal((found > 0) - (found < 0), (a > b) - (a < b));
            }
}

static const struct {
    const char *text;
    int rc;
    struct signed_by by;
} authorizations[] = {
    {"SharedKey Acct:sig", 1, {SHARED_KEY, "acct", "sig"}},
    {"sharedkeylite acct:s:g=", 1, {SHARED_KEY_LITE, "acct", "s:g="}},
    {"SharedKey :", 1, {SHARED_KEY, "", ""}},
    {"SharedKey acct", -1, {0}},
    {"SharedKeyLite ", -1, {0}},
    {"SharedKey", 0, {0}},
    {"Bearer a:b", 0, {0}},
    {"", 0, {0}},
};

ARENA_TEST(who_has_signed_is_read)
{
    for (size_t i = 0; i < sizeof authorizations / sizeof authorizations[0]; i++) {
        struct signed_by by;
        assert_int_equal(shared_key_read(authorizations[i].text, a, &by), authorizations[i].rc);
        if (authorizations[i].rc <= 0)
            continue;
        assert_int_equal(by.form, authorizations[i].by.form);
        assert_string_equal(by.account, authorizations[i].by.account);
        assert_string_equal(by.signature, authorizations[i].by.signature);
    }
}
