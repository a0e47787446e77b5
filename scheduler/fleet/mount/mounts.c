/* SPDX-License-Identifier: MIT
 *
 * Each volume is planned (plan.h) and becomes some steps. Keys are sent to the node as files that
 * only root can read; the copies in memory are on a list that mounts_wipe() wipes. Volumes are
 * unmounted in the reverse order, and a failed unmount step does not fail the script.
 */
#include "scheduler/fleet/mount/mounts.h"

#include <assert.h>
#include <string.h>

#include "scheduler/fleet/mount/file_server.h"
#include "scheduler/fleet/mount/own_shares.h"
#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/fleet/script/env.h"

/* Below the node root: keys for mount commands, their logs and caches. */
#define WORK_DIR "volumes"

/* Time limit of a mount command, in s: a stuck command must not block its node forever. */
#define TIMEOUT_S 60

struct mount_secret {
    struct mount_secret *next;
    char *text;
};

static const char *work_dir(const struct node_mounts *m)
{
    return arena_printf(m->a, "%s/" WORK_DIR "/%s", m->rt->root, m->owner);
}

static struct mount_node node_of(const struct node_mounts *m)
{
    const struct fleet_config *c = &m->rt->fleet->cfg;
    return (struct mount_node){.words = words_of_node(m->rt),
                               .site = c->site,
                               .is_local = !m->rt->machine,
                               .is_root = m->rt->seen.is_root,
                               .local_nodes = c->local_nodes,
                               .storage_dir = c->storage_dir,
                               .root = m->rt->root,
                               .mount_root = m->mount_root,
                               .work_dir = work_dir(m)};
}

static void add_secret(const struct node_mounts *m, char *text)
{
    struct mount_secret *secret = arena_alloc(m->a, sizeof *secret);
    *secret = (struct mount_secret){*m->secrets, text};
    *m->secrets = secret;
}

static void note_secret(const struct node_mounts *m, const struct mount_volume *v,
                        const struct mount_plan *plan)
{
    if (!plan->file_text || plan->file_text == v->key)
        return;
    add_secret(m, (char *)plan->file_text);
}

void mounts_wipe(struct mount_secret *secrets)
{
    for (; secrets; secrets = secrets->next)
        explicit_bzero(secrets->text, strlen(secrets->text));
}

/* --- mounting --------------------------------------------------------------------------------- */

static struct task_spec command_of(const struct node_mounts *m, const char *verb, size_t i,
                                   const char *what, const char *command)
{
    const char *log = arena_printf(m->a, "%s/log.txt", work_dir(m));
    int limit = m->rt->fleet->cfg.mount_timeout_s;
    return (struct task_spec){.id = arena_printf(m->a, "%s%s-%zu", m->task_prefix, verb, i),
                              .command_line = command,
                              .cwd = m->rt->root,
                              .stdout_path = log,
                              .stderr_path = log,
                              .step = what,
                              .timeout_s = limit > 0 ? limit : TIMEOUT_S};
}

static void add_planned(const struct node_mounts *m, size_t i, const struct mount_plan *plan)
{
    const struct script_label label = {
        .code = plan->code, .what = plan->what, .remedy = plan->remedy, .command = plan->shown};
    if (plan->folder) {
        script_ask(m->script, &label,
                   REQUEST(mount_folder, .source = plan->folder, .target = plan->target,
                           .shared = plan->shared, .within = plan->within));
        return;
    }
    if (plan->file)
        script_ask(m->script, &label,
                   REQUEST(write_file, .path = plan->file, .text = plan->file_text, .mode = 0600));
    struct task_spec spec = command_of(m, "mount", i, plan->what, plan->command);
    struct kv *env = arena_alloc(m->a, sizeof plan->env);
    memcpy(env, plan->env, sizeof plan->env);
    spec.env = env;
    spec.n_env = plan->n_env;
    spec.keep_children = true; /* sshfs and similar programs continue to run and serve the mount */
    script_command(m->script, &label, &spec, false);
}

