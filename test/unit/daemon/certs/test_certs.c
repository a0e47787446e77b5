/* SPDX-License-Identifier: MIT
 *
 * Certificates as time goes by and names are asked for, without handshakes.
 */
#include <gnutls/abstract.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/certs/certs.h"
#include "daemon/certs/x509.h"
#include "lib/fs.h"
#include "test/unit/support/tests.h"

#define S      ((int64_t)1000000)
#define DAY    (24 * 60 * 60 * S)
#define START  (1795334400 * S) /* 2026-11-22 08:00 */
#define MINUTE (60 * S)

struct certs_world {
    char dir[64], path[4][80];
    char *names[1];
    struct certs_config config;
    struct certs *certs;
};

static void open_at(struct certs_world *w, int64_t now_us)
{
    struct err e;
    if (certs_open(&w->config, now_us, &w->certs, &e) < 0)
        fail_msg("%s", e.msg);
}

static int begin(void **state)
{
    static const char *const files[] = {"ca.pem", "ca.key", "server.pem", "server.key"};
    static struct certs_world w;
    memset(&w, 0, sizeof w);
    snprintf(w.dir, sizeof w.dir, "/tmp/batchaid-certs-XXXXXX");
    assert_non_null(mkdtemp(w.dir));
    for (int i = 0; i < 4; i++)
        snprintf(w.path[i], sizeof w.path[i], "%s/%s", w.dir, files[i]);
    w.names[0] = (char *)(uintptr_t) "gpu-head.lab";
    w.config = (struct certs_config){.files = {w.path[0], w.path[1], w.path[2], w.path[3], false},
                                     .names = w.names,
                                     .n_names = 1,
                                     .site_cert = "",
                                     .site_key = ""};
    open_at(&w, START);
    *state = &w;
    return 0;
}

static int end(void **state)
{
    struct certs_world *w = *state;
    certs_close(w->certs);
    for (int i = 0; i < 4; i++)
        unlink(w->path[i]);
    return rmdir(w->dir);
}

/* The first certificate that is shown; the caller frees it. */
static gnutls_x509_crt_t shown(struct certs_world *w, const char *name, int64_t now_us,
                               int64_t mono_us)
{
    struct certs_choice c;
    gnutls_x509_crt_t crt;
    certs_pick(w->certs, name, now_us, mono_us, &c);
    assert_int_equal(c.n, 1);
    gnutls_x509_crt_init(&crt);
    assert_int_equal(gnutls_x509_crt_import(crt, &c.chain[0].cert, GNUTLS_X509_FMT_DER), 0);
    return crt;
}

static bool is_for(struct certs_world *w, const char *asked, const char *name)
{
    gnutls_x509_crt_t crt = shown(w, asked, START, 0);
    bool it_is = gnutls_x509_crt_check_hostname(crt, name) != 0;
    gnutls_x509_crt_deinit(crt);
    return it_is;
}

static int64_t begins(struct certs_world *w, const char *name, int64_t now_us, int64_t mono_us)
{
    gnutls_x509_crt_t crt = shown(w, name, now_us, mono_us);
    int64_t us = gnutls_x509_crt_get_activation_time(crt) * S;
    gnutls_x509_crt_deinit(crt);
    return us;
}

#define CERTS_TEST(name) TEST_IN(name, struct certs_world *w, *state, begin, end)

CERTS_TEST(a_name_below_ours_gets_its_own)
{
    static const char *const names[] = {"mystor.file.core.localhost", "demokv.vault.localhost",
                                        "a.westeurope.batch.localhost", "x.blob.core.gpu-head.lab",
                                        "X.Blob.Core.GPU-HEAD.lab"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(is_for(w, names[i], names[i]));
        assert_false(is_for(w, names[i], "other.file.core.localhost"));
    }
}

CERTS_TEST(what_we_listen_as_has_the_server_certificate)
{
    static const char *const names[] = {"", "localhost", "gpu-head.lab"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(is_for(w, names[i], "localhost"));
        assert_true(is_for(w, names[i], "gpu-head.lab"));
    }
}

/* The files of the server's pair are not synced. */
CERTS_TEST(what_a_power_cut_took_is_made_anew)
{
    for (int kept = 0; kept < 3; kept++) { /* neither file, the certificate, the key */
        certs_close(w->certs);
        w->certs = NULL;
        for (int i = 0; i < 2; i++)
            if (kept != i + 1)
                assert_int_equal(truncate(w->path[2 + i], 0), 0);
        open_at(w, START);
        assert_true(is_for(w, "localhost", "gpu-head.lab"));
    }
}

