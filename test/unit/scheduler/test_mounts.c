/* SPDX-License-Identifier: MIT
 *
 * Real mounts, made and taken away by the real agent for real clusters and jobs: bind mounts and
 * sshfs (whose "ssh" is a script that becomes sftp-server). For root; sshfs where it is installed.
 */
#include "world.h"

#include "scheduler/fleet/mount/mounts.h"
#include "scheduler/fleet/node/node_priv.h"
#include "test/unit/scheduler/fleet/shell.h"
#include "test/unit/support/skip.h"

#define SFTP_SERVER "/usr/lib/openssh/sftp-server"

static bool is_mounted(const char *below)
{
    char *text;
    assert_int_equal(fs_read("/proc/self/mountinfo", 1 << 24, &text, NULL, NULL), 0);
    bool found = strstr(text, below) != NULL;
    free(text);
    return found;
}

#define NEEDS_MOUNTS()                                                                             \
    do {                                                                                           \
        if (!may_mount()) {                                                                        \
            skip_because("not allowed to mount");                                                  \
        }                                                                                          \
    } while (0)

/* A folder with something in it that nobody may lose. */
static const char *make_precious(struct world *w, const char *name)
{
    struct err e = {0};
    const char *dir = path(w, name);
    ok(fs_mkdirs(dir, 0755, &e), &e);
    ok(fs_write_atomic(arena_printf(&w->a, "%s/precious", dir), "mine", 4, 0644, &e), &e);
    return dir;
}

static void is_precious(struct world *w, const char *dir)
{
    assert_string_equal(read_text(w, arena_printf(&w->a, "%s/precious", dir)), "mine");
}

static const char *unmanaged(struct world *w, const char *command, const char *at)
{
    return arena_printf(&w->a, "{'mountCommand': '%s', 'relativeMountPath': '%s'}", command, at);
}

/* nodeSetup with the share of all tests and these. */
static const char *setup(struct world *w, const char *more)
{
    return arena_printf(&w->a,
                        "'mountVolumes': {'azureFileShares': [{'accountName': 'acct', "
                        "'azureFileUrl': 'https://acct.file.core.windows.net/share', "
                        "'relativeMountPath': 'share'}], %s}",
                        more);
}

static int64_t cluster_with(struct world *w, int nodes, const char *more)
{
    return add_cluster(w, "c",
                       (struct cluster_wish){.scale = {.target = nodes}, .setup = setup(w, more)});
}

static void succeed(struct world *w, int64_t job)
{
    WAIT(w, job_ended(w, job));
    struct job row = job_row(w, job);
    if (row.exec_state != EXEC_SUCCEEDED)
        fail_msg("%s", row.errors);
}

/* --- clusters and jobs ------------------------------------------------------------------------ */

WORLD_TEST(test_a_cluster_mounts_and_a_job_reads_and_writes, world_new(1))
{
    NEEDS_MOUNTS();
    const char *data = make_precious(w, "data");
    int64_t c = cluster_with(
        w, 1,
        arena_printf(&w->a, "'unmanagedFileSystems': [%s]",
                     unmanaged(w, arena_printf(&w->a, "mount --bind %s", data), "a b/$c")));
    WAIT(w, counts(w, c).idle == 1);
    assert_true(is_mounted("/mounts/a\\040b/$c "));
    int64_t j = add_job(w, c, "j",
                        JOB("cd \\\"$AZ_BATCHAI_MOUNT_ROOT/a b/\\\\$c\\\" "
                            "&& cat precious && echo new > file"));
    succeed(w, j);
    assert_string_equal(out_of(w, j), "mine");
    assert_string_equal(read_text(w, arena_printf(&w->a, "%s/file", data)), "new\n");
    set_scale(w, c, (struct scale){.kind = SCALE_MANUAL, .dealloc = DEALLOC_REQUEUE});
    WAIT(w, rows_of(counts(w, c)) == 0);
    assert_false(is_mounted(w->dir));
    is_precious(w, data);
}

static const char *job_mount(struct world *w, const char *command)
{
    return arena_printf(&w->a, "'mountVolumes': {'unmanagedFileSystems': [%s]},",
                        unmanaged(w, command, "own"));
}

