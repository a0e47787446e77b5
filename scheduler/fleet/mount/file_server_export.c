/* SPDX-License-Identifier: MIT
 *
 * An NFS export on a machine of the inventory; the machine may not be a node. Each export has a
 * short link for one command, with a separate agent root, so that it does not disturb the agent of
 * a node on the machine. A root has one agent, so each machine does the work of one file server at
 * a time.
 */
#include <ctype.h>
#include <string.h>

#include "lib/shell.h"
#include "lib/strbuf.h"
#include "scheduler/fleet/mount/file_server.h"

#define EXPORTS      "/etc/exports.d"
#define OPTIONS      "(rw,sync,no_subtree_check,no_root_squash)"
#define TIME_LIMIT_S 60
/* Time limit of the whole work, in s. The login, the end of earlier tasks and the command may take
 * a minute each. Without a limit, a command that hangs in the machine's kernel would delay the
 * mounts of the file server forever. */
#define LINK_LIMIT_S 180

/* --- the command ------------------------------------------------------------------------------ */

/* Appends text for exports(5), with every unusual character in octal. */
static void put_escaped(struct strbuf *b, const char *path)
{
    for (; *path; path++) {
        bool plain = isalnum((unsigned char)*path) || strchr("/._-", *path);
        strbuf_printf(b, plain ? "%c" : "\\%03o", (unsigned char)*path);
    }
}

static const char *exports_line(struct arena *a, const char *directory, const char *const *clients,
                                size_t n)
{
    struct strbuf b = STRBUF_INIT;
    put_escaped(&b, directory);
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, " %s" OPTIONS, clients[i]);
    const char *line = arena_strdup(a, b.s);
    strbuf_free(&b);
    return line;
}

#define NEED_EXPORTFS                                                                              \
    "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin\n"                                                 \
    "command -v exportfs >/dev/null || {\n"                                                        \
    "  echo 'there is no exportfs here: install nfs-kernel-server (or nfs-utils)' >&2; exit 1\n"   \
    "}\n"

const char *export_script(struct arena *a, const char *guid, const char *directory,
                          const char *const *clients, size_t n_clients)
{
    return arena_printf(
        a,
        NEED_EXPORTFS
        "dir=%s file=" EXPORTS "/batchaid-%s.exports\n"
        "[ -d \"$dir\" ] || { mkdir -p -- \"$dir\" && chmod 0777 \"$dir\"; } || exit\n"
        "mkdir -p " EXPORTS " && printf '%%s\\n' %s >\"$file.new\" &&\n"
        "mv \"$file.new\" \"$file\" && exportfs -ra\n",
        shell_quoted(a, directory), guid,
        shell_quoted(a, exports_line(a, directory, clients, n_clients)));
}

const char *unexport_script(struct arena *a, const char *guid)
{
    return arena_printf(a,
                        "file=" EXPORTS "/batchaid-%s.exports\n"
                        "[ -e \"$file\" ] || exit 0\n" NEED_EXPORTFS
                        "rm -f -- \"$file\" && exportfs -ra\n",
                        guid);
}

/* --- the link --------------------------------------------------------------------------------- */

/* The work that has a link to the machine; NULL: none. */
static struct server_work *who_works_on(struct fleet *fl, const char *machine)
{
    for (size_t i = 0; i < fl->servers.n; i++) {
        struct server_work *w = fl->servers.e[i].p;
        if (w->link && strcmp(w->at.machine, machine) == 0)
            return w;
    }
    return NULL;
}

static void begin_waiting(struct fleet *fl)
{
    for (size_t i = 0; i < fl->servers.n; i++) {
        struct server_work *w = fl->servers.e[i].p;
        if (w->waits && !who_works_on(fl, w->at.machine))
            export_begin(w);
    }
}

static void on_closed(void *ctx)
{
    struct server_work *w = ctx;
    struct fleet *fl = w->fleet;
    w->link = NULL;
    w->finished(w);
    if (!wakes_stopping(fl->wakes))
        begin_waiting(fl);
    wakes_unref(fl->wakes);
}

void export_stop(struct server_work *w)
{
    if (w->waits) {
        w->waits = false;
        w->finished(w);
    }
    if (!w->link || w->closing)
        return;
    w->closing = true;
    if (w->script)
        script_halt(w->script);
    node_close(w->link, on_closed, w);
}

static void fail(struct server_work *w, enum failure_code code, const char *message,
                 const char *remedy)
{
    w->why =
        (struct failure){.code = code,
                         .message = arena_printf(&w->a, "%s of file server %s by machine %s: %s",
                                                 w->take_down ? "Ending the export" : "The export",
                                                 w->name, w->at.machine, message),
                         .remedy = remedy,
                         .exit_code = -1};
}

/* Lets the next turn of the loop close the link, because it must not be closed inside its own
 * callback. */
static void over(struct server_work *w)
{
    w->over = true;
    wake(w->fleet->wakes, &woken_file_server, w->id);
}

