/* SPDX-License-Identifier: MIT
 *
 * Links that only look at a machine, and how far a link has come: what `batchaid nodes check`
 * shows.
 */
#include "test/unit/nodeagent-proto/link/sshd.h"

/* How many files and folders there are below `dir`, itself included. */
static int count_tree(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *de;
    int n = 1;
    while (d && (de = readdir(d))) {
        char *path = fs_join(dir, de->d_name);
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            n += de->d_type == DT_DIR ? count_tree(path) : 1;
        free(path);
    }
    if (d)
        closedir(d);
    return n;
}

static void fails_at(struct ssh_fixture *s, enum node_step step)
{
    ssh_open(s);
    WAIT(&s->f, s->f.ready || s->f.down);
    assert_int_equal(s->f.ready, 0);
    assert_int_equal(node_link_step(s->f.link), step);
    close_link(&s->f);
}

SSH_TEST(a_look_makes_nothing_and_records_nothing)
{
    char *root = in_root(&s->f, "not/made/yet");
    s->config.root = root;
    s->config.look = true;
    for (int i = 0; i < 2; i++) { /* the second time the agent is there already */
        ssh_ready(s);
        assert_int_equal(node_link_step(s->f.link), NODE_STEP_AGENT);
        assert_true(node_link_is_new_host(s->f.link));
        assert_string_equal(s->f.incarnation, "");
        close_link(&s->f);
    }
    assert_int_equal(access(in_root(&s->f, "not"), F_OK), -1);
    assert_int_equal(access(s->known_hosts, F_OK), -1);
}

SSH_TEST(a_look_does_not_disturb_the_agent_that_serves_the_root)
{
    struct node_link *serving;
    char *root = in_root(&s->f, "served"), incarnation[sizeof s->f.incarnation];
    s->config.root = root;
    ssh_ready(s);
    assert_true(node_link_is_new_host(s->f.link));
    memcpy(incarnation, s->f.incarnation, sizeof incarnation);
    serving = s->f.link;
    int before = count_tree(root);

    s->config.look = true;
    ssh_ready(s);
    assert_false(node_link_is_new_host(s->f.link));
    assert_string_equal(s->f.incarnation, incarnation);
    close_link(&s->f);
    assert_int_equal(count_tree(root), before);

    s->f.link = serving;
    s->f.answers = 0;
    node_tasks(serving, on_tasks, &s->f);
    WAIT(&s->f, s->f.answers);
    assert_int_equal(s->f.why.code, ERR_NONE);
    assert_int_equal(s->f.down, 0);
    close_link(&s->f);
}

SSH_TEST(an_agent_that_looks_does_nothing_else)
{
    char *dir = in_root(&s->f, "dir");
    const char *paths[] = {dir};
    s->config.look = true;
    ssh_ready(s);
    s->f.answers = 0;
    node_ask(s->f.link, REQUEST(make_dirs, .paths = paths, .n_paths = 1), on_done, &s->f);
    WAIT(&s->f, s->f.answers);
    assert_int_equal(s->f.why.code, ERR_NOT_SUPPORTED);
    assert_int_equal(access(dir, F_OK), -1);
}

static void on_health(void *ctx, const struct err *why, const struct node_health *h)
{
    struct fixture *f = ctx;
    keep_why(f, why);
    assert_true(why || (h->disk_free_bytes > 0 && h->time_us > 0));
}

static void health_of(struct ssh_fixture *s, const char *root)
{
    s->config.root = root;
    s->config.look = true;
    ssh_ready(s);
    s->f.answers = 0;
    node_health(s->f.link, on_health, &s->f);
    WAIT(&s->f, s->f.answers);
    assert_int_equal(s->f.down, 0);
    close_link(&s->f);
}

SSH_TEST(health_fails_where_the_root_could_not_be_used)
{
    char *file = in_root(&s->f, "file"), *below = in_root(&s->f, "file/root"),
         *fine = in_root(&s->f, "one/two");
    put_file(file, "");
    health_of(s, fine);
    assert_int_equal(s->f.why.code, ERR_NONE);
    health_of(s, below);
    assert_why(&s->f, ERR_IO, "file is not a directory");
    assert_says(s->f.why.msg, below);
}

SSH_TEST(strict_refuses_a_host_that_is_new)
{
    s->config.look = s->config.strict = true;
    ssh_open(s);
    WAIT(&s->f, s->f.down);
    assert_int_equal(node_link_step(s->f.link), NODE_STEP_HOST_KEY);
    assert_true(node_link_is_new_host(s->f.link));
}

SSH_TEST(each_failure_tells_its_step)
{
    int fd, port = s->port;
    char *other = fs_join(s->dir, "other");
    s->config.login_ms = 2000;
    s->config.become = "false";
    fails_at(s, NODE_STEP_START);
    s->config.become = NULL;

    s->config.agent_dir = "/proc/nowhere";
    fails_at(s, NODE_STEP_UPLOAD);
    s->config.agent_dir = s->agent_dir;

    make_key(other, NULL);
    s->config.identity = other;
    fails_at(s, NODE_STEP_LOGIN);

    s->port = free_port(&fd);
    s->config.login_ms = 100;
    fails_at(s, NODE_STEP_HANDSHAKE);
    close(fd);
    s->port = port;

    stop_sshd(s);
    WAIT(&s->f, !answers(s->port));
    fails_at(s, NODE_STEP_CONNECT);
    s->config.host = "no-such-machine.invalid";
    fails_at(s, NODE_STEP_NAME);
    free(other);
}