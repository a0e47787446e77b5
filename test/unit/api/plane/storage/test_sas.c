/* SPDX-License-Identifier: MIT
 *
 * Shared access signatures that clients made: azure-storage-blob 12.15, azure-storage-file-share
 * 12.11 and azure.multiapi.storage of 2017-04-17 and 2018-11-09, with an account "labdata" and the
 * key below.
 */
#include "api/plane/storage/errors.h"
#include "lib/timefmt.h"
#include "test/unit/api/plane/storage/signed.h"
#include "test/unit/support/arena_test.h"

#define KEY                                                                                        \
    "AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dzj6vH4/wYNFBsiKTA3PkVMU1phaG92fYSLkpmgp661vA=="
#define DELEGATED_KEY "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="

static const struct {
    const char *why, *key;
    enum sas_service service;
    const char *path; /* of a request for what is granted */
    const char *query;
} granted[] = {
    {"a container", KEY, SAS_BLOB, "/models/d/w b.bin",
     "st=2026-11-01&se=2027-03-04T05%3A06%3A07Z&sp=rl&sv=2021-12-02&sr=c&sig="
     "eU7LZa4eHtjP0Z7yUdVWt6aQhII/zaxa2h6qxqj%2BMnY%3D"},
    {"a blob, an address, headers of the reply", KEY, SAS_BLOB, "/models/d/w b.bin",
     "se=2027-03-04T05%3A06Z&sp=rw&sip=10.1.2.3-10.1.2.9&spr=https&sv=2021-12-02&sr=b&rscc="
     "no-store&rsct=text/x&sig=emGnxJEejAJ3ahM3FE/Njkt6klCTpeJeDfrF7/dqYeU%3D"},
    {"a stored policy", KEY, SAS_BLOB, "/models",
     "sv=2021-12-02&si=weekly&sr=c&sig=Edtw6HJ170EtIKko6gK08kcKeOgVoy2dUvM1b/1VqMw%3D"},
    {"the account", KEY, SAS_BLOB, "/anything",
     "se=2027-03-04T05%3A06%3A07Z&sp=rwl&sv=2021-12-02&ss=b&srt=sco&sig="
     "9fB5sQMi5o1d475RSn9m%2BjLqzxUm/gSAP/kaIryevSE%3D"},
    {"a file", KEY, SAS_FILE, "/runs/d/o.txt",
     "se=2027-03-04T05%3A06%3A07Z&sp=r&sv=2021-12-02&sr=f&sig="
     "5CjiZL9s2Qe61z6ON8zrFNg8umBnoMGITbpauFKJXuE%3D"},
    {"a share", KEY, SAS_FILE, "/runs/d",
     "se=2027-03-04T05%3A06%3A07Z&sp=rl&sv=2021-12-02&sr=s&sig="
     "l0bHVmP5zRTWddxrn2lj4L4DjRSEy6O1r6BF0nz0okc%3D"},
    {"the key of a login", DELEGATED_KEY, SAS_BLOB, "/models/w",
     "se=2027-03-04T05%3A06%3A07Z&sp=r&sv=2021-12-02&sr=b&skoid=0a&sktid=0b&skt=2026-11-21T00%3A00"
     "%3A00Z&ske=2026-11-28T00%3A00%3A00Z&sks=b&skv=2021-06-08&sig=Jg4nVUJ%2Bjy6Eso/"
     "osQif3lFsiv%2Bjwz/fmE09%2BjidQ5E%3D"},
    {"a blob, as clients of 2017 sign it", KEY, SAS_BLOB, "/models/w.bin",
     "se=2027-03-04T05%3A06%3A07Z&sp=r&sv=2017-04-17&sr=b&sig=UtVU7H1uL/"
     "FjEEhl6zYrdQpDIi8l6L1COXvdSjzWP24%3D"},
    {"a file, as clients of 2017 sign it", KEY, SAS_FILE, "/runs/d/o.txt",
     "se=2027-03-04T05%3A06%3A07Z&sp=r&sv=2017-04-17&sr=f&sig=OfCqXgefrzIYv%2B/"
     "tKlBRE0YDzhrkqkGZBGg3V87uwo8%3D"},
    {"a container, as clients of 2018 sign it", KEY, SAS_BLOB, "/models/w.bin",
     "se=2027-03-04T05%3A06%3A07Z&sp=rl&sv=2018-11-09&sr=c&sig=VlybI8tfE21fivO/"
     "4ahsBgUSnvsJFCaWkp3CcnniQHg%3D"},
    {"a file, as clients of 2018 sign it", KEY, SAS_FILE, "/runs/d/o.txt",
     "se=2027-03-04T05%3A06%3A07Z&sp=r&sv=2018-11-09&sr=f&sig=YQ%"
     "2BRfcIX0NuFMn2uUCXTEqlnaSnVV9msesYou"
     "HF%2BAxk%3D"},
};
#define N_GRANTED (sizeof granted / sizeof granted[0])

