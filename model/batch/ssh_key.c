/* SPDX-License-Identifier: MIT */
#include "model/batch/ssh_key.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base64.h"
#include "lib/strbuf.h"

#define BEGINS       "-----BEGIN "
#define ENDS         "-----END "
#define KIND         "PRIVATE KEY-----"
#define DER_SEQUENCE 0x30

static const char not_a_key[] =
    "is not a private key of SSH (one in the format of OpenSSH, or PEM)";
static const char encrypted[] =
    "needs a passphrase, which nobody can type on the nodes; remove the passphrase (ssh-keygen -p)";
static const char damaged[] = "is a private key of SSH that is cut off or damaged";

/* Appends the text between the first line and `end` to *out, without line ends and blanks. False:
 * there is no text. */
static bool read_body(const char *begin, const char *end, struct strbuf *out)
{
    const char *line = strchr(begin, '\n');
    for (const char *p = line ? line : end; p < end; p++)
        if (!strchr("\r\n \t", *p))
            strbuf_putc(out, *p);
    return out->len > 0;
}

/* Reads "openssh-key-v1", NUL, then the name of the cipher: its length in four bytes, and its
 * bytes. */
static const char *fault_of_openssh(const char *bytes, size_t n)
{
    static const char magic[] = "openssh-key-v1";
    static const char none[] = {0, 0, 0, 4, 'n', 'o', 'n', 'e'};
    if (n < sizeof magic + sizeof none || memcmp(bytes, magic, sizeof magic) != 0)
        return damaged;
    return memcmp(bytes + sizeof magic, none, sizeof none) == 0 ? NULL : encrypted;
}

static const char *fault_of_body(const char *body, size_t len, bool openssh)
{
    char *bytes = NULL;
    size_t n;
    const char *fault = damaged;
    if (base64_decode(body, len, &bytes, &n) < 0)
        return damaged;
    if (openssh)
        fault = fault_of_openssh(bytes, n);
    else if (n > 1 && bytes[0] == DER_SEQUENCE)
        fault = NULL;
    explicit_bzero(bytes, n);
    free(bytes);
    return fault;
}

const char *ssh_private_key_fault(const char *text)
{
    static const char *const kinds[] = {"OPENSSH ", "RSA ", "EC ", "DSA ", "ENCRYPTED ", ""};
    const char *begin = text + strspn(text, " \t\r\n"), *end = strstr(text, ENDS);
    size_t i = 0, n = sizeof kinds / sizeof kinds[0];
    if (strncmp(begin, BEGINS, strlen(BEGINS)) != 0)
        return not_a_key;
    begin += strlen(BEGINS);
    while (i < n && (strncmp(begin, kinds[i], strlen(kinds[i])) != 0 ||
                     strncmp(begin + strlen(kinds[i]), KIND, strlen(KIND)) != 0))
        i++;
    if (i == n)
        return not_a_key;
    if (!end || end < begin)
        return damaged;
    const char *says = strstr(begin, "ENCRYPTED"); /* also "Proc-Type: 4,ENCRYPTED" */
    if (says && says < end)
        return encrypted;
    struct strbuf body = STRBUF_INIT;
    const char *fault =
        read_body(begin, end, &body) ? fault_of_body(body.s, body.len, i == 0) : damaged;
    if (body.s)
        explicit_bzero(body.s, body.cap);
    strbuf_free(&body);
    return fault;
}
