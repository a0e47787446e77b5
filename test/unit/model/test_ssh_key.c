/* SPDX-License-Identifier: MIT
 *
 * Which texts may be private keys of SSH. The keys were made for this test and open nothing.
 */
#include "lib/strbuf.h"
#include "model/batch/ssh_key.h"
#include "test/unit/support/tests.h"

static const char openssh[] =
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n"
    "QyNTUxOQAAACBF30pHE2AHgsIMj6cKNaAHIuuf1rwAlyXV0Mcl8MdQggAAAIhNnQvOTZ0L\n"
    "zgAAAAtzc2gtZWQyNTUxOQAAACBF30pHE2AHgsIMj6cKNaAHIuuf1rwAlyXV0Mcl8MdQgg\n"
    "AAAEClEJ2AjTt4Irz6/qZ+yd+XsRd8ntIjokzkHL32peMZLEXfSkcTYAeCwgyPpwo1oAci\n"
    "65/WvACXJdXQxyXwx1CCAAAAAAECAwQF\n"
    "-----END OPENSSH PRIVATE KEY-----\n";
static const char openssh_encrypted[] =
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    "b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABCnzj58sO\n"
    "SaQcJlae40E7lOAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIDh9bGlag2eD+K6T\n"
    "0AePqnC67G6bV8wH4JLqoMXLFTdoAAAAkLTBdX0xvSWccrWY13UoNMUjjyuBlcNoD2KOQk\n"
    "pM0JLZrkTmfqPUMSomxBmGmHEHBBeoeCS5u+61foevulee3Rl2k/JD0j1Grbk1Pr5X9F/a\n"
    "w9REI4MbankpMOxxmh/oYoarMo/a4V2hGeLXJSkuWBkiQt8wxpnUvBWbDaB5OY2ZmIlyvx\n"
    "+7TAlI8ZmXJpHqVA==\n"
    "-----END OPENSSH PRIVATE KEY-----\n";
static const char pem[] = "-----BEGIN EC PRIVATE KEY-----\n"
                          "MHcCAQEEIB6VGYMQnHdcwwhiP/Q6UXgjMHZPyCqwKB1WH2/qSZt8oAoGCCqGSM49\n"
                          "AwEHoUQDQgAEUY4llHZijoK92pZksPDHJL0QvDdVsiTe7DaEVam8RlgBxA4L2XzB\n"
                          "uGDuttfKqeK7Ly8Dku1F+6J29aqsiBHiWA==\n"
                          "-----END EC PRIVATE KEY-----\n";
static const char pem_encrypted[] =
    "-----BEGIN EC PRIVATE KEY-----\n"
    "Proc-Type: 4,ENCRYPTED\n"
    "DEK-Info: AES-128-CBC,89E0AEEDABF3819F48C138DA07D1D73F\n"
    "\n"
    "97y+KLuDnTVkniv73XzfL3Ka/HOW2TMWyD/dmhS/1D15Xi8/SttrB24BDpvI4Pf6\n"
    "vuDpNv4J2WhY4G/LNoEhSbabvTHn78i/W818c9yYF+QY0+dAtgKcjNn8cGqCNFzx\n"
    "jjwfgmsv+/HMJdudjoMMtf8Xy3jj1WY45EA7Xg1QleE=\n"
    "-----END EC PRIVATE KEY-----\n";

static char *changed(const char *text, const char *what, const char *into)
{
    const char *at = strstr(text, what);
    assert_non_null(at);
    struct strbuf out = STRBUF_INIT;
    strbuf_add(&out, text, (size_t)(at - text));
    strbuf_puts(&out, into);
    strbuf_puts(&out, at + strlen(what));
    return strbuf_take(&out);
}

TEST(keys_without_a_passphrase_are_taken)
{
    assert_null(ssh_private_key_fault(openssh));
    assert_null(ssh_private_key_fault(pem));
    char *early = changed(openssh, "-----BEGIN", "\r\n -----BEGIN"), *end = strrchr(early, '\n');
    *end = '\0'; /* and no end of its last line */
    assert_null(ssh_private_key_fault(early));
    free(early);
}

TEST(a_key_that_needs_one_is_told_from_one_that_is_none)
{
    assert_non_null(strstr(ssh_private_key_fault(openssh_encrypted), "passphrase"));
    assert_non_null(strstr(ssh_private_key_fault(pem_encrypted), "passphrase"));
    FREED char *pkcs8 = changed(pem, "BEGIN EC ", "BEGIN ENCRYPTED ");
    assert_non_null(strstr(ssh_private_key_fault(pkcs8), "passphrase"));
}

TEST(what_is_no_key_is_refused)
{
    static const char *const none[] = {
        "",
        "x",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFirst test",
        "-----BEGIN ",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
        "-----BEGIN OPENSSH PRIVATE KEY",
        "-----END -----BEGIN RSA PRIVATE KEY-----",
    };
    static const char *const damaged[] = {
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n",
        "-----BEGIN RSA PRIVATE KEY-----\n\n-----END RSA PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----\n",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nQUJD\n-----END OPENSSH PRIVATE KEY-----\n",
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_non_null(strstr(ssh_private_key_fault(none[i]), "is not a private key"));
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++)
        assert_non_null(strstr(ssh_private_key_fault(damaged[i]), "damaged"));
}

TEST(a_key_that_is_cut_anywhere_harms_nobody)
{
    for (size_t n = 0; n < strlen(openssh); n++) {
        FREED char *cut = strndup(openssh, n);
        (void)ssh_private_key_fault(cut);
    }
}
