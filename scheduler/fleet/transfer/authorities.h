/* SPDX-License-Identifier: MIT
 *
 * The file of authorities against which other servers' certificates are checked. The portable
 * program brings Debian's libcurl, which knows only Debian's path.
 */
#ifndef SCHEDULER_FLEET_TRANSFER_AUTHORITIES_H
#define SCHEDULER_FLEET_TRANSFER_AUTHORITIES_H

/* $SSL_CERT_FILE, or the first of the usual files that can be read. NULL: neither is there.
 * Borrowed until the environment changes. */
const char *authorities_file(void);
/* Like authorities_file(), with `given` for the variable, and `files` for the usual files; NULL
 * ends the list. */
const char *authorities_choose(const char *given, const char *const *files);

#endif
