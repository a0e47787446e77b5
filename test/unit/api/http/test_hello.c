/* SPDX-License-Identifier: MIT
 *
 * What a door reads of a TLS client's first message, as GnuTLS writes it, and cut off anywhere.
 */
#include <gnutls/gnutls.h>
#include <string.h>

#include "api/http/hello.h"
#include "test/unit/support/tests.h"

struct said {
    char bytes[4096];
    size_t n;
};

static ssize_t keep(gnutls_transport_ptr_t to, const void *bytes, size_t n)
{
    struct said *s = to;
    assert_true(s->n + n <= sizeof s->bytes);
    memcpy(s->bytes + s->n, bytes, n);
    s->n += n;
    return (ssize_t)n;
}

static ssize_t nothing(gnutls_transport_ptr_t from, void *bytes, size_t n)
{
    (void)from, (void)bytes, (void)n;
    return -1;
}

static void say_hello(struct said *s, const char *const *protocols, unsigned n)
{
    gnutls_session_t tls;
    gnutls_datum_t list[4];
    for (unsigned i = 0; i < n; i++)
        list[i] = (gnutls_datum_t){(unsigned char *)(uintptr_t)protocols[i],
                                   (unsigned)strlen(protocols[i])};
    s->n = 0;
    assert_int_equal(gnutls_init(&tls, GNUTLS_CLIENT | GNUTLS_NONBLOCK), 0);
    gnutls_set_default_priority(tls);
    if (n > 0)
        gnutls_alpn_set_protocols(tls, list, n, 0);
    gnutls_certificate_credentials_t certificate;
    gnutls_certificate_allocate_credentials(&certificate);
    gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE, certificate);
    gnutls_transport_set_ptr(tls, s);
    gnutls_transport_set_push_function(tls, keep);
    gnutls_transport_set_pull_function(tls, nothing);
    (void)gnutls_handshake(tls);
    gnutls_deinit(tls);
    gnutls_certificate_free_credentials(certificate);
    assert_true(s->n > 100);
}

TEST(protocols_are_found)
{
    static const char *const two[] = {"http/1.1", "terminal/1"}, *const other[] = {"terminal/12"};
    static struct said s;
    say_hello(&s, two, 2);
    assert_true(hello_offers(s.bytes, s.n, "terminal/1"));
    assert_true(hello_offers(s.bytes, s.n, "http/1.1"));
    assert_false(hello_offers(s.bytes, s.n, "terminal/2"));
    say_hello(&s, other, 1);
    assert_false(hello_offers(s.bytes, s.n, "terminal/1"));
    say_hello(&s, NULL, 0);
    assert_false(hello_offers(s.bytes, s.n, "terminal/1"));
}

TEST(a_message_that_is_cut_off_offers_nothing)
{
    static const char *const one[] = {"terminal/1"};
    static struct said s;
    say_hello(&s, one, 1);
    for (size_t n = 0; n < s.n; n++) {
        char *exact = malloc(n + 1); /* so that a sanitizer sees a read behind it */
        memcpy(exact, s.bytes, n);
        assert_false(hello_offers(exact, n, "terminal/1"));
        free(exact);
    }
    s.bytes[0] = 'G';
    assert_false(hello_offers(s.bytes, s.n, "terminal/1"));
}

TEST(a_beginning_tells_how_much_is_needed)
{
    static const char *const one[] = {"terminal/1"};
    static struct said s;
    say_hello(&s, one, 1);
    for (size_t n = 1; n < 5; n++)
        assert_int_equal(hello_length(s.bytes, n), 5);
    for (size_t n = 5; n <= s.n; n++)
        assert_int_equal(hello_length(s.bytes, n), s.n);
    s.bytes[3] = s.bytes[4] = '\xff';
    assert_int_equal(hello_length(s.bytes, 5), HELLO_MAX);
    assert_int_equal(hello_length("G", 1), 0);
}
