/* SPDX-License-Identifier: MIT
 *
 * The directory that the nodes of a run share. Local nodes are one machine and use the first node's
 * directory. Machines use a directory in the site's common file system; without one, they mount the
 * first node's directory over the links, by sshfs and remote commands. A machine that cannot mount
 * it uses a directory of its own, and the run's log says so.
 */
#include "lib/shell.h"
#include "nodeagent-proto/wire/remote.h"
#include "scheduler/run/run_priv.h"

#include "run_programs.inc"

/* In seconds. A mount waits until the first node has started, which may take long. */
#define MOUNT_TIMEOUT_S 600

const char *run_shared_root(const struct runs *rs)
{
    const struct site *site = fleet_site(rs->fleet);
    return site ? site->shared_dir : NULL;
}

bool slot_shares_outside(const struct run_slot *slot)
{
    return slot->run->n_slots > 1 && run_shared_root(slot->run->runs) &&
           !node_rt_is_local(slot->tenant.node);
}

void shared_dir_make(struct run_slot *slot, const char *as)
{
    const char **path = arena_alloc(&slot->a, sizeof *path);
    const struct script_label make = {
        .code = FAIL_RUN_DIRECTORY_FAILED,
        .what =
            front_text(words_of(slot->run), &slot->a, "make the directory that all nodes share"),
        .remedy = "see that the directory jobs.shared_directory of the configuration is there on "
                  "this machine, and open to all (mode 1777)"};
    *path = slot->env.shared_dir;
    script_ask(slot->script, &make, REQUEST(make_dirs, .paths = path, .n_paths = 1, .as = as));
}

/* Whether this node mounts the directory of the run's first node, by sshfs. The slot's environment
 * is not needed. */
static bool is_from_first(const struct run_slot *slot)
{
    return slot->rank > 0 && !slot_shares_outside(slot) && !node_rt_is_local(slot->tenant.node);
}

static const char *own_dir(struct run_slot *slot, int rank)
{
    const struct live_run *run = slot->run;
    return arena_concat(
        &slot->a, launch_run_dir(&slot->a, run->slots[rank].root, run->row.guid, run->row.attempt),
        "/", LAUNCH_SHARED);
}

static const char *mount_id(struct run_slot *slot)
{
    return arena_concat(&slot->a, slot->task_prefix, "shared");
}

/* The mount program runs as the agent's account, because only root can mount so that containers see
 * it too. Its output is written with the rights of the run's account. */
void shared_dir_mount(struct run_slot *slot, const char *as)
{
    const struct front_words *w = words_of(slot->run);
    const struct script_label label = {.code = FAIL_RUN_DIRECTORY_FAILED,
                                       .what = "mount the directory that all nodes share"};
    struct arena *a = &slot->a;
    struct env env;
    size_t i = 0;
    const char *name = front_var_next(w, VAR_SHARED_DIR, &i);
    if (!is_from_first(slot) || !name)
        return;
    env_init(&env, a);
    env_set(&env, "SHARED_NAME", name);
    env_set(&env, "SHARED_DIR", own_dir(slot, slot->rank));
    env_set(&env, "SHARED_FROM", arena_concat(a, REMOTE_SHARED ":", own_dir(slot, 0)));
    env_set(&env, "SHARED_SSH", arena_concat(a, slot->root, "/" REMOTE_BIN "/ssh"));
    env_set(&env, REMOTE_SOCKET_VARIABLE, env_get(&slot->env.env, REMOTE_SOCKET_VARIABLE));
    const struct task_spec task = {.id = mount_id(slot),
                                   .command_line = share_program,
                                   .title = "sshfs",
                                   .cwd = "/",
                                   .env = env.items,
                                   .n_env = env.n,
                                   .stdout_path = slot->env.log_path,
                                   .stderr_path = slot->env.log_path,
                                   .step = label.what,
                                   .files_as = as,
                                   .keep_children = true,
                                   .timeout_s = MOUNT_TIMEOUT_S};
    script_command(slot->script, &label, &task, false);
}

static void unmount(struct run_slot *slot)
{
    const struct script_label kill = {.what = "end the mount of the shared directory",
                                      .may_fail = true},
                              unmount = {.what = "unmount the directory that all nodes share",
                                         .may_fail = true};
    script_kill_tasks(slot->script, &kill, mount_id(slot), NULL, true, NULL);
    script_ask(slot->script, &unmount, REQUEST(unmount, .target = own_dir(slot, slot->rank)));
}

void shared_dir_remove(struct run_slot *slot)
{
    const struct live_run *run = slot->run;
    const struct script_label remove = {.what = "remove the directory that all nodes share",
                                        .may_fail = true};
    struct arena *a = &slot->a;
    if (run->spec.place)
        return; /* the run's nodes share no directory */
    if (is_from_first(slot))
        unmount(slot);
    if (!slot_shares_outside(slot))
        return;
    const char *path =
        launch_shared_dir(a, run_shared_root(run->runs), run->row.guid, run->row.attempt);
    node_account_take_step(
        slot->tenant.node, a, slot->script,
        &(struct node_account){.dir = run->dir, .first_root = slot->root, .may_fail = true});
    const struct task_spec task = {.id = arena_printf(a, "%sshared", slot->task_prefix),
                                   .command_line =
                                       arena_concat(a, "rm -rf -- ", shell_quoted(a, path)),
                                   .cwd = "/",
                                   .stdout_path = "/dev/null",
                                   .stderr_path = "/dev/null",
                                   .step = remove.what,
                                   .user = node_rt_run_account(slot->tenant.node, a, run->dir),
                                   .timeout_s = 60};
    script_command(slot->script, &remove, &task, false);
}
