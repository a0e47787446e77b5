/* SPDX-License-Identifier: MIT
 *
 * Recently made clusters. The real service took minutes to allocate nodes, so its clients expect to
 * see each new cluster `resizing`, and treat other states as a failure; here nodes may be idle
 * before the first poll. So new clusters are shown as resizing for a while. Only this state is
 * affected, not operations, nodes, jobs and counts.
 *
 * Kept in memory, by the monotonic clock: after a restart no cluster is new.
 */
#ifndef API_ARM_BATCHAI_NEW_CLUSTERS_H
#define API_ARM_BATCHAI_NEW_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct new_clusters;

/* `loop`: its clock is used; borrowed. `shown_s`: how long each is new; 0: never. */
struct new_clusters *new_clusters_create(struct loop *loop, int shown_s);
void new_clusters_free(struct new_clusters *n); /* may be NULL */
void new_clusters_add(struct new_clusters *n, int64_t cluster_id);
bool new_clusters_has(struct new_clusters *n, int64_t cluster_id);

#endif
