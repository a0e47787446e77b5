/* SPDX-License-Identifier: MIT
 *
 * Volumes and file servers on a machine behind a real sshd. `exportfs` is a recording stub, as
 * there is no NFS in this kernel, and the sshd that runs it has a copy of /etc of its own.
 */
#include "file_servers.h"
#include "rack.h"
#include "test/unit/scheduler/fleet/shell.h"
#include "test/unit/support/skip.h"

#define SFTP_SERVER "/usr/lib/openssh/sftp-server"
#define EXPORTFS    "#!/bin/sh\nexec >>\"${0%/*}/said\"\necho \"$@\"\ncat /etc/exports.d/*.exports\n"

static bool is_mounted(struct world *w)
{
    char *text;
    assert_int_equal(fs_read("/proc/self/mountinfo", 1 << 24, &text, NULL, NULL), 0);
    bool found = strstr(text, w->dir) != NULL;
    free(text);
    return found;
}

static struct rack *rack_of_root(void)
{
    if (!may_mount()) {
        skip_because("not allowed to mount");
    }
    return rack_new(1);
}

#define ROOT_RACK_TEST(name) FIXTURE_TEST(name, struct rack *, r, rack_of_root(), rack_free)

static void put_rule(struct rack *r, const char *command, const char *unmount)
{
    r->mount.type = SITE_MOUNT_COMMAND;
    r->mount.command = command;
    r->mount.unmount = unmount;
}

ROOT_RACK_TEST(test_a_machine_mounts_shares_by_rule_and_is_given_back_clean)
{
    const char *storage = path(w, "storage/acct/files/share");
    struct err e = {0};
    ok(fs_mkdirs(storage, 0755, &e), &e);
    put_rule(r, arena_printf(&w->a, "mount --bind %s {target}", storage),
             arena_printf(&w->a, "umount {target} && echo {share} >>%s", path(w, "unmounted")));
    rack_up(r);
    int64_t c = idle_cluster(w, 1);
    assert_true(is_mounted(w));
    int64_t j = add_job(w, c, "j",
                        JOB("echo x > $AZ_BATCHAI_JOB_MOUNT_ROOT/own/f && "
                            "cat $AZ_BATCHAI_MOUNT_ROOT/share/f",
                            .more = "'mountVolumes': {'azureFileShares': "
                                    "[{'accountName': 'acct', 'azureFileUrl': "
                                    "'https://acct.file.core.windows.net/share', "
                                    "'relativeMountPath': 'own'}]},"));
    WAIT(w, job_ended(w, j) && counts(w, c).idle == 1);
    assert_string_equal(out_of(w, j), "x\n");
    assert_string_equal(read_text(w, path(w, "unmounted")), "share\n");
    set_scale(w, c, (struct scale){.kind = SCALE_MANUAL, .dealloc = DEALLOC_REQUEUE});
    WAIT(w, rows_of(counts(w, c)) == 0);
    assert_false(is_mounted(w));
    assert_string_equal(read_text(w, path(w, "unmounted")), "share\nshare\n");
    assert_string_equal(read_text(w, arena_printf(&w->a, "%s/f", storage)), "x\n");
}

ROOT_RACK_TEST(test_a_machine_mounts_by_sshfs_from_an_sshd)
{
    if (access(SFTP_SERVER, X_OK) != 0 || access("/dev/fuse", R_OK) != 0 ||
        shell("command -v sshfs", NULL) != 0) {
        skip_because("no sshfs, or no /dev/fuse");
    }
    const char *storage = path(w, "storage/acct/files/share");
    struct err e = {0};
    ok(fs_mkdirs(storage, 0755, &e), &e);
    r->mount.type = SITE_MOUNT_SSHFS;
    r->mount.source = arena_printf(&w->a, "%s@127.0.0.1:%s", r->user, storage);
    r->mount.options =
        arena_printf(&w->a,
                     "port=%d,IdentityFile=%s,UserKnownHostsFile=%s,StrictHostKeyChecking=no,"
                     "sftp_server=" SFTP_SERVER,
                     r->port, path(w, "id_ed25519"), path(w, "hosts"));
    rack_up(r);
    int64_t c = add_cluster_of(w, "c", 1);
    int64_t j = add_job(w, c, "j", JOB("stat -f -c %T $AZ_BATCHAI_MOUNT_ROOT/share"));
    WAIT(w, job_ended(w, j));
    assert_true(strncmp(out_of(w, j), "fuse", 4) == 0); /* older coreutils: fuseblk */
    set_scale(w, c, (struct scale){.kind = SCALE_MANUAL, .dealloc = DEALLOC_REQUEUE});
    WAIT(w, rows_of(counts(w, c)) == 0);
    assert_false(is_mounted(w));
    const char *out = out_of(w, j);
    assert_true(strncmp(out, "fuse", 4) == 0);
}

RACK_TEST(test_a_share_without_a_rule_makes_the_node_unusable, 1)
{
    r->site.n_mounts = 0;
    rack_up(r);
    int64_t c = add_cluster_of(r->w, "c", 1);
    WAIT(r->w, strstr(errors_of(r->w, c), "MountNotConfigured"));
    assert_says(errors_of(r->w, c), "match: acct/share");
    assert_says(errors_of(r->w, c), "run `batchaid reload`; then undrain the machine");
}

