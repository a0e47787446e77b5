/* SPDX-License-Identifier: MIT
 *
 * Requests in both directions: what an agent may ask of the daemon, and what an agent asks. Which
 * daemon a node works for. An agent that hangs.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/fs.h"
#include "lib/loop_virtual.h"
#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"
#include "test/unit/nodeagent-proto/link/fixture.h"

/* ---- the daemon's end, without an agent: what it writes is kept ---- */

struct wire {
    struct node_link link; /* first: the link is the allocation */
    struct frame_decoder said;
    struct loop_virtual *still; /* limits are by time, and all that is said comes within none */
};

static void keep_bytes(struct node_link *link, const char *bytes, size_t n)
{
    frame_decoder_feed(&((struct wire *)(void *)link)->said, bytes, n);
}

static void let_go(struct node_link *link)
{
    link_released(link);
}

static void nothing(struct node_link *link)
{
    (void)link; /* the test's own */
}

static const struct link_transport to_memory = {keep_bytes, let_go, nothing, NULL};

static json_t *next_said(struct wire *w)
{
    json_t *msg;
    struct err e;
    assert_int_equal(frame_decoder_next(&w->said, &msg, &e), 1);
    return msg;
}

/* The daemon's reply to a request of the agent. */
static json_t *asked(struct wire *w, json_t *req)
{
    struct strbuf frame = STRBUF_INIT;
    struct err e;
    assert_int_equal(frame_encode(req, &frame, &e), 0);
    link_received(&w->link, frame.s, frame.len);
    strbuf_free(&frame);
    json_decref(req);
    return next_said(w);
}

static const char *text_in(const json_t *msg, const char *outer, const char *name)
{
    const char *s = json_string_value(json_object_get(json_object_get(msg, outer), name));
    return s ? s : "";
}

LINK_TEST(test_the_daemon_answers)
{
    struct wire *w = xcalloc(1, sizeof *w);
    struct node_callbacks callbacks = {on_ready, on_down, on_ended, NULL, f};
    const struct node_epoch epoch = {7, "abc"};
    frame_decoder_init(&w->said);
    link_start(&w->link, &(struct link_start){.loop = f->tools,
                                              .transport = &to_memory,
                                              .user = &callbacks,
                                              .log = &f->log,
                                              .name = "memory",
                                              .epoch = &epoch});
    json_t *hello = next_said(w);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(hello, "epoch"), "term")),
                     7);
    assert_string_equal(text_in(hello, "epoch", "id"), "abc");
    json_decref(hello);

    json_t *reply = asked(w, json_pack("{s:i, s:s}", "id", 1, "op", "ping"));
    assert_int_equal(json_integer_value(json_object_get(reply, "id")), 1);
    assert_true(json_is_true(json_object_get(reply, "ok")));
    json_decref(reply);
    reply = asked(w, json_pack("{s:i, s:s}", "id", 2, "op", "epoch"));
    assert_int_equal(json_integer_value(json_object_get(reply, "id")), 2);
    assert_string_equal(text_in(reply, "epoch", "id"), "abc");
    json_decref(reply);
    reply = asked(w, json_pack("{s:i, s:s}", "id", 3, "op", "make_coffee"));
    assert_int_equal(json_integer_value(json_object_get(reply, "id")), 3);
    assert_true(json_is_false(json_object_get(reply, "ok")));
    assert_string_equal(text_in(reply, "error", "code"), "FeatureNotSupported");
    assert_non_null(strstr(text_in(reply, "error", "message"), "make_coffee"));
    json_decref(reply);
    assert_int_equal(w->link.why.code, ERR_NONE); /* the link is as good as before */

    int closed = f->closed;
    node_close(&w->link, on_closed, f);
    WAIT(f, f->closed == closed + 1);
    frame_decoder_free(&w->said);
    free(w);
}

/* ---- remote commands ---- */

static struct heard {
    int n;
    struct remote_msg last; /* its numbers */
    char host[64], bytes[64];
} heard;

static void on_remote(void *ctx, const struct remote_msg *m)
{
    (void)ctx;
    heard.n++;
    heard.last = *m;
    snprintf(heard.host, sizeof heard.host, "%s", m->host ? m->host : "");
    snprintf(heard.bytes, sizeof heard.bytes, "%.*s", (int)m->n_bytes, m->bytes);
}

