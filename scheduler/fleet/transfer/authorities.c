/* SPDX-License-Identifier: MIT
 *
 * Looks for the file of certificate authorities.
 */
#include "scheduler/fleet/transfer/authorities.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const usual[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Arch, Alpine */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora from 43 on */
    "/etc/ssl/ca-bundle.pem",                            /* SUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine without ca-certificates */
    NULL,
};

/* A given file is not checked here: if it cannot be read, libcurl's error names the file. */
const char *authorities_choose(const char *given, const char *const *files)
{
    if (given && *given)
        return given;
    while (*files && access(*files, R_OK) != 0)
        files++;
    return *files;
}

const char *authorities_file(void)
{
    return authorities_choose(getenv("SSL_CERT_FILE"), usual);
}
