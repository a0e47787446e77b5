/* SPDX-License-Identifier: MIT
 *
 * Of a session the daemon keeps only the id of its far end's task, to count far ends. It passes
 * each message on to the receiver's node, and finds a far end by the task id. All functions are
 * called from the loop, for the slot whose node sent a message or ended a task.
 */
#include "scheduler/run/remote.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/jsontext.h"
#include "lib/shell.h"
#include "scheduler/run/step.h"

/* Follows the prefix of the ids of all tasks of the run on a node. */
#define PREFIX "ssh"
/* The most far ends of a run on a node. Each costs a supervisor that runs as root, a record, and
 * two descriptors of the agent, which no limit of the run includes. An agent accepts as many
 * connections of a run's ends. */
#define FAR_ENDS_MAX 256
/* The most ended tasks of failed far ends that a node remembers for a run. */
#define FAILED_KEPT_MAX 100

struct run_far_end {
    struct run_far_end *next;
    char *id; /* id of the far end's task */
};

bool remote_is_offered(const struct live_run *run)
{
    return run->n_slots > 1;
}

const char *remote_task_prefix(const struct run_slot *slot, struct arena *a)
{
    return arena_concat(a, slot->task_prefix, PREFIX);
}

static const char *program_dir(const struct run_slot *slot, struct arena *a)
{
    return arena_concat(a, slot->root, "/", REMOTE_BIN);
}

const char *remote_path(const struct run_slot *slot, struct arena *a)
{
    return remote_is_offered(slot->run) ? program_dir(slot, a) : NULL;
}

const char *remote_wrap(const struct run_slot *slot, struct arena *a, const char *command)
{
    if (!remote_is_offered(slot->run))
        return command;
    return arena_printf(a, "PATH=%s:\"$PATH\"; export PATH\n%s",
                        shell_quoted(a, program_dir(slot, a)), command);
}

/* --- start and end of a slot ------------------------------------------------------------------ */

void remote_add_start(struct run_slot *slot, const char *as)
{
    const struct script_label open = {.code = FAIL_RUN_DIRECTORY_FAILED,
                                      .what = "open the way to the other nodes",
                                      .on_node = true};
    if (remote_is_offered(slot->run) || slot->entered)
        script_ask(slot->script, &open, REQUEST(remote_open, .run = slot->run->dir, .as = as));
}

void remote_add_end(struct run_slot *slot)
{
    const struct script_label kill = {.what = "kill remote commands", .may_fail = true},
                              close = {.what = "close the way to the other nodes",
                                       .may_fail = true};
    if (!remote_is_offered(slot->run) && !slot->visited)
        return;
    script_ask(slot->script, &close, REQUEST(remote_close, .run = slot->run->dir));
    script_kill_tasks(slot->script, &kill, remote_task_prefix(slot, &slot->a), NULL, true, NULL);
}

/* --- which node is meant ---------------------------------------------------------------------- */

/* Whether `host` means the node on which the command was called. */
static bool is_here(const struct run_slot *slot, const char *host)
{
    static const char *const always[] = {"localhost", "127.0.0.1", "::1"};
    const char *hostname = slot->tenant.node ? node_rt_hostname(slot->tenant.node) : NULL;
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (strcasecmp(host, always[i]) == 0)
            return true;
    return hostname && strcasecmp(host, hostname) == 0;
}

bool remote_is_called(const struct run_slot *slot, const char *host)
{
    char rank[16];
    const struct node_rt *rt = slot->tenant.node;
    const char *hostname = rt ? node_rt_hostname(rt) : NULL;
    snprintf(rank, sizeof rank, "%d", slot->rank);
    return strcasecmp(host, slot->node_name) == 0 || strcmp(host, rank) == 0 ||
           (rt && strcasecmp(host, node_rt_address(rt)) == 0) ||
           (hostname && strcasecmp(host, hostname) == 0);
}

/* The slot with this name; NULL: none. Local nodes share the machine's name, so the asking node is
 * checked first. */
