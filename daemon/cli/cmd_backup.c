/* SPDX-License-Identifier: MIT
 *
 * `batchaid backup` and `batchaid restore`: copy the database into one file, and back.
 */
#include <stdio.h>
#include <unistd.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/progress.h"
#include "daemon/config/state.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "storage/storage.h"

static void show(void *ctx, int64_t done, int64_t all)
{
    if (all > 0)
        progress_say_bytes(ctx, "copying the database", done, all);
    else
        progress_say(ctx, "checking the copy");
}

/* Writes the file whose time stamp is the time of the last backup in metrics. If that fails, the
 * backup is still valid. */
static void note(const struct state *s)
{
    struct err e;
    if (fs_write_atomic(s->backed_up, "", 0, 0600, &e) < 0)
        fprintf(stderr, "batchaid: /metrics will not show this backup: %s\n", e.msg);
}

/* Checks before anything is written that JSON can contain the names. */
static int check_json(const struct state *s, const char *file, struct err *e)
{
    int rc = json_print_check("the state directory", s->dir, e);
    return rc < 0 ? -1 : json_print_check("the name of the file", file, e);
}

static void say_backup(const struct options *o, const struct state *s)
{
    if (o->json)
        json_print_new(json_pack("{s:s, s:s}", "file", o->args[0], "secretKey", s->secret_key));
    else
        fprintf(stderr,
                "batchaid: the database is in %s. The key of its secrets is not in it: keep a copy "
                "of %s in another place\n",
                o->args[0], s->secret_key);
}

int cmd_backup(const struct options *o)
{
    struct state s = {.dir = NULL};
    struct err e;
    struct progress p;
    int rc = state_locate(o->state_dir, NULL, &s, &e);
    if (rc == 0 && o->json)
        rc = check_json(&s, o->args[0], &e);
    progress_begin_unless(&p, o->json);
    if (rc == 0)
        rc = st_backup(s.db, o->args[0], &(struct st_copying){show, &p}, &e);
    progress_end(&p);
    if (rc == 0) {
        note(&s);
        say_backup(o, &s);
    }
    state_free(&s);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}

/* Restores a backup. Holds the daemon's own lock meanwhile, so that no daemon can run. */
static int restore(const struct state *s, const struct options *o, struct err *e)
{
    struct state_lock lock = STATE_LOCK_NONE;
    if (state_acquire(s, &lock, e) < 0)
        return -1;
    struct progress p;
    progress_begin_unless(&p, o->json);
    int rc = st_restore(s->db, s->secret_key, o->args[0], &(struct st_copying){show, &p}, e);
    progress_end(&p);
    if (rc == 0)
        /* this file contains row ids, which mean other rows in the restored database */
        (void)unlink(s->under_way);
    state_release(&lock);
    return rc;
}

static void say_restored(const struct options *o, const struct state *s)
{
    struct strbuf before = STRBUF_INIT;
    strbuf_concat(&before, s->db, ".before");
    bool kept = access(before.s, F_OK) == 0; /* there may have been no database */
    if (o->json)
        json_print_new(
            json_pack("{s:s, s:s*}", "database", s->db, "before", kept ? before.s : NULL));
    else
        fprintf(stderr, "batchaid: %s is in place%s%s\n", s->db,
                kept ? "; the old database is kept as " : "", kept ? before.s : "");
    strbuf_free(&before);
}

int cmd_restore(const struct options *o)
{
    struct state s = {.dir = NULL};
    struct err e;
    int rc = state_locate(o->state_dir, NULL, &s, &e);
    if (rc == 0 && o->json)
        rc = check_json(&s, o->args[0], &e);
    if (rc == 0)
        rc = restore(&s, o, &e);
    if (rc == 0)
        say_restored(o, &s);
    state_free(&s);
    return rc == 0 ? EXIT_DONE : cli_fail(EXIT_FAILED, &e);
}
