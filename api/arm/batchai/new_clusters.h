/* SPDX-License-Identifier: MIT
 *
 * Recently created clusters. The real service took minutes to allocate nodes, so its clients expect
 * to see each new cluster `resizing`, and treat other states as a failure; here nodes may be idle
 * before the first poll. So new clusters are shown as resizing for a while. Only this state is
 * affected, not operations, nodes, jobs and counts.
 *
 * The list is only in memory and uses the monotonic clock: after a restart no cluster is new.
 */
#ifndef API_ARM_BATCHAI_NEW_CLUSTERS_H
#define API_ARM_BATCHAI_NEW_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct new_clusters;

/* `loop` (borrowed) has the clock. `shown_s`: how many seconds a cluster is new; 0: no cluster is
 * new. */
struct new_clusters *new_clusters_create(struct loop *loop, int shown_s);
void new_clusters_free(struct new_clusters *n); /* may be NULL */
void new_clusters_add(struct new_clusters *n, int64_t cluster_id);
bool new_clusters_has(struct new_clusters *n, int64_t cluster_id);

#endif