bool export_is_over(struct server_work *w)
{
    struct wakes *wakes = w->fleet->wakes;
    if (!w->link)
        return false;
    if (!w->over && wakes_mono(wakes) < w->until_us) {
        wake_by(wakes, &woken_file_server, w->id, w->until_us);
        return false;
    }
    if (!w->over && !w->closing)
        fail(w, FAIL_FILE_SERVER_EXPORT_FAILED,
             arena_printf(&w->a, "it has not ended within %d s", LINK_LIMIT_S),
             "check the machine for a command that hangs, most likely exportfs");
    return true;
}

static void on_down(void *ctx, const struct err *why)
{
    struct server_work *w = ctx;
    if (!w->why.code)
        fail(w, FAIL_FILE_SERVER_NOT_REACHED, why->msg, NULL);
    over(w);
}

static void on_changed(void *ctx)
{
    struct server_work *w = ctx;
    if (script_state(w->script) == SCRIPT_RUNNING || script_busy(w->script))
        return;
    const struct failure *f = script_failure(w->script);
    if (f) {
        const char *said = f->stderr_tail ? f->stderr_tail : "";
        fail(w, FAIL_FILE_SERVER_EXPORT_FAILED, arena_printf(&w->a, "%s: %s", f->message, said),
             NULL);
    }
    over(w);
}

static void on_task_ended(void *ctx, const struct task_status *status)
{
    struct server_work *w = ctx;
    if (w->script)
        (void)script_task_ended(w->script, status);
}

static const char *command_of(struct server_work *w)
{
    const struct site *site = w->fleet->cfg.site;
    const char **clients = arena_alloc(&w->a, (site->n_machines + 1) * sizeof *clients);
    for (size_t i = 0; i < site->n_machines; i++)
        clients[i] = site->machines[i].host;
    return w->take_down ? unexport_script(&w->a, w->guid)
                        : export_script(&w->a, w->guid, w->at.directory, clients, site->n_machines);
}

/* Ends and forgets the tasks that an earlier daemon started for this file server, because only the
 * result of this daemon's task is used. */
static void on_ready(void *ctx, const struct node_facts *facts)
{
    static const struct script_label label = {.code = FAIL_FILE_SERVER_EXPORT_FAILED,
                                              .what = "exportfs"},
                                     kill = {.code = FAIL_FILE_SERVER_EXPORT_FAILED,
                                             .what = "end an earlier exportfs"};
    struct server_work *w = ctx;
    if (!facts->is_root) {
        fail(w, FAIL_NODE_HAS_NO_ROOT, "exporting needs root, and there is none on this machine",
             "give the machine `become: sudo` in the inventory");
        over(w);
        return;
    }
    const char *log = arena_printf(&w->a, "%s/log.txt", w->root);
    const struct task_spec spec = {.id = arena_printf(&w->a, "%s-%s-%s%d", w->guid,
                                                      st_epoch(w->fleet->st)->text,
                                                      w->take_down ? "down" : "up", w->tries),
                                   .command_line = command_of(w),
                                   .cwd = "/",
                                   .stdout_path = log,
                                   .stderr_path = log,
                                   .step = label.what,
                                   .timeout_s = TIME_LIMIT_S};
    w->script = script_new(&w->a, w->fleet->log, w->at.machine);
    script_kill_tasks(w->script, &kill, w->guid, NULL, true, NULL);
    script_command(w->script, &label, &spec, false);
    script_run(w->script, w->link, on_changed, w);
}

static int open_link(struct server_work *w, const struct site_machine *m, struct err *e)
{
    const struct fleet_config *cfg = &w->fleet->cfg;
    const struct node_callbacks callbacks = {on_ready, on_down, on_task_ended, NULL, w};
    const struct epoch *ep = st_epoch(w->fleet->st);
    const struct node_ssh_config ssh = site_ssh_config(cfg->site, m);
    w->root = arena_printf(&w->a, "%s-exports", m->group->node_root);
    const struct node_target at = {.name = m->name,
                                   .root = w->root,
                                   .epoch = {.term = ep->term, .id = ep->random},
                                   .files = cfg->files,
                                   .ssh = &ssh};
    return node_provider_open(cfg->machines, &at, &callbacks, &w->link, e);
}

void export_begin(struct server_work *w)
{
    const struct site *site = w->fleet->cfg.site;
    const struct site_machine *m = NULL;
    struct err e = {0};
    w->waits = who_works_on(w->fleet, w->at.machine) != NULL;
    if (w->waits)
        return;
    for (size_t i = 0; i < site->n_machines; i++)
        if (strcmp(site->machines[i].name, w->at.machine) == 0)
            m = &site->machines[i];
    if (!m) {
        fail(w, FAIL_FILE_SERVER_NOT_REACHED, "it is not in the inventory",
             "name a machine of the inventory under `file_servers` in batchaid's configuration");
        w->finished(w);
    } else if (open_link(w, m, &e) != 0) {
        fail(w, FAIL_FILE_SERVER_NOT_REACHED, e.msg, NULL);
        w->finished(w);
    } else {
        wakes_ref(w->fleet->wakes);
        w->until_us = wakes_mono(w->fleet->wakes) + LINK_LIMIT_S * INT64_C(1000000);
        wake_by(w->fleet->wakes, &woken_file_server, w->id, w->until_us);
    }
}
