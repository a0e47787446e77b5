/* SPDX-License-Identifier: MIT
 *
 * For tests of the SSH link: a real sshd of the test's own on a loopback port, with its own host
 * key, configuration and authorized_keys, all in the test's folder. Tests are skipped where there
 * is no sshd.
 */
#ifndef TEST_SSHD_H
#define TEST_SSHD_H

#include "test/unit/nodeagent-proto/link/fixture.h"

#include <pwd.h>

#include "test/unit/support/sshd.h"

struct ssh_fixture {
    struct fixture f;      /* first: what the other fixture's functions take */
    pid_t sshd, ssh_agent; /* ended with the test, however it ends */
    int port;
    char user[64];
    char *dir, *identity, *known_hosts, *agent_dir, *sshd_log;
    struct node_agents *agents;
    struct node_ssh_config config;
};

static inline char *ssh_file(struct ssh_fixture *s, const char *name)
{
    return joined(&s->f, s->dir, name);
}

/* `more` comes first in the configuration, where it wins. */
static inline void start_sshd(struct ssh_fixture *s, const char *more)
{
    char *conf = ssh_file(s, "sshd_config");
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b,
                  "%s\nListenAddress 127.0.0.1:%d\nHostKey %s/host_key\nPidFile none\n"
                  "AuthorizedKeysFile %s/authorized_keys\nStrictModes no\nUsePAM no\n"
                  "PermitRootLogin yes\nPasswordAuthentication yes\n"
                  "KbdInteractiveAuthentication no\nLogLevel DEBUG1\n",
                  more, s->port, s->dir, s->dir);
    put_file(conf, b.s);
    strbuf_free(&b);
    s->sshd = spawn((char *[]){SSHD, "-D", "-e", "-f", conf, NULL}, s->sshd_log);
    WAIT(&s->f, answers(s->port));
}

static inline void stop_sshd(struct ssh_fixture *s)
{
    reap(s->sshd, SIGTERM);
    s->sshd = 0;
}

static inline void load_programs(struct ssh_fixture *s, const char *arch, const char *path,
                                 const char *cmd_path)
{
    struct node_agent_file file = {arch, path, cmd_path};
    struct err e;
    node_agents_free(s->agents);
    assert_int_equal(node_agents_load(&file, 1, &s->agents, &e), 0);
    s->config.agents = s->agents;
}

static inline void load_agent(struct ssh_fixture *s, const char *arch, const char *path)
{
    load_programs(s, arch, path, NULL);
}

static inline void ssh_open(struct ssh_fixture *s)
{
    struct fixture *f = &s->f;
    struct err e;
    f->ready = f->down = f->closed = f->n_ended = 0;
    s->config.port = s->port;
    if (node_open_ssh(&s->config, &f->link, &e) < 0)
        fail_msg("%s", e.msg);
}

static inline void ssh_ready(struct ssh_fixture *s)
{
    ssh_open(s);
    WAIT(&s->f, s->f.ready || s->f.down);
    if (s->f.down)
        fail_msg("%s", s->f.why.msg);
}

/* `words` are separated by |. */
static inline void ssh_says(const struct ssh_fixture *s, const char *words)
{
    char *all = xstrdup(words), *rest = all, *word;
    while ((word = strsep(&rest, "|")))
        if (!strstr(s->f.why.msg, word))
            fail_msg("'%s' lacks '%s'", s->f.why.msg, word);
    free(all);
}

/* Opens a link that must fail, and say all of `words`. */
static inline void ssh_must_fail(struct ssh_fixture *s, const char *words)
{
    ssh_open(s);
    WAIT(&s->f, s->f.ready || s->f.down);
    assert_int_equal(s->f.ready, 0);
    ssh_says(s, words);
    close_link(&s->f);
}

static inline void fill_config(struct ssh_fixture *s)
{
    s->config = (struct node_ssh_config){
        .loop = s->f.tools,
        .log = &s->f.log,
        .files = s->f.files,
        .host = "127.0.0.1",
        .user = s->user,
        .identity = s->identity,
        .known_hosts = s->known_hosts,
        .agent_dir = s->agent_dir,
        .root = s->f.root,
        .callbacks = {on_ready, on_down, on_ended, NULL, &s->f},
    };
}

static inline int ssh_setup(void **state)
{
    struct ssh_fixture *s = xcalloc(1, sizeof *s);
    char *line, *authorized, *host_key;
    struct err e;
    *state = s;
    fixture_begin(&s->f);
    if (!have_sshd())
        return 0;
    s->dir = in_root(&s->f, "ssh");
    assert_int_equal(fs_mkdirs(s->dir, 0755, &e), 0);
    s->identity = ssh_file(s, "id_ed25519");
    s->known_hosts = ssh_file(s, "known_hosts");
    s->agent_dir = ssh_file(s, "agents/here");
    s->sshd_log = ssh_file(s, "sshd.log");
    authorized = ssh_file(s, "authorized_keys");
    host_key = ssh_file(s, "host_key");
    snprintf(s->user, sizeof s->user, "%s", getpwuid(geteuid())->pw_name);
    make_key(host_key, NULL);
    make_key(s->identity, &line);
    put_file(authorized, line);
    fill_config(s);
    load_agent(s, machine(), s->f.agent);
    s->port = free_port(NULL);
    start_sshd(s, "");
    free(line);
    return 0;
}

static inline int ssh_teardown(void **state)
{
    struct ssh_fixture *s = *state;
    close_link(&s->f);
    stop_sshd(s);
    reap(s->ssh_agent, SIGTERM);
    fixture_end(&s->f);
    node_agents_free(s->agents);
    free(s);
    return 0;
}

/* Ends the test where there is no sshd. */
static inline struct ssh_fixture *with_sshd(struct ssh_fixture *s)
{
    if (!s->sshd)
        skip_because("no sshd");
    return s;
}

#define SSH_TEST(name)                                                                             \
    TEST_IN(name, struct ssh_fixture *s, with_sshd(*state), ssh_setup, ssh_teardown)

static inline struct ssh_fixture *made_ssh_ready(struct ssh_fixture *s)
{
    ssh_ready(with_sshd(s));
    return s;
}

/* Begins with a link whose agent has said hello. */
#define READY_SSH_TEST(name)                                                                       \
    TEST_IN(name, struct ssh_fixture *s, made_ssh_ready(*state), ssh_setup, ssh_teardown)

/* Whoever opens a pipe to read it waits until somebody opens it to write. */
static inline char *hanging_file(struct ssh_fixture *s, const char *folder, const char *name)
{
    struct err e;
    char *dir = ssh_file(s, folder), *path = joined(&s->f, dir, name);
    assert_int_equal(fs_mkdirs(dir, 0755, &e), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    return path;
}

/* Ends the wait of all who are in it by now. */
static inline void let_go_of(const char *path)
{
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    close(fd);
}

#endif
