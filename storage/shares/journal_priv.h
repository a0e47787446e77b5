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

struct round { /* of settling */
    struct placed *put;
    size_t n;
};

struct journal {
    struct journal_config c;
    char *storage_dir, *boot; /* boot: id of the kernel's present boot */
    struct loop_timer *timer; /* set: a round begins then */
    struct round next;        /* what is placed */
    struct round now;         /* the round that is being synced; n = 0: none */
    size_t puts, bytes;       /* kept and not settled */
    int64_t last_id;          /* of puts and changes */
    bool waits, stopped;
    int64_t *ended; /* changes whose rows must be removed; owned */
    size_t n_ended, ended_cap;
    struct loop_timer *forget; /* NULL: none has ended yet */
    bool forgets;              /* it is set */
};

/* How long placed files, and ended intents, wait for others (us). */
#define SETTLE_AFTER_US INT64_C(100000)

/* For small blobs: parts of journal_stop() and journal_replay(). */
void puts_stop(struct journal *j);
int puts_replay(struct journal *j, struct err *e) MUST_CHECK;
/* The place of a file of this share. */
struct file_place journal_place(const struct journal *j, struct arena *a, const struct share *s,
                                const char *path, const char *aside);

#endif
