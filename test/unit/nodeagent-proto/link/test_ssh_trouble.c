/* SPDX-License-Identifier: MIT
 *
 * Machines that cannot be reached, trusted, logged in to or prepared: each failure says where,
 * what and what to do. And the ways to log in that work.
 */
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "test/unit/nodeagent-proto/link/sshd.h"

/* ---- reaching ---- */

SSH_TEST(test_settings_are_checked)
{
    struct node_link *link;
    struct node_ssh_config c = s->config;
    struct err e;
    c.root = "relative";
    assert_int_equal(node_open_ssh(&c, &link, &e), -1);
    assert_says(e.msg, "absolute");
    c = s->config;
    c.identity = NULL;
    assert_int_equal(node_open_ssh(&c, &link, &e), -1);
    assert_says(e.msg, "no way to log in");
    c = s->config;
    c.agent_dir = "somewhere";
    assert_int_equal(node_open_ssh(&c, &link, &e), -1);
    assert_says(e.msg, "somewhere");
}

SSH_TEST(test_unknown_host)
{
    s->config.host = "no-such-machine.invalid";
    ssh_must_fail(s, "no-such-machine.invalid|looking up the name|check the name");
}

SSH_TEST(test_connection_refused)
{
    stop_sshd(s);
    WAIT(&s->f, !answers(s->port)); /* a child of it may hold the port for a moment */
    ssh_must_fail(s, "connecting: connection refused; check that sshd runs");
}

SSH_TEST(test_port_that_never_answers)
{
    int fd;
    s->port = free_port(&fd); /* the kernel accepts; nobody reads */
    s->config.login_ms = 150;
    ssh_must_fail(s, "SSH handshake: no answer in 0.15 s|SSH server listens");
    close(fd);
}

SSH_TEST(test_port_that_closes)
{
    int fd;
    s->port = free_port(&fd);
    ssh_open(s);
    start_waiting(&s->f);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, 0) == 0 && !s->f.timed_out)
        uv_run(&s->f.loop, UV_RUN_NOWAIT);
    stop_waiting(&s->f);
    close(accept(fd, NULL, NULL));
    WAIT(&s->f, s->f.down == 1);
    assert_says(s->f.why.msg, "SSH handshake: ");
    close(fd);
}

/* An HTTP server, say. */
SSH_TEST(test_port_that_speaks_something_else)
{
    int fd, conn = -1;
    s->port = free_port(&fd);
    s->config.login_ms = 500;
    ssh_open(s);
    start_waiting(&s->f);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, 0) == 0 && !s->f.timed_out)
        uv_run(&s->f.loop, UV_RUN_NOWAIT);
    stop_waiting(&s->f);
    conn = accept(fd, NULL, NULL);
    static const char page[] = "HTTP/1.1 400 Bad Request\r\n\r\n<html>";
    assert_int_equal(write(conn, page, sizeof page - 1), sizeof page - 1);
    WAIT(&s->f, s->f.down == 1);
    assert_says(s->f.why.msg, "SSH handshake: ");
    close(conn);
    close(fd);
}

/* ---- trusting ---- */

static void new_host_key(struct ssh_fixture *s)
{
    stop_sshd(s);
    make_key(ssh_file(s, "host_key"), NULL);
    start_sshd(s, "");
}

READY_SSH_TEST(test_host_key_changed)
{
    struct stat before, after;
    close_link(&s->f);
    assert_int_equal(stat(s->known_hosts, &before), 0);
    assert_int_equal(before.st_mode & 0777, 0600);
    new_host_key(s);
    ssh_must_fail(s,
                  "checking the host key: the key has changed: SHA256:|was recorded|shows SHA256:|"
                  "the connection may be intercepted|known_hosts: ssh-keygen -R '[127.0.0.1]:");
    const char *first = strstr(s->f.why.msg, "SHA256:"), *second = strstr(first + 1, "SHA256:");
    assert_non_null(second);
    assert_int_not_equal(strncmp(first, second, 50), 0);
    assert_int_equal(stat(s->known_hosts, &after), 0);
    assert_int_equal(after.st_size, before.st_size); /* a changed key is never recorded */
    unlink(s->known_hosts);
    ssh_ready(s); /* the remedy helps */
}

SSH_TEST(test_strict)
{
    s->config.strict = true;
    ssh_must_fail(s, "checking the host key: its key SHA256:|is not in|known_hosts|"
                     "ssh-keyscan -p ");
    assert_int_equal(access(s->known_hosts, F_OK), -1);
    s->config.strict = false;
    ssh_ready(s);
    close_link(&s->f);
    s->config.strict = true;
    ssh_ready(s);
}

