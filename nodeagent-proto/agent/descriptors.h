/* SPDX-License-Identifier: MIT
 *
 * Descriptors of forked processes.
 */
#ifndef NODEAGENT_PROTO_AGENT_DESCRIPTORS_H
#define NODEAGENT_PROTO_AGENT_DESCRIPTORS_H

/* Closes what a forked process must not hold: all descriptors above 2 except these (-1: none). */
void descriptors_close_all_but(int a, int b, int c);

#endif
