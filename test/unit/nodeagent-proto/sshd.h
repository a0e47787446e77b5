/* SPDX-License-Identifier: MIT
 *
 * For tests of the SSH link: a real sshd of the test's own on a loopback port, with its own host
 * key, configuration and authorized_keys, all in the test's folder. Tests are skipped where there
 * is no sshd.
 */
#ifndef TEST_SSHD_H
#define TEST_SSHD_H

#include "test/unit/nodeagent-proto/fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/strbuf.h"
#include "nodeagent-proto/identity.h"

#define SSHD "/usr/sbin/sshd"

struct ssh_fixture {
    struct fixture f;      /* first: what the other fixture's functions take */
    pid_t sshd, ssh_agent; /* ended with the test, however it ends */
    int port;
    char user[64];
    char *dir, *identity, *known_hosts, *agent_dir, *sshd_log;
    struct node_agents *agents;
    struct node_ssh_config config;
};

static inline pid_t spawn(char *const *argv, const char *log)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600), in = open("/dev/null", O_RDONLY);
    dup2(in, 0);
    dup2(fd, 1);
    dup2(fd, 2);
    (void)signal(SIGPIPE, SIG_DFL);
    execv(argv[0], argv);
    _exit(127);
}

static inline void reap(pid_t pid, int signo)
{
    if (pid <= 1)
        return;
    kill(pid, signo);
    waitpid(pid, NULL, 0);
}

/* Below the range that the kernel takes for outgoing connections: one of those, be it our own
 * asking whether sshd answers yet, could take the port before sshd has it. */
#define PORT_FIRST 10000
#define PORT_COUNT 22000

/* A free port. With `fd`, one that listens and never answers; the caller closes it. */
static inline int free_port(int *fd)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int port;
    do {
        port = PORT_FIRST + (int)(uv_hrtime() / 1000 % PORT_COUNT);
        a.sin_port = htons((uint16_t)port);
    } while (bind(s, (struct sockaddr *)&a, sizeof a) < 0);
    if (fd) {
        assert_int_equal(listen(s, 8), 0);
        *fd = s;
    } else {
        close(s);
    }
    return port;
}

static inline void put_file(const char *path, const char *text)
{
    struct err e;
    assert_int_equal(fs_write_atomic(path, text, strlen(text), 0600, &e), 0);
}

static inline bool answers(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)port)};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool yes = connect(s, (struct sockaddr *)&a, sizeof a) == 0;
    close(s);
    return yes;
}

static inline void make_key(const char *path, char **public_line)
{
    struct err e;
    unlink(path);
    struct strbuf pub = STRBUF_INIT;
    strbuf_printf(&pub, "%s.pub", path);
    unlink(pub.s);
    strbuf_free(&pub);
    assert_int_equal(node_identity_create(path, "test", public_line, &e), 0);
}

/* `more` comes first in the configuration, where it wins. */
static inline void start_sshd(struct ssh_fixture *s, const char *more)
{
    char *conf = fs_join(s->dir, "sshd_config");
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
    free(conf);
    WAIT(&s->f, answers(s->port));
}

static inline void stop_sshd(struct ssh_fixture *s)
{
    reap(s->sshd, SIGTERM);
    s->sshd = 0;
}

/* The process that serves the newest connection: a child of the listening sshd. */
static inline pid_t serving(const struct ssh_fixture *s)
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    pid_t found = 0;
    while ((de = readdir(d))) {
        char path[64], *text, *at;
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%.20s/stat", de->d_name);
        if (de->d_name[0] < '1' || de->d_name[0] > '9' ||
            fs_read(path, 4096, &text, NULL, NULL) < 0)
            continue;
        at = strrchr(text, ')');
        if (at && sscanf(at, ") %*c %d", &parent) == 1 && parent == s->sshd && at[2] != 'Z' &&
            atoi(de->d_name) > found)
            found = atoi(de->d_name);
        free(text);
    }
    closedir(d);
    return found;
}

static inline void load_agent(struct ssh_fixture *s, const char *arch, const char *path)
{
    struct node_agent_file file = {arch, path};
    struct err e;
    node_agents_free(s->agents);
    assert_int_equal(node_agents_load(&file, 1, &s->agents, &e), 0);
    s->config.agents = s->agents;
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

/* Opens a link that must fail, and say all of `words` (separated by |). */
static inline void ssh_must_fail(struct ssh_fixture *s, const char *words)
{
    ssh_open(s);
    WAIT(&s->f, s->f.ready || s->f.down);
    assert_int_equal(s->f.ready, 0);
    char *all = xstrdup(words), *rest = all, *word;
    while ((word = strsep(&rest, "|")))
        if (!strstr(s->f.why.msg, word))
            fail_msg("'%s' lacks '%s'", s->f.why.msg, word);
    free(all);
    close_link(&s->f);
}

static inline bool have_sshd(void)
{
    if (access(SSHD, X_OK) < 0)
        return false;
    /* A root's sshd wants this folder, which the package's service makes. */
    return geteuid() != 0 || access("/run/sshd", F_OK) == 0 || mkdir("/run/sshd", 0755) == 0;
}

static inline const char *machine(void)
{
#if defined(__aarch64__)
    return "aarch64";
#else
    return "x86_64";
#endif
}

static inline void fill_config(struct ssh_fixture *s)
{
    s->config = (struct node_ssh_config){
        .loop = &s->f.loop,
        .log = &s->f.log,
        .host = "127.0.0.1",
        .user = s->user,
        .identity = s->identity,
        .known_hosts = s->known_hosts,
        .agent_dir = s->agent_dir,
        .root = s->f.root,
        .callbacks = {on_ready, on_down, on_ended, &s->f},
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
    s->identity = fs_join(s->dir, "id_ed25519");
    s->known_hosts = fs_join(s->dir, "known_hosts");
    s->agent_dir = fs_join(s->dir, "agents/here");
    s->sshd_log = fs_join(s->dir, "sshd.log");
    authorized = fs_join(s->dir, "authorized_keys");
    host_key = fs_join(s->dir, "host_key");
    snprintf(s->user, sizeof s->user, "%s", getpwuid(geteuid())->pw_name);
    make_key(host_key, NULL);
    make_key(s->identity, &line);
    put_file(authorized, line);
    fill_config(s);
    load_agent(s, machine(), s->f.agent);
    s->port = free_port(NULL);
    start_sshd(s, "");
    free(line);
    free(authorized);
    free(host_key);
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
    char *texts[] = {s->dir, s->identity, s->known_hosts, s->agent_dir, s->sshd_log};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    free(s);
    return 0;
}

/* The test's fixture, or the end of the test where there is no sshd. */
static inline struct ssh_fixture *begin(void **state)
{
    struct ssh_fixture *s = *state;
    if (!s->sshd)
        skip();
    return s;
}

#define SSH_TEST(t) cmocka_unit_test_setup_teardown(t, ssh_setup, ssh_teardown)

#endif
