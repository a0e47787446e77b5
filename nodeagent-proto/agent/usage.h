/* SPDX-License-Identifier: MIT
 *
 * What the machine has done since it was started, out of /proc. Nothing is kept: whoever asks twice
 * knows what it did in between.
 */
#ifndef NODEAGENT_PROTO_AGENT_USAGE_H
#define NODEAGENT_PROTO_AGENT_USAGE_H

#include "nodeagent-proto/wire/task.h"

/* What cannot be read is 0. `root` says which disk is looked at. */
void usage_look(const char *root, struct node_usage *out);

/* Parts of it: the texts of /proc/stat, meminfo and net/dev. */
void usage_read_stat(const char *text, struct node_usage *out);
void usage_read_memory(const char *text, struct node_usage *out);
void usage_read_network(const char *text, struct node_usage *out);
/* The text of /proc/diskstats; `is_disk`: the whole of a disk, whose partitions it would count
 * twice. */
void usage_read_disks(const char *text, bool (*is_disk)(const char *name), struct node_usage *out);

#endif
