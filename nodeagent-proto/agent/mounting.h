/* SPDX-License-Identifier: MIT
 *
 * Whether this machine can mount shares of the daemon.
 */
#ifndef NODEAGENT_PROTO_AGENT_MOUNTING_H
#define NODEAGENT_PROTO_AGENT_MOUNTING_H

#include <jansson.h>

/* Returns a list of texts, each about a thing that is missing and how to provide it. Connects to
 * the port of the host, which may take some seconds. */
json_t *mounting_lacks(const char *host, int port);

#endif
