/* SPDX-License-Identifier: MIT
 *
 * Tokens: what was signed is read again, and nothing else is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/jwt.h"
#include "lib/arena.h"

#define NOW_US INT64_C(1528406940000000)

static const uint8_t key[JWT_KEY_BYTES] = {"a key of thirty-two bytes, almos"};

/* The texts of RFC 7515, A.1.1, signed with the key above by Python's hmac; then with a header that
 * names another algorithm, one that is no object, and claims that are none. */
#define HEADER "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
#define CLAIMS                                                                                     \
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl" \
    "fQ"
static const char of_others[] = HEADER "." CLAIMS ".htMITS2NoZ6XgIJp8HHe0sT4tiuO73vWqm1ChNzipGU";
static const char hs512[] =
    "eyJhbGciOiJIUzUxMiJ9." CLAIMS ".b8UY8p9D7vEiaqwbIPUgwmKawE-Kr79NHqQkjUlVals";
static const char odd_header[] = "W10." CLAIMS ".i7zlLe55PSdIINkd7Z7y644tnbV--GqwMIYYdQnjWEU";
static const char odd_claims[] = HEADER ".WyJpc3MiXQ.-Or0EGz8MtDb2YUc3OIE6y-RFQIqKP6CD4U6uVwczzI";

static char *sample(void)
{
    json_t *claims = jwt_begin("us", "them", "an id", NOW_US, 3600);
    jwt_add(claims, "name", "J\xc3\xbcrgen \"J\" ?>");
    jwt_add(claims, "nothing", NULL);
    jwt_add(claims, "broken", "\xff\xfe");
    char *token = jwt_sign(claims, key);
    json_decref(claims);
    return token;
}

static void test_what_was_signed_is_read(void **state)
{
    (void)state;
    char *token = sample();
    json_t *c = jwt_claims(token, key);
    assert_non_null(c);
    assert_string_equal(jwt_text(c, "iss"), "us");
    assert_string_equal(jwt_text(c, "aud"), "them");
    assert_string_equal(jwt_text(c, "sub"), "an id");
    assert_string_equal(jwt_text(c, "oid"), "an id");
    assert_string_equal(jwt_text(c, "name"), "J\xc3\xbcrgen \"J\" ?>");
    assert_int_equal(jwt_number(c, "iat"), NOW_US / 1000000);
    assert_int_equal(jwt_number(c, "nbf"), NOW_US / 1000000);
    assert_int_equal(jwt_number(c, "exp"), NOW_US / 1000000 + 3600);
    assert_null(json_object_get(c, "nothing"));
    assert_null(json_object_get(c, "broken"));
    assert_null(jwt_text(c, "exp"));
    assert_int_equal(jwt_number(c, "iss"), 0);
    json_decref(c);
    assert_null(strpbrk(token, "+/=")); /* as it stands in URLs */
    free(token);
}

static void test_tokens_that_others_made_with_the_key(void **state)
{
    (void)state;
    json_t *c = jwt_claims(of_others, key);
    assert_non_null(c);
    assert_string_equal(jwt_text(c, "iss"), "joe");
    assert_int_equal(jwt_number(c, "exp"), 1300819380);
    json_decref(c);
}

static void test_no_byte_can_be_changed(void **state)
{
    (void)state;
    char *token = sample();
    for (size_t i = 0; token[i]; i++) {
        char was = token[i];
        token[i] = was == 'A' ? 'B' : 'A';
        json_t *c = jwt_claims(token, key);
        if (c)
            fail_msg("byte %zu of %s", i, token);
        token[i] = was;
    }
    free(token);
}

static void test_another_key_opens_nothing(void **state)
{
    (void)state;
    static const uint8_t other[JWT_KEY_BYTES] = "another";
    char *token = sample();
    assert_null(jwt_claims(token, other));
    free(token);
}

static void test_what_is_cut_or_no_token_is_none(void **state)
{
    (void)state;
    static const char *const none[] = {"",      ".",        "..",      "...",
                                       "a.b.c", "a.b.c.d",  "a b.c.d", HEADER "." CLAIMS ".",
                                       hs512,   odd_header, odd_claims};
    char *token = sample();
    for (size_t n = 0; n < strlen(token); n++) {
        char *cut = xstrdup(token);
        cut[n] = '\0';
        assert_null(jwt_claims(cut, key));
        free(cut);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_null(jwt_claims(none[i], key));
    char more[1000];
    snprintf(more, sizeof more, "%s.", token);
    assert_null(jwt_claims(more, key));
    free(token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_signed_is_read),
        cmocka_unit_test(test_tokens_that_others_made_with_the_key),
        cmocka_unit_test(test_no_byte_can_be_changed),
        cmocka_unit_test(test_another_key_opens_nothing),
        cmocka_unit_test(test_what_is_cut_or_no_token_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
