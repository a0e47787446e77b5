/* SPDX-License-Identifier: MIT
 *
 * Ends of remote commands at a real agent: how they share the messages that it passes on.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "nodeagent-proto/wire/codec.h"
#include "nodeagent-proto/wire/remote.h"
#include "test/unit/nodeagent-proto/link/fixture.h"

/* Messages that came of the calm job, and of the other. */
static struct {
    int calm, wild;
} heard;

static void on_remote(void *ctx, const struct remote_msg *m)
{
    (void)ctx;
    *(strcmp(m->run, "calm") == 0 ? &heard.calm : &heard.wild) += 1;
}

static void open_hearing(struct fixture *f)
{
    const struct node_local_config c = {.loop = f->tools,
                                        .log = &f->log,
                                        .files = f->files,
                                        .agent_path = f->agent,
                                        .root = f->root,
                                        .callbacks = {on_ready, on_down, on_ended, on_remote, f}};
    struct err e;
    heard.calm = heard.wild = 0;
    assert_int_equal(node_open_local(&c, &f->link, &e), 0);
    WAIT(f, f->ready);
}

static int connect_to(struct fixture *f, const char *job)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(to.sun_path, sizeof to.sun_path, "%s/" REMOTE_DIR "/%s", f->root, job);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* `n` times the same message of a session; `size` bytes of data are in each. */
static void add_messages(struct strbuf *out, const char *session, int n, size_t size)
{
    static const char bytes[REMOTE_BYTES_MAX];
    const struct remote_msg m = {.kind = REMOTE_DATA, .session = session, .rank = 1};
    struct err e;
    json_t *msg = remote_pack(&m);
    for (int i = 0; i < n; i++)
        assert_int_equal(frame_encode_with(msg, size ? bytes : NULL, size, out, &e), 0);
    json_decref(msg);
}

struct flood {
    int fd;
    struct strbuf messages;
    pthread_t thread;
};

/* Sends without a pause until the agent or the test closes the connection. */
static void *pour(void *ctx)
{
    const struct flood *f = ctx;
    while (send(f->fd, f->messages.s, f->messages.len, MSG_NOSIGNAL) > 0)
        ;
    return NULL;
}

static void begin_flood(struct fixture *f, struct flood *w, const char *session, size_t size)
{
    *w = (struct flood){.fd = connect_to(f, "wild"), .messages = STRBUF_INIT};
    add_messages(&w->messages, session, size ? 8 : 400, size);
    assert_int_equal(pthread_create(&w->thread, NULL, pour, w), 0);
}

static void end_flood(struct flood *w)
{
    shutdown(w->fd, SHUT_RDWR);
    pthread_join(w->thread, NULL);
    close(w->fd);
    strbuf_free(&w->messages);
}

/* Many ends of one job send without a pause, and connected last. */
static void hear_a_calm_end_beside(struct fixture *f, size_t size)
{
    struct flood floods[20];
    struct strbuf few = STRBUF_INIT;
    open_hearing(f);
    DONE(f, remote_open, .run = "calm");
    DONE(f, remote_open, .run = "wild");
    int calm = connect_to(f, "calm");
    for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++)
        begin_flood(f, &floods[i], arena_printf(&f->texts, "s%zu", i), size);
    WAIT(f, heard.wild > 400);
    add_messages(&few, "s", 20, 100);
    assert_int_equal(send(calm, few.s, few.len, MSG_NOSIGNAL), (ssize_t)few.len);
    WAIT(f, heard.calm == 20);
    for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++)
        end_flood(&floods[i]);
    strbuf_free(&few);
    close(calm);
}

TEST_SETUP(test_an_end_that_sends_without_a_pause_does_not_silence_others, setup, teardown)
{
    hear_a_calm_end_beside(*state, 0);
}

TEST_SETUP(test_an_end_that_fills_the_link_does_not_silence_others, setup, teardown)
{
    hear_a_calm_end_beside(*state, REMOTE_BYTES_MAX);
}

/* A message that is too long is seen also behind another one. */
TEST_SETUP(test_an_end_that_sends_too_long_a_message_is_disconnected, setup, teardown)
{
    struct fixture *f = *state;
    struct strbuf messages = STRBUF_INIT;
    char byte;
    open_hearing(f);
    DONE(f, remote_open, .run = "wild");
    int fd = connect_to(f, "wild");
    add_messages(&messages, "s", 1, 0);
    strbuf_add(&messages, "\0\1\0\0", FRAME_HEADER);
    assert_int_equal(send(fd, messages.s, messages.len, MSG_NOSIGNAL), (ssize_t)messages.len);
    WAIT(f, recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EINTR));
    WAIT(f, heard.wild > 0);
    strbuf_free(&messages);
    close(fd);
}
