/* SPDX-License-Identifier: MIT
 *
 * The requests of node.h: makes their messages and reads their answers.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/base64.h"
#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"

/* ---- answers ---- */

static int hear_done(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    (void)msg;
    (void)e;
    link_answer(link, p, NULL, NULL, 0);
    return 0;
}

static void tell_done(struct pending *p, const struct err *why, const void *what, size_t n)
{
    (void)what;
    (void)n;
    if (p->cb.done)
        p->cb.done(p->ctx, why);
}

static int hear_task(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    struct task_status s;
    if (message_task_status_read(json_object_get(msg, "task"), &s, e) < 0)
        return -1;
    link_answer(link, p, NULL, &s, 1);
    return 0;
}

static void tell_task(struct pending *p, const struct err *why, const void *what, size_t n)
{
    (void)n;
    if (p->cb.task)
        p->cb.task(p->ctx, why, what);
}

/* Keeps the array `name` of this part. True once the last part is there. */
static bool collect(struct pending *p, json_t *msg, const char *name)
{
    if (!p->parts)
        p->parts = json_array();
    json_array_extend(p->parts, json_object_get(msg, name));
    return !json_is_true(json_object_get(msg, "more"));
}

static int hear_tasks(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    json_t *j;
    size_t i;
    if (!collect(p, msg, "tasks"))
        return 0;
    size_t n = json_array_size(p->parts);
    struct task_status *list = xcalloc(n + 1, sizeof *list);
    int rc = 0;
    json_array_foreach(p->parts, i, j)
        if (rc == 0)
            rc = message_task_status_read(j, &list[i], e);
    if (rc == 0)
        link_answer(link, p, NULL, list, n);
    free(list);
    return rc;
}

static void tell_tasks(struct pending *p, const struct err *why, const void *what, size_t n)
{
    if (p->cb.tasks)
        p->cb.tasks(p->ctx, why, what, n);
}

static int hear_health(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    struct node_health h;
    if (message_health_read(json_object_get(msg, "health"), &h, e) < 0)
        return -1;
    link_answer(link, p, NULL, &h, 1);
    return 0;
}

static void tell_health(struct pending *p, const struct err *why, const void *what, size_t n)
{
    (void)n;
    if (p->cb.health)
        p->cb.health(p->ctx, why, what);
}

static int hear_usage(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    struct node_usage u;
    if (message_usage_read(json_object_get(msg, "usage"), &u, e) < 0)
        return -1;
    link_answer(link, p, NULL, &u, 1);
    return 0;
}

static void tell_usage(struct pending *p, const struct err *why, const void *what, size_t n)
{
    (void)n;
    if (p->cb.usage)
        p->cb.usage(p->ctx, why, what);
}

static int hear_dir(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    json_t *j;
    size_t i;
    if (!collect(p, msg, "entries"))
        return 0;
    size_t n = json_array_size(p->parts);
    struct node_dir_entry *list = xcalloc(n + 1, sizeof *list);
    int rc = 0;
    json_array_foreach(p->parts, i, j)
        if (rc == 0)
            rc = message_dir_entry_read(j, &list[i], e);
    if (rc == 0)
        link_answer(link, p, NULL, list, n);
    free(list);
    return rc;
}

static void tell_dir(struct pending *p, const struct err *why, const void *what, size_t n)
{
    if (p->cb.dir)
        p->cb.dir(p->ctx, why, what, n);
}

static int hear_texts(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    json_t *found = json_object_get(msg, "found"), *j;
    size_t i, n = json_array_size(found);
    const char **list = xcalloc(n + 1, sizeof *list);
    json_array_foreach(found, i, j)
        list[i] = json_string_value(j) ? json_string_value(j) : "";
    (void)e;
    link_answer(link, p, NULL, list, n);
    free(list);
    return 0;
}

static void tell_texts(struct pending *p, const struct err *why, const void *what, size_t n)
{
    if (p->cb.texts)
        p->cb.texts(p->ctx, why, what, n);
}

/* An agent that cannot send bytes beside the JSON sends them in base64. */
static int hear_base64(json_t *msg, char **owned, struct node_bytes *got, struct err *e)
{
    json_t *text = json_object_get(msg, "bytes");
    if (base64_decode(json_string_value(text), json_string_length(text), owned, &got->n) < 0)
        return err_set(e, ERR_PROTOCOL, NULL, "the bytes of a file are not base64");
    got->bytes = *owned;
    return 0;
}

static int hear_bytes(struct node_link *link, struct pending *p, json_t *msg, struct err *e)
{
    json_error_t je;
    struct node_bytes got;
    char *owned = NULL;
    json_int_t size, mtime;
    if (json_unpack_ex(msg, &je, 0, "{s:I, s:I}", "size", &size, "mtime_us", &mtime) < 0)
        return err_set(e, ERR_PROTOCOL, NULL, "the bytes of a file cannot be read: %s", je.text);
    got.bytes = frame_decoder_bytes(&link->in, &got.n);
    if (json_is_string(json_object_get(msg, "bytes")) && hear_base64(msg, &owned, &got, e) < 0)
        return -1;
    if (!got.bytes)
        got.bytes = "";
    got.size = size;
    got.mtime_us = mtime;
    link_answer(link, p, NULL, &got, 1);
    free(owned);
    return 0;
}

