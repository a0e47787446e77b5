/* SPDX-License-Identifier: MIT
 *
 * The last lines of a file, as valid text for a message.
 */
#ifndef NODEAGENT_PROTO_AGENT_TAIL_H
#define NODEAGENT_PROTO_AGENT_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* Returns at most `max` bytes from the end of the file `fd` (closed by this; -1: no file), starting
 * at a line, nothing before offset `from`; valid UTF-8 without NULs (other bytes become U+FFFD).
 * NULL if there is nothing. Caller frees. */
char *tail_read(int fd, int64_t from, size_t max);

#endif
