/* SPDX-License-Identifier: MIT
 *
 * The description of the daemon as a cloud for az: endpoints and suffixes. az's library MSAL asks
 * the public cloud about every login authority except ADFS, so the login endpoint ends in /adfs,
 * and the tenant is named adfs.
 */
#ifndef DAEMON_CLI_CLOUD_H
#define DAEMON_CLI_CLOUD_H

#include <stddef.h>

#define CLOUD_NAME   "batchaid"
#define CLOUD_TENANT "adfs"

/* The value of `az cloud register --cloud-config`: JSON in one line, not quoted for a shell. Caller
 * frees. `endpoint`: https://HOST:PORT. */
char *cloud_config(const char *endpoint);

/* az's settings for the cloud, as in its file clouds.config. Caller frees the value. */
size_t cloud_settings(void);
const char *cloud_key(size_t i);
char *cloud_value(size_t i, const char *endpoint);

#endif
