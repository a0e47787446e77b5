/* SPDX-License-Identifier: MIT
 *
 * A dump: the state of the daemon as text, in the form of a seed.
 *
 *   COPYING on the loop, in slices: copies the database as of one instant (storage/instant.h)
 *   ASKING  on the loop, in slices, from the copy: lists each kind of kinds.c by the GET of its
 *           collection, below each resource that may contain the kind (dump_lists.c), and adds
 *           from rows what no GET returns (dump_rows.c)
 *   NODES   reads the files of tasks over the links of their nodes (dump_tasks.c)
 *   WRITING on a worker thread (seed->lane): makes bodies of requests from the replies
 *           (dump_bodies.c), reads the folders of shares, and writes the text
 *
 * So a new kind needs only a row of kinds.c, and a new property needs nothing. Data that no GET
 * returns, by kind:
 *
 *   data                                          | read from
 *   secrets moved out of documents                | the same GET, which shows them in a dump
 *   keys of accounts                              | rows
 *   files of shares and containers, their notes   | folders, rows
 *   packages                                      | rows, their archives
 *   secrets of vaults, older ones, deleted ones;
 *     deleted vaults                              | rows
 *   the format of a certificate                   | its data
 *   files of tasks                                | nodes, rows
 *   tasks that a job makes (its manager)          | without bodies, by rows
 *   pools that jobs and schedules make            | left out, by rows
 *
 * The request owns the struct dumping; while the worker thread uses it, the loop's thread does not.
 */
#ifndef API_TESTING_SEED_DUMP_H
#define API_TESTING_SEED_DUMP_H

#include "api/testing/seed/steps.h"
#include "model/batch/job_rows.h"
#include "storage/storage.h"

#define DUMP_ROWS  1000000
#define DUMP_BYTES (256U * 1024 * 1024) /* bytes of all files in a dump */

/* The place of a resource in the dump: into[collection][name]. */
struct dump_place {
    json_t *into; /* borrowed from the tree */
    const char *collection, *name;
};

/* The reply to a GET: a page of a list. */
struct dumped_list {
    const struct seed_kind *kind;
    const char *path; /* the path of the resource that contains the listed resources */
    json_t *into;     /* that resource in the tree; borrowed */
    /* owned; has the text of the reply; NULL: the text was parsed into `shown` */
    struct request *asked;
    json_t *shown; /* owned */
    struct dumped_list *next;
};

/* DUMP_MEMBER: a member is added; DUMP_BARE: only the members that are not of the body stay (struct
 * seed_kind.own); DUMP_LEFT_OUT: the resource is left out. */
enum dump_change { DUMP_MEMBER, DUMP_BARE, DUMP_LEFT_OUT };
/* A difference between a resource in the dump and the answer to its GET. */
struct dumped_member {
    struct dump_place at;
    enum dump_change change;
    const char *name; /* for DUMP_MEMBER */
    json_t *value;    /* owned by d->r */
    struct dumped_member *next;
};

struct dumped_folder {
    struct dump_place at;
    const char *member;
    struct seed_source from;
    struct dumped_folder *next;
};

struct dumped_archive {
    const char *path;
    json_t *into; /* borrowed from the tree; gets "base64" */
    struct dumped_archive *next;
};

struct dump_todo;
struct st_instant;

struct dumping {
    struct request *r;
    const struct seed *seed;
    struct arena *a;
    struct named_value header[SEED_PLANES]; /* Authorization */
    json_t *tree;                           /* owned */
    const char *subscription;               /* the one that is dumped; NULL: all */
    const char *group;                      /* the one that is dumped; NULL: all */
    struct st_instant *instant;             /* owned; lists are requested as of this instant */
    bool begun;                             /* whether the lists have begun */
    struct dump_todo *todo;                 /* dump_lists.c: the stack of GETs to send */
    struct dumped_list *lists, **last_list; /* in the order of their requests */
    struct dumped_member *members;
    struct dumped_folder *folders;
    struct dumped_archive *archives;
    struct dumped_task *tasks;
    /* The account whose jobs are being listed, and an object whose members are its jobs that have
     * tasks; owned by d->r. */
    const struct seed_step *account;
    json_t *jobs_with_tasks;
    char *text;  /* owned */
    size_t left; /* bytes of files that may be read still */
    struct err why;
};

/* dump_lists.c, at the instant: puts the first GETs on the stack. */
int dump_lists_begin(struct dumping *d, struct err *e) MUST_CHECK;
/* Sends GETs for a few milliseconds. 1: all were sent; 0: there are more; -1: err. */
int dump_lists_some(struct dumping *d, struct err *e) MUST_CHECK;

/* The resource at a place; borrowed; NULL: there is none. */
json_t *dump_at(const struct dump_place *at);
/* Puts a resource at a place; takes over `body`. */
void dump_put(json_t *into, const char *collection, const char *name, json_t *body);
/* Stores that the resource at a place gets a member, when it has its body; takes over `value`. */
void dump_member(struct dumping *d, const struct dump_place *at, const char *name, json_t *value);
void dump_cut(struct dumping *d, const struct dump_place *at, enum dump_change change);

/* dump_bodies.c, on the worker thread: makes the tree from all lists and members. */
void dump_bodies(struct dumping *d);
/* Whether an item of a list is being deleted. */
bool dump_is_going(const json_t *item);
const char *dump_name(const struct seed_kind *kind, const json_t *item);

/* dump_rows.c: adds the data that no GET returns, for the resources of a kind that were listed
 * below `above`. */
typedef int dump_extra(struct dumping *d, const struct seed_step *above, json_t *into,
                       struct err *e);
extern dump_extra *const dump_extras[SEED_KINDS];
/* Whether a list can be skipped. 1: `above` has no resource of this kind; 0: it may have some; -1:
 * error. A tree may have thousands of jobs without tasks, and each list takes the loop's time. */
int dump_has_none(struct dumping *d, enum seed_kind_id kind, const struct seed_step *above,
                  struct err *e) MUST_CHECK;
/* Adds the deleted vaults of the groups of a subscription, or of d->group alone. */
int dump_deleted_vaults(struct dumping *d, const char *subscription, json_t *into,
                        struct err *e) MUST_CHECK;
/* On the worker thread: reads the folders. */
int dump_folders(struct dumping *d, struct err *e) MUST_CHECK;

/* dump_tasks.c */
/* Adds a task whose files are on a node. Adds nothing if the node is not known. */
int dump_task_add(struct dumping *d, const struct batch_task *t, const struct dump_place *at,
                  struct err *e) MUST_CHECK;
/* Reads the files of these tasks, then calls `done`, perhaps before it returns. */
void dump_tasks(struct dumping *d, void (*done)(struct dumping *d));

#endif
