/* SPDX-License-Identifier: MIT
 *
 * The journal of blobs: after a kill or a power cut, a blob is wholly as before a change or wholly
 * as after it. A blob is a row (struct share_item) and a file. Every operation changes them in one
 * order:
 *
 *   the file is staged: its bytes are on disk, or in the journal, and nobody sees it
 *   -> one transaction: the row that the blob will have, and in the journal the intent, with the
 *      present row and the facts of the present file
 *   -> durable (with storage.sync off: committed, as only the daemon may die then)
 *   -> the file is placed: one rename, one unlink; on disk, or the journal has its bytes
 *   -> the reply
 *   -> the intent is removed, a moment later, with other writes: nobody waits for that. If that
 *      turn is lost, the intent is there again, and is removed once more
 *
 * A start finds the intents that are left. The present file shows how far each change came. If the
 * file is unchanged, the change is undone: the row is restored (a put, a copy, a block list); bytes
 * that were to be appended are cut off, unless the row has them. A deletion is completed instead:
 * the file is removed. If the file is neither the old nor the new one, somebody else has written it
 * since: row and file stay.
 *
 * Between two transactions of this daemon, a reader would see a row and a file of two versions;
 * therefore readers wait for their turn (api/plane/storage/write_lock.h). A change of the row alone
 * needs none of this: it is one transaction. An ephemeral daemon (--ephemeral) has no intents.
 *
 * Small blobs, and small pieces that are appended: the database's next sync writes their bytes to
 * the disk. It serves all puts of a moment, so that none waits for a sync of a separate file. The
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
 * nor the old ones. The next start puts back what a power cut took. Another operation that changes
 * a blob's bytes, or removes the blob, must call st_kept_put_forget() in the transaction of that
 * change.
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

/* bytes; a larger blob is synced separately: a sync is cheap compared with so many bytes */
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
/* Syncs placed files. Nothing more may be kept after this. Call before files_stop(). */
void journal_stop(struct journal *j);
/* Call after files_stop() has called back. NULL is accepted. */
void journal_free(struct journal *j);

/* Call before files_end_requests(), which abandons calls that hang. NULL is accepted. */
void journal_end_requests(struct journal *j);
/* Whether a change that failed for this reason may happen all the same: a stopping daemon abandons
 * calls that hang. But a call that was refused because its share hangs has not begun, and will not
 * begin. */
bool journal_may_happen(const struct journal *j, const struct err *why);

/* Whether the journal accepts `n` more bytes. False: these are too many for one put, too much is
 * not settled yet because the disk is slow, or the journal was stopped. A put counts from
 * journal_keep() on; one that was accepted before is kept all the same. */
bool journal_takes(const struct journal *j, size_t n);
struct journal_entry {
    int64_t id;
    size_t n; /* bytes */
};
/* Writes the row of a put; this sets its id and boot. When the turn is durable, put its file into
 * its place, and then call one of the next functions. */
int journal_keep(struct journal *j, const struct kept_put *put, struct journal_entry *out,
                 struct err *e) MUST_CHECK;
/* Call when the file of the put is placed. The journal takes over `upload`, which is finished. */
void journal_placed(struct journal *j, const struct journal_entry *entry,
                    struct file_upload *upload);
/* Call when the file of the put is placed and already on disk. */
void journal_settled(struct journal *j, const struct journal_entry *entry);
/* Call when the put could not be placed, or its turn was rolled back. Removes the put's row in this
 * turn, in which the caller also restores the blob's row. If this turn is lost, the next start
 * completes the put. */
void journal_drop(struct journal *j, const struct journal_entry *entry);
/* Call when it is unknown whether the put is placed (journal_may_happen()): its row stays, so that
 * the next start completes the put. */
void journal_leave(struct journal *j, const struct journal_entry *entry);

/* --- all other changes (journal_changes.c) --------------------------------------------------- */

/* Whether there are intents. */
bool journal_guards(const struct journal *j);
/* Writes the intent; this sets its id. When the turn is durable, place the file, and call
 * journal_ended(), unless the result is unknown. */
int journal_guard(struct journal *j, const struct item_change *change, struct journal_entry *out,
                  struct err *e) MUST_CHECK;
/* Calls back when the intents of this turn are durable. */
void journal_when_guarded(struct journal *j, void (*cb)(void *ctx, const struct err *why),
                          void *ctx);
/* Call when the change is placed, or is abandoned and the row restored. When this turn is durable,
 * the intent is removed. If the turn is lost, the intent stays, and the next start completes the
 * change. */
void journal_ended(struct journal *j, const struct journal_entry *entry);

#endif
