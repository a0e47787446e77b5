/* SPDX-License-Identifier: MIT
 *
 * Whether this machine can mount shares of the daemon.
 */
#ifndef NODEAGENT_PROTO_AGENT_MOUNTING_H
#define NODEAGENT_PROTO_AGENT_MOUNTING_H

#include <jansson.h>

/* A list of texts: each names a missing thing and the remedy. Connects to the port of the host;
 * this may take some seconds. */
json_t *mounting_lacks(const char *host, int port);

#endif
