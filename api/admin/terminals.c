/* SPDX-License-Identifier: MIT
 *
 * A terminal ends in two steps, in either order: its command ends (`near` becomes NULL, and the
 * last frame is sent), and its client leaves. A client that does not leave after the last frame is
 * closed. The rights of the client are checked again every few seconds: a terminal ends if a role
 * was taken away, but not if the token expires.
 */
#include "api/admin/terminals.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/admin/terminal_right.h"
#include "api/http/upgrade.h"
#include "lib/terminal_frames.h"
#include "scheduler/scheduler.h"

#define TICK_MS   1000
#define RIGHTS_MS 5000
#define LEAVE_MS  30000         /* after the last frame, until the client leaves */
#define ENOUGH    (128U * 1024) /* bytes for the client: with more, output is acknowledged later */
#define TOO_MUCH                                                                                   \
    (512U * 1024) /* unsent bytes for the client: with more, the node has broken the protocol */
#define SIGNAL_MAX  64
#define WINDOW_SIZE 4
#define UNREAD_MAX                                                                                 \
    (TERMINAL_WINDOW_MAX + 2 * TERMINAL_FRAME_MAX) /* bytes of the client's frames                 \
                                                    */

struct terminal_stream {
    struct terminal_stream *next;
    struct terminals *all;
    const struct admin *admin;
    struct upgraded *client;
    struct terminal *near; /* NULL: the command has ended */
    struct terminal_frames in;
    struct terminal_frames input; /* frames `i` that wait until the node takes more bytes */
    uint64_t signals;             /* signal n, bit n - 1, waits for room */
    unsigned char size[WINDOW_SIZE];
    bool resized; /* `size` waits for room; only the last size counts */
    bool owes;    /* acknowledge to the node when all is sent */
    bool input_ended;
    char object_id[PRINCIPAL_ID_SIZE], by[PRINCIPAL_NAME_SIZE];
    char *job, *node;
    int64_t job_id;
    uint64_t opened_ms, heard_ms, asked_ms, ended_ms;
};

struct terminals {
    uv_loop_t *loop;
    const struct log *log;
    struct terminal_stream *first;
    int n;
    uv_timer_t *timer; /* NULL: no terminals */
};

/* --- its end ------------------------------------------------------------------------------------
 */

static void on_timer_closed(uv_handle_t *h)
{
    free(h);
}

static void stream_free(struct terminal_stream *s)
{
    struct terminals *all = s->all;
    struct terminal_stream **at = &all->first;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (--all->n == 0) {
        uv_close((uv_handle_t *)all->timer, on_timer_closed);
        all->timer = NULL;
    }
    terminal_frames_free(&s->in);
    terminal_frames_free(&s->input);
    free(s->job);
    free(s->node);
    free(s);
}

static void note_end(const struct terminal_stream *s, const struct terminal_end *end)
{
    LOG_INFO(s->all->log, "terminal.closed", LF_STR("principal", s->by), LF_STR("job", s->job),
             LF_STR("node", s->node), LF_INT("ms", uv_now(s->all->loop) - s->opened_ms),
             LF_INT("exit_code", end->why || end->signal ? -1 : end->exit_code),
             LF_INT("signal", end->signal), LF_STR("why", end->why));
}

static void send_frame(struct terminal_stream *s, enum terminal_frame_kind kind, const void *bytes,
                       size_t n)
{
    struct strbuf b = STRBUF_INIT;
    terminal_frame_add(&b, kind, bytes, n);
    upgraded_send(s->client, b.s, b.len);
    explicit_bzero(b.s, b.len);
    strbuf_free(&b);
}

/* Records that the command has ended. Further frames of the client are read and thrown away. */
static void note_over(struct terminal_stream *s, const struct terminal_end *end)
{
    s->near = NULL;
    s->ended_ms = uv_now(s->all->loop);
    note_end(s, end);
    if (end->why) {
        send_frame(s, TERMINAL_FAILED, end->why, strlen(end->why));
    } else {
        const unsigned char status[2] = {(unsigned char)end->exit_code, (unsigned char)end->signal};
        send_frame(s, TERMINAL_EXIT, status, sizeof status);
    }
    terminal_frames_free(&s->in);
    terminal_frames_free(&s->input);
}

static void give_up(struct terminal_stream *s, const char *why)
{
    struct terminal *near = s->near;
    terminal_close(near);
    note_over(s, &(struct terminal_end){.why = why});
}

/* --- from the node ------------------------------------------------------------------------------
 */

