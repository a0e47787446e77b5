/* SPDX-License-Identifier: MIT
 *
 * Where the pages of the docs are on this machine.
 */
#ifndef DAEMON_CONFIG_DOCS_PATH_H
#define DAEMON_CONFIG_DOCS_PATH_H

/* The folder that has them, owned by the caller; NULL: they are not installed. */
char *docs_path_find(void);

#endif
