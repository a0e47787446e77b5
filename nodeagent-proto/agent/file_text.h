/* SPDX-License-Identifier: MIT
 *
 * Reads short files of the kernel, such as those in /proc, /sys and cgroups.
 */
#ifndef NODEAGENT_PROTO_AGENT_FILE_TEXT_H
#define NODEAGENT_PROTO_AGENT_FILE_TEXT_H

#include <stdint.h>

/* The content of dir/name, at most 1 MiB. NULL: it cannot be read. The caller frees it. */
char *file_text(const char *dir, const char *name);
/* The whole number at the beginning of dir/name; `otherwise` if there is none. */
int64_t file_number(const char *dir, const char *name, int64_t otherwise);

#endif