WORLD_TEST(test_a_jobs_volumes_go_with_it, world_new(1))
{
    NEEDS_MOUNTS();
    const char *data = make_precious(w, "data"),
               *bind = arena_printf(&w->a, "mount --bind %s", data);
    int64_t c = add_cluster_of(w, "c", 1);
    /* One that leaves a process sitting in its volume, and one that fails. */
    int64_t j = add_job(w, c, "sits",
                        JOB("cd $AZ_BATCHAI_JOB_MOUNT_ROOT/own && cat "
                            "precious && (setsid sleep 1000 &)",
                            .more = job_mount(w, bind)));
    succeed(w, j);
    assert_string_equal(out_of(w, j), "mine");
    WAIT(w, counts(w, c).idle == 1);
    assert_false(is_mounted(w->dir));
    j = add_job(w, c, "fails", JOB("false", .more = job_mount(w, bind)));
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_false(is_mounted(w->dir));
    is_precious(w, data);
}

WORLD_TEST(test_a_jobs_volumes_survive_a_restart_and_go_with_it, world_new(1))
{
    NEEDS_MOUNTS();
    const char *data = make_precious(w, "data");
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j",
                        JOB(arena_printf(&w->a,
                                         "echo > %s/began; while [ ! -e %s/go ]; do sleep 0.02; "
                                         "done; cat $AZ_BATCHAI_JOB_MOUNT_ROOT/own/precious",
                                         data, data),
                            .more = job_mount(w, arena_printf(&w->a, "mount --bind %s", data))));
    WAIT(w, access(arena_printf(&w->a, "%s/began", data), F_OK) == 0);
    world_stop(w);
    assert_true(is_mounted(w->dir));
    world_start(w);
    struct err e = {0};
    ok(fs_write_atomic(arena_printf(&w->a, "%s/go", data), "", 0, 0644, &e), &e);
    succeed(w, j);
    WAIT(w, counts(w, c).idle == 1);
    assert_false(is_mounted(w->dir));
    is_precious(w, data);
}

WORLD_TEST(test_a_mount_that_fails_says_what_the_command_said, world_new(1))
{
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(
        w, c, "j", JOB("true", .more = job_mount(w, "echo the server is asleep >&2; exit 32; :")));
    WAIT(w, job_ended(w, j));
    struct job row = job_row(w, j);
    assert_int_equal(row.exec_state, EXEC_FAILED);
    assert_says(row.errors, "\"UnmanagedMountError\"", "the server is asleep", "exit code 32");
    assert_says_not(row.errors, "mountinfo"); /* only the command itself is shown */
    WAIT(w, counts(w, c).idle == 1);
}

WORLD_TEST(test_a_stuck_mount_command_is_cut_off, world_new(1))
{
    w->mount_timeout_s = 1;
    restart(w);
    int64_t c = cluster_with(w, 1,
                             arena_printf(&w->a, "'unmanagedFileSystems': [%s]",
                                          unmanaged(w, "trap true TERM; sleep 1000; :", "stuck")));
    WAIT(w, cluster_row(w, c).errors != NULL);
    assert_int_equal(counts(w, c).unusable, 1);
    cluster_says(w, c, "\"UnmanagedMountError\"", "did not end within 1 s");
}

/* --- one node, as a machine ------------------------------------------------------------------- */

/* The steps of a machine's volumes, carried out by an agent that the test may kill. */
struct bench {
    struct world *w;
    struct fleet fleet;
    struct machine machine;
    struct node_rt rt;
    struct site site;
    struct site_mount_rule rules[4];
    struct mount_secret *secrets;
    struct script *script;
    const char *precious;
    bool ready, down, closed;
};

static void on_bench_ready(void *ctx, const struct node_facts *facts)
{
    struct bench *b = ctx;
    b->ready = true;
    b->rt.seen.is_root = facts->is_root;
}

static void on_bench_down(void *ctx, const struct err *why)
{
    struct bench *b = ctx;
    (void)why;
    b->down = true;
}

static void on_bench_closed(void *ctx)
{
    ((struct bench *)ctx)->closed = true;
}

static void on_bench_ended(void *ctx, const struct task_status *status)
{
    struct bench *b = ctx;
    if (b->script)
        (void)script_task_ended(b->script, status);
}

