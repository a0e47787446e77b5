/* SPDX-License-Identifier: MIT
 *
 * The names of errors on the wire between daemon and agent. They are part of the protocol and never
 * change, even if lib/ or services rename their kinds of errors.
 */
#ifndef NODEAGENT_PROTO_WIRE_CODES_H
#define NODEAGENT_PROTO_WIRE_CODES_H

#include "lib/err.h"

/* The name of an error; "NodeFailure" for an error without its own name. Static string. */
const char *wire_code_name(enum err_code code);
/* The error of a name; ERR_NODE for an unknown name. */
enum err_code wire_code_find(const char *name);

#endif
