/* SPDX-License-Identifier: MIT
 *
 * A seed that is being carried out: what apply.c and rows.c share.
 */
#ifndef API_SEED_APPLYING_H
#define API_SEED_APPLYING_H

#include "api/seed/bury.h"
#include "api/seed/steps.h"

enum { SEED_PLANES = 3 };

struct applying {
    struct request *r;
    const struct seed *seed;
    const char *subscription; /* of groups at the top */
    json_t *tree;             /* owned */
    struct seed_steps steps;
    const struct seed_step *failed; /* where `why` is from; NULL: steps.at */
    struct err why;
    bool nowhere; /* `why` is from no place of the seed */
    size_t groups;
    struct named_value header[SEED_PLANES]; /* Authorization */
    bool late; /* something is behind the first transaction, so groups are "creating" meanwhile */

    /* rows.c */
    bool sliced;                   /* it is too large for one turn of the loop */
    bool written;                  /* something of it is there */
    int room;                      /* st_room_keep(); -1: none is kept */
    int64_t vaults_before;         /* the id of the last vault that was there before */
    size_t at;                     /* steps that were taken, first forth, then back */
    const struct seed_step *group; /* that was looked at last in this turn */
    void (*made)(struct applying *p);

    /* apply.c */
    size_t next;
    struct request **folder; /* requests for folders; owned */
    size_t n_folders;
    struct seed_folder *fill;
    size_t n_fill;
    struct seed_archives archives;
    struct burial burial; /* of what is undone */
};

/* applying.c: the request of a step, in the name of the daemon's own principal. Everything is
 * borrowed. */
struct request *applying_request(struct applying *p, struct arena *a, const struct seed_step *s,
                                 const json_t *given);
/* -1: p->why is from this step; and what the handler of it answered, as an error of ours. */
int applying_fails(struct applying *p, const struct seed_step *s);
int applying_refused(struct applying *p, const struct seed_step *s, const struct request *inner);
/* Writes in one transaction. -1: p->why says why, and nothing of it is there. */
int applying_write(struct applying *p, const char *name, int (*write)(struct applying *p));
void applying_stops(struct applying *p);

static inline bool is_kind(const struct seed_step *s, enum seed_kind_id kind)
{
    return s->kind == &seed_kinds[kind];
}

/* rows.c: makes all that is only rows. `made` is called once, perhaps at once: with p->why, if it
 * failed; then p->written says whether something of it is there. */
void rows_make(struct applying *p, void (*made)(struct applying *p));
/* The end of a seed, inside a transaction: see apply.c. */
int rows_complete(struct applying *p);
/* Removes the groups of a seed and what is in them, inside a transaction. */
int rows_undo(struct applying *p, struct err *e) MUST_CHECK;

#endif