static void tell_bytes(struct pending *p, const struct err *why, const void *what, size_t n)
{
    (void)n;
    if (p->cb.bytes)
        p->cb.bytes(p->ctx, why, what);
}

static const struct answer_type answer_done = {hear_done, tell_done},
                                answer_task = {hear_task, tell_task},
                                answer_tasks = {hear_tasks, tell_tasks},
                                answer_health = {hear_health, tell_health},
                                answer_usage = {hear_usage, tell_usage},
                                answer_dir = {hear_dir, tell_dir},
                                answer_bytes = {hear_bytes, tell_bytes},
                                answer_texts = {hear_texts, tell_texts};

static void ask_done(struct node_link *link, const char *op, json_t *msg, node_done_cb cb,
                     void *ctx)
{
    link_ask(link, op, msg, (struct pending){.type = &answer_done, .cb.done = cb, .ctx = ctx});
}

/* ---- files ---- */

void node_mount_folder(struct node_link *link, const char *source, const char *target, bool shared,
                       node_done_cb cb, void *ctx)
{
    json_t *msg = json_pack("{s:s, s:s}", "source", source, "target", target);
    if (msg && shared)
        json_object_set_new(msg, "shared", json_true());
    ask_done(link, "mount_folder", msg, cb, ctx);
}

void node_open_folder(struct node_link *link, const char *path, node_done_cb cb, void *ctx)
{
    ask_done(link, "open_folder", json_pack("{s:s}", "path", path), cb, ctx);
}

void node_unmount(struct node_link *link, const char *target, node_done_cb cb, void *ctx)
{
    ask_done(link, "unmount", json_pack("{s:s}", "target", target), cb, ctx);
}

void node_make_dirs(struct node_link *link, const char *as, const char *const *paths, size_t n,
                    node_done_cb cb, void *ctx)
{
    json_t *list = json_array();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = json_array_append_new(list, json_string(paths[i]));
    json_t *msg = rc == 0 ? json_pack("{s:O, s:s*}", "paths", list, "as", as) : NULL;
    json_decref(list);
    ask_done(link, "make_dirs", msg, cb, ctx);
}

void node_remove_tree(struct node_link *link, const char *path, node_done_cb cb, void *ctx)
{
    ask_done(link, "remove_tree", json_pack("{s:s}", "path", path), cb, ctx);
}

void node_append(struct node_link *link, const char *as, const char *path, const char *text,
                 node_done_cb cb, void *ctx)
{
    ask_done(link, "append", json_pack("{s:s, s:s, s:s*}", "path", path, "text", text, "as", as),
             cb, ctx);
}

void node_write_file(struct node_link *link, const char *as, const char *path, const char *text,
                     int mode, node_done_cb cb, void *ctx)
{
    ask_done(link, "write_file",
             json_pack("{s:s, s:s, s:i, s:s*}", "path", path, "text", text, "mode", mode, "as", as),
             cb, ctx);
}

void node_write_bytes(struct node_link *link, const char *as, const char *path,
                      const struct node_piece *piece, node_done_cb cb, void *ctx)
{
    char *text = base64_encode(piece->bytes, piece->n);
    ask_done(link, "write_bytes",
             json_pack("{s:s, s:s, s:I, s:b, s:i, s:s*}", "path", path, "bytes", text, "offset",
                       (json_int_t)piece->offset, "last", piece->last, "mode", piece->mode, "as",
                       as),
             cb, ctx);
    free(text);
}

void node_unpack(struct node_link *link, const char *archive, const char *target, node_done_cb cb,
                 void *ctx)
{
    ask_done(link, "unpack", json_pack("{s:s*, s:s}", "path", archive, "target", target), cb, ctx);
}

void node_list_dir(struct node_link *link, const char *as, const char *base, const char *path,
                   node_dir_cb cb, void *ctx)
{
    link_ask(link, "list_dir", json_pack("{s:s, s:s, s:s*}", "base", base, "path", path, "as", as),
             (struct pending){.type = &answer_dir, .cb.dir = cb, .ctx = ctx});
}

void node_read_file(struct node_link *link, const char *as, const char *base, const char *path,
                    int64_t offset, size_t max, node_bytes_cb cb, void *ctx)
{
    link_ask(link, "read_file",
             json_pack("{s:s, s:s, s:I, s:I, s:b, s:s*}", "base", base, "path", path, "offset",
                       (json_int_t)offset, "max", (json_int_t)max, "raw", 1, "as", as),
             (struct pending){.type = &answer_bytes, .cb.bytes = cb, .ctx = ctx});
}