static void read_sas(struct arena *a, const char *query, struct named_value *pairs, struct sas *s)
{
    struct err e;
    size_t n = take_query(a, query, pairs);
    assert_int_equal(sas_read(pairs, n, s, &e), 1);
}

static bool is_signed(size_t i, const char *path, const char *query)
{
    struct arena a;
    struct named_value pairs[PARAMETERS_MAX];
    struct sas s;
    struct strbuf text = STRBUF_INIT;
    struct account_key k = key_of(granted[i].key);
    char made[SIGNATURE_SIZE];
    arena_init(&a);
    read_sas(&a, query, pairs, &s);
    sas_text(&s, granted[i].service, "labdata", sas_path(&s, path, &a), &a, &text);
    signature_make(k.bytes, k.n, text.s, text.len, made);
    bool good = signature_equals(s.field[SAS_SIGNATURE], made);
    strbuf_free(&text);
    arena_free(&a);
    return good;
}

TEST(what_clients_signed_is_found_again)
{
    for (size_t i = 0; i < N_GRANTED; i++)
        if (!is_signed(i, granted[i].path, granted[i].query))
            fail_msg("%s: the signature is another", granted[i].why);
}

/* A name, an equals sign or a separator that is changed makes another query; a value, another
 * grant. */
TEST(no_value_can_be_changed)
{
    for (size_t i = 0; i < N_GRANTED; i++) {
        char query[600];
        size_t n = strlen(granted[i].query);
        assert_true(n < sizeof query);
        for (const char *at = granted[i].query; (at = strchr(at, '=')) && at[1]; at++) {
            memcpy(query, granted[i].query, n + 1);
            size_t end = (size_t)(strchrnul(at, '&') - granted[i].query) - 1;
            bool kind = strncmp(at - 2, "sr", 2) == 0 || strncmp(at - 2, "sv", 2) == 0;
            if (kind || query[end] == 'D') /* not signed as such; an escaped = */
                continue;
            query[end] = query[end] == 'r' ? 'w' : 'r';
            if (is_signed(i, granted[i].path, query))
                fail_msg("%s: %s is signed, too", granted[i].why, query);
        }
    }
}

TEST(a_grant_is_for_its_own_path)
{
    for (size_t i = 0; i < N_GRANTED; i++) {
        bool account = strstr(granted[i].query, "srt=") != NULL;
        assert_int_equal(is_signed(i, "/other/d/o.txt", granted[i].query), account);
    }
}

#define NOW       "2026-11-22T08:00:00Z"
#define BLOB      "sv=2021-12-02&sr=b&se=2027-01-01&sp=r&sig=x"
#define DIRECTORY "&sr=d&sdd=1&se=2027-01-01&sp=r&sig=x"
#define ACCOUNT   "sv=2021-12-02&ss=b&srt=co&se=2027-01-01&sp=rl&sig=x"