/* One that pretends to have another type of key is refused as well. */
SSH_TEST(test_host_key_of_another_type)
{
    char *path = ssh_file(s, "host_key"), *log = ssh_file(s, "keygen.log");
    ssh_ready(s);
    close_link(&s->f);
    stop_sshd(s);
    unlink(path);
    pid_t pid = spawn(
        (char *[]){"/usr/bin/ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", path, NULL}, log);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    start_sshd(s, "");
    ssh_must_fail(s, "the key has changed: SHA256:");
    unlink(s->known_hosts);
    ssh_ready(s);
    close_link(&s->f);
    ssh_ready(s); /* the recorded type is asked for */
}

/* Another server of the same machine, on port 22, has another key. */
SSH_TEST(test_known_on_another_port)
{
    struct strbuf line = STRBUF_INIT;
    struct err e;
    char *pub = ssh_file(s, "id_ed25519.pub"), *key;
    assert_int_equal(fs_read(pub, 4096, &key, NULL, &e), 0);
    strbuf_printf(&line, "127.0.0.1 %s", key);
    put_file(s->known_hosts, line.s);
    s->config.strict = true;
    ssh_must_fail(s, "is not in");
    s->config.strict = false;
    ssh_ready(s);
    close_link(&s->f);
    s->config.strict = true;
    ssh_ready(s);
    strbuf_free(&line);
    free(key);
}

SSH_TEST(test_known_hosts_broken)
{
    unlink(s->known_hosts);
    s->config.known_hosts = s->dir; /* a folder */
    ssh_must_fail(s, "checking the host key: cannot write|Is a directory|able to write it");
}

/* ---- logging in ---- */

SSH_TEST(test_known_hosts_that_hangs)
{
    char *good = s->known_hosts, *path = hanging_file(s, "hangs", "known_hosts");
    s->config.known_hosts = path;
    s->config.login_ms = 300;
    for (int i = 0; i < 4; i++) /* more than there are workers; each close is waited for */
        ssh_must_fail(s,
                      "hangs/known_hosts has not answered in 0.3 s; find out why its file system");
    s->config.known_hosts = good;
    s->config.login_ms = 0;
    ssh_ready(s);
    close_link(&s->f);
    let_go_of(path);
}

/* The time limit holds for the handshake and the host key, too: it grows until these are over
 * before. */
static void ssh_must_fail_at_login(struct ssh_fixture *s, const char *words)
{
    bool early = true;
    for (s->config.login_ms = 1000; early; s->config.login_ms *= 2) {
        assert_true(s->config.login_ms <= 60000);
        ssh_open(s);
        WAIT(&s->f, s->f.ready || s->f.down);
        assert_int_equal(s->f.ready, 0);
        early = !strstr(s->f.why.msg, "logging in: ") && strstr(s->f.why.msg, "no answer in");
        if (!early)
            ssh_says(s, words);
        close_link(&s->f);
    }
}

SSH_TEST(test_key_file_that_hangs)
{
    char *path = hanging_file(s, "hangs", "id_ed25519");
    s->config.identity = path;
    ssh_must_fail_at_login(s, "logging in: |hangs/id_ed25519 has not answered in");
    s->config.identity = s->identity;
    s->config.login_ms = 0;
    ssh_ready(s);
    close_link(&s->f);
    let_go_of(path);
}

/* The socket has its name before somebody listens. */
static bool takes_connections(const char *socket_path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool takes = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return takes;
}

/* It was stopped: it accepts, and never answers. */
SSH_TEST(test_ssh_agent_that_hangs)
{
    char *socket = ssh_file(s, "agent.sock"), *log = ssh_file(s, "agent.log");
    s->ssh_agent = spawn((char *[]){"/usr/bin/ssh-agent", "-D", "-a", socket, NULL}, log);
    WAIT(&s->f, takes_connections(socket));
    kill(s->ssh_agent, SIGSTOP);
    s->config.identity = NULL;
    s->config.agent_socket = socket;
    ssh_must_fail_at_login(s, "logging in: no answer in");
    kill(s->ssh_agent, SIGCONT);
}

/* Two links to a machine that is new: its key is recorded once. */
SSH_TEST(test_known_hosts_says_it_once)
{
    struct node_link *other;
    struct fixture second = {.loop = s->f.loop};
    struct err e;
    struct node_ssh_config c = s->config;
    c.callbacks = (struct node_callbacks){on_ready, on_down, NULL, NULL, &second};
    c.port = s->port;
    c.root = s->dir;
    assert_int_equal(node_open_ssh(&c, &other, &e), 0);
    ssh_ready(s);
    WAIT(&s->f, second.ready || second.down);
    assert_int_equal(second.ready, 1);
    char *text;
    assert_int_equal(fs_read(s->known_hosts, 65536, &text, NULL, &e), 0);
    const char *line = strchr(text, '\n');
    assert_true(line && line[1] == '\0');
    free(text);
    free(second.facts);
    node_close(other, on_closed, &second);
    WAIT(&s->f, second.closed == 1);
}