static struct wire *open_wire(struct fixture *f, const struct node_callbacks *callbacks)
{
    struct wire *w = xcalloc(1, sizeof *w);
    const struct node_epoch epoch = {7, "abc"};
    frame_decoder_init(&w->said);
    heard = (struct heard){.n = 0};
    w->still = loop_virtual_create(&(struct loop_virtual_config){.below = f->tools});
    loop_virtual_set_rate(w->still, 0);
    link_start(&w->link, &(struct link_start){.loop = loop_virtual_loop(w->still),
                                              .transport = &to_memory,
                                              .user = callbacks,
                                              .log = &f->log,
                                              .name = "memory",
                                              .epoch = &epoch});
    json_decref(next_said(w));
    return w;
}

static void close_wire(struct fixture *f, struct wire *w)
{
    int closed = f->closed;
    node_close(&w->link, on_closed, f);
    WAIT(f, f->closed == closed + 1);
    loop_virtual_free(w->still);
    frame_decoder_free(&w->said);
    free(w);
}

static void agent_says(struct wire *w, json_t *msg, const char *bytes)
{
    struct strbuf frame = STRBUF_INIT;
    struct err e;
    assert_int_equal(frame_encode_with(msg, bytes, strlen(bytes), &frame, &e), 0);
    link_received(&w->link, frame.s, frame.len);
    strbuf_free(&frame);
    json_decref(msg);
}

LINK_TEST(test_messages_of_remote_commands_go_both_ways)
{
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, on_remote, f};
    struct wire *w = open_wire(f, &callbacks);
    struct remote_msg m = {.kind = REMOTE_OPEN, .run = "g-1", .session = "a", .host = "h2"};
    agent_says(w, remote_pack(&m), "");
    assert_int_equal(heard.n, 1);
    assert_string_equal(heard.host, "h2");
    m = (struct remote_msg){.kind = REMOTE_DATA, .run = "g-1", .session = "a", .rank = 1, .n = 3};
    agent_says(w, remote_pack(&m), "text");
    assert_int_equal(heard.last.n, 3);
    assert_string_equal(heard.bytes, "text");
    /* What no agent says is dropped, and the link stays. */
    m.run = NULL;
    agent_says(w, remote_pack(&m), "text");
    agent_says(w, json_pack("{s:s, s:s}", "event", REMOTE_EVENT, "kind", "coffee"), "");
    assert_int_equal(heard.n, 2);
    assert_int_equal(w->link.why.code, ERR_NONE);
    close_wire(f, w);
}

/* ---- answers that no agent gives ---- */

static void on_bytes(void *ctx, const struct err *why, const struct node_bytes *got)
{
    (void)got;
    *(bool *)ctx = why != NULL;
}

static void on_listed(void *ctx, const struct err *why, const struct node_dir *dir)
{
    (void)dir;
    *(bool *)ctx = why != NULL;
}

static json_t *answer(int64_t id)
{
    return json_pack("{s:I, s:b}", "id", (json_int_t)id, "ok", 1);
}

LINK_TEST(test_more_bytes_of_a_file_than_were_asked_for)
{
    static const struct {
        int size;
        const char *bytes;
    } lies[] = {{4096, "x"}, {1, "x"}, {-1, ""}};
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, on_remote, f};
    const struct request_read_file r = {.base = "/b", .path = "file"};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct wire *w = open_wire(f, &callbacks);
        bool refused = false;
        node_read_file(&w->link, &r, on_bytes, &refused);
        json_t *msg = answer(w->link.last_id);
        json_object_set_new(msg, "size", json_integer(lies[i].size));
        json_object_set_new(msg, "mtime_us", json_integer(0));
        agent_says(w, msg, lies[i].bytes);
        assert_int_equal(w->link.why.code, ERR_PROTOCOL);
        close_wire(f, w);
        assert_true(refused);
    }
}

LINK_TEST(test_an_answer_in_parts_without_end)
{
    enum { PART = 1024 * 1024, MANY = 5000, TOO_MANY = 200 };
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, on_remote, f};
    char *name = memset(xcalloc(1, PART), 'x', PART);
    for (int many = 0; many < 2; many++) {
        struct wire *w = open_wire(f, &callbacks);
        bool refused = false;
        node_list_dir(&w->link, NULL, "/b", "", on_listed, &refused);
        json_t *msg = answer(w->link.last_id), *list = json_array();
        for (int i = 0; i < (many ? MANY : 1); i++)
            json_array_append_new(list, json_pack("{s:s#}", "name", name, many ? 0 : PART));
        json_object_set_new(msg, "entries", list);
        json_object_set_new(msg, "more", json_true());
        for (int i = 0; i < TOO_MANY && w->link.why.code == ERR_NONE; i++)
            agent_says(w, json_incref(msg), "");
        json_decref(msg);
        assert_int_equal(w->link.why.code, ERR_PROTOCOL);
        close_wire(f, w);
    }
    free(name);
}

