/* SPDX-License-Identifier: MIT
 *
 * Closes descriptors in forked processes, and sets how many a process may have.
 */
#ifndef NODEAGENT_PROTO_AGENT_DESCRIPTORS_H
#define NODEAGENT_PROTO_AGENT_DESCRIPTORS_H

/* To be called in a forked process: closes all descriptors above 2 except a, b and c (-1: none). */
void descriptors_close_all_but(int a, int b, int c);

/* Raises the soft limit of descriptors of this process and of its future children, because the
 * agent needs two descriptors for each task. */
void descriptors_allow_many(void);
/* To be called in a process of a task: restores the soft limit that the agent had at its start,
 * because programs that use select(2) fail with descriptors above 1,023. */
void descriptors_allow_usual(void);

#endif
