/* SPDX-License-Identifier: MIT
 *
 * The names that errors have on the wire between daemon and agent. They are part of the protocol
 * and never change, whatever lib/ calls its kinds of errors and services call theirs.
 */
#ifndef NODEAGENT_PROTO_WIRE_CODES_H
#define NODEAGENT_PROTO_WIRE_CODES_H

#include "lib/err.h"

/* The name of an error; one that has none of its own is a "NodeFailure". Static string. */
const char *wire_code_name(enum err_code code);
/* And back; an unknown name is ERR_NODE. */
enum err_code wire_code_find(const char *name);

#endif
