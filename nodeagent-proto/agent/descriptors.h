/* SPDX-License-Identifier: MIT
 *
 * Descriptors of forked processes, and how many a process may have.
 */
#ifndef NODEAGENT_PROTO_AGENT_DESCRIPTORS_H
#define NODEAGENT_PROTO_AGENT_DESCRIPTORS_H

/* Closes all descriptors above 2 that a forked process must not have, except these three (-1:
 * none). */
void descriptors_close_all_but(int a, int b, int c);

/* The agent needs two descriptors for each task: raises the soft limit of this process and of its
 * future children. */
void descriptors_allow_many(void);
/* In a process of a task: the soft limit with which the agent was started, because programs that
 * use select(2) fail above 1,024. */
void descriptors_allow_usual(void);

#endif
