/* SPDX-License-Identifier: MIT
 *
 * The last lines of a file, fit for a message.
 */
#ifndef NODEAGENT_PROTO_AGENT_TAIL_H
#define NODEAGENT_PROTO_AGENT_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* At most `max` bytes from the end of the file `fd` (which is closed; -1: none), from a line's
 * start, nothing before offset `from`; valid UTF-8 without NULs (other bytes become U+FFFD). NULL
 * if there is nothing. Caller frees. */
char *tail_read(int fd, int64_t from, size_t max);

#endif
