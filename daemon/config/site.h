/* SPDX-License-Identifier: MIT
 *
 * Turns the configuration of machines into the structs of scheduler/site/site.h: expands hosts,
 * fills in defaults, and checks files of keys and passwords.
 */
#ifndef DAEMON_CONFIG_SITE_H
#define DAEMON_CONFIG_SITE_H

#include "daemon/config/config.h"
#include "daemon/config/open_place.h"
#include "daemon/config/state.h"
#include "lib/arena.h"
#include "scheduler/site/site.h"

/* The caller zeroes it first, and calls site_free() after the scheduler has stopped. Borrows the
 * configuration. */
struct daemon_site {
    struct site site;
    struct site_machine *machines;
    struct site_group *groups; /* one for each entry of the inventory */
    size_t n_groups;
    struct site_mount_rule *mounts;
    struct site_file_server_rule *file_servers;
    struct node_agents *agents;
    struct open_place open_place;
    struct arena texts;
};

/* Reads files and blocks, so call it before the loop runs. Errors (ERR_CONFIG) name file and line
 * of the configuration. The caller must call site_free() even after an error. */
int site_load(const struct config *c, const struct state *s, struct daemon_site *out,
              struct err *e) MUST_CHECK;

/* Finds a place for nodes and shares that accounts of jobs can reach, if they cannot reach the
 * state directory. The caller must hold the lock of the state directory. */
int site_open_place(struct daemon_site *s, const struct config *c, struct state *st, bool ephemeral,
                    struct err *e) MUST_CHECK;
/* Decides whether each job on local nodes runs under a separate account; if not, decides which
 * directory is hidden from jobs. */
void site_decide_accounts(struct daemon_site *s, const struct config *c, const struct state *st);

/* If there are machines, reads the programs for them: `agent_path` for this architecture, and the
 * files beside it for other architectures (batchai-node-ARCH); with `windows_commands` also
 * batchai-cmd and batchai-cmd-ARCH. */
int site_load_agents(struct daemon_site *s, const char *agent_path, bool windows_commands,
                     struct err *e) MUST_CHECK;

/* For a site that a reload has read: copies what only a start decides from the running site: how
 * jobs on local nodes are separated, and the directory that machines share. Borrows the running
 * site's programs for machines, if it has any. */
void site_keep(struct daemon_site *s, const struct daemon_site *running);

void site_free(struct daemon_site *s); /* wipes passwords */

#endif