static struct run_slot *find_slot(struct run_slot *asking, const char *host)
{
    struct live_run *run = asking->run;
    assert(run->slots);
    if (strcmp(host, REMOTE_SHARED) == 0)
        return &run->slots[0];
    if (is_here(asking, host) || remote_is_called(asking, host))
        return asking;
    for (int i = 0; i < run->n_slots; i++)
        if (remote_is_called(&run->slots[i], host))
            return &run->slots[i];
    return NULL;
}

const char *remote_names_of_nodes(const struct live_run *run, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    for (int i = 0; i < run->n_slots && b.len < REMOTE_TEXT_MAX / 2; i++)
        strbuf_printf(&b, "%s%s (%s)", i ? ", " : "", run->slots[i].node_name,
                      node_rt_address(run->slots[i].tenant.node));
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}

/* --- starting a far end ----------------------------------------------------------------------- */

static void say_lost(struct run_slot *near, const char *session, const char *why)
{
    char text[REMOTE_TEXT_MAX + 1];
    size_t n = jsontext_cut(why, REMOTE_TEXT_MAX);
    memcpy(text, why, n);
    text[n] = '\0';
    const struct remote_msg lost = {.kind = REMOTE_LOST,
                                    .run = near->run->dir,
                                    .session = session,
                                    .to_near = true,
                                    .why = text};
    if (near->tenant.node && node_rt_usable(near->tenant.node))
        node_remote_send(node_rt_link(near->tenant.node), &lost);
}

const char *remote_how_it_ended(struct arena *a, const struct task_status *st)
{
    const char *tail = st->stderr_tail ? st->stderr_tail : "";
    if (st->why)
        return arena_printf(a, "the command could not be run: %s\n%s", st->why, tail);
    if (st->signal)
        return arena_printf(a, "the command was ended with its task by signal %d", st->signal);
    return arena_printf(a, "the command could not be run: exit code %d\n%s", st->exit_code, tail);
}

bool remote_read_id(const struct run_slot *slot, const char *id, int *rank, const char **session)
{
    size_t n = strlen(slot->task_prefix);
    if (strncmp(id, slot->task_prefix, n) != 0 || strncmp(id + n, PREFIX, strlen(PREFIX)) != 0)
        return false;
    char *rest;
    const char *text = id + n + strlen(PREFIX);
    long number = strtol(text, &rest, 10);
    if (rest == text || number < 0 || number > REMOTE_DAEMON || *rest != '-')
        return false;
    *rank = (int)number;
    *session = rest + 1;
    return true;
}

/* Finds the slot whose near end requested the task. False: the task is not a far end's, or the
 * daemon itself requested it. */
static bool read_near(const struct run_slot *slot, const char *id, struct run_slot **near,
                      const char **session)
{
    int rank;
    if (!remote_read_id(slot, id, &rank, session) || rank >= slot->run->n_slots)
        return false;
    *near = &slot->run->slots[rank];
    return true;
}

static struct run_far_end **find_far_end(struct run_slot *slot, const char *id)
{
    struct run_far_end **at = &slot->far_ends;
    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    return at;
}

/* Counts a far end, once even if its near end asks several times. False: the node has too many. */
static bool add_far_end(struct run_slot *slot, const char *id)
{
    if (*find_far_end(slot, id))
        return true;
    if (slot->n_far_ends == FAR_ENDS_MAX)
        return false;
    struct run_far_end *f = xcalloc(1, sizeof *f);
    *f = (struct run_far_end){.next = slot->far_ends, .id = xstrdup(id)};
    slot->far_ends = f;
    slot->n_far_ends++;
    return true;
}

/* Forgets a far end. False: it was not in the list. */
static bool remove_far_end(struct run_slot *slot, const char *id)
{
    struct run_far_end **at = find_far_end(slot, id), *f = *at;
    if (!f)
        return false;
    *at = f->next;
    slot->n_far_ends--;
    free(f->id);
    free(f);
    return true;
}

void remote_forget_link(struct run_slot *slot)
{
    while (slot->far_ends)
        (void)remove_far_end(slot, slot->far_ends->id);
    slot->n_failed_far_ends = 0;
}

/* A successful far end has sent its exit itself. The node remembers the task of a failed far end,
 * so that its id never runs again, up to FAILED_KEPT_MAX tasks. */