static void on_bench_changed(void *ctx)
{
    (void)ctx;
}

static void bench_open(struct bench *b)
{
    struct err e = {0};
    const struct node_local_config c = {
        .loop = b->w->tools,
        .log = &b->w->log,
        .files = b->w->files,
        .agent_path = b->w->agent,
        .root = b->rt.root,
        .callbacks = {on_bench_ready, on_bench_down, on_bench_ended, NULL, b}};
    b->ready = b->down = b->closed = false;
    ok(node_open_local(&c, &b->rt.contact.link, &e), &e);
    WAIT(b->w, b->ready);
}

static void bench_close(struct bench *b)
{
    node_close(b->rt.contact.link, on_bench_closed, b);
    WAIT(b->w, b->closed);
}

static struct bench *bench_new(void)
{
    struct bench *b = xcalloc(1, sizeof *b);
    b->w = world_new(1);
    b->precious = make_precious(b->w, "data");
    b->fleet.cfg.site = &b->site;
    b->fleet.cfg.storage_dir = path(b->w, "storage");
    b->fleet.log = &b->w->log;
    b->fleet.st = b->w->st;
    b->site.mounts = b->rules;
    b->rt = (struct node_rt){
        .fleet = &b->fleet, .machine = &b->machine, .name = "m", .front = &b->w->front.front};
    b->rt.root = (char *)path(b->w, "machine root");
    bench_open(b);
    return b;
}

static void bench_free(struct bench *b)
{
    bench_close(b);
    mounts_wipe(b->secrets);
    is_precious(b->w, b->precious);
    assert_false(is_mounted(b->w->dir));
    world_free(b->w);
    free(b);
}

static struct node_mounts bench_mounts(struct bench *b)
{
    b->script = script_new(&b->w->a, &b->w->log, "m");
    return (struct node_mounts){.rt = &b->rt,
                                .a = &b->w->a,
                                .script = b->script,
                                .mount_root = arena_printf(&b->w->a, "%s/mounts", b->rt.root),
                                .owner = "node",
                                .task_prefix = "n1-",
                                .secrets = &b->secrets};
}

static enum script_state carry_out(struct bench *b)
{
    script_run(b->script, b->rt.contact.link, on_bench_changed, b);
    WAIT(b->w, script_state(b->script) != SCRIPT_RUNNING && !script_busy(b->script));
    return script_state(b->script);
}

static struct mount_volume bench_share = {.kind = MOUNT_FILE_SHARE,
                                          .account = "acct",
                                          .share = "s",
                                          .key = "s3cr3t",
                                          .relative_path = "s"};
static const struct mount_list bench_list = {&bench_share, 1};

static void mount_it(struct bench *b)
{
    struct failure why;
    b->site.n_mounts = 1;
    b->rules[0].files = true;
    const struct node_mounts m = bench_mounts(b);
    assert_true(mounts_add(&m, &bench_list, &why));
    if (carry_out(b) != SCRIPT_DONE)
        fail_msg("%s: %s", script_failure(b->script)->message,
                 script_failure(b->script)->stderr_tail);
    is_precious(b->w, arena_printf(&b->w->a, "%s/mounts/s", b->rt.root));
}

static void unmount_it(struct bench *b)
{
    const struct node_mounts m = bench_mounts(b);
    mounts_remove(&m, &bench_list);
    assert_int_equal(carry_out(b), SCRIPT_DONE);
    assert_false(is_mounted(b->w->dir));
}

static void release_all(struct bench *b)
{
    b->script = script_new(&b->w->a, &b->w->log, "m");
    mount_release_steps(&b->rt, b->script, &b->w->a);
    if (carry_out(b) != SCRIPT_DONE)
        fail_msg("%s", script_failure(b->script)->message);
    assert_false(is_mounted(b->w->dir));
}

TEST(test_a_folder_or_a_bind_mount_may_be_asked_for_again)
{
    NEEDS_MOUNTS();
    static const enum site_mount_type types[] = {SITE_MOUNT_LOCAL, SITE_MOUNT_BIND};
    for (size_t i = 0; i < 2; i++) {
        struct bench *b = bench_new();
        b->rules[0] = (struct site_mount_rule){.type = types[i], .source = b->precious};
        mount_it(b);
        mount_it(b);
        assert_int_equal(is_mounted(b->w->dir), types[i] == SITE_MOUNT_BIND);
        unmount_it(b);
        unmount_it(b);
        bench_free(b);
    }
}

