/* SPDX-License-Identifier: MIT
 *
 * Counters of the machine since its boot, from /proc. Nothing is kept: the difference of two calls
 * is the use in between.
 */
#ifndef NODEAGENT_PROTO_AGENT_USAGE_H
#define NODEAGENT_PROTO_AGENT_USAGE_H

#include "nodeagent-proto/wire/task.h"

/* A value that cannot be read is 0. `root` selects the disk whose space is reported. */
void usage_look(const char *root, struct node_usage *out);

/* Parts of usage_look(): parse the texts of /proc/stat, meminfo and net/dev. */
void usage_read_stat(const char *text, struct node_usage *out);
void usage_read_memory(const char *text, struct node_usage *out);
void usage_read_network(const char *text, struct node_usage *out);
/* Parses the text of /proc/diskstats. `is_disk` selects whole disks, because partitions would count
 * twice. */
void usage_read_disks(const char *text, bool (*is_disk)(const char *name), struct node_usage *out);

#endif