SSH_TEST(test_wrong_key)
{
    make_key(s->identity, NULL);
    ssh_must_fail(s, "logging in: refused for user|key /|: the host does not accept it; the host "
                     "accepts publickey,password|authorized_keys");
}

SSH_TEST(test_no_key_file)
{
    s->config.identity = "/nowhere/id_ed25519";
    ssh_must_fail(s, "logging in: refused|key /nowhere/id_ed25519: ");
}

SSH_TEST(test_wrong_user)
{
    s->config.user = "nobody-of-that-name";
    ssh_must_fail(s, "nobody-of-that-name@127.0.0.1|refused for user 'nobody-of-that-name'");
}

SSH_TEST(test_wrong_password)
{
    s->config.identity = NULL;
    s->config.password = "not-the-secret";
    ssh_must_fail(s, "logging in: refused for user|password: ");
    assert_says_not(s->f.why.msg, "not-the-secret");
}

SSH_TEST(test_password_not_accepted)
{
    stop_sshd(s);
    start_sshd(s, "PasswordAuthentication no\n");
    s->config.identity = NULL;
    s->config.password = "secret";
    ssh_must_fail(s, "no method is configured; the host accepts publickey");
}

/* The next way is tried where one is refused. */
SSH_TEST(test_fallback)
{
    s->config.agent_socket = "/nowhere/agent.sock";
    s->config.identity = "/nowhere/id_ed25519";
    s->config.password = "wrong";
    ssh_must_fail(s, "key /nowhere/id_ed25519: |ssh-agent /nowhere/agent.sock: |password: ");
}

static void encrypt_identity(struct ssh_fixture *s, char *passphrase)
{
    int status;
    pid_t pid = spawn((char *[]){"/usr/bin/ssh-keygen", "-q", "-p", "-P", "", "-N", passphrase,
                                 "-f", s->identity, NULL},
                      ssh_file(s, "keygen.log"));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0); /* so ssh-keygen can read what we wrote */
}

SSH_TEST(test_passphrase)
{
    encrypt_identity(s, "open sesame");
    ssh_must_fail(s, "logging in: refused|key /");
    s->config.passphrase = "wrong one";
    ssh_must_fail(s, "logging in: refused|key /");
    s->config.passphrase = "open sesame";
    ssh_ready(s);
}

SSH_TEST(test_ssh_agent)
{
    char *socket = ssh_file(s, "agent.sock"), *log = ssh_file(s, "agent.log");
    char *other = ssh_file(s, "id_other");
    int status;
    s->ssh_agent = spawn((char *[]){"/usr/bin/ssh-agent", "-D", "-a", socket, NULL}, log);
    WAIT(&s->f, access(socket, F_OK) == 0);
    s->config.identity = NULL;
    s->config.agent_socket = socket;
    ssh_must_fail(s, "logging in: refused|ssh-agent /"); /* it holds no key yet */
    setenv("SSH_AUTH_SOCK", socket, 1);
    make_key(other, NULL); /* the first that it offers is not the right one */
    pid_t add = spawn((char *[]){"/usr/bin/ssh-add", "-q", other, s->identity, NULL}, log);
    assert_int_equal(waitpid(add, &status, 0), add);
    assert_int_equal(status, 0);
    unsetenv("SSH_AUTH_SOCK");
    ssh_ready(s);
}

/* ---- preparing ---- */

SSH_TEST(test_no_agent_for_the_machine)
{
    struct strbuf words = STRBUF_INIT;
    strbuf_printf(
        &words,
        "no agent is configured for its architecture, %s; agents are configured for s390x|"
        "configure the path",
        machine());
    load_agent(s, "s390x", s->f.agent);
    ssh_must_fail(s, words.s);
    strbuf_free(&words);
}

SSH_TEST(test_agent_dir_not_writable)
{
    s->config.agent_dir = "/proc/agents"; /* nobody can make a folder there */
    ssh_must_fail(s, "uploading the agent: /proc/agents: mkdir: |check free space and rights");
}

/* The agent is not for this machine after all, or the folder is mounted noexec. */
SSH_TEST(test_agent_that_does_not_run)
{
    char *fake = ssh_file(s, "fake-agent");
    put_file(fake, "#!/bin/sh\necho sorry, wrong shelf >&2\nexit 4\n");
    load_agent(s, machine(), fake);
    ssh_must_fail(s, "talking to the agent: the node agent ended with exit code 4: sorry, wrong");
    put_file(fake, "#!/nowhere/interpreter\n");
    load_agent(s, machine(), fake);
    ssh_must_fail(s, "the node agent ended with exit code 127: |not found");
}

