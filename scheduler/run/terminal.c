/* SPDX-License-Identifier: MIT
 *
 * A terminal is in the list of its runs from terminal_open() until it has ended or was closed. It
 * keeps messages that its far end has not acknowledged (wire/stream.h). It hands received messages
 * on at once, or refuses them.
 */
#include "scheduler/run/terminal.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent-proto/wire/stream.h"
#include "scheduler/run/remote.h"
#include "scheduler/run/step.h"

#define SESSION_SIZE 17 /* with its NUL */
#define SILENT_US    5000000
#define ASK_AGAIN_US 2000000
#define MISSED_US    200000 /* after a lost message, its repetition is asked for this often */
#define PORT_SIZE    8

struct terminal {
    struct terminal *next;
    struct runs *runs;
    struct run_slot *slot;
    char session[SESSION_SIZE];
    const struct terminal_events *events;
    void *ctx;
    struct remote_stream stream;
    bool met; /* a message of the far end has arrived */
    /* there was no room to send; when an acknowledgement arrives, room() is called */
    bool was_full;
    bool refused; /* got() had no room for a message */
    /* when the last message arrived, was asked for, and was found missing (monotonic, us) */
    int64_t heard_us, asked_us, missed_us;
};

static int64_t now_us(const struct terminal *t)
{
    return wakes_mono(t->runs->wakes);
}

/* --- its life --------------------------------------------------------------------------------- */

static void forget(struct terminal *t)
{
    struct terminal **at = &t->runs->terminals;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    remote_stream_free(&t->stream);
    free(t);
}

static void finish(struct terminal *t, const struct terminal_end *end)
{
    const struct terminal_events *events = t->events;
    void *ctx = t->ctx;
    forget(t);
    events->ended(ctx, end);
}

static void fail(struct terminal *t, const char *why)
{
    finish(t, &(struct terminal_end){.why = why});
}

static struct terminal *find(const struct run_slot *slot, const char *session)
{
    struct terminal *t = slot->run->runs->terminals;
    while (t && (t->slot != slot || strcmp(t->session, session) != 0))
        t = t->next;
    return t;
}

void terminals_leave(const struct live_run *run)
{
    struct arena a;
    arena_init(&a);
    for (struct terminal *t = run->runs->terminals, *next; t; t = next) {
        next = t->next;
        if (t->slot->run == run)
            fail(t, front_text(words_of(run), &a, "the command was ended with its {run}"));
    }
    arena_free(&a);
}

const char *terminal_node(const struct terminal *t)
{
    return t->slot->node_name;
}

/* --- out ----------------------------------------------------------------------------------------
 */

/* Sends a message to the far end. Without a link it is lost; a lost message of the stream is
 * repeated later. */
static void send(const struct run_slot *slot, const char *session, const struct remote_msg *given)
{
    struct remote_msg m = *given;
    m.run = slot->run->dir;
    m.session = session;
    m.rank = REMOTE_DAEMON;
    m.to_near = false;
    if (slot->tenant.node && node_rt_usable(slot->tenant.node))
        node_remote_send(node_rt_link(slot->tenant.node), &m);
}

static void say(void *ctx, const struct remote_msg *m)
{
    const struct terminal *t = ctx;
    if (t->met)
        send(t->slot, t->session, m);
}

static void tell_left(const struct run_slot *slot, const char *session)
{
    send(slot, session, &(struct remote_msg){.kind = REMOTE_LOST, .why = "its user has left"});
}

static void acknowledge(struct terminal *t)
{
    say(t, &(struct remote_msg){.kind = REMOTE_ACK, .n = t->stream.expected});
}

static void resume(struct terminal *t, bool answer)
{
    t->asked_us = now_us(t);
    say(t, &(struct remote_msg){.kind = REMOTE_RESUME, .n = t->stream.expected, .answer = answer});
}

bool terminal_has_room(const struct terminal *t)
{
    return remote_stream_has_room(&t->stream);
}

bool terminal_has_room_to_control(const struct terminal *t)
{
    return remote_stream_has_room_to_control(&t->stream);
}

void terminal_put(struct terminal *t, enum remote_channel channel, const char *bytes, size_t n)
{
    assert(n <= REMOTE_BYTES_MAX);
    remote_stream_put(
        &t->stream,
        &(struct remote_msg){.kind = REMOTE_DATA, .channel = channel, .bytes = bytes, .n_bytes = n},
        say, t);
    t->was_full = !terminal_has_room(t);
}

void terminal_drained(struct terminal *t)
{
    if (t->refused)
        resume(t, true);
    else
        acknowledge(t);
    t->refused = false;
}

/* Ends the terminal of a node that does not answer. The far end there ends its command by
 * itself. */
static void give_up(struct terminal *t)
{
    const struct run_slot *slot = t->slot;
    struct arena a;
    arena_init(&a);
    const char *node = slot->tenant.node ? arena_printf(&a, "%s (%s)", slot->node_name,
                                                        node_rt_address(slot->tenant.node))
                                         : slot->node_name;
    fail(t, arena_printf(&a,
                         t->met ? "the node %s does not answer; the command ends there"
                                : "the command did not start in time on the node %s",
                         node));
    arena_free(&a);
}