bool remote_task_ended(struct run_slot *slot, const struct task_status *st)
{
    struct run_slot *near;
    const char *session;
    if (!read_near(slot, st->id, &near, &session))
        return false;
    struct arena a;
    arena_init(&a);
    bool known = remove_far_end(slot, st->id);
    bool failed = st->state != TASK_EXITED || st->exit_code != 0;
    bool forgotten = !failed || (known && slot->n_failed_far_ends++ >= FAILED_KEPT_MAX);
    /* A task that the node does not forget is reported once more over the next link. */
    if (slot->state == SLOT_STARTED && (forgotten ? slot_forget_task(slot, st->id) : known))
        slot_keep_use(slot, st);
    if (failed)
        say_lost(near, session, remote_how_it_ended(&a, st));
    arena_free(&a);
    return true;
}

/* A pending request. It is not in the run's arena, because a run may make very many requests, one
 * after the other. */
struct opening {
    struct run_slot *slot;
    char *id;
};

static void on_run(void *ctx, const struct err *why, const struct task_status *st)
{
    struct opening *o = ctx;
    struct run_slot *near;
    const char *session;
    bool counts = step_answered(o->slot);
    if (counts && why)
        (void)remove_far_end(o->slot, o->id);
    if (counts && why && read_near(o->slot, o->id, &near, &session))
        say_lost(near, session, why->msg);
    else if (counts && !why && st->state != TASK_RUNNING)
        (void)remote_task_ended(o->slot, st);
    free(o->id);
    free(o);
}

static const char *socket_of(const struct run_slot *slot, struct arena *a)
{
    return arena_concat(a, slot->root, "/" REMOTE_DIR "/", slot->run->dir);
}

/* Fills `env` with the node's variables, followed by the far end's. Returns how many are the
 * node's. */