/* ---- tasks ---- */

void node_run(struct node_link *link, const struct task_spec *spec, node_task_cb cb, void *ctx)
{
    json_t *task = message_task_spec(spec);
    link_ask(link, "run", task ? json_pack("{s:o}", "task", task) : NULL,
             (struct pending){.type = &answer_task, .cb.task = cb, .ctx = ctx});
}

void node_signal(struct node_link *link, const char *task_id, int signo, node_done_cb cb, void *ctx)
{
    ask_done(link, "signal", json_pack("{s:s, s:i}", "task", task_id, "signal", signo), cb, ctx);
}

void node_tasks(struct node_link *link, node_tasks_cb cb, void *ctx)
{
    link_ask(link, "tasks", json_object(),
             (struct pending){.type = &answer_tasks, .cb.tasks = cb, .ctx = ctx});
}

void node_forget(struct node_link *link, const char *task_id, node_done_cb cb, void *ctx)
{
    ask_done(link, "forget", json_pack("{s:s}", "task", task_id), cb, ctx);
}

/* ---- remote commands ---- */

void node_remote_open(struct node_link *link, const char *as, const char *job, node_done_cb cb,
                      void *ctx)
{
    ask_done(link, "remote_open", json_pack("{s:s, s:s*}", "job", job, "as", as), cb, ctx);
}

void node_remote_close(struct node_link *link, const char *job, node_done_cb cb, void *ctx)
{
    ask_done(link, "remote_close", json_pack("{s:s*}", "job", job), cb, ctx);
}

/* ---- the machine ---- */

void node_ping(struct node_link *link, node_done_cb cb, void *ctx)
{
    ask_done(link, "ping", json_object(), cb, ctx);
}

void node_health(struct node_link *link, node_health_cb cb, void *ctx)
{
    link_ask(link, "health", json_object(),
             (struct pending){.type = &answer_health, .cb.health = cb, .ctx = ctx});
}

void node_usage(struct node_link *link, node_usage_cb cb, void *ctx)
{
    link_ask(link, "usage", json_object(),
             (struct pending){.type = &answer_usage, .cb.usage = cb, .ctx = ctx});
}

/* An agent that does not know them makes accounts all the same. */
static void add_chosen(json_t *req, int uid, int gid)
{
    if (uid == 0 || !req)
        return;
    json_object_set_new(req, "uid", json_integer(uid));
    json_object_set_new(req, "gid", json_integer(gid));
}

void node_user_add(struct node_link *link, const struct node_user *user, node_done_cb cb, void *ctx)
{
    json_t *req = json_pack("{s:s, s:s*, s:s*, s:s*}", "name", user->name, "ssh_public_key",
                            user->ssh_public_key, "password", user->password, "private_key",
                            user->private_key);
    add_chosen(req, user->uid, user->gid);
    ask_done(link, "user_add", req, cb, ctx);
}

void node_user_remove(struct node_link *link, const char *name, node_done_cb cb, void *ctx)
{
    ask_done(link, "user_remove", json_pack("{s:s*}", "name", name), cb, ctx);
}

void node_account_take(struct node_link *link, const struct node_account *account, node_done_cb cb,
                       void *ctx)
{
    json_t *req = json_pack("{s:s, s:s, s:s*, s:I, s:I}", "name", account->name, "dir",
                            account->dir, "also", account->also, "first",
                            (json_int_t)account->first, "count", (json_int_t)account->count);
    add_chosen(req, account->uid, account->gid);
    ask_done(link, "account_take", req, cb, ctx);
}

void node_account_key(struct node_link *link, const char *name, const char *private_key,
                      node_done_cb cb, void *ctx)
{
    ask_done(link, "account_key", json_pack("{s:s, s:s}", "name", name, "private_key", private_key),
             cb, ctx);
}

void node_account_release(struct node_link *link, const char *name, node_done_cb cb, void *ctx)
{
    ask_done(link, "account_release", json_pack("{s:s*}", "name", name), cb, ctx);
}

void node_drop_unlinked(struct node_link *link, const struct node_unlinked *what, node_done_cb cb,
                        void *ctx)
{
    ask_done(
        link, "drop_unlinked",
        json_pack("{s:s, s:s, s:s}", "dir", what->dir, "used", what->used, "links", what->links),
        cb, ctx);
}

void node_reboot(struct node_link *link, node_done_cb cb, void *ctx)
{
    ask_done(link, "reboot", json_object(), cb, ctx);
}

void node_clean(struct node_link *link, bool take, node_texts_cb cb, void *ctx)
{
    link_ask(link, "clean", json_pack("{s:b}", "take", (int)take),
             (struct pending){.type = &answer_texts, .cb.texts = cb, .ctx = ctx});
}

void node_remove_root(struct node_link *link, node_done_cb cb, void *ctx)
{
    ask_done(link, "remove_root", json_object(), cb, ctx);
}