static const struct {
    const char *query, *peer;
    bool https;
    char service, type;
    const char *permissions;
    int want; /* 0: it is granted */
} uses[] = {
    {BLOB, "10.0.0.1", true, 'b', 'o', "r", 0},
    {BLOB, "10.0.0.1", false, 'b', 'o', "r", 0},
    {BLOB, "10.0.0.1", true, 'b', 'o', "cw", AZSTORAGE_PERMISSION},
    {BLOB, "10.0.0.1", true, 'b', 'c', "r", AZSTORAGE_AUTHORIZATION},
    {BLOB, "10.0.0.1", true, 'b', 's', "r", AZSTORAGE_AUTHORIZATION},
    {BLOB "&spr=https", "10.0.0.1", false, 'b', 'o', "r", AZSTORAGE_PROTOCOL},
    {BLOB "&spr=https,http", "10.0.0.1", false, 'b', 'o', "r", 0},
    {BLOB "&sip=10.0.0.1", "10.0.0.1", true, 'b', 'o', "r", 0},
    {BLOB "&sip=10.0.0.1", "10.0.0.2", true, 'b', 'o', "r", AZSTORAGE_SOURCE_ADDRESS},
    {BLOB "&sip=10.0.0.1-10.0.0.9", "10.0.0.9", true, 'b', 'o', "r", 0},
    {BLOB "&sip=10.0.0.1-10.0.0.9", "10.0.0.10", true, 'b', 'o', "r", AZSTORAGE_SOURCE_ADDRESS},
    {BLOB "&sip=10.0.0.1-", "10.0.0.1", true, 'b', 'o', "r", AZSTORAGE_SOURCE_ADDRESS},
    {BLOB "&sip=::1-::9", "::5", true, 'b', 'o', "r", 0},
    {BLOB "&sip=nonsense", "unknown", true, 'b', 'o', "r", AZSTORAGE_SOURCE_ADDRESS},
    {BLOB "&st=2026-11-22T08:00Z", "10.0.0.1", true, 'b', 'o', "r", 0},
    {BLOB "&st=2026-11-22T08:01Z", "10.0.0.1", true, 'b', 'o', "r", AZSTORAGE_AUTHENTICATION},
    {BLOB "&st=noon", "10.0.0.1", true, 'b', 'o', "r", AZSTORAGE_AUTHENTICATION},
    {"sv=2021-12-02&sr=b&sp=r&sig=x", "10.0.0.1", true, 'b', 'o', "r", AZSTORAGE_AUTHENTICATION},
    {"sv=2021-12-02&sr=b&sp=r&se=2026-11-22T08:00:00Z&sig=x", "10.0.0.1", true, 'b', 'o', "r",
     AZSTORAGE_AUTHENTICATION},
    {"sv=2021-12-02&sr=b&sp=r&se=2026-11-22T08:00:00.0000001Z&sig=x", "10.0.0.1", true, 'b', 'o',
     "r", AZSTORAGE_AUTHENTICATION},
    {"sv=2021-12-02&sr=b&sp=r&se=2026-11-22T08:00:00.5Z&sig=x", "10.0.0.1", true, 'b', 'o', "r", 0},
    {BLOB "&skoid=0a&sduoid=", "10.0.0.1", true, 'b', 'o', "r", 0},
    {BLOB "&skoid=0a&sduoid=0b", "10.0.0.1", true, 'b', 'o', "r", AZSTORAGE_AUTHENTICATION},
    {"sv=2020-02-10" DIRECTORY, "10.0.0.1", true, 'b', 'o', "r", 0},
    {"sv=2019-12-12" DIRECTORY, "10.0.0.1", true, 'b', 'o', "r", AZSTORAGE_AUTHENTICATION},
    {"sv=2021-12-02" DIRECTORY, "10.0.0.1", true, 'f', 'o', "r", AZSTORAGE_AUTHENTICATION},
    {ACCOUNT, "10.0.0.1", true, 'b', 'c', "l", 0},
    {ACCOUNT, "10.0.0.1", true, 'b', 'c', "", 0},
    {ACCOUNT, "10.0.0.1", true, 'f', 'c', "l", AZSTORAGE_SERVICE},
    {ACCOUNT, "10.0.0.1", true, 'b', 's', "l", AZSTORAGE_RESOURCE_TYPE},
    {ACCOUNT, "10.0.0.1", true, 'b', 'o', "d", AZSTORAGE_PERMISSION},
};

TEST(each_thing_refused_has_its_own_error)
{
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        struct arena a;
        struct named_value pairs[PARAMETERS_MAX];
        struct sas s;
        struct err e;
        struct sas_use use = {.peer = uses[i].peer,
                              .https = uses[i].https,
                              .service = uses[i].service,
                              .resource_type = uses[i].type,
                              .permissions = uses[i].permissions};
        err_clear(&e);
        arena_init(&a);
        assert_int_equal(timefmt_parse(NOW, &use.now_us), 0);
        read_sas(&a, uses[i].query, pairs, &s);
        int rc = sas_check(&s, &use, &e);
        if ((rc < 0) != (uses[i].want != 0) || e.code != uses[i].want)
            fail_msg("%zu, %s: %s", i, uses[i].query, rc < 0 ? e.msg : "granted");
        arena_free(&a);
    }
}