static size_t far_env(const struct run_slot *slot, const struct remote_far *far, struct arena *a,
                      struct env *env)
{
    env_add(env, slot->env.env.items, slot->env.env.n);
    launch_env_remote(env, node_rt_address(slot->tenant.node), slot->env.run_dir);
    size_t n_node = env->n;
    const struct kv own[] = {
        {.name = REMOTE_SESSION_VARIABLE,
         .value = arena_printf(a, "%d-%s", far->rank, far->session)},
        {.name = REMOTE_SFTP_VARIABLE, .value = far->files ? "1" : NULL},
        {.name = REMOTE_SOCKET_VARIABLE,
         .value = remote_is_offered(slot->run) ? NULL : socket_of(slot, a)},
        {.name = REMOTE_TTY_VARIABLE, .value = far->tty},
        {.name = REMOTE_PORT_VARIABLE, .value = far->port},
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (own[i].value)
            env_add(env, &own[i], 1);
    return n_node;
}

static const char *far_end_id(const struct run_slot *slot, const struct remote_far *far,
                              struct arena *a)
{
    return arena_printf(a, "%s%d-%s", remote_task_prefix(slot, a), far->rank, far->session);
}

/* Whether the run has a task on this node besides far ends. The use of the container that belongs
 * to no other task is counted for such a task: the daemon stores its status, but the status of a
 * far end only in memory, or not at all. */
static bool has_own_task(const struct run_slot *slot)
{
    const struct live_run *run = slot->run;
    for (size_t i = 0; i < run->n_tasks; i++)
        if (run->tasks[i].process->role != LAUNCH_PREPARATION &&
            run->tasks[i].process->rank == slot->rank)
            return true;
    return false;
}

const char *remote_run_far(struct run_slot *slot, const struct remote_far *far, struct arena *a,
                           node_task_cb cb, void *ctx)
{
    const char *program = arena_concat(a, program_dir(slot, a), "/", REMOTE_NODE);
    struct env env;
    env_init(&env, a);
    size_t n_node = far_env(slot, far, a, &env);
    struct task_spec spec = {
        .id = far_end_id(slot, far, a),
        .command_line =
            remote_wrap(slot, a, arena_printf(a, "exec %s remote", shell_quoted(a, program))),
        .cwd = slot->env.run_dir,
        .env = env.items,
        .n_env = env.n,
        .stdout_path = "/dev/null",
        .stderr_path = arena_concat(a, slot->env.run_dir, "/.ssh-stderr.txt"),
        .step = "remote command",
        .user = slot_account(slot, a),
        .limits = slot_limits(slot),
        .confine = node_rt_confine(slot->tenant.node, a, &slot->run->spec.mounts),
        .view = slot_view(slot, a),
    };
    if (slot->container.runtime && !far->files)
        container_wrap(a, &slot->container, env.items + n_node, env.n - n_node, &spec);
    if (has_own_task(slot))
        spec.cgroups_path = NULL;
    slot->pending++;
    node_run(node_rt_link(slot->tenant.node), &spec, cb, ctx);
    return spec.id;
}

/* Starts the far end that `near` asks for. `files`: see struct remote_far. */
static void run_far_end(struct run_slot *slot, const struct run_slot *near, const char *session,
                        bool files, struct arena *a)
{
    const struct remote_far far = {.rank = near->rank, .session = session, .files = files};
    if (!add_far_end(slot, far_end_id(slot, &far, a)))
        return; /* nothing is sent: the near end will ask again */
    struct opening *o = xcalloc(1, sizeof *o);
    o->slot = slot;
    o->id = xstrdup(remote_run_far(slot, &far, a, on_run, o)); /* the callback runs later */
}

bool remote_is_prepared(const struct run_slot *slot)
{
    return slot->state == SLOT_STARTED && slot->tenant.node && node_rt_usable(slot->tenant.node) &&
           slot->script && script_state(slot->script) == SCRIPT_DONE;
}

/* If a node is not ready yet, or its link is broken for a moment, the near end asks again. */
static void open_far_end(struct run_slot *near, const struct remote_msg *m)
{
    struct live_run *run = near->run;
    struct arena a;
    arena_init(&a);
    struct run_slot *slot = find_slot(near, m->host);
    if (run->phase != RUN_ACTIVE || run->out.kind != OUT_NONE)
        say_lost(near, m->session, front_text(words_of(run), &a, "the {run} is being ended"));
    else if (!slot)
        say_lost(near, m->session,
                 front_say(words_of(run), &a, "no node of this {run} has this name; its nodes: %s",
                           remote_names_of_nodes(run, &a)));
    else if (remote_is_prepared(slot))
        run_far_end(slot, near, m->session, strcmp(m->host, REMOTE_SHARED) == 0, &a);
    arena_free(&a);
}

/* --- handing on ------------------------------------------------------------------------------- */

void remote_hear(struct run_slot *slot, const struct remote_msg *m)
{
    const struct live_run *run = slot->run;
    if (m->kind == REMOTE_LOST || !remote_is_offered(run))
        return;
    if (m->kind == REMOTE_OPEN) {
        open_far_end(slot, m);
        return;
    }
    if (m->rank >= run->n_slots)
        return;
    const struct run_slot *to = &run->slots[m->rank];
    struct remote_msg on = *m;
    on.run = run->dir;
    on.rank = slot->rank;
    if (to->tenant.node && node_rt_usable(to->tenant.node))
        node_remote_send(node_rt_link(to->tenant.node), &on);
}

static void on_signalled(void *ctx, const struct err *why)
{
    (void)why; /* the end of the run kills remaining tasks */
    (void)step_answered(ctx);
}

/* The far ends may have been started by an earlier daemon, or over an earlier link, and so be
 * unknown. They are recorded before they end, so that their use is counted once. */
void remote_signal(struct run_slot *slot, const struct task_status *list, size_t n, int signo)
{
    struct run_slot *near;
    const char *session;
    int rank;
    for (size_t i = 0; i < n; i++) {
        if (list[i].state != TASK_RUNNING || !remote_read_id(slot, list[i].id, &rank, &session))
            continue;
        if (read_near(slot, list[i].id, &near, &session))
            (void)add_far_end(slot, list[i].id);
        slot->pending++;
        node_ask(node_rt_link(slot->tenant.node),
                 REQUEST(signal, .task = list[i].id, .signal = signo), on_signalled, slot);
    }
}
