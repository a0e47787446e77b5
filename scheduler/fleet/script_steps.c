/* SPDX-License-Identifier: MIT
 *
 * The kinds of steps that are one request each.
 */
#include "scheduler/fleet/script_priv.h"

static void send_make_dirs(struct script *sc, struct step *st)
{
    node_make_dirs(sc->link, st->as, st->paths, st->n, script_step_done, st);
}

void script_make_dirs(struct script *sc, const struct script_label *label, const char *as,
                      const char *const *paths, size_t n)
{
    struct step *st = script_step(sc, label, send_make_dirs);
    const char **all = arena_alloc(sc->a, n * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = paths[i];
    st->as = as;
    st->paths = all;
    st->n = n;
}

static void send_work(struct script *sc, struct step *st)
{
    st->work.begin(st->work.ctx, sc->link, (struct script_turn *)st);
}

void script_work(struct script *sc, const struct script_label *label,
                 const struct script_work *work)
{
    struct step *st = script_step(sc, label, send_work);
    st->work = *work;
    st->waits = true;
}

void script_turn_end(struct script_turn *turn, const struct err *why)
{
    script_step_done(turn, why);
}

static void send_mount_folder(struct script *sc, struct step *st)
{
    node_mount_folder(sc->link, st->text, st->path, st->shared, script_step_done, st);
}

void script_mount_folder(struct script *sc, const struct script_label *label, const char *source,
                         const char *target, bool shared)
{
    struct step *st = script_step(sc, label, send_mount_folder);
    st->text = source;
    st->path = target;
    st->shared = shared;
}

static void send_open_folder(struct script *sc, struct step *st)
{
    node_open_folder(sc->link, st->path, script_step_done, st);
}

void script_open_folder(struct script *sc, const struct script_label *label, const char *path)
{
    script_step(sc, label, send_open_folder)->path = path;
}

static void send_write_file(struct script *sc, struct step *st)
{
    node_write_file(sc->link, st->as, st->path, st->text, st->number, script_step_done, st);
}

void script_write_file(struct script *sc, const struct script_label *label, const char *as,
                       const char *path, const char *text, int mode)
{
    struct step *st = script_step(sc, label, send_write_file);
    st->as = as;
    st->path = path;
    st->text = text;
    st->number = mode;
}

static void send_append(struct script *sc, struct step *st)
{
    node_append(sc->link, st->as, st->path, st->text, script_step_done, st);
}

void script_append(struct script *sc, const struct script_label *label, const char *as,
                   const char *path, const char *text)
{
    struct step *st = script_step(sc, label, send_append);
    st->as = as;
    st->path = path;
    st->text = text;
}

static void send_remove_tree(struct script *sc, struct step *st)
{
    node_remove_tree(sc->link, st->path, script_step_done, st);
}

void script_remove_tree(struct script *sc, const struct script_label *label, const char *path)
{
    script_step(sc, label, send_remove_tree)->path = path;
}

static void send_user_add(struct script *sc, struct step *st)
{
    node_user_add(sc->link, &st->user, script_step_done, st);
}

void script_user_add(struct script *sc, const struct script_label *label,
                     const struct node_user *user)
{
    struct step *st = script_step(sc, label, send_user_add);
    st->user = *user;
    st->waits = true;
}

static void send_user_remove(struct script *sc, struct step *st)
{
    node_user_remove(sc->link, st->text, script_step_done, st);
}

void script_user_remove(struct script *sc, const struct script_label *label, const char *name)
{
    struct step *st = script_step(sc, label, send_user_remove);
    st->text = name;
    st->waits = true;
}

static void send_account_take(struct script *sc, struct step *st)
{
    node_account_take(sc->link, &st->account, script_step_done, st);
}

void script_account_take(struct script *sc, const struct script_label *label,
                         const struct node_account *account)
{
    script_step(sc, label, send_account_take)->account = *account;
}

static void send_account_key(struct script *sc, struct step *st)
{
    node_account_key(sc->link, st->path, st->text, script_step_done, st);
}

void script_account_key(struct script *sc, const struct script_label *label, const char *name,
                        const char *private_key)
{
    struct step *st = script_step(sc, label, send_account_key);
    st->path = name;
    st->text = private_key;
    st->waits = true;
}

static void send_account_release(struct script *sc, struct step *st)
{
    node_account_release(sc->link, st->text, script_step_done, st);
}

void script_account_release(struct script *sc, const struct script_label *label, const char *name)
{
    struct step *st = script_step(sc, label, send_account_release);
    st->text = name;
    st->waits = true;
}

static void send_remote(struct script *sc, struct step *st)
{
    if (st->number)
        node_remote_open(sc->link, st->as, st->text, script_step_done, st);
    else
        node_remote_close(sc->link, st->text, script_step_done, st);
}

void script_remote(struct script *sc, const struct script_label *label, const char *as,
                   const char *job, bool open)
{
    struct step *st = script_step(sc, label, send_remote);
    st->as = as;
    st->text = job;
    st->number = open;
}

static void send_signal(struct script *sc, struct step *st)
{
    node_signal(sc->link, st->text, st->number, script_step_done, st);
}

void script_signal(struct script *sc, const struct script_label *label, const char *task_id,
                   int signo)
{
    struct step *st = script_step(sc, label, send_signal);
    st->text = task_id;
    st->number = signo;
}

static void send_forget(struct script *sc, struct step *st)
{
    node_forget(sc->link, st->text, script_step_done, st);
}

void script_forget(struct script *sc, const struct script_label *label, const char *task_id)
{
    script_step(sc, label, send_forget)->text = task_id;
}
