/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the journal.
 */
#ifndef STORAGE_SHARES_JOURNAL_PRIV_H
#define STORAGE_SHARES_JOURNAL_PRIV_H

#include "storage/folders/files.h"
#include "storage/shares/journal.h"

struct arena;

struct placed {
    struct file_upload *upload;
    struct journal_entry entry;
};

struct round {          /* files that are synced together */
    struct placed *put; /* owned */
    size_t n, cap;
};

struct ended_row {
    int64_t id;
    bool is_put; /* of a put; otherwise of a change */
};

struct journal {
    struct journal_config c;
    char *storage_dir, *boot; /* boot: id of the kernel's present boot */
    struct loop_timer *timer; /* when it fires, a round begins */
    struct round next;        /* placed files, for the next round */
    struct round now;         /* the round that is being synced; n = 0: none */
    size_t puts, bytes;       /* how many puts, and bytes of puts, are kept and not settled yet */
    int64_t last_id;          /* the last id of puts and changes */
    bool waits, stopped;
    bool ends_requests;      /* journal_end_requests() was called */
    struct ended_row *ended; /* rows that must be removed; owned */
    size_t n_ended, ended_cap;
    struct loop_timer *forget; /* NULL: no change has ended yet */
    bool forgets;              /* the timer `forget` is set */
};

/* How long placed files, and ended intents, wait for more of them, to be handled together (us). */
#define SETTLE_AFTER_US INT64_C(100000)
/* How long until rows whose removal was lost are removed again (us). */
#define FORGET_AGAIN_US INT64_C(1000000)

/* For small blobs: parts of journal_stop() and journal_replay(). */
void puts_stop(struct journal *j);
int puts_replay(struct journal *j, struct err *e) MUST_CHECK;
/* Schedules the removal of a put's row: journal_forget() removes it at the latest. */
void journal_forget_put(struct journal *j, int64_t id);
/* Removes the row of a put in this turn. */
void journal_remove_put(struct journal *j, int64_t id);
/* Removes ended rows in this turn, and again if the turn is lost. */
void journal_forget(struct journal *j);
/* The place of a file of this share. */
struct file_place journal_place(const struct journal *j, struct arena *a, const struct share *s,
                                const char *path, const char *aside);

#endif
