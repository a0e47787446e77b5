/* SPDX-License-Identifier: MIT
 *
 * The names of errors on the wire between daemon and agent. They are part of the protocol and never
 * change, even if lib/ or services rename their kinds of errors.
 */
#ifndef NODEAGENT_PROTO_WIRE_CODES_H
#define NODEAGENT_PROTO_WIRE_CODES_H

#include "lib/err.h"

/* The name of an error; one that has none of its own is a "NodeFailure". Static string. */
const char *wire_code_name(enum err_code code);
/* The kind of a name; an unknown name is ERR_NODE. */
enum err_code wire_code_find(const char *name);

#endif
