/* SPDX-License-Identifier: MIT
 *
 * Uploads a run's output from its node after its processes have ended and before its end is
 * written. If the daemon is killed meanwhile, it learns of the processes' end again and repeats the
 * upload to these targets.
 */
#include "scheduler/fleet/copy/upload_files.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/run/run_priv.h"

/* Whether the process has ended by itself or by its time limit. *well: whether it succeeded. */
static bool has_ended(const struct live_run *run, bool *well)
{
    const struct run_outcome *o = &run->out;
    *well = o->kind == OUT_SUCCEEDED;
    if (o->kind == OUT_REQUEUE)
        return o->retry && o->has_exit_code;
    return *well ||
           (o->kind == OUT_FAILED && (o->has_exit_code || o->why.code == FAIL_RUN_TIMED_OUT));
}

bool run_saves(const struct live_run *run)
{
    const struct place_spec *place = run->spec.place;
    bool well, any = false;
    if (!place || !has_ended(run, &well))
        return false;
    for (size_t i = 0; i < place->outputs.n && !any; i++)
        any = well ? place->outputs.items[i].after_success : place->outputs.items[i].after_failure;
    return any;
}

/* Makes the run a failed one with this reason. The exit code is kept, because the process did end
 * with it. */
static void fail_with(struct live_run *run, const struct failure *why)
{
    struct failure f = *why;
    f.message = arena_strdup(&run->a, f.message);
    f.step = arena_strdup(&run->a, f.step);
    f.node = run->slots[0].node_name;
    run->out.kind = OUT_FAILED;
    run->out.retry = false;
    run->out.why = f;
}

static void fail(struct live_run *run, const char *message)
{
    const struct failure f = {.code = FAIL_OUTPUT_FAILED, .message = message, .exit_code = -1};
    fail_with(run, &f);
}

static void add_upload(struct run_slot *slot, const struct output_file *file, const char *pattern)
{
    const struct live_run *run = slot->run;
    const struct place_spec *place = run->spec.place;
    struct arena *a = &slot->a;
    const struct upload u = {.transfers = fleet_transfers(run->runs->fleet),
                             .file = file,
                             .as = slot_account(slot, a),
                             .base = arena_concat(a, slot->root, "/", place->home),
                             .from = slot->env.run_dir,
                             .pattern = pattern,
                             .log = arena_concat(a, slot->env.std_dir, "/", place->output_log),
                             .errors =
                                 arena_concat(a, slot->env.std_dir, "/", place->output_errors)};
    script_upload(slot->script, a, &u);
}

/* False: the upload cannot begin, and the outcome has the reason. */
static bool begin(struct run_slot *slot)
{
    struct live_run *run = slot->run;
    const struct output_list *list = &run->spec.place->outputs;
    bool well, begun = slot_ready(slot);
    (void)has_ended(run, &well);
    if (!begun) {
        fail(run, "The directories of its output files are not known");
        return false;
    }
    slot->saving = true;
    if (slot->state == SLOT_WAITING)
        slot_go(slot, SLOT_STARTED);
    for (size_t i = 0; i < list->n && begun; i++) {
        struct err e = {0};
        const struct output_file *file = &list->items[i];
        if (!(well ? file->after_success : file->after_failure))
            continue;
        const char *pattern = env_expand(&slot->env.env, file->pattern, &e);
        if (pattern) {
            add_upload(slot, file, pattern);
            continue;
        }
        fail(run, arena_concat(&slot->a, file->what, ": ", e.msg));
        begun = false;
    }
    if (begun)
        slot_run_script(slot);
    return begun;
}

bool run_save(struct live_run *run)
{
    struct run_slot *slot = &run->slots[0];
    if (!run_saves(run))
        return true; /* another outcome was set meanwhile */
    if (slot->state == SLOT_GONE && run->out.kind == OUT_REQUEUE)
        return true; /* the retry makes the files anew */
    if (slot->state == SLOT_GONE) {
        fail(run, "The node was lost before its files were uploaded");
        return true;
    }
    if (!slot->tenant.node || !node_rt_usable(slot->tenant.node))
        return false; /* wait until the link is back */
    if (!slot->saving) {
        if (slot->script)
            script_halt(slot->script);
        return !begin(slot);
    }
    if (script_state(slot->script) == SCRIPT_FAILED)
        fail_with(run, script_failure(slot->script));
    return script_state(slot->script) != SCRIPT_RUNNING;
}