/* Finds the file server of a volume; *out is NULL if the volume is of another kind, or the file
 * server does not exist. */
static int find_server(const struct node_rt *rt, struct arena *a, const struct mount_volume *v,
                       struct file_server **out, struct err *e)
{
    const struct front *f = rt->front;
    *out = NULL;
    return v->kind == MOUNT_FILE_SERVER
               ? FRONT_ASK(f, find_file_server, rt->fleet->st, a, v->source, out, e)
               : 0;
}

/* Whether the file server is still being created: in strict mode this takes as long as in the real
 * service. (kind, id) is woken at the end. */
static bool awaits_creation(const struct node_rt *rt, const struct file_server *f,
                            const struct wake_kind *kind, int64_t id)
{
    int64_t takes_us = FRONT_ASK(rt->front, takes_us, STEP_FILE_SERVER_CREATION, rt->pool_id, f);
    return wake_until_over(rt->fleet->wakes, kind, id, f->created_us, takes_us);
}

bool mounts_await(const struct node_rt *rt, const char *owner, const struct mount_list *list,
                  const struct wake_kind *kind, int64_t id)
{
    struct fleet *fl = rt->fleet;
    struct arena a;
    bool awaits = false;
    arena_init(&a);
    for (size_t i = 0; i < list->n; i++) {
        struct file_server *server;
        struct err e = {0};
        if (find_server(rt, &a, &list->items[i], &server, &e) < 0 || !server)
            continue; /* mounts_add() reports this */
        bool again = file_server_is_awaited(fl, server->id);
        if (again)
            file_server_await(fl, server->id, kind, id);
        awaits = awaits_creation(rt, server, kind, id) || again || awaits;
    }
    arena_free(&a);
    return own_shares_await(rt, owner, list, kind, id) || awaits;
}

/* Sends the key for the daemon's shares, before the first mount that needs it. */
static void send_key(const struct node_mounts *m, const struct mount_own *own)
{
    const struct script_label label = {.code = FAIL_AZF_MOUNT_ERROR,
                                       .what = "send the key for the daemon's shares",
                                       .remedy = "check the disk of the machine's node root"};
    const struct own_key *k = own_shares_key(m->rt, m->owner);
    assert(k); /* without a key, own->why_not is set and no volume is mounted with it */
    char *key = arena_strdup(m->a, k->private_key);
    const char *hosts = arena_printf(m->a, OWN_HOST_ALIAS " %s\n", k->host_key);
    add_secret(m, key);
    script_ask(m->script, &label,
               REQUEST(write_file, .path = own->key_file, .text = key, .mode = 0600));
    script_ask(m->script, &label,
               REQUEST(write_file, .path = own->hosts_file, .text = hosts, .mode = 0600));
}

/* Whether the volume's key, if it is in a vault, is a key of the storage account. This is not
 * checked when a pool or run is accepted, because a rule may use the key for a server elsewhere.
 * But if a folder of the daemon is mounted, the key must be a key of the account, because the
 * account may be another user's. An account that a mount made (implicit) has no known keys. */
static bool has_right_key(const struct node_mounts *m, const struct mount_volume *v,
                          const struct mount_plan *plan, struct failure *why)
{
    struct storage *st = m->rt->fleet->st;
    struct storage_account account;
    struct err e;
    if (!v->secret_ref || (!plan->own_folder && !plan->shared))
        return true;
    int rc = st_account_by_name(st, m->a, arena_lower(m->a, v->account), &account, &e);
    if (rc > 0)
        rc = account.implicit ? 1 : st_account_has_key(st, account.id, v->key, &e);
    if (rc > 0)
        return true;
    *why = (struct failure){
        .code = plan->code,
        .message =
            rc < 0 ? arena_printf(m->a, "%s: read the storage account %s: %s", plan->what,
                                  v->account, e.msg)
                   : arena_printf(m->a, "%s: the secret %s is not a key of the storage account %s",
                                  plan->what, v->secret_ref, v->account),
        .step = plan->what,
        .remedy = arena_printf(m->a,
                               "store a key of the account as this secret (az storage account keys "
                               "list -n %s), or add a rule under `mounts` in batchaid's "
                               "configuration if the share is elsewhere",
                               v->account),
        .node = m->rt->name,
        .exit_code = -1};
    return false;
}

