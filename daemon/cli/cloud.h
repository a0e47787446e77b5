/* SPDX-License-Identifier: MIT
 *
 * The description of the cloud for az: its endpoints and suffixes, for one endpoint of the daemon.
 * MSAL asks the public cloud about every authority except ADFS, so the login endpoint ends in /adfs
 * and the tenant has that name.
 */
#ifndef DAEMON_CLI_CLOUD_H
#define DAEMON_CLI_CLOUD_H

#include <stddef.h>

#define CLOUD_NAME   "batchaid"
#define CLOUD_TENANT "adfs"

/* The value of `az cloud register --cloud-config`: JSON, in one line and without quotes of the
 * shell. Caller frees. `endpoint`: https://HOST:PORT. */
char *cloud_config(const char *endpoint);

/* az's settings for the cloud, in clouds.config. Caller frees the value. */
size_t cloud_settings(void);
const char *cloud_key(size_t i);
char *cloud_value(size_t i, const char *endpoint);

#endif
