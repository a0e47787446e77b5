/* SPDX-License-Identifier: MIT
 *
 * Clusters that were made a moment ago. The service took minutes to allocate nodes, so its clients
 * expect to see each new cluster `resizing`, and take anything else for a failure; here nodes may
 * be idle before the first look. So new clusters are shown as resizing for a while. Only this state
 * is affected, not operations, nodes, jobs and counts.
 *
 * Kept in memory, by the monotonic clock: after a restart no cluster is new.
 */
#ifndef API_ARM_BATCHAI_NEW_CLUSTERS_H
#define API_ARM_BATCHAI_NEW_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct new_clusters;

/* `loop`: whose clock it is; borrowed. `shown_s`: how long each is new; 0: never. */
struct new_clusters *new_clusters_create(struct loop *loop, int shown_s);
void new_clusters_free(struct new_clusters *n); /* may be NULL */
void new_clusters_add(struct new_clusters *n, int64_t cluster_id);
bool new_clusters_has(struct new_clusters *n, int64_t cluster_id);

#endif