CERTS_TEST(nothing_is_signed_for_strangers)
{
    char long_name[300];
    memset(long_name, 'a', sizeof long_name);
    memcpy(long_name + sizeof long_name - sizeof ".localhost", ".localhost", sizeof ".localhost");
    const char *const names[] = {
        "example.org",        "evil-localhost",      "localhost.example.org",
        "mystor.gpu-head.la", "a b.localhost",       "*.localhost",
        ".localhost",         "b\xc3\xbc.localhost", long_name};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(is_for(w, names[i], "localhost"));
}

CERTS_TEST(a_name_is_signed_once)
{
    struct certs_choice a, b, c;
    certs_pick(w->certs, "a.blob.core.localhost", START, 0, &a);
    certs_pick(w->certs, "b.blob.core.localhost", START, 0, &b);
    certs_pick(w->certs, "A.BLOB.core.localhost", START + DAY, DAY, &c);
    assert_ptr_equal(a.chain, c.chain);
    assert_ptr_not_equal(a.chain, b.chain);
}

CERTS_TEST(what_ends_soon_is_made_anew_while_we_run)
{
    static const char *const names[] = {"localhost", "a.blob.core.localhost"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t first = begins(w, names[i], START, 0), later = START + 789 * DAY;
        assert_int_equal(begins(w, names[i], later, 789 * DAY), first);
        later += 2 * DAY;
        assert_int_equal(begins(w, names[i], later, 791 * DAY), later - 60 * MINUTE);
        certs_close(w->certs);
        open_at(w, START);
    }
}

CERTS_TEST(what_was_made_with_the_clock_ahead_is_made_anew)
{
    int64_t ahead = START + 900 * DAY;
    static const char *const names[] = {"localhost", "a.blob.core.localhost"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(begins(w, names[i], ahead, 1), ahead - 60 * MINUTE);
        assert_int_equal(begins(w, names[i], START, 2), START - 60 * MINUTE);
    }
}

/* The last month of the authority: nothing longer can be made. */
CERTS_TEST(an_authority_that_ends_is_not_asked_each_time)
{
    struct certs_choice a, b;
    int64_t last = START + 3640 * DAY;
    certs_pick(w->certs, "a.blob.core.localhost", last, 0, &a);
    certs_pick(w->certs, "a.blob.core.localhost", last + DAY, DAY, &b);
    assert_ptr_equal(a.chain, b.chain);
}

#define MANY 1500

CERTS_TEST(one_who_asks_for_many_names_leaves_the_others_theirs)
{
    struct certs_choice first, again;
    char name[40];
    certs_pick(w->certs, "mine.blob.core.localhost", START, 0, &first);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "n%d.localhost", i);
        certs_pick(w->certs, name, START, MINUTE - 1, &again);
    }
    certs_pick(w->certs, "mine.blob.core.localhost", START, MINUTE - 1, &again);
    assert_ptr_equal(first.chain, again.chain);
    assert_true(is_for(w, "last.blob.core.localhost", "localhost")); /* no room at the moment */
    certs_pick(w->certs, "last.blob.core.localhost", START, 2 * MINUTE, &again);
    gnutls_x509_crt_t crt = shown(w, "last.blob.core.localhost", START, 2 * MINUTE);
    assert_true(gnutls_x509_crt_check_hostname(crt, "last.blob.core.localhost"));
    gnutls_x509_crt_deinit(crt);
}

static char *text_of(const char *path)
{
    char *text;
    struct err e;
    if (fs_read(path, 1 << 16, &text, NULL, &e) < 0)
        fail_msg("%s", e.msg);
    return text;
}

/* A reload may be refused after the new certificate was found good. */
CERTS_TEST(a_site_certificate_that_was_made_is_not_shown_yet)
{
    struct err e;
    struct shown *made;
    certs_close(w->certs);
    w->config.site_cert = w->path[0];
    w->config.site_key = w->path[1];
    open_at(w, START);
    int64_t ends_us = certs_site_ends_us(w->certs);
    assert_int_equal(ends_us, certs_authority_ends_us(w->certs));
    struct certs_site text = {text_of(w->path[2]), text_of(w->path[3])};
    assert_int_equal(certs_site_make(w->certs, &text, &made, &e), 0);
    assert_int_equal(certs_site_ends_us(w->certs), ends_us);
    certs_shown_free(made);
    assert_int_equal(certs_site_ends_us(w->certs), ends_us);
    assert_int_equal(certs_site_make(w->certs, &text, &made, &e), 0);
    certs_site_show(w->certs, made, 0);
    assert_int_not_equal(certs_site_ends_us(w->certs), ends_us);
    certs_site_free(&text);
}
