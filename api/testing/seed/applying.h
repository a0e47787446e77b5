/* SPDX-License-Identifier: MIT
 *
 * A seed that is being carried out: the data that apply.c and rows.c share.
 *
 *   READING -> CHECKING -> ARCHIVING -> ROWS -> FOLDERS -> FILLING -> NOTING -> OVER
 *                                        |         |          |         |        ^
 *                                        '---------+----------+---------+-> UNDOING
 *
 *   READING    parses the text
 *   CHECKING   logs the daemon's principal in, reads the steps, and checks the files
 *   ARCHIVING  stores the archives of packages
 *   ROWS       creates everything that consists of rows (rows.c)
 *   FOLDERS    creates the folders of shares and containers, one after the other
 *   FILLING    writes files into these folders
 *   NOTING     writes the rows of files, and makes the groups usable
 *   UNDOING    removes what exists of a failed seed
 *   OVER       the reply is finished
 *
 * A seed without folders that fits into one turn of the loop goes from ROWS to OVER. An error leads
 * to OVER as long as nothing of the seed exists, and to UNDOING afterwards.
 */
#ifndef API_TESTING_SEED_APPLYING_H
#define API_TESTING_SEED_APPLYING_H

#include "api/testing/seed/detach_group.h"
#include "api/testing/seed/steps.h"

enum applying_phase {
    APPLYING_READING,
    APPLYING_CHECKING,
    APPLYING_ARCHIVING,
    APPLYING_ROWS,
    APPLYING_FOLDERS,
    APPLYING_FILLING,
    APPLYING_NOTING,
    APPLYING_UNDOING,
    APPLYING_OVER
};

struct applying {
    struct request *r;
    enum applying_phase phase;
    const struct seed *seed;
    const char *subscription; /* the subscription of groups at the top level of the seed */
    json_t *tree;             /* owned */
    struct seed_steps steps;
    /* the step with the error `why`; NULL: steps.at has its place */
    const struct seed_step *failed;
    struct err why;
    bool nowhere; /* whether the error `why` has no place in the seed */
    size_t groups;
    struct named_value header[SEED_PLANES]; /* Authorization */
    /* work follows after the first transaction, so the groups are "creating" until NOTING */
    bool late;

    /* rows.c */
    bool sliced;  /* the seed is too large for one turn of the loop */
    bool written; /* rows of the seed exist and must be removed if the seed fails */
    int room; /* descriptor from st_room_keep(), which reserves disk space; -1: none is reserved */
    int64_t vaults_before; /* the highest id of a vault before the seed */
    size_t at; /* the number of steps that were carried out; decreases while steps are undone */
    const struct seed_step *group; /* the group that was checked last in this turn of the loop */
    void (*made)(struct applying *p);

    /* apply.c */
    size_t next;
    struct request **folder; /* requests for folders; owned */
    size_t n_folders;
    struct seed_folder *fill;
    size_t n_fill;
    struct seed_archives archives;
    struct detachment detachment; /* for the parts of the seed that are undone */
};

/* applying.c: makes the request of a step, from the daemon's own principal. The arguments are
 * borrowed. */
struct request *applying_request(struct applying *p, struct arena *a, const struct seed_step *s,
                                 const json_t *given);
/* Stores which step failed; the caller has set p->why. Returns -1. */
int applying_fails(struct applying *p, const struct seed_step *s);
/* Sets p->why to the error in the reply to `inner`, as an error of the daemon, and stores the step.
 * Returns -1. */
int applying_refused(struct applying *p, const struct seed_step *s, const struct request *inner);
/* Calls `write` in one transaction. -1: p->why is set, and the transaction was rolled back. */
int applying_write(struct applying *p, const char *name, int (*write)(struct applying *p));
void applying_stops(struct applying *p);

static inline bool is_kind(const struct seed_step *s, enum seed_kind_id kind)
{
    return s->kind == &seed_kinds[kind];
}

/* rows.c: creates all rows of the seed, then calls `made` once, perhaps before rows_make() returns.
 * After a failure p->why is set, and p->written tells whether rows remain. */
void rows_make(struct applying *p, void (*made)(struct applying *p));
/* Completes a seed, inside a transaction: in NOTING, or in ROWS for a seed that needs no folders
 * and only one turn. */
int rows_complete(struct applying *p);
/* Removes the groups of a seed and their resources, inside a transaction. */
int rows_undo(struct applying *p, struct err *e) MUST_CHECK;

#endif
