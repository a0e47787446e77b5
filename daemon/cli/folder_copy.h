/* SPDX-License-Identifier: MIT
 *
 * Copies the present contents of a listed folder to a share, as one tar archive.
 */
#ifndef DAEMON_CLI_FOLDER_COPY_H
#define DAEMON_CLI_FOLDER_COPY_H

#include "daemon/cli/client.h"
#include "daemon/cli/folder.h"

/* How many bytes the archive will have. */
int64_t folder_copy_size(const struct folder *f);

/* Writes the archive. A file that changes meanwhile is noted in `f->warnings`; a file that can no
 * longer be read is an error. After a second it shows its progress on a terminal. A signal that
 * interrupt_catch() noted is an error; the caller removes the archive after any error. */
int folder_copy(struct daemon_client *c, struct folder *f, const char *account, const char *share,
                const char *archive, struct err *e) MUST_CHECK;

/* Removes a copy that no job needs. If that fails, the copy stays, and no error is reported. */
void folder_copy_remove(struct daemon_client *c, const char *account, const char *share,
                        const char *archive);

#endif