TEST(what_a_signature_leaves_out_comes_from_its_policy)
{
    struct named_value pairs[] = {{"sv", "2021-12-02"}, {"sr", "c"}, {"si", "p"}, {"sig", "x"}};
    struct sas_policy p = {.permissions = "rl", .start_us = 10, .expiry_us = 20};
    struct sas_use use = {.peer = "::1", .service = 'b', .resource_type = 'c', .policy = &p};
    struct sas s;
    struct err e;
    assert_int_equal(sas_read(pairs, 4, &s, &e), 1);
    static const struct {
        int64_t now_us;
        const char *permissions;
        int want;
    } tries[] = {{9, "l", AZSTORAGE_AUTHENTICATION},
                 {10, "l", 0},
                 {19, "w", AZSTORAGE_PERMISSION},
                 {20, "l", AZSTORAGE_AUTHENTICATION}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        use.now_us = tries[i].now_us;
        use.permissions = tries[i].permissions;
        err_clear(&e);
        assert_int_equal(sas_check(&s, &use, &e), tries[i].want ? -1 : 0);
        assert_int_equal(e.code, tries[i].want);
    }
}

TEST(a_value_is_in_the_signature_or_in_its_policy)
{
    static const struct {
        const char *query;
        struct sas_policy policy;
        const char *want; /* NULL: it is granted */
    } tries[] = {
        {"sp=r&se=2027-01-01", {.permissions = ""}, NULL},
        {"sp=r&se=&st=", {.permissions = "", .start_us = 1, .expiry_us = INT64_MAX}, NULL},
        {"sp=r&se=2027-01-01", {.permissions = "r"}, "sp is 'r' in the signature, and its stored"},
        {"se=2027-01-01", {.permissions = "r", .expiry_us = INT64_MAX}, "se is '2027-01-01' in"},
        {"st=2026-01-01", {"r", .start_us = 1, .expiry_us = INT64_MAX}, "st is '2026-01-01' in"},
        {"sp=r", {.permissions = "", .expiry_us = 1000000}, "it ended at 1970-01-01T00:00:01"},
    };
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        struct arena a;
        struct named_value pairs[PARAMETERS_MAX];
        struct sas s;
        struct err e;
        struct sas_use use = {.peer = "::1",
                              .service = 'b',
                              .resource_type = 'o',
                              .permissions = "r",
                              .policy = &tries[i].policy};
        arena_init(&a);
        err_clear(&e);
        assert_int_equal(timefmt_parse(NOW, &use.now_us), 0);
        read_sas(&a, arena_concat(&a, "sv=2021-12-02&sr=b&si=p&sig=x&", tries[i].query), pairs, &s);
        assert_int_equal(sas_check(&s, &use, &e), tries[i].want ? -1 : 0);
        if (tries[i].want && !strstr(e.msg, tries[i].want))
            fail_msg("%zu: %s", i, e.msg);
        arena_free(&a);
    }
}

TEST(what_is_no_signature_is_refused)
{
    static const struct {
        const char *query;
        int want;
    } tries[] = {
        {"restype=container", 0},        {"sv=2021-12-02&sr=b", 0},   {BLOB, 1},
        {"SV=2021-12-02&Sr=b&SIG=x", 1}, {BLOB "&sig=y", -1},         {"sr=b&sig=x", -1},
        {"sv=yesterday&sr=b&sig=x", -1}, {"sv=2021-12-02&sig=x", -1},
    };
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        struct arena a;
        struct named_value pairs[PARAMETERS_MAX];
        struct sas s;
        struct err e;
        arena_init(&a);
        size_t n = take_query(&a, tries[i].query, pairs);
        int rc = sas_read(pairs, n, &s, &e);
        assert_int_equal(rc, tries[i].want);
        if (rc < 0)
            assert_int_equal(e.code, AZSTORAGE_AUTHENTICATION);
        arena_free(&a);
    }
}

ARENA_TEST(a_grant_of_a_directory_counts_its_depth)
{
    static const struct {
        const char *depth, *want;
    } tries[] = {{"0", "/c"}, {"1", "/c/d"}, {"2", "/c/d/e"}, {"3", "/c/d/e/f"}, {"9", "/c/d/e/f"}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        struct sas s = {.field = {[SAS_RESOURCE_KIND] = "d", [SAS_DEPTH] = tries[i].depth}};
        assert_string_equal(sas_path(&s, "/c/d/e/f", a), tries[i].want);
    }
}
