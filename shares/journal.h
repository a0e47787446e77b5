/* SPDX-License-Identifier: MIT
 *
 * The journal of small blobs: their bytes go to the disk with the database's next sync, which
 * serves all puts of a moment, so that none waits for syncs of its own file. The files are in their
 * places as soon as they are acknowledged, and are synced a moment later, all at once:
 *
 *   files_stage() -> journal_keep() -> durable -> upload_finish() -> journal_placed() -> reply
 *                                                                     \-> files_settle() -> row
 * gone
 *
 * The row comes before the file takes its place, so nothing is lost or torn, neither the new bytes
 * nor those that were there. What a power cut took is put back at the next start. Whatever changes
 * a blob's bytes in another way, or removes it, has to st_kept_put_forget() it with the write that
 * says so.
 */
#ifndef SHARES_JOURNAL_H
#define SHARES_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "model/resource.h"

struct file_upload;
struct log;
struct loop;
struct storage;

/* A larger blob has syncs of its own, which are small beside its bytes. */
#define JOURNAL_PUT_MAX ((size_t)(64 * 1024))

struct journal_config { /* all borrowed; storage_dir is copied */
    struct storage *storage;
    struct loop *loop;
    const struct log *log;
    const char *storage_dir;
};

struct journal *journal_create(const struct journal_config *c);
/* Puts back what the last run acknowledged and did not settle. Before anybody may change a share.
 * Blocks, a while after a power cut. What cannot be put back is logged, and tried again at the next
 * start. */
int journal_replay(struct journal *j, struct err *e) MUST_CHECK;
/* Settles what is placed. No more may be kept. Before files_stop(). */
void journal_stop(struct journal *j);
/* After files_stop() has called back. NULL is accepted. */
void journal_free(struct journal *j);

/* Whether it takes `n` bytes more. Where a disk is so slow that much is not settled yet, it does
 * not. */
bool journal_takes(const struct journal *j, size_t n);
struct journal_entry {
    int64_t id;
    size_t n; /* bytes */
};
/* Writes the row of a put; its id and boot are set here. It counts once the turn is durable; then
 * its file takes its place, and one of the other calls follows. */
int journal_keep(struct journal *j, const struct kept_put *put, struct journal_entry *out,
                 struct err *e) MUST_CHECK;
/* `upload`, which is finished, becomes the journal's. */
void journal_placed(struct journal *j, const struct journal_entry *entry,
                    struct file_upload *upload);
/* It could not be placed, or its turn was lost. */
void journal_drop(struct journal *j, const struct journal_entry *entry);
/* Nobody knows whether it is placed (files/ is stopping, or the share hangs): its row stays, so
 * that the next start makes it whole. */
void journal_leave(struct journal *j, const struct journal_entry *entry);

#endif
