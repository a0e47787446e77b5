/* SPDX-License-Identifier: MIT
 *
 * Copies a listed folder as one tar archive to a share, as it is now.
 */
#ifndef DAEMON_CLI_FOLDER_COPY_H
#define DAEMON_CLI_FOLDER_COPY_H

#include "daemon/cli/client.h"
#include "daemon/cli/folder.h"

/* The bytes of the archive. */
int64_t folder_copy_size(const struct folder *f);

/* Writes the archive. A file that changes meanwhile is noted in `f->warnings`; a file that can no
 * longer be read is an error. On a terminal it shows its progress after a second. A signal that
 * ends the command takes effect when the archive is removed. */
int folder_copy(struct daemon_client *c, struct folder *f, const char *account, const char *share,
                const char *archive, struct err *e) MUST_CHECK;

/* Removes a copy that no job needs. A failure is not said: the copy then stays. */
void folder_copy_remove(struct daemon_client *c, const char *account, const char *share,
                        const char *archive);

#endif