TEST(test_a_command_reads_its_key_and_the_file_goes)
{
    NEEDS_MOUNTS();
    struct bench *b = bench_new();
    const char *seen = path(b->w, "seen");
    b->rules[0] = (struct site_mount_rule){
        .type = SITE_MOUNT_COMMAND,
        .command = arena_printf(&b->w->a,
                                "(cat {key}; stat -c ' %%a %%u ' {key}; echo $BATCHAI_KEY; tr "
                                "'\\\\0' ' ' </proc/$PPID/cmdline | grep -c s3cr3t) >%s; echo "
                                "mounted {account}/{share}; mount --bind %s {target}",
                                seen, b->precious),
        .unmount = arena_printf(&b->w->a, "umount {target} && echo done >>%s", seen)};
    mount_it(b);
    assert_string_equal(read_text(b->w, seen), "s3cr3t 600 0 \ns3cr3t\n0\n");
    const char *key = arena_printf(&b->w->a, "%s/volumes/node/0.key", b->rt.root);
    assert_int_not_equal(access(key, F_OK), 0);
    unmount_it(b);
    assert_says(read_text(b->w, seen), "done\n");
    bench_free(b);
}

static bool use_sshfs(struct bench *b)
{
    struct err e = {0};
    const char *ssh = path(b->w, "ssh"), *text = "#!/bin/sh\nexec " SFTP_SERVER "\n";
    if (access(SFTP_SERVER, X_OK) != 0 || access("/dev/fuse", R_OK) != 0 ||
        shell("command -v sshfs", NULL) != 0)
        return false;
    ok(fs_write_atomic(ssh, text, strlen(text), 0755, &e), &e);
    b->rules[0] =
        (struct site_mount_rule){.type = SITE_MOUNT_SSHFS,
                                 .source = arena_printf(&b->w->a, "nobody@nowhere:%s", b->precious),
                                 .options = arena_printf(&b->w->a, "ssh_command=%s", ssh)};
    return true;
}

static void kill_agent(struct bench *b)
{
    const char *out = path(b->w, "pid"),
               *find = arena_printf(&b->w->a,
                                    "ps -eo pid=,args= | awk -v root='--root %s' "
                                    "'/agent/ && index($0, root) && !/awk/ {print $1}'",
                                    b->rt.root);
    assert_int_equal(shell(find, out), 0);
    int pid = atoi(read_text(b->w, out));
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    WAIT(b->w, b->down);
    bench_close(b);
}

TEST(test_sshfs_serves_on_when_the_agent_is_killed)
{
    NEEDS_MOUNTS();
    struct bench *b = bench_new();
    if (use_sshfs(b)) {
        mount_it(b);
        kill_agent(b);
        is_precious(b->w, arena_printf(&b->w->a, "%s/mounts/s", b->rt.root));
        bench_open(b);
        mount_it(b); /* still there: nothing to do */
        unmount_it(b);
        mount_it(b);
        release_all(b); /* as a node does that is prepared anew */
    } else {
        print_message("no sshfs: not tried\n");
    }
    bench_free(b);
}

TEST(test_what_is_mounted_is_never_removed)
{
    NEEDS_MOUNTS();
    struct bench *b = bench_new();
    b->rules[0] = (struct site_mount_rule){.type = SITE_MOUNT_BIND, .source = b->precious};
    mount_it(b);
    static const struct script_label label = {.code = FAIL_UNMOUNT_FAILED, .what = "remove"};
    b->script = script_new(&b->w->a, &b->w->log, "m");
    script_ask(b->script, &label,
               REQUEST(remove_tree, .path = arena_printf(&b->w->a, "%s/mounts", b->rt.root)));
    assert_int_equal(carry_out(b), SCRIPT_FAILED);
    assert_says(script_failure(b->script)->message, "mounted");
    is_precious(b->w, b->precious);
    release_all(b);
    bench_free(b);
}
