/* SPDX-License-Identifier: MIT
 *
 * Short files of the kernel, as in /proc, /sys and cgroups.
 */
#ifndef NODEAGENT_PROTO_AGENT_FILE_TEXT_H
#define NODEAGENT_PROTO_AGENT_FILE_TEXT_H

#include <stdint.h>

/* The content of dir/name, at most 1 MiB. NULL: it cannot be read. The caller frees it. */
char *file_text(const char *dir, const char *name);
/* The whole number at its beginning; `otherwise` if there is none. */
int64_t file_number(const char *dir, const char *name, int64_t otherwise);

#endif
