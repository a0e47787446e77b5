/* SPDX-License-Identifier: MIT
 *
 * The journal of blobs: a change is one version after a kill or a power cut, whatever it changes
 * and wherever it was. What a blob is stands in two places, its row (struct share_item) and its
 * file, and there is one order in which every operation changes them:
 *
 *   the file is staged: its bytes are on disk, or in the journal, and nobody sees it
 *   -> one transaction: the row that the blob will have, and in the journal the intent, with what
 *      row and file are now
 *   -> durable (with storage.sync off: committed, as only the daemon may die then)
 *   -> the file is placed: one rename, one unlink; on disk, or the journal has its bytes
 *   -> the reply
 *   -> the intent goes, a moment later, with other writes: nobody waits for that. A turn that is
 *      lost brings it back, and it is removed again
 *
 * A start finds the intents that are left. The file that is there says how far each came: if it is
 * still the one of before, the row goes back to what it was (a put, a copy, a block list), or the
 * file goes too (a deletion); bytes that were to be appended are cut off unless the row has them.
 * If it is neither of the two, somebody else has written it since, and row and file stay. Between
 * two transactions of this daemon readers see row and file of two versions; they take a turn then
 * (api/plane/storage/write_lock.h). Whoever changes the row alone needs none of this: one
 * transaction does.
 *
 * What is only for passing (--ephemeral) has no intents.
 *
 * Small blobs, and small pieces that are appended: their bytes go to the disk with the database's
 * next sync, which serves all puts of a moment, so that none waits for syncs of its own file. The
 * files are in their places as soon as they are acknowledged, and are synced a moment later, all at
 * once:
 *
 *   files_stage() -> journal_keep() -> durable -> upload_finish() -> journal_placed() -> reply
 *                                                                     \-> files_settle()
 *                                                                         -> the row is removed
 *
 * A piece that is appended is not staged: files_grow() adds it where the file is placed above, and
 * hands over the upload that is to be settled.
 *
 * The row comes before the file takes its place, so nothing is lost or torn, neither the new bytes
 * nor those that were there. What a power cut took is put back at the next start. Whatever changes
 * a blob's bytes in another way, or removes it, has to st_kept_put_forget() it with the write that
 * says so.
 */
#ifndef STORAGE_SHARES_JOURNAL_H
#define STORAGE_SHARES_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "model/resource.h"

struct file_upload;
struct log;
struct loop;
struct storage;

/* bytes; a larger blob is synced separately, which is cheap compared with its bytes */
#define JOURNAL_PUT_MAX ((size_t)(64 * 1024))

struct journal_config { /* all borrowed; storage_dir is copied */
    struct storage *storage;
    struct loop *loop;
    const struct log *log;
    const char *storage_dir;
    bool passing;  /* an ephemeral daemon: there are no intents */
    bool unsynced; /* files need to survive only the daemon, not the machine */
};

struct journal *journal_create(const struct journal_config *c);
/* Restores acknowledged but unsettled changes of the last run. Call before any change of a share.
 * Blocks, a while after a power cut. A failure is logged, and tried again at the next start. */
int journal_replay(struct journal *j, struct err *e) MUST_CHECK;
/* Settles placed files. No more may be kept. Before files_stop(). */
void journal_stop(struct journal *j);
/* After files_stop() has called back. NULL is accepted. */
void journal_free(struct journal *j);

/* Before files_end_requests(), which abandons calls that hang. NULL is accepted. */
void journal_end_requests(struct journal *j);
/* Whether a change that failed for this reason may happen all the same: a stopping daemon abandons
 * calls that hang. A call that was refused because its share hangs has not begun, and will not. */
bool journal_may_happen(const struct journal *j, const struct err *why);

/* Whether it accepts `n` more bytes. If the disk is so slow that much is unsettled, it does not. */
bool journal_takes(const struct journal *j, size_t n);
struct journal_entry {
    int64_t id;
    size_t n; /* bytes */
};
/* Writes the row of a put; this sets its id and boot. It counts when the turn is durable; then its
 * file is put into its place, and one of the other calls follows. */
int journal_keep(struct journal *j, const struct kept_put *put, struct journal_entry *out,
                 struct err *e) MUST_CHECK;
/* The journal takes over `upload`, which is finished. */
void journal_placed(struct journal *j, const struct journal_entry *entry,
                    struct file_upload *upload);
/* Its file is placed, and on disk already. */
void journal_settled(struct journal *j, const struct journal_entry *entry);
/* It could not be placed, or its turn was rolled back. The row is removed with this turn's writes,
 * which restore what was noted: if the turn is lost, the next start completes the put. */
void journal_drop(struct journal *j, const struct journal_entry *entry);
/* It is unknown whether it is placed (journal_may_happen()): its row stays, so that the next start
 * completes it. */
void journal_leave(struct journal *j, const struct journal_entry *entry);

/* --- all other changes (journal_changes.c) --------------------------------------------------- */

/* Whether there are intents. */
bool journal_guards(const struct journal *j);
/* Writes the intent; this sets its id. It counts when the turn is durable; then the file is placed,
 * and journal_ended() follows, unless the result is unknown. */
int journal_guard(struct journal *j, const struct item_change *change, struct journal_entry *out,
                  struct err *e) MUST_CHECK;
/* Calls back when the intent of this turn counts. */
void journal_when_guarded(struct journal *j, void (*cb)(void *ctx, const struct err *why),
                          void *ctx);
/* The change is placed, or is abandoned and the row restored: once this turn counts, the intent
 * goes. If the turn is lost the intent stays, so that the next start completes the change. */
void journal_ended(struct journal *j, const struct journal_entry *entry);

#endif