void terminal_look(struct terminal *t)
{
    int64_t now = now_us(t);
    if (now - t->heard_us > (int64_t)REMOTE_SILENT_MAX_MS * 1000)
        give_up(t);
    else if (now - t->heard_us > SILENT_US && now - t->asked_us > ASK_AGAIN_US)
        resume(t, false);
}

void terminal_close(struct terminal *t)
{
    tell_left(t->slot, t->session);
    forget(t);
}

/* --- in -----------------------------------------------------------------------------------------
 */

static void note_room(struct terminal *t)
{
    if (!t->was_full || !terminal_has_room_to_control(t))
        return;
    t->was_full = !terminal_has_room(t);
    t->events->room(t->ctx);
}

static void hear_next(struct terminal *t, const struct remote_msg *m)
{
    enum terminal_taken taken = TERMINAL_DONE;
    bool is_output = m->channel == REMOTE_STDOUT || m->channel == REMOTE_STDERR;
    if (m->kind == REMOTE_EXIT) {
        (void)remote_stream_take(&t->stream, m);
        acknowledge(t);
        finish(t, &(struct terminal_end){.exit_code = m->exit_code, .signal = m->signal});
        return;
    }
    if (is_output && m->n_bytes > 0)
        taken = t->events->got(t->ctx, m->channel, m->bytes, m->n_bytes);
    t->refused = t->refused || taken == TERMINAL_NO_ROOM;
    if (taken != TERMINAL_NO_ROOM)
        (void)remote_stream_take(&t->stream, m);
    if (taken == TERMINAL_DONE)
        acknowledge(t);
}

static void hear_numbered(struct terminal *t, const struct remote_msg *m)
{
    int64_t now = now_us(t);
    if (m->n < t->stream.expected) {
        acknowledge(t); /* the last acknowledgement was lost, or is late */
    } else if (m->n == t->stream.expected) {
        hear_next(t, m);
    } else if (!t->refused && now - t->missed_us >= MISSED_US) {
        t->missed_us = now;
        resume(t, true);
    }
}

static void hear(struct terminal *t, const struct remote_msg *m)
{
    bool is_first = !t->met;
    if (m->kind == REMOTE_GONE)
        return; /* the far end has not connected yet, or connects again; or its task has ended */
    t->met = true;
    t->heard_us = now_us(t);
    switch (m->kind) {
    case REMOTE_RESUME:
        remote_stream_acked(&t->stream, m->n);
        if (!m->answer || is_first)
            resume(t, true);
        remote_stream_repeat(&t->stream, say, t);
        note_room(t);
        break;
    case REMOTE_ACK:
        remote_stream_acked(&t->stream, m->n);
        note_room(t);
        break;
    case REMOTE_DATA:
    case REMOTE_EXIT:
        hear_numbered(t, m);
        break;
    case REMOTE_OPEN:
    case REMOTE_LOST:
    case REMOTE_GONE:
        break;
    }
}

void terminal_hear(struct run_slot *slot, const struct remote_msg *m)
{
    struct terminal *t = m->to_near ? find(slot, m->session) : NULL;
    bool asks = m->kind == REMOTE_RESUME || m->kind == REMOTE_DATA || m->kind == REMOTE_EXIT;
    if (t)
        hear(t, m);
    else if (m->to_near && asks)
        tell_left(slot, m->session);
}

/* The far end has sent its exit itself, if it could. The id of its task is never used again, so the
 * node is told to forget the task; while a slot is cleaned, the cleaning makes the node forget all
 * tasks. */
bool terminal_task_ended(struct run_slot *slot, const struct task_status *st)
{
    const char *session;
    int rank;
    if (!remote_read_id(slot, st->id, &rank, &session) || rank != REMOTE_DAEMON)
        return false;
    struct terminal *t = find(slot, session);
    if (slot->state == SLOT_STARTED && slot_forget_task(slot, st->id))
        slot_keep_use(slot, st);
    if (t) {
        struct arena a;
        arena_init(&a);
        fail(t, remote_how_it_ended(&a, st));
        arena_free(&a);
    }
    return true;
}

/* --- opening ------------------------------------------------------------------------------------
 */

/* The context of a request. The terminal may be gone before the reply, so it is found by its
 * session. */
struct asked {
    struct run_slot *slot;
    char session[SESSION_SIZE];
};

static struct asked *asked_new(struct run_slot *slot, const char *session)
{
    struct asked *o = xcalloc(1, sizeof *o);
    o->slot = slot;
    snprintf(o->session, sizeof o->session, "%s", session);
    return o;
}

static void on_opened(void *ctx, const struct err *why)
{
    struct asked *o = ctx;
    struct terminal *t = step_answered(o->slot) && why ? find(o->slot, o->session) : NULL;
    if (t)
        fail(t, why->msg);
    free(o);
}

