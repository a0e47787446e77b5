/* SPDX-License-Identifier: MIT
 *
 * The rounds in which kept files are synced. Puts gather until a timer, or their number SETTLE_AT,
 * begins a round. A round syncs their files on workers and removes their rows. `next` collects puts
 * while the round `now` is synced. On the loop; it owns both lists and the timer.
 */
#include "storage/shares/journal_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "model/spec.h"
#include "storage/folders/upload.h"
#include "storage/storage.h"

/* When this many placed files wait, they are synced together. */
#define SETTLE_AT 256
/* With this many unsettled puts, the journal takes no more; each has an open file. Puts that were
 * being staged at that moment may still come. */
#define PUTS_MAX  512
#define BYTES_MAX ((size_t)(16 * 1024 * 1024))

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static void begin_round(struct journal *j);

static void on_time(void *ctx)
{
    struct journal *j = ctx;
    j->waits = false;
    if (j->now.n == 0 && j->next.n > 0)
        begin_round(j);
}

static char *boot_id(void)
{
    char *text = NULL;
    struct err e;
    if (fs_read(BOOT_ID, 64, &text, NULL, &e) < 0)
        return xstrdup("");
    text[strcspn(text, "\n")] = '\0';
    return text;
}

struct journal *journal_create(const struct journal_config *c)
{
    struct journal *j = xcalloc(1, sizeof *j);
    j->c = *c;
    j->c.storage_dir = j->storage_dir = xstrdup(c->storage_dir);
    j->boot = boot_id();
    j->timer = loop_timer_create(c->loop, on_time, j);
    return j;
}

void journal_free(struct journal *j)
{
    if (!j)
        return;
    assert(j->next.n == 0 && j->now.n == 0);
    assert(j->stopped);
    assert(j->n_ended == 0);
    free(j->ended);
    free(j->next.put);
    free(j->now.put);
    free(j->storage_dir);
    free(j->boot);
    free(j);
}

/* --- keeping ---------------------------------------------------------------------------------- */

void journal_end_requests(struct journal *j)
{
    if (j)
        j->ends_requests = true;
}

bool journal_may_happen(const struct journal *j, const struct err *why)
{
    return why->code == ERR_UNAVAILABLE && (j->ends_requests || j->stopped);
}

bool journal_takes(const struct journal *j, size_t n)
{
    return n <= JOURNAL_PUT_MAX && !j->stopped && j->puts < PUTS_MAX && j->bytes + n <= BYTES_MAX;
}

int journal_keep(struct journal *j, const struct kept_put *put, struct journal_entry *out,
                 struct err *e)
{
    struct kept_put p = *put;
    p.id = j->last_id + 1;
    p.boot = j->boot;
    if (st_kept_put_add(j->c.storage, &p, e) < 0)
        return -1;
    *out = (struct journal_entry){p.id, p.n};
    j->last_id = p.id;
    j->puts++;
    j->bytes += p.n;
    return 0;
}

static void is_over(struct journal *j, const struct journal_entry *entry, bool keep_row)
{
    assert(j->puts > 0 && j->bytes >= entry->n);
    j->puts--;
    j->bytes -= entry->n;
    if (!keep_row)
        journal_forget_put(j, entry->id);
}

void journal_drop(struct journal *j, const struct journal_entry *entry)
{
    is_over(j, entry, true);
    journal_remove_put(j, entry->id);
}

void journal_settled(struct journal *j, const struct journal_entry *entry)
{
    is_over(j, entry, false);
    journal_forget(j);
}

void journal_leave(struct journal *j, const struct journal_entry *entry)
{
    is_over(j, entry, true);
}

static void add(struct round *r, struct placed p)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : SETTLE_AT;
        r->put = xrealloc(r->put, r->cap * sizeof *r->put);
    }
    r->put[r->n++] = p;
}

