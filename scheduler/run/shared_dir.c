/* SPDX-License-Identifier: MIT
 *
 * The directory that the nodes of a run share. Local nodes are one machine and have it in that of
 * the first. Machines have it in a directory that the site says they all see; without one, each has
 * its own and the run's log says so.
 */
#include "lib/shell.h"
#include "scheduler/run/run_priv.h"

const char *run_shared_root(const struct runs *rs)
{
    const struct site *site = fleet_site(rs->fleet);
    return site ? site->shared_dir : NULL;
}

bool slot_shares_outside(const struct job_slot *slot)
{
    return slot->run->n_slots > 1 && run_shared_root(slot->run->runs) &&
           !node_rt_is_local(slot->tenant.node);
}

void shared_dir_make(struct job_slot *slot, const char *as)
{
    const char **path = arena_alloc(&slot->a, sizeof *path);
    const struct script_label make = {
        .code = FAIL_JOB_DIRECTORY_FAILED,
        .what =
            front_text(words_of(slot->run), &slot->a, "make the directory that all nodes share"),
        .remedy = "see that the directory jobs.shared_directory of the configuration is there on "
                  "this machine, and open to all (mode 1777)"};
    *path = slot->env.shared_dir;
    script_make_dirs(slot->script, &make, as, path, 1);
}

void shared_dir_remove(struct job_slot *slot)
{
    const struct job_run *run = slot->run;
    const struct script_label remove = {.what = "remove the directory that all nodes share",
                                        .may_fail = true};
    struct arena *a = &slot->a;
    if (!slot_shares_outside(slot))
        return;
    const char *path =
        launch_shared_dir(a, run_shared_root(run->runs), run->row.guid, run->row.attempt);
    node_account_take_step(slot->tenant.node, a, slot->script, run->dir, slot->root, true);
    const struct task_spec task = {.id = arena_printf(a, "%sshared", slot->task_prefix),
                                   .command_line =
                                       arena_concat(a, "rm -rf -- ", shell_quoted(a, path)),
                                   .cwd = "/",
                                   .stdout_path = "/dev/null",
                                   .stderr_path = "/dev/null",
                                   .step = remove.what,
                                   .user = node_rt_job_account(slot->tenant.node, a, run->dir),
                                   .timeout_s = 60};
    script_command(slot->script, &remove, &task, false);
}

void shared_dir_tell(struct job_slot *slot, const char *as)
{
    const struct front_words *w = words_of(slot->run);
    const struct script_label label = {.code = FAIL_JOB_DIRECTORY_FAILED,
                                       .what = front_text(w, &slot->a, WRITE_LOG)};
    size_t i = 0;
    const char *name = front_var_next(w, VAR_SHARED_DIR, &i);
    if (slot->env.is_shared || !name)
        return;
    script_append(slot->script, &label, as, slot->env.log_path,
                  front_say(w, &slot->a,
                            "$%s is a directory of this node alone: jobs.shared_directory of the "
                            "daemon's configuration names none that all machines see\n",
                            name));
}