static void on_run(void *ctx, const struct err *why, const struct task_status *st)
{
    struct asked *o = ctx;
    if (step_answered(o->slot)) {
        struct terminal *t = find(o->slot, o->session);
        if (t && why)
            fail(t, why->msg);
        else if (!why && st->state != TASK_RUNNING)
            (void)terminal_task_ended(o->slot, st);
    }
    free(o);
}

/* Opens the socket for remote commands on the node and starts the far end. If the socket is open
 * already, opening it changes nothing. */
static void start_far_end(struct terminal *t, const struct terminal_ask *ask)
{
    struct run_slot *slot = t->slot;
    struct arena a;
    char port[PORT_SIZE];
    arena_init(&a);
    snprintf(port, sizeof port, "%d", ask->port);
    slot->entered = slot->visited = true;
    slot->pending++;
    node_ask(node_rt_link(slot->tenant.node),
             REQUEST(remote_open, .run = slot->run->dir, .as = slot_account(slot, &a)), on_opened,
             asked_new(slot, t->session));
    (void)remote_run_far(slot,
                         &(struct remote_far){.rank = REMOTE_DAEMON,
                                              .session = t->session,
                                              .tty = ask->tty,
                                              .port = ask->port ? port : NULL},
                         &a, on_run, asked_new(slot, t->session));
    arena_free(&a);
}

static void send_command(struct terminal *t, const char *command)
{
    size_t left = strlen(command);
    for (; left > 0; left -= left < REMOTE_BYTES_MAX ? left : REMOTE_BYTES_MAX) {
        size_t n = left < REMOTE_BYTES_MAX ? left : REMOTE_BYTES_MAX;
        terminal_put(t, REMOTE_COMMAND, command, n);
        command += n;
    }
    terminal_put(t, REMOTE_COMMAND, "", 0);
}

static void make_session(char out[SESSION_SIZE])
{
    unsigned char random[SESSION_SIZE - 1];
    randombytes_buf(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        out[i] = "abcdefghijklmnopqrstuvwxyz012345"[random[i] % 32];
    out[SESSION_SIZE - 1] = '\0';
}

static int find_slot(struct live_run *run, const char *node, struct run_slot **out, struct err *e)
{
    struct arena a;
    *out = node ? NULL : &run->slots[0];
    for (int i = 0; !*out && i < run->n_slots; i++)
        if (remote_is_called(&run->slots[i], node))
            *out = &run->slots[i];
    if (*out)
        return 0;
    arena_init(&a);
    err_set(e, ERR_INVALID_PROPERTY, "node", "%s",
            front_say(words_of(run), &a,
                      "'%.100s' is not a node of this {run}; its nodes: %s; a number counts them "
                      "from 0",
                      node, remote_names_of_nodes(run, &a)));
    arena_free(&a);
    return -1;
}

/* `run`: NULL if it is over, or has not begun. */
static int not_running(const struct runs *rs, const struct live_run *run, struct err *e)
{
    const struct front_words *w = run ? words_of(run) : rs->fronts->all[0]->words;
    struct arena a;
    arena_init(&a);
    err_set(e, ERR_CONFLICT, NULL, "%s",
            front_text(w, &a,
                       "The {run} does not run on any node now; a terminal needs a {run} that "
                       "runs."));
    arena_free(&a);
    return -1;
}

static int find_place(struct runs *rs, int64_t run_id, const char *node, struct run_slot **out,
                      struct err *e)
{
    struct live_run *run = id_map_find(&rs->map, run_id);
    if (!run || run->phase != RUN_ACTIVE || run->out.kind != OUT_NONE || run->deleting)
        return not_running(rs, run, e);
    if (find_slot(run, node, out, e) < 0)
        return -1;
    return remote_is_prepared(*out)
               ? 0
               : err_set(e, ERR_CONFLICT, NULL,
                         "The node %s is still being prepared, or its link is broken; try again in "
                         "a moment.",
                         (*out)->node_name);
}

int terminal_open(struct runs *rs, int64_t run_id, const struct terminal_ask *ask,
                  const struct terminal_events *events, void *ctx, struct terminal **out,
                  struct err *e)
{
    struct run_slot *slot = NULL;
    if (strlen(ask->command) > (STREAM_WINDOW - 1) * REMOTE_BYTES_MAX)
        return err_set(e, ERR_INVALID_PROPERTY, "command",
                       "the command has more than %u bytes; put it into a file",
                       (STREAM_WINDOW - 1) * REMOTE_BYTES_MAX);
    if (find_place(rs, run_id, ask->node, &slot, e) < 0)
        return -1;
    struct terminal *t = xcalloc(1, sizeof *t);
    *t = (struct terminal){
        .next = rs->terminals, .runs = rs, .slot = slot, .events = events, .ctx = ctx};
    make_session(t->session);
    t->heard_us = now_us(t);
    rs->terminals = t;
    send_command(t, ask->command);
    start_far_end(t, ask);
    *out = t;
    return 0;
}
