/* SPDX-License-Identifier: MIT
 *
 * Networks, and which addresses are in them.
 */
#include <string.h>

#include "lib/network.h"
#include "test/unit/support/tests.h"

static bool is_in(const char *network, const char *address)
{
    struct network net;
    struct net_address a;
    struct err e;
    assert_int_equal(network_read(network, &net, &e), 0);
    assert_int_equal(net_address_read(address, strlen(address), &a), 0);
    return network_has(&net, &a);
}

TEST(test_addresses_are_in_their_networks)
{
    static const struct {
        const char *network, *address;
        bool in;
    } cases[] = {
        {"10.1.0.0/16", "10.1.255.255", true},
        {"10.1.0.0/16", "10.2.0.0", false},
        {"10.1.2.3", "10.1.2.3", true},
        {"10.1.2.3", "10.1.2.4", false},
        {"10.1.2.3/32", "::ffff:10.1.2.3", true},
        {"0.0.0.0/0", "8.8.8.8", true},
        {"0.0.0.0/0", "fd00::1", false},
        {"::/0", "8.8.8.8", true},
        {"fd00::/8", "fdff::1", true},
        {"fd00::/8", "fe80::1", false},
        {"10.1.2.128/25", "10.1.2.127", false},
        {"10.1.2.128/25", "10.1.2.200", true},
        {"fd00::1", "fd00::1", true},
        {"fd00::1", "fd00::2", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (is_in(cases[i].network, cases[i].address) != cases[i].in)
            fail_msg("%s in %s", cases[i].address, cases[i].network);
}

TEST(test_what_is_not_a_network_is_refused_with_what_would_be)
{
    static const char *const wrong[] = {"",           "10.1",         "10.1.0.0/33",  "10.1.0.0/",
                                        "10.1.0.0/x", "10.1.0.0/1 6", "fd00::/129",   "fd00::/0x8",
                                        "host",       "10.1.0.0/-1",  "10.1.0.0/0016"};
    struct network net;
    struct err e;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(network_read(wrong[i], &net, &e), -1);
        assert_non_null(strstr(e.msg, "use one like 10.1.0.0/16"));
    }
    assert_int_equal(network_read("10.1.2.3/16", &net, &e), -1);
    assert_non_null(strstr(e.msg, "of a network with a prefix of 16 bits"));
    assert_int_equal(network_read("fd00::1/8", &net, &e), -1);
    assert_non_null(strstr(e.msg, "of a network with a prefix of 8 bits"));
}