static enum terminal_taken on_output(void *ctx, enum remote_channel channel, const char *bytes,
                                     size_t n)
{
    struct terminal_stream *s = ctx;
    if (upgraded_waiting(s->client) > TOO_MUCH) {
        s->owes = true;
        return TERMINAL_NO_ROOM;
    }
    send_frame(s, channel == REMOTE_STDERR ? TERMINAL_ERRORS : TERMINAL_OUTPUT, bytes, n);
    if (upgraded_waiting(s->client) <= ENOUGH)
        return TERMINAL_DONE;
    s->owes = true;
    return TERMINAL_KEPT;
}

static void on_ended(void *ctx, const struct terminal_end *end)
{
    note_over(ctx, end);
}

/* --- from the client ----------------------------------------------------------------------------
 */

/* Passes signals and the size of the window to the node. They overtake input that the command does
 * not read. */
static void pass_controls(struct terminal_stream *s)
{
    char text[64];
    const unsigned char *p = s->size;
    if (s->resized && terminal_has_room_to_control(s->near)) {
        int n = snprintf(text, sizeof text, "size %d %d", p[0] << 8 | p[1], p[2] << 8 | p[3]);
        terminal_put(s->near, REMOTE_CONTROL, text, (size_t)n);
        s->resized = false;
    }
    for (int i = 0; s->signals && i < SIGNAL_MAX; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (!(s->signals & bit) || !terminal_has_room_to_control(s->near))
            continue;
        int n = snprintf(text, sizeof text, "signal %d", i + 1);
        terminal_put(s->near, REMOTE_CONTROL, text, (size_t)n);
        s->signals &= ~bit;
    }
}

/* Tells the client that its bytes were taken. A client that does not read this cannot send more. */
static void acknowledge(struct terminal_stream *s, size_t n)
{
    size_t taken = n + TERMINAL_FRAME_HEADER;
    const unsigned char bytes[4] = {0, (unsigned char)(taken >> 16), (unsigned char)(taken >> 8),
                                    (unsigned char)taken};
    send_frame(s, TERMINAL_TAKEN, bytes, sizeof bytes);
}

/* Passes the input to the node as long as the node takes more bytes. */
static void pass_input(struct terminal_stream *s)
{
    struct terminal_frame f;
    struct err e;
    while (terminal_has_room(s->near) && terminal_frames_next(&s->input, &f, &e) > 0) {
        if (!s->input_ended)
            terminal_put(s->near, REMOTE_STDIN, (const char *)f.bytes, f.n);
        s->input_ended = s->input_ended || f.n == 0;
        acknowledge(s, f.n);
    }
}

static void serve_frame(struct terminal_stream *s, const struct terminal_frame *f)
{
    switch (f->kind) {
    case TERMINAL_INPUT:
        terminal_frames_feed(&s->input, f->bytes - TERMINAL_FRAME_HEADER,
                             TERMINAL_FRAME_HEADER + f->n);
        pass_input(s);
        break;
    case TERMINAL_WINDOW:
        memcpy(s->size, f->bytes, sizeof s->size);
        s->resized = true;
        pass_controls(s);
        break;
    case TERMINAL_SIGNAL:
        if (f->bytes[0] > 0 && f->bytes[0] <= SIGNAL_MAX)
            s->signals |= UINT64_C(1) << (f->bytes[0] - 1);
        pass_controls(s);
        break;
    case TERMINAL_PING:
        if (upgraded_waiting(s->client) < ENOUGH)
            send_frame(s, TERMINAL_PING, "", 0);
        break;
    case TERMINAL_OUTPUT:
    case TERMINAL_ERRORS:
    case TERMINAL_EXIT:
    case TERMINAL_FAILED:
    case TERMINAL_TAKEN:
        break; /* clients do not send these: ignored */
    }
}

static void check_bounds(struct terminal_stream *s)
{
    if (terminal_frames_waiting(&s->input) > UNREAD_MAX)
        give_up(s, "the client has sent too much input before the daemon acknowledged it");
    else if (upgraded_waiting(s->client) > TOO_MUCH + ENOUGH)
        give_up(s, "the client does not read the daemon's answers fast enough");
}

/* Handles all frames of the client at once; only input may wait. */
static void serve_frames(struct terminal_stream *s)
{
    struct terminal_frame f;
    struct err e;
    int rc;
    while ((rc = terminal_frames_next(&s->in, &f, &e)) > 0)
        serve_frame(s, &f);
    if (rc < 0)
        give_up(s, e.msg);
    else
        check_bounds(s);
}

static void on_room(void *ctx)
{
    struct terminal_stream *s = ctx;
    pass_controls(s);
    pass_input(s);
    check_bounds(s);
}

static const struct terminal_events of_node = {
    .got = on_output, .room = on_room, .ended = on_ended};

static void on_input(void *ctx, const char *bytes, size_t n)
{
    struct terminal_stream *s = ctx;
    s->heard_ms = uv_now(s->all->loop);
    if (!s->near)
        return;
    terminal_frames_feed(&s->in, bytes, n);
    serve_frames(s);
}

