/* SPDX-License-Identifier: MIT
 *
 * The file of certificate authorities against which other servers' certificates are checked. The
 * portable program contains Debian's libcurl, which uses only Debian's path.
 */
#ifndef SCHEDULER_FLEET_TRANSFER_AUTHORITIES_H
#define SCHEDULER_FLEET_TRANSFER_AUTHORITIES_H

/* $SSL_CERT_FILE, or the first of the usual files that can be read. NULL: the variable is not set,
 * and no file can be read. Borrowed until the environment changes. */
const char *authorities_file(void);
/* Like authorities_file(), with `given` as the variable's value, and `files` as the usual files; a
 * NULL ends the list. */
const char *authorities_choose(const char *given, const char *const *files);

#endif
