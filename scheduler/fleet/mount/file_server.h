/* SPDX-License-Identifier: MIT
 *
 * File servers. Most need no work: another host serves them already, or they are a folder of the
 * daemon that is made with the first mount. There is work while the row is
 *
 *   creating  a machine must begin to export a directory        -> succeeded or failed
 *   deleting  the export or the daemon's folder must be removed -> the row may be removed
 *
 * and, once after each start of the daemon and after each reload with other machines or rules, for
 * an export of a machine whose row is succeeded: it is exported again, and the row stays unchanged.
 * Reasons: a restored backup may contain a file server whose export was ended meanwhile; a machine
 * may have been reinstalled; the inventory, whose machines may mount it, may have changed. A failed
 * export is tried again. If a rule has moved the file server, the export at the old place is ended
 * first, once. Until the first try has ended, nothing mounts the file server: mounts_await().
 *
 * The work is done over a separate link (file_server_export.c) or by workers of storage/folders/.
 * The work may be repeated: after a restart of the daemon, the rows show the remaining work.
 */
#ifndef SCHEDULER_FLEET_MOUNT_FILE_SERVER_H
#define SCHEDULER_FLEET_MOUNT_FILE_SERVER_H

#include "scheduler/fleet/fleet_priv.h"
#include "scheduler/fleet/mount/plan.h"
#include "scheduler/fleet/script/script.h"
#include "scheduler/wake/wake.h"

/* Wakes file servers by the ids of their rows. */
WAKE_KIND(woken_file_server, "file server", WAKE_LAST);

/* Ids of one kind that are woken when the first try to export again has ended. */
struct server_waiting {
    const struct wake_kind *kind; /* NULL: the end of the list */
    struct id_map ids;            /* a set */
};

struct server_work {
    struct fleet *fleet;
    int64_t id; /* of the row */
    bool take_down;
    /* exports a file server in state succeeded once more; with take_down: ends its export at the
     * place that a rule had until now */
    bool again;
    int tries;       /* if `again`: how many tries have failed */
    int64_t next_us; /* if `again`, done and failed: the time of the next try; 0: not set yet */
    struct server_waiting waiting[2]; /* the nodes and the runs that wait for the first export */
    struct arena a;
    struct file_server_backing at;
    const char *name, *guid;
    const char *root; /* root of the agent on the machine that exports */
    /* Called once, from the loop, when the work has no pending operation any more. */
    void (*finished)(struct server_work *w);
    bool begun; /* false: the decision is not on disk yet */
    bool waits; /* it waits until another file server's work has closed its link to the machine */
    bool done;
    /* stopped for a deletion, which may be rolled back, so the result is unknown; or the result is
     * for an inventory that was replaced */
    bool stopped;
    struct failure why; /* if done; code NULL: success */
    /* The link to the machine that exports; NULL: none. It is closed at until_us at the latest. */
    struct node_link *link;
    int64_t until_us;
    struct script *script;
    bool over; /* the link must be closed */
    bool closing;
};

/* Called at the start: wakes the file servers whose set-up was interrupted by the daemon's end, and
 * begins to export all exports of machines again. Reads rows of file servers only. */
int file_servers_resume(struct fleet *fl, struct arena *a, struct err *e) MUST_CHECK;
/* The inventory or the rules of file servers have changed: what machines export is exported anew.
 */
void file_servers_follow(struct fleet *fl, const struct site *before);
/* Closes all links. When they are closed, the scheduler ends and calls file_servers_free(). */
void file_servers_stop(struct fleet *fl);
void file_servers_free(struct fleet *fl);
/* Whether the first export of the file server since the daemon's start, or since another inventory,
 * has not ended yet. */
bool file_server_is_awaited(const struct fleet *fl, int64_t id);
/* Wakes (kind, id) when the first export has ended. */
void file_server_await(struct fleet *fl, int64_t file_server, const struct wake_kind *kind,
                       int64_t id);

/* --- file_server_export.c --------------------------------------------------------------------- */

/* Logs in on the machine, when no other work has a link to it, and makes it export the directory or
 * end the export. A failure is stored in w->why; w->finished() follows. */
void export_begin(struct server_work *w);
void export_stop(struct server_work *w);
/* Whether the work has a link that must be closed now. A link with a later deadline wakes the work
 * in time. */
bool export_is_over(struct server_work *w);
/* The shell command, for root: writes batchaid's file in /etc/exports.d and calls exportfs. */
const char *export_script(struct arena *a, const char *guid, const char *directory,
                          const char *const *clients, size_t n_clients);
const char *unexport_script(struct arena *a, const char *guid);

#endif