static void on_drained(void *ctx)
{
    struct terminal_stream *s = ctx;
    bool owed = s->owes;
    s->owes = false;
    if (!s->near)
        s->ended_ms = uv_now(s->all->loop);
    else if (owed)
        terminal_drained(s->near);
}

static void on_left(void *ctx)
{
    struct terminal_stream *s = ctx;
    if (s->near) {
        terminal_close(s->near);
        note_end(s, &(struct terminal_end){.why = "the client has left"});
    }
    stream_free(s);
}

static const struct upgraded_events of_client = {
    .got = on_input, .drained = on_drained, .closed = on_left};

/* --- time ---------------------------------------------------------------------------------------
 */

/* True: the client still has the right; false: it lost the right, or the right cannot be read. */
static bool still_may(struct terminal_stream *s, uint64_t now)
{
    struct err e;
    if (now - s->asked_ms < RIGHTS_MS)
        return true;
    s->asked_ms = now;
    return terminal_still_may(s->admin, s->object_id, s->job_id, &e) == 1;
}

static void look(struct terminal_stream *s, uint64_t now)
{
    bool silent = now - s->heard_ms > TERMINAL_GONE_S * 1000U;
    bool stays = !s->near && upgraded_waiting(s->client) == 0 && now - s->ended_ms > LEAVE_MS;
    if (silent || stays) {
        upgraded_close(s->client);
        on_left(s);
    } else if (s->near && !still_may(s, now)) {
        give_up(s, "the right to enter this job was taken away");
    } else if (s->near) {
        terminal_look(s->near);
    }
}

static void on_tick(uv_timer_t *t)
{
    struct terminals *all = t->data;
    for (struct terminal_stream *s = all->first, *next; s; s = next) {
        next = s->next; /* look() frees at most this stream */
        look(s, uv_now(all->loop));
    }
}

/* --- opening ------------------------------------------------------------------------------------
 */

static int check_number(const struct terminals *all, const char *object_id, struct err *e)
{
    int own = 0;
    for (const struct terminal_stream *s = all->first; s; s = s->next)
        own += strcasecmp(s->object_id, object_id) == 0;
    if (own >= TERMINALS_OF_ONE_MAX)
        return err_set(
            e, ERR_QUOTA, NULL,
            "You have %d terminals open, which is the limit for one user; close some terminals.",
            own);
    if (all->n >= TERMINALS_MAX)
        return err_set(e, ERR_QUOTA, NULL,
                       "%d terminals are open, which is the limit of the daemon; try again later.",
                       all->n);
    return 0;
}

static void start_timer(struct terminals *all)
{
    if (all->timer)
        return;
    all->timer = xcalloc(1, sizeof *all->timer);
    uv_timer_init(all->loop, all->timer);
    all->timer->data = all;
    uv_timer_start(all->timer, on_tick, TICK_MS, TICK_MS);
}

static struct terminal_stream *stream_new(struct terminals *all, const struct request *r,
                                          const struct terminal_for *of)
{
    struct terminal_stream *s = xcalloc(1, sizeof *s);
    uint64_t now = uv_now(all->loop);
    *s = (struct terminal_stream){.next = all->first,
                                  .all = all,
                                  .admin = admin_of(r),
                                  .job = xstrdup(of->job),
                                  .job_id = of->job_id,
                                  .opened_ms = now,
                                  .heard_ms = now,
                                  .asked_ms = now};
    snprintf(s->object_id, sizeof s->object_id, "%s", r->who->object_id);
    snprintf(s->by, sizeof s->by, "%s", r->who->name);
    all->first = s;
    all->n++;
    start_timer(all);
    return s;
}

struct replied *terminals_add(struct terminals *all, struct request *r,
                              const struct terminal_for *of, const struct terminal_ask *ask,
                              struct err *e)
{
    if (check_number(all, r->who->object_id, e) < 0)
        return NULL;
    struct terminal_stream *s = stream_new(all, r, of);
    if (terminal_open(sched_runs(admin_of(r)->sched), of->run_id, ask, &of_node, s, &s->near, e) <
        0) {
        stream_free(s);
        return NULL;
    }
    s->node = xstrdup(terminal_node(s->near));
    LOG_INFO(all->log, "terminal.opened", LF_STR("principal", s->by), LF_STR("job", s->job),
             LF_STR("node", s->node), LF_STR("req", r->correlation_id));
    return reply_upgrade(r, &of_client, s, &s->client);
}

struct terminals *terminals_create(uv_loop_t *loop, const struct log *log)
{
    struct terminals *all = xcalloc(1, sizeof *all);
    all->loop = loop;
    all->log = log;
    return all;
}

void terminals_free(struct terminals *all)
{
    assert(!all || all->n == 0);
    free(all);
}
