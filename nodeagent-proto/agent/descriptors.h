/* SPDX-License-Identifier: MIT
 *
 * Descriptors of forked processes.
 */
#ifndef NODEAGENT_PROTO_AGENT_DESCRIPTORS_H
#define NODEAGENT_PROTO_AGENT_DESCRIPTORS_H

/* Closes all descriptors above 2 that a forked process must not hold, except these three (-1:
 * none). */
void descriptors_close_all_but(int a, int b, int c);

#endif