void journal_placed(struct journal *j, const struct journal_entry *entry,
                    struct file_upload *upload)
{
    add(&j->next, (struct placed){upload, *entry});
    if (j->now.n > 0)
        return;
    if (j->next.n >= SETTLE_AT || j->stopped) {
        begin_round(j);
    } else if (!j->waits) {
        j->waits = true;
        loop_timer_start(j->timer, loop_mono_us(j->c.loop) + SETTLE_AFTER_US);
    }
}

/* --- settling --------------------------------------------------------------------------------- */

/* A file whose sync failed keeps its row: the next start restores it if necessary. */
static void on_settled(void *ctx, const struct err *why)
{
    struct journal *j = ctx;
    if (why)
        LOG_ERROR(j->c.log, "journal.files_not_synced", LF_INT("files", (int64_t)j->now.n),
                  LF_STR("why", why->msg));
    for (size_t i = 0; i < j->now.n; i++)
        is_over(j, &j->now.put[i].entry, why != NULL);
    journal_forget(j);
    j->now.n = 0;
    if (j->next.n > 0)
        begin_round(j);
}

static void begin_round(struct journal *j)
{
    struct round r = j->now;
    j->now = j->next;
    j->next = r;
    struct file_upload **uploads = xcalloc(j->now.n, sizeof *uploads);
    for (size_t i = 0; i < j->now.n; i++)
        uploads[i] = j->now.put[i].upload;
    if (j->waits)
        loop_timer_stop(j->timer);
    j->waits = false;
    files_settle(uploads, j->now.n, on_settled, j);
    free(uploads);
}

void puts_stop(struct journal *j)
{
    j->stopped = true;
    j->waits = false;
    loop_timer_destroy(j->timer);
    j->timer = NULL;
    if (j->now.n == 0 && j->next.n > 0)
        begin_round(j);
}

/* --- after a start ---------------------------------------------------------------------------- */

/* Updates the blob's row with the facts of its restored file. */
static int follow(struct journal *j, struct arena *a, const struct kept_put *p,
                  const struct file_facts *now, struct err *e)
{
    struct share_item item;
    int rc = st_item_get(j->c.storage, a, p->share_id, p->path, &item, e);
    if (rc <= 0 || item.inode != p->inode || item.mtime_ns != p->mtime_ns)
        return rc < 0 ? -1 : 0;
    item.inode = (int64_t)now->inode;
    return st_item_put(j->c.storage, &item, e);
}

/* Called if the put was never placed, or if a job has removed its file: removes the blob's row
 * too. */
static int forget_noted(struct journal *j, struct arena *a, const struct kept_put *p, struct err *e)
{
    struct share_item item;
    int rc = st_item_get(j->c.storage, a, p->share_id, p->path, &item, e);
    if (rc <= 0 || item.inode != p->inode || item.mtime_ns != p->mtime_ns)
        return rc < 0 ? -1 : 0;
    return st_item_remove(j->c.storage, p->share_id, p->path, e);
}

struct file_place journal_place(const struct journal *j, struct arena *a, const struct share *s,
                                const char *path, const char *aside)
{
    if (aside)
        return (struct file_place){arena_concat(a, j->storage_dir, "/", arena_lower(a, s->account)),
                                   aside};
    return (struct file_place){share_folder(a, j->storage_dir, s->account, s->kind, s->name), path};
}

/* Whether the machine, not only the daemon, has stopped since. */
static bool was_cut(const struct journal *j, const struct kept_put *p)
{
    return strcmp(p->boot, j->boot) != 0 || !*j->boot;
}

static void tell(struct journal *j, const struct share *s, const struct kept_put *p)
{
    LOG_WARN(j->c.log, "journal.restored", LF_STR("share", s->name), LF_STR("path", p->path),
             LF_INT("bytes", (int64_t)p->n));
}