/* --- file servers that a machine is made export ----------------------------------------------- */

/* sshd where exportfs is ours and /etc a copy, so that nothing of this machine is touched. */
static void start_exporting(struct rack *r)
{
    struct world *w = r->w;
    struct err e = {0};
    const char *bin = path(w, "bin"), *stub = path(w, "bin/exportfs"),
               *conf = path(w, "sshd_config");
    ok(fs_mkdirs(bin, 0755, &e), &e);
    ok(fs_write_atomic(stub, EXPORTFS, strlen(EXPORTFS), 0755, &e), &e);
    put_file(conf, arena_printf(&w->a,
                                "ListenAddress 127.0.0.1:%d\nHostKey %s\nPidFile none\n"
                                "AuthorizedKeysFile %s\nStrictModes no\nUsePAM no\n"
                                "PermitRootLogin yes\nSetEnv HOME=%s PATH=%s:/usr/bin:/bin\n",
                                r->port, r->host_key, path(w, "id_ed25519.pub"), w->dir, bin));
    char *const argv[] = {"/usr/bin/unshare",
                          "-m",
                          "/bin/sh",
                          "-c",
                          arena_printf(&w->a,
                                       "cp -a /etc %s/etc && mount --bind %s/etc /etc && exec "
                                       "%s -D -e -f %s",
                                       w->dir, w->dir, SSHD, conf),
                          NULL};
    r->sshd = spawn(argv, path(w, "sshd.log"));
    WAIT(w, answers(r->port));
}

static struct site_file_server_rule use_machine(struct rack *r)
{
    return (struct site_file_server_rule){
        .name = "*", .machine = "m00", .directory = path(r->w, "srv/{workspace}/{name} 1")};
}

ROOT_RACK_TEST(test_a_machine_exports_a_file_server_as_a_recording_stub_of_exportfs_says)
{
    const struct site_file_server_rule rule = use_machine(r);
    struct err e = {0};
    struct operation op;
    r->site.file_servers = &rule;
    r->site.n_file_servers = 1;
    start_exporting(r);
    rack_start(r);
    int64_t id = add_file_server(w, "disks", "11111111-2222-3333-4444-555555555555");
    WAIT(w, server_state(w, id) != PROV_CREATING);
    ok(st_op_get(w->st, &w->a, "disks", &op, &e), &e);
    if (op.status != OP_SUCCEEDED)
        fail_msg("%s", op.error_message);
    assert_int_equal(server_state(w, id), PROV_SUCCEEDED);
    assert_string_equal(
        read_text(w, path(w, "bin/said")),
        arena_printf(&w->a,
                     "-ra\n%s/srv/ws/disks\\0401 127.0.0.1(rw,sync,no_subtree_check,"
                     "no_root_squash)\n",
                     w->dir));
    const char *file =
        path(w, "etc/exports.d/batchaid-11111111-2222-3333-4444-555555555555.exports");
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(access(path(w, "srv/ws/disks 1"), F_OK), 0);
    delete_row(w, RES_FILE_SERVER, id);
    WAIT(w, server_state(w, id) == 0);
    assert_int_not_equal(access(file, F_OK), 0);
    assert_int_equal(access(path(w, "srv/ws/disks 1"), F_OK), 0); /* the data stays */
}

/* One agent at a time: a second one would end the first, and its export would fail. */
ROOT_RACK_TEST(test_file_servers_of_one_machine_come_one_after_the_other)
{
    static const char *const guids[] = {"11111111-2222-3333-4444-555555555555",
                                        "21111111-2222-3333-4444-555555555555",
                                        "31111111-2222-3333-4444-555555555555"};
    const struct site_file_server_rule rule = use_machine(r);
    int64_t id[3];
    r->site.file_servers = &rule;
    r->site.n_file_servers = 1;
    start_exporting(r);
    rack_start(r);
    for (int i = 0; i < 3; i++)
        id[i] = add_file_server(w, arena_printf(&w->a, "disks%d", i), guids[i]);
    for (int i = 0; i < 3; i++) {
        WAIT(w, server_state(w, id[i]) != PROV_CREATING);
        assert_int_equal(server_state(w, id[i]), PROV_SUCCEEDED);
        assert_int_equal(
            access(path(w, arena_printf(&w->a, "etc/exports.d/batchaid-%s.exports", guids[i])),
                   F_OK),
            0);
    }
}

ROOT_RACK_TEST(test_a_machine_without_exportfs_says_so)
{
    if (shell("PATH=$PATH:/usr/sbin:/sbin command -v exportfs", NULL) == 0)
        skip_because("exportfs is installed");
    const struct site_file_server_rule rule = use_machine(r);
    struct err e = {0};
    struct operation op;
    r->site.file_servers = &rule;
    r->site.n_file_servers = 1;
    rack_up(r);
    int64_t id = add_file_server(w, "disks", "11111111-2222-3333-4444-555555555555");
    WAIT(w, server_state(w, id) == PROV_FAILED);
    ok(st_op_get(w->st, &w->a, "disks", &op, &e), &e);
    assert_string_equal(op.error_code, "FileServerExportFailed");
    assert_says(op.error_message, "install nfs-kernel-server");
}