/* It takes no longer for each than for the first. */
LINK_TEST(test_many_requests_wait_for_a_silent_agent)
{
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, on_remote, f};
    struct wire *w = open_wire(f, &callbacks);
    for (int i = 0; i < 200000; i++)
        node_ask(&w->link, REQUEST(forget, .task = "t"), NULL, NULL);
    close_wire(f, w);
}

LINK_TEST(test_messages_of_remote_commands_without_end)
{
    enum { TOO_MANY = 50000 };
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, on_remote, f};
    const struct remote_msg m = {.kind = REMOTE_ACK, .run = "g-1", .session = "a", .n = 3};
    struct wire *w = open_wire(f, &callbacks);
    struct strbuf flood = STRBUF_INIT;
    struct err e;
    json_t *msg = remote_pack(&m);
    assert_non_null(msg);
    for (int i = 0; i < TOO_MANY; i++)
        assert_int_equal(frame_encode(msg, &flood, &e), 0);
    json_decref(msg);
    link_received(&w->link, flood.s, flood.len);
    strbuf_free(&flood);
    assert_true(heard.n < TOO_MANY);
    assert_int_equal(w->link.why.code, ERR_PROTOCOL);
    assert_says(w->link.why.msg, "passed on messages more than");
    close_wire(f, w);
}

static size_t much_waits(const struct node_link *link)
{
    (void)link;
    return SIZE_MAX / 2;
}

/* A link to a node that does not read keeps no more messages. */
LINK_TEST(test_messages_for_a_slow_node_are_dropped)
{
    static const struct link_transport slow = {keep_bytes, let_go, nothing, much_waits};
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, on_remote, f};
    const struct remote_msg m = {.kind = REMOTE_ACK, .run = "g-1", .session = "a", .n = 3};
    struct wire *w = open_wire(f, &callbacks);
    json_t *none;
    struct err e;
    node_remote_send(&w->link, &m); /* hello was not answered */
    assert_int_equal(frame_decoder_next(&w->said, &none, &e), 0);
    link_go(&w->link, LINK_READY);
    node_remote_send(&w->link, &m);
    json_t *said = next_said(w);
    assert_string_equal(json_string_value(json_object_get(said, "event")), REMOTE_EVENT);
    json_decref(said);
    w->link.transport = &slow;
    node_remote_send(&w->link, &m);
    assert_int_equal(frame_decoder_next(&w->said, &none, &e), 0);
    close_wire(f, w);
}

LINK_TEST(test_an_agent_that_asks_without_end_loses_its_link)
{
    enum { TOO_MANY = 3000 };
    const struct node_callbacks callbacks = {on_ready, on_down, on_ended, NULL, f};
    struct wire *w = open_wire(f, &callbacks);
    struct strbuf flood = STRBUF_INIT;
    struct err e;
    json_t *msg;
    size_t answers = 0;
    json_t *ping = json_pack("{s:i, s:s}", "id", 1, "op", "ping");
    for (int i = 0; i < TOO_MANY; i++)
        assert_int_equal(frame_encode(ping, &flood, &e), 0);
    json_decref(ping);
    link_received(&w->link, flood.s, flood.len);
    while (frame_decoder_next(&w->said, &msg, &e) > 0) {
        answers++;
        json_decref(msg);
    }
    assert_true(answers < TOO_MANY / 2);
    assert_int_equal(w->link.why.code, ERR_PROTOCOL);
    assert_says(w->link.why.msg, "asked more than");
    strbuf_free(&flood);
    close_wire(f, w);
}

/* ---- the agent's end, without a link of ours ---- */

struct raw {
    pid_t pid;
    int fd, errors;
    struct frame_decoder in;
};