/* Adds the steps for one volume. *sent: a step sends the key for the daemon's shares already. */
static bool add_one(const struct node_mounts *m, const struct mount_own *own, bool *sent,
                    const struct mount_wish *of, struct failure *why)
{
    const struct mount_volume *v = of->volume;
    struct mount_node node = node_of(m);
    node.own = own;
    struct mount_plan plan;
    struct file_server *server;
    struct err e = {0};
    if (find_server(m->rt, m->a, v, &server, &e) < 0) {
        *why = (struct failure){.code = FAIL_FILE_SERVER_MOUNT_ERROR,
                                .message =
                                    arena_printf(m->a, "read file server %s: %s", v->source, e.msg),
                                .exit_code = -1};
        return false;
    }
    if (!mount_plan(m->a, &node, &(struct mount_wish){v, of->i, server}, &plan, why)) {
        why->node = m->rt->name;
        return false;
    }
    if (!has_right_key(m, v, &plan, why))
        return false;
    note_secret(m, v, &plan);
    if (plan.own_folder && !*sent) {
        send_key(m, own);
        *sent = true;
    }
    add_planned(m, of->i, &plan);
    return true;
}

bool mounts_add(const struct node_mounts *m, const struct mount_list *list, struct failure *why)
{
    const struct mount_own *own = own_shares_plan(m->rt, m->a, m->owner, work_dir(m));
    bool sent = false, good = true;
    for (size_t i = 0; i < list->n && good; i++)
        good = add_one(m, own, &sent, &(struct mount_wish){&list->items[i], i, NULL}, why);
    own_shares_forget(m->rt->fleet, m->rt->name, m->owner);
    return good;
}

void mounts_over(struct fleet *fl, const char *node, const char *owner)
{
    own_shares_take_back(fl, node, owner);
}

void mounts_open_shares(const struct node_mounts *m, const struct mount_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct mount_node node = node_of(m);
        struct file_server *server;
        struct mount_plan plan;
        struct failure ignored;
        struct err e = {0};
        if (find_server(m->rt, m->a, &list->items[i], &server, &e) < 0)
            continue;
        if (!mount_plan(m->a, &node, &(struct mount_wish){&list->items[i], i, server}, &plan,
                        &ignored) ||
            !plan.shared)
            continue;
        const struct script_label label = {
            .code = plan.code, .what = plan.what, .remedy = plan.remedy};
        script_ask(m->script, &label,
                   REQUEST(open_folder, .path = plan.folder, .within = plan.within));
    }
}

size_t mounts_folders(const struct node_rt *rt, struct arena *a, const struct mount_list *list,
                      const char **reach)
{
    const struct node_mounts m = {.rt = rt, .a = a, .mount_root = rt->root, .owner = ""};
    const struct mount_node node = node_of(&m);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct file_server *server;
        struct mount_plan plan;
        struct failure ignored;
        struct err e;
        if (find_server(rt, a, &list->items[i], &server, &e) == 0 &&
            mount_plan(a, &node, &(struct mount_wish){&list->items[i], i, server}, &plan,
                       &ignored) &&
            plan.folder)
            reach[n++] = plan.within ? plan.within : plan.folder;
    }
    return n;
}

/* --- unmounting ------------------------------------------------------------------------------- */

static struct script_label unmount_label(struct arena *a, const struct mount_volume *v)
{
    return (struct script_label){.what = arena_printf(a, "unmount of %s", v->relative_path),
                                 .may_fail = true};
}

