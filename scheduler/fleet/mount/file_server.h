/* SPDX-License-Identifier: MIT
 *
 * File servers. Most need no work: somebody serves them already, or they are a folder of the
 * daemon's that is made with the first mount. There is work while the row is
 *
 *   creating  a machine is to be made export a directory    -> succeeded or failed
 *   deleting  that export, or the daemon's folder, has to go -> the row may be removed
 *
 * and, once after each start of the daemon, for what a machine exports and the row calls succeeded:
 * it is exported again, and the row stays as it is. A backup that was put back may have brought
 * back a file server whose export was ended meanwhile, a machine may have been installed anew, and
 * the inventory, whose machines may mount it, may have changed. While that fails it is tried again.
 * Until the first of these tries has ended, nothing mounts the file server: mounts_await().
 *
 * The work is done over a link of its own (file_server_export.c) or by workers of storage/folders/.
 * Repeatable: after a restart of the daemon the rows say what is still to be done.
 */
#ifndef SCHEDULER_FLEET_MOUNT_FILE_SERVER_H
#define SCHEDULER_FLEET_MOUNT_FILE_SERVER_H

#include "scheduler/fleet/fleet_priv.h"
#include "scheduler/fleet/mount/plan.h"
#include "scheduler/fleet/script/script.h"
#include "scheduler/wake/wake.h"

/* File servers by the ids of their rows. */
WAKE_KIND(woken_file_server, "file server", WAKE_LAST);

/* Who is woken when the first try has ended: things of one kind. */
struct server_waiting {
    const struct wake_kind *kind; /* NULL: none, as all behind it */
    struct id_map ids;            /* a set */
};

struct server_work {
    struct fleet *fleet;
    int64_t id; /* of the row */
    bool take_down;
    bool again;      /* the row says that it is served: it is exported once more */
    int tries;       /* again: those that failed before this one */
    int64_t next_us; /* again, done and failed: when it is tried next; 0: not known yet */
    struct server_waiting waiting[2]; /* nodes and runs */
    struct arena a;
    struct file_server_backing at;
    const char *name, *guid;
    const char *root; /* of the agent on the machine that exports */
    /* Called once, from the loop, when no part of the work is under way any more. */
    void (*finished)(struct server_work *w);
    bool begun; /* false: the decision is not on disk yet */
    bool waits; /* it waits for its turn: another file server's work has a link to the machine */
    bool done;
    bool stopped;       /* for a deletion, which may be rolled back: what it did is not known */
    struct failure why; /* done; code NULL: it went well */
    /* The link to the machine that exports, while there is one; it is closed at this instant. */
    struct node_link *link;
    int64_t until_us;
    struct script *script;
    bool over; /* the link is to be closed */
    bool closing;
};

/* Wakes the file servers that were being set up when the daemon ended, and begins to export again
 * those that machines serve. Reads rows of file servers only. */
int file_servers_resume(struct fleet *fl, struct arena *a, struct err *e) MUST_CHECK;
/* Closes all links; the scheduler goes once they are closed, and frees what is left. */
void file_servers_stop(struct fleet *fl);
void file_servers_free(struct fleet *fl);
/* Whether its first export since the start is still to come or under way. */
bool file_server_is_awaited(const struct fleet *fl, int64_t id);
/* Wakes (kind, id) once that is no more so. */
void file_server_await(struct fleet *fl, int64_t file_server, const struct wake_kind *kind,
                       int64_t id);

/* --- file_server_export.c --------------------------------------------------------------------- */

/* Logs in on the machine, once no other work does, and makes it export the directory or end the
 * export. A failure is noted in w->why; w->finished() follows. */
void export_begin(struct server_work *w);
void export_stop(struct server_work *w);
/* Whether the work has a link that is to be closed now. If it has one that is not, it is woken in
 * time. */
bool export_is_over(struct server_work *w);
/* The shell command, for root: writes a file of ours in /etc/exports.d and calls exportfs. */
const char *export_script(struct arena *a, const char *guid, const char *directory,
                          const char *const *clients, size_t n_clients);
const char *unexport_script(struct arena *a, const char *guid);

#endif