SSH_TEST(test_agent_that_says_nothing)
{
    char *fake = ssh_file(s, "fake-agent");
    put_file(fake, "#!/bin/sh\nexec cat > /dev/null\n");
    load_agent(s, machine(), fake);
    s->config.command_ms = 3000; /* for the steps before, too */
    ssh_must_fail(s, "talking to the agent: no answer in 3 s");
}

SSH_TEST(test_become)
{
    s->config.become = "env BATCHAI_TEST=1";
    ssh_ready(s);
    close_link(&s->f);
    s->config.become = "sh -c 'echo a password is required >&2; exit 1'";
    ssh_must_fail(s,
                  "starting the agent: |did not run it: a password is required|without a password");
}

/* Of a sudo that speaks Latin-1, say: what is shown of it is text. */
SSH_TEST(test_become_that_says_no_text)
{
    s->config.become = "sh -c 'printf \"d\\351sol\\351\\n\" >&2; exit 1'";
    ssh_must_fail(s, "did not run it: d\xef\xbf\xbdsol\xef\xbf\xbd");
}

/* A login shell whose start files print. */
SSH_TEST(test_noisy_login_shell)
{
    struct strbuf env = STRBUF_INIT;
    char *noise = ssh_file(s, "noise");
    put_file(noise, "echo welcome to the rack; echo mind the gap >&2\n");
    strbuf_printf(&env, "SetEnv BASH_ENV=%s ENV=%s\n", noise, noise);
    stop_sshd(s);
    start_sshd(s, env.s);
    ssh_ready(s);
    start(&s->f, "quiet", "exit 2");
    WAIT(&s->f, s->f.n_ended == 1);
    assert_int_equal(s->f.ended[0].s.exit_code, 2);
    strbuf_free(&env);
}

static int files_in(const char *path, off_t *size)
{
    DIR *d = opendir(path);
    struct dirent *de;
    int n = 0;
    while (d && (de = readdir(d))) {
        struct stat st;
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0 &&
            fstatat(dirfd(d), de->d_name, &st, 0) == 0) {
            *size = st.st_size;
            n++;
        }
    }
    if (d)
        closedir(d);
    return n;
}

SSH_TEST(test_agent_dir_in_the_home)
{
    struct strbuf env = STRBUF_INIT;
    off_t size = 0;
    char *home = ssh_file(s, "a 'home' of $some"),
         *cache = joined(&s->f, home, ".cache/batchai-node");
    strbuf_printf(&env, "SetEnv \"HOME=%s\"\n", home);
    stop_sshd(s);
    start_sshd(s, env.s);
    s->config.agent_dir = NULL;
    ssh_ready(s);
    assert_int_equal(files_in(cache, &size), 1);
    strbuf_free(&env);
}

/* The agent with 16 MB behind it, so that there is time to break in. */
static char *big_agent(struct ssh_fixture *s)
{
    char *path = ssh_file(s, "big-agent"), *bytes;
    size_t n;
    struct err e;
    assert_int_equal(fs_read(s->f.agent, 64 << 20, &bytes, &n, &e), 0);
    assert_int_equal(fs_write_atomic(path, bytes, n, 0755, &e), 0);
    assert_int_equal(truncate(path, (off_t)n + 16000000), 0);
    free(bytes);
    return path;
}

SSH_TEST(test_upload_interrupted)
{
    struct fixture *f = &s->f;
    char *path = big_agent(s);
    off_t size = 0;
    load_agent(s, machine(), path);
    ssh_open(s);
    WAIT(f, files_in(s->agent_dir, &size) == 1 && size > 1000000);
    assert_int_equal(f->ready, 0);
    assert_true(signal_connections(s->sshd, SIGKILL) > 0);
    WAIT(f, f->down == 1);
    assert_says(f->why.msg, "uploading the agent: ");
    close_link(f);
    WAIT(f, files_in(s->agent_dir, &size) == 0); /* nothing half stays */
    ssh_ready(s);
    assert_int_equal(files_in(s->agent_dir, &size), 1);
    assert_int_equal(size, s->agents->images[0].programs[NODE_PROGRAM_AGENT].n);
}

/* ---- the key pair ---- */

SSH_TEST(test_identity)
{
    struct err e;
    struct stat st;
    char *path = ssh_file(s, "fresh"), *log = ssh_file(s, "keygen.log"), *line, *text;
    assert_int_equal(node_identity_create(path, "batchaid@here", &line, &e), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    pid_t pid = spawn((char *[]){"/usr/bin/ssh-keygen", "-y", "-f", path, NULL}, log);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(fs_read(log, 4096, &text, NULL, &e), 0);
    assert_string_equal(text, line); /* derived from the private file alone */
    free(text);
    free(line);
    assert_int_equal(node_identity_create(path, "again", NULL, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(node_identity_create("/nowhere/key", "x", NULL, &e), -1);
    assert_says(e.msg, "/nowhere/key");
}