static int restore(struct journal *j, struct arena *a, const struct share *s,
                   const struct kept_put *p, struct err *e)
{
    bool put;
    struct file_result r;
    const struct files_restore what = {
        .what = {.at = journal_place(j, a, s, p->path, p->aside),
                 .mode = 0666,
                 .directory_mode = 0777},
        .bytes = p->bytes,
        .n = p->n,
        .inode = (uint64_t)p->inode,
        .mtime_ns = p->mtime_ns,
        .was_cut = was_cut(j, p) || p->aside, /* only the daemon removes files in `.aside` */
        .was_inode = (uint64_t)p->was_inode,
        .was_mtime_ns = p->was_mtime_ns,
    };
    if (files_restore(&what, &put, &r, e) < 0)
        return -1;
    if (!put)
        return r.fault == FILE_MISSING ? forget_noted(j, a, p, e) : 0;
    tell(j, s, p);
    if (st_item_change_follow(j->c.storage, p, (int64_t)r.facts.inode, e) < 0)
        return -1;
    return follow(j, a, p, &r.facts, e);
}

/* --- added bytes ------------------------------------------------------------------------------ */

/* Whether the blob was replaced, and its place now has another file that got the same inode
 * number. */
static bool is_of_another(const struct kept_put *p, const struct share_item *item)
{
    return item->inode == p->inode && item->size < p->grows_from + (int64_t)p->n;
}

/* Gives the row the time of the file. The daemon died before it set the file's time to the row's
 * time, and no client has seen the row's time. */
static int follow_time(struct journal *j, const struct kept_put *p, struct share_item *item,
                       const struct file_facts *now, struct err *e)
{
    if (item->inode != p->inode || item->mtime_ns != p->mtime_ns ||
        item->size != (int64_t)now->size || item->mtime_ns == now->mtime_ns)
        return 0;
    item->mtime_ns = now->mtime_ns;
    return st_item_put(j->c.storage, item, e);
}

static int regrow(struct journal *j, struct arena *a, const struct share *s,
                  const struct kept_put *p, struct err *e)
{
    const struct files_regrow what = {.at = journal_place(j, a, s, p->path, p->aside),
                                      .bytes = p->bytes,
                                      .n = p->n,
                                      .inode = (uint64_t)p->inode,
                                      .offset = (uint64_t)p->grows_from,
                                      .was_mtime_ns = p->was_mtime_ns,
                                      .mtime_ns = p->mtime_ns,
                                      .was_cut = was_cut(j, p)};
    struct share_item item;
    struct file_facts now;
    bool there, put;
    int rc = st_item_get(j->c.storage, a, p->share_id, p->path, &item, e);
    if (rc <= 0 || is_of_another(p, &item))
        return rc < 0 ? -1 : 0;
    if (files_regrow(&what, &there, &put, &now, e) < 0)
        return -1;
    if (put)
        tell(j, s, p);
    return there ? follow_time(j, p, &item, &now, e) : 0;
}

/* --- all puts --------------------------------------------------------------------------------- */

static int replay_one(struct journal *j, struct arena *a, int64_t id, struct err *e)
{
    struct kept_put p;
    struct share s;
    int rc = st_kept_put_get(j->c.storage, a, id, &p, e);
    if (rc > 0)
        rc = st_share_by_id(j->c.storage, a, p.share_id, &s, e);
    if (rc <= 0)
        return rc;
    struct err why;
    if ((p.grows ? regrow : restore)(j, a, &s, &p, &why) == 0)
        return st_kept_put_remove(j->c.storage, id, e);
    LOG_ERROR(j->c.log, "journal.not_restored", LF_STR("share", s.name), LF_STR("path", p.path),
              LF_STR("why", why.msg));
    return 0;
}

int puts_replay(struct journal *j, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n;
    arena_init(&a);
    int rc = st_kept_put_last(j->c.storage, &j->last_id, e);
    if (rc == 0)
        rc = st_kept_put_ids(j->c.storage, &a, &ids, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct arena one;
        arena_init(&one);
        rc = replay_one(j, &one, ids[i], e);
        arena_free(&one);
    }
    arena_free(&a);
    return rc;
}