/* Adds the unmount command of the volume's rule, if the rule has one. This also works for a volume
 * that cannot be planned any more. */
static void add_unmount_command(const struct node_mounts *m, const struct mount_volume *v, size_t i)
{
    const struct mount_node node = node_of(m);
    const struct script_label label = unmount_label(m->a, v);
    struct mount_plan plan;
    struct failure ignored;
    if (v->kind != MOUNT_FILE_SHARE && v->kind != MOUNT_BLOBS)
        return;
    (void)mount_plan(m->a, &node, &(struct mount_wish){v, i, NULL}, &plan, &ignored);
    note_secret(m, v, &plan);
    if (!plan.unmount)
        return;
    const struct task_spec spec = command_of(m, "unmount", i, label.what, plan.unmount);
    script_command(m->script, &label, &spec, false);
}

void mounts_remove(const struct node_mounts *m, const struct mount_list *list)
{
    static const struct script_label kill = {.what = "end mount commands", .may_fail = true},
                                     tidy = {.what = "remove what mounting left", .may_fail = true};
    if (list->n == 0)
        return;
    script_kill_tasks(m->script, &kill, arena_printf(m->a, "%smount-", m->task_prefix), NULL, true,
                      NULL);
    for (size_t i = list->n; i-- > 0;) {
        const struct mount_volume *v = &list->items[i];
        const struct script_label unmount = unmount_label(m->a, v);
        add_unmount_command(m, v, i);
        script_ask(m->script, &unmount,
                   REQUEST(unmount,
                           .target = arena_printf(m->a, "%s/%s", m->mount_root, v->relative_path)));
    }
    script_ask(m->script, &tidy, REQUEST(remove_tree, .path = work_dir(m)));
}

/* Adds the unmount commands of the rules for the pool's volumes; this needs no keys. If the pool is
 * deleted already, none is added, and the node only unmounts by itself. */
static void add_pool_unmounts(const struct node_rt *rt, struct script *sc, struct arena *a)
{
    const struct front *f = rt->front;
    struct node_setup_spec spec;
    struct mount_secret *none = NULL;
    struct err e = {0};
    const struct front_read how = {.st = rt->fleet->st, .a = a};
    if (!rt->machine || f->ops->load_pool(f, &how, rt->pool_id, &spec, &e) <= 0)
        return;
    const struct node_mounts m = {.rt = rt,
                                  .a = a,
                                  .script = sc,
                                  .mount_root = node_mount_root(a, words_of_node(rt), rt->root),
                                  .owner = "node",
                                  .task_prefix = node_task_prefix(rt, a, NULL, "release"),
                                  .secrets = &none};
    for (size_t i = spec.mounts.n; i-- > 0;)
        add_unmount_command(&m, &spec.mounts.items[i], i);
}

void mount_release_steps(const struct node_rt *rt, struct script *sc, struct arena *a)
{
    const char *remedy = front_text(
        words_of_node(rt), a,
        "unmount the path in the message by hand, then undrain the machine or resize the {pool}");
    const struct script_label unmount = {.code = FAIL_UNMOUNT_FAILED,
                                         .what = "unmount what was mounted here",
                                         .remedy = remedy},
                              tidy = {.code = FAIL_UNMOUNT_FAILED,
                                      .what = "remove what mounting left"};
    const char *mounts = node_mount_root(a, words_of_node(rt), rt->root);
    add_pool_unmounts(rt, sc, a);
    script_ask(sc, &unmount, REQUEST(unmount, .target = mounts));
    script_ask(sc, &unmount, REQUEST(unmount, .target = arena_concat(a, rt->root, "/" RUNS_DIR)));
    script_ask(sc, &tidy, REQUEST(remove_tree, .path = mounts));
    script_ask(sc, &tidy, REQUEST(remove_tree, .path = arena_printf(a, "%s/" WORK_DIR, rt->root)));
}