static void raw_open(struct fixture *f, struct raw *r, const char *owner)
{
    int fds[2], errors[2];
    assert_non_null(f->agent);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(pipe2(errors, O_CLOEXEC), 0);
    frame_decoder_init(&r->in);
    r->pid = fork();
    if (r->pid == 0) {
        if (owner)
            setenv(NODE_OWNER_VARIABLE, owner, 1);
        dup2(fds[1], STDIN_FILENO);
        dup2(fds[1], STDOUT_FILENO);
        dup2(errors[1], STDERR_FILENO);
        execl(f->agent, f->agent, "agent", "--root", f->root, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    close(errors[1]);
    r->fd = fds[0];
    r->errors = errors[0];
}

static void raw_close(struct raw *r)
{
    close(r->fd);
    close(r->errors);
    if (r->pid > 0)
        waitpid(r->pid, NULL, 0);
    frame_decoder_free(&r->in);
}

static void raw_send(struct raw *r, json_t *msg)
{
    struct strbuf frame = STRBUF_INIT;
    struct err e;
    assert_int_equal(frame_encode(msg, &frame, &e), 0);
    assert_int_equal(fs_write_all(r->fd, frame.s, frame.len), 0);
    strbuf_free(&frame);
    json_decref(msg);
}

/* The agent's next message; NULL: it ended. */
static json_t *raw_next(struct raw *r)
{
    json_t *msg;
    struct err e;
    int rc;
    char buf[4096];
    while ((rc = frame_decoder_next(&r->in, &msg, &e)) == 0) {
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
        ssize_t n = read(r->fd, buf, sizeof buf);
        if (n <= 0)
            return NULL;
        frame_decoder_feed(&r->in, buf, (size_t)n);
    }
    assert_int_equal(rc, 1);
    return msg;
}

static void raw_hello(struct raw *r, int ping_s)
{
    raw_send(r, json_pack("{s:i, s:s, s:i, s:i}", "id", 1, "op", "hello", "version",
                          PROTOCOL_VERSION, "ping_s", ping_s));
    json_t *reply = raw_next(r);
    assert_non_null(reply);
    assert_true(json_is_true(json_object_get(reply, "ok")));
    json_decref(reply);
}

static json_int_t expect_ping(struct raw *r)
{
    json_t *ping = raw_next(r);
    assert_non_null(ping);
    assert_string_equal(json_string_value(json_object_get(ping, "op")), "ping");
    json_int_t id = json_integer_value(json_object_get(ping, "id"));
    assert_true(id > 0);
    json_decref(ping);
    return id;
}

LINK_TEST(test_the_agent_asks_a_silent_daemon)
{
    struct raw r;
    raw_open(f, &r, NULL);
    raw_hello(&r, 1);
    json_int_t first = expect_ping(&r);
    raw_send(&r, json_pack("{s:I, s:b}", "id", first, "ok", 1));
    json_int_t second = expect_ping(&r);
    assert_int_equal(second, first + 1);
    /* A daemon that knows no such request is there as well. */
    raw_send(&r, json_pack("{s:I, s:b, s:{s:s, s:s}}", "id", second, "ok", 0, "error", "code",
                           "FeatureNotSupported", "message", "what?"));
    expect_ping(&r);
    assert_null(raw_next(&r)); /* nothing is said any more: the agent ends */
    char line[512] = "";
    assert_true(read(r.errors, line, sizeof line - 1) > 0);
    assert_says(line, "the daemon has not answered");
    raw_close(&r);
}

LINK_TEST(test_an_answer_to_nothing_ends_the_link)
{
    struct raw r;
    raw_open(f, &r, NULL);
    raw_hello(&r, 60);
    raw_send(&r, json_pack("{s:i, s:s}", "id", 2, "op", "make_coffee"));
    json_t *reply = raw_next(&r);
    assert_string_equal(text_in(reply, "error", "code"), "FeatureNotSupported");
    json_decref(reply);
    raw_send(&r, json_pack("{s:i, s:b}", "id", 99, "ok", 1));
    assert_null(raw_next(&r));
    raw_close(&r);
}

/* ---- epochs ---- */

static void open_as(struct fixture *f, int64_t term, const char *id, int dead_ms)
{
    struct node_local_config c = {.loop = f->tools,
                                  .log = &f->log,
                                  .files = f->files,
                                  .agent_path = f->agent,
                                  .root = f->root,
                                  .epoch = {term, id},
                                  .dead_ms = dead_ms,
                                  .callbacks = {on_ready, on_down, on_ended, NULL, f}};
    struct err e;
    f->ready = f->down = f->closed = f->n_ended = 0;
    assert_int_equal(node_open_local(&c, &f->link, &e), 0);
    WAIT(f, f->ready || f->down);
    assert_int_equal(f->ready, 1);
}

LINK_TEST(test_an_older_daemon_changes_nothing)
{
    char *file = in_root(f, "note");
    open_as(f, 5, "five", 0);
    ASKED(f, append, .path = file, .text = "a");
    assert_int_equal(f->why.code, ERR_NONE);
    close_link(f);
    f->log.level = LOG_LVL_ERROR + 1;
    open_as(f, 4, "four", 0);
    ASKED(f, append, .path = file, .text = "b");
    assert_why(f, ERR_CONFLICT, "term 5");
    ASK(f, node_tasks(f->link, on_tasks, f)); /* it may look */
    assert_int_equal(f->why.code, ERR_NONE);
    close_link(f);
    open_as(f, 0, NULL, 0); /* one that knows no epochs is older still */
    ASKED(f, append, .path = file, .text = "c");
    assert_int_equal(f->why.code, ERR_CONFLICT);
    close_link(f);
    open_as(f, 5, "other", 0); /* a backup put back has the same term */
    ASKED(f, append, .path = file, .text = "d");
    assert_int_equal(f->why.code, ERR_NONE);
    close_link(f);
    assert_true(file_has(f, "epoch", "5 other"));
    assert_true(file_has(f, "note", "ad"));
}

LINK_TEST(test_an_epoch_that_cannot_be_understood_is_said)
{
    static const char *const kept[] = {
        "99999999999999999999 a\n", "0 a\n", "-3 a\n", "5\n", "5 \n", "5 A b\n", "five a\n", ""};
    f->log.level = LOG_LVL_ERROR + 1;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        struct err e;
        assert_int_equal(fs_write_atomic(in_root(f, "epoch"), kept[i], strlen(kept[i]), 0600, &e),
                         0);
        f->ready = f->down = f->closed = 0;
        assert_int_equal(
            node_open_local(
                &(struct node_local_config){.loop = f->tools,
                                            .log = &f->log,
                                            .files = f->files,
                                            .agent_path = f->agent,
                                            .root = f->root,
                                            .callbacks = {on_ready, on_down, on_ended, NULL, f}},
                &f->link, &e),
            0);
        WAIT(f, f->ready || f->down);
        assert_int_equal(f->ready, 0);
        assert_says(f->why.msg, "epoch is malformed");
        close_link(f);
    }
}

/* ---- an agent that hangs ---- */

LINK_TEST(test_an_agent_that_is_stopped_is_replaced)
{
    open_as(f, 1, "one", 900);
    start(f, "stays", "sleep 1000");
    pid_t agent = agent_pid(f);
    assert_true(agent > 0);
    assert_int_equal(kill(agent, SIGSTOP), 0);
    WAIT(f, f->down == 1);
    assert_says(f->why.msg, "has not answered");
    close_link(f);
    assert_true(gone(agent));
    open_as(f, 1, "one", 900);
    ASK(f, node_tasks(f->link, on_tasks, f));
    assert_int_equal(f->n_tasks, 1);
    ASKED(f, signal, .task = "stays", .signal = SIGKILL);
    WAIT(f, f->n_ended == 1);
}

LINK_TEST(test_a_quiet_agent_that_answers_is_left_alone)
{
    open_as(f, 1, "one", 150);
    uint64_t until = uv_now(&f->loop) + 1000;
    WAIT(f, f->down || uv_now(&f->loop) >= until);
    assert_int_equal(f->down, 0);
}

LINK_TEST(test_an_agent_that_an_earlier_daemon_left_is_ended)
{
    struct raw r;
    raw_open(f, &r, f->root);
    raw_hello(&r, 60);
    kill(r.pid, SIGSTOP);
    open_as(f, 1, "one", 0);
    int status;
    assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
    r.pid = 0;
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    raw_close(&r);
}

/* Puts an overlay at the root, for this process and its children alone: the device of its files by
 * stat(2) is another than the kernel's list of locks has. */
static void mount_overlay(struct fixture *f)
{
    char *lower = in_root(f, "lower"), *upper = in_root(f, "upper"), *work = in_root(f, "work");
    struct strbuf how = STRBUF_INIT;
    strbuf_printf(&how, "xino=off,lowerdir=%s,upperdir=%s,workdir=%s", lower, upper, work);
    bool done = unshare(CLONE_NEWNS) == 0 &&
                mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
                mount("none", f->root, "tmpfs", 0, "mode=0700") == 0 && mkdir(lower, 0700) == 0 &&
                mkdir(upper, 0700) == 0 && mkdir(work, 0700) == 0 &&
                mount("none", lower, "tmpfs", 0, NULL) == 0 &&
                mount("none", f->root, "overlay", 0, how.s) == 0;
    strbuf_free(&how);
    if (!done)
        skip_because("an overlay cannot be mounted: %s", strerror(errno));
}

LINK_TEST(test_it_is_ended_wherever_the_root_is)
{
    mount_overlay(f);
    test_an_agent_that_an_earlier_daemon_left_is_ended(f);
    close_link(f);
    assert_int_equal(umount2(f->root, MNT_DETACH), 0);
    assert_int_equal(umount2(f->root, MNT_DETACH), 0);
}
