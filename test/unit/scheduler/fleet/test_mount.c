/* SPDX-License-Identifier: MIT
 *
 * How volumes come to nodes: which rule is taken, what the shell is told, what is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/shell.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/mount/plan.h"
#include "shell.h"
#include "test/unit/support/says.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/words.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define KEY      "s3cr3t/key=="

static struct arena a;

static int set_up(void **state)
{
    (void)state;
    arena_init(&a);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&a);
    return 0;
}

/* A machine with these rules, where the agent is root. */
static struct mount_node machine(const struct site_mount_rule *rules, size_t n)
{
    static struct site site;
    site = (struct site){.mounts = rules, .n_mounts = n};
    return (struct mount_node){.words = &batchai_front_words,
                               .site = &site,
                               .is_root = true,
                               .storage_dir = "/storage",
                               .root = "/n",
                               .mount_root = "/n/mounts",
                               .work_dir = "/n/volumes/node"};
}

static struct mount_volume share(void)
{
    return (struct mount_volume){.kind = MOUNT_FILE_SHARE,
                                 .account = "Acct",
                                 .share = "Data",
                                 .host = "acct.file.core.windows.net",
                                 .key = KEY,
                                 .relative_path = "data",
                                 .file_mode = "0640",
                                 .directory_mode = "0750"};
}

static struct mount_volume container(void)
{
    return (struct mount_volume){.kind = MOUNT_BLOBS,
                                 .account = "acct",
                                 .share = "models",
                                 .key = KEY,
                                 .relative_path = "models"};
}

static struct mount_plan planned(const struct mount_node *node, const struct mount_volume *m,
                                 const struct file_server *server)
{
    struct mount_plan plan;
    struct failure why;
    if (!mount_plan(&a, node, &(struct mount_wish){m, 0, server}, &plan, &why))
        fail_msg("refused: %s: %s", failure_name(why.code), why.message);
    return plan;
}

static struct failure refused(const struct mount_node *node, const struct mount_volume *m,
                              const struct file_server *server)
{
    struct mount_plan plan;
    struct failure why = {0};
    assert_false(mount_plan(&a, node, &(struct mount_wish){m, 0, server}, &plan, &why));
    assert_non_null(why.message);
    assert_non_null(why.remedy);
    return why;
}

/* --- rules ------------------------------------------------------------------------------------ */

#define MOUNT_TEST(name) TEST_SETUP(name, set_up, tear_down)

MOUNT_TEST(test_first_matching_rule_counts)
{
    static const struct site_mount_rule rules[] = {
        {.account = "other", .share = "*", .files = true, .blobs = true, .source = "/1"},
        {.account = "ac*", .share = "data", .blobs = true, .source = "/2"},
        {.account = "ac*", .share = "d?ta", .files = true, .source = "/3/{account}/{share}"},
        {.account = "*", .share = "*", .files = true, .blobs = true, .source = "/4/{container}"},
    };
    struct mount_node node = machine(rules, COUNT(rules));
    struct mount_volume files = share(), blobs = container();
    assert_string_equal(planned(&node, &files, NULL).folder, "/3/acct/data");
    assert_string_equal(planned(&node, &blobs, NULL).folder, "/4/models");
}

MOUNT_TEST(test_without_a_rule_the_failure_shows_one)
{
    struct mount_node node = machine(NULL, 0);
    struct mount_volume m = container();
    struct failure why = refused(&node, &m, NULL);
    assert_int_equal(why.code, FAIL_MOUNT_NOT_CONFIGURED);
    assert_says(why.message, "acct/models");
    assert_says(why.remedy, "  - match: acct/models\n    kind: blobs\n    type: nfs\n");
}

static const struct mount_own own = {.address = "10.0.0.1",
                                     .port = 7422,
                                     .user = "shares",
                                     .key_file = "/n/volumes/node/key",
                                     .hosts_file = "/n/volumes/node/known_hosts"};

MOUNT_TEST(test_without_a_rule_the_daemon_serves_its_folder)
{
    struct mount_node node = machine(NULL, 0);
    struct mount_volume files = share(), blobs = container();
    node.own = &own;
    struct mount_plan plan = planned(&node, &files, NULL);
    assert_string_equal(plan.own_folder, "acct/files/data");
    assert_string_equal(planned(&node, &blobs, NULL).own_folder, "acct/blobs/models");
    assert_says(plan.shown, "sshfs -F /dev/null -o 'BatchMode=yes,reconnect,");
    assert_says(plan.shown, "StrictHostKeyChecking=yes");
    assert_says(plan.shown, "Port=7422,UserKnownHostsFile=/n/volumes/node/known_hosts,"
                            "IdentityFile=/n/volumes/node/key,allow_other' "
                            "'shares@10.0.0.1:acct/files/data' '/n/mounts/data'");
    assert_null(plan.file); /* the key outlives the command, which connects again */
    node.is_root = false;
    assert_says(planned(&node, &files, NULL).shown, "IdentityFile=/n/volumes/node/key' "
                                                    "$(grep -qs '^[[:space:]]*user_allow_other' ");
}

MOUNT_TEST(test_an_address_of_ipv6_has_brackets)
{
    struct mount_own v6 = own;
    struct mount_node node = machine(NULL, 0);
    struct mount_volume m = share();
    v6.address = "fd00::1";
    node.own = &v6;
    assert_says(planned(&node, &m, NULL).shown, "'shares@[fd00::1]:acct/files/data'");
}

MOUNT_TEST(test_a_rule_goes_before_the_daemons_folder)
{
    static const struct site_mount_rule rule = {
        .account = "acct", .share = "data", .files = true, .source = "/srv"};
    struct mount_node node = machine(&rule, 1);
    struct mount_volume m = share();
    node.own = &own;
    struct mount_plan plan = planned(&node, &m, NULL);
    assert_string_equal(plan.folder, "/srv");
    assert_null(plan.own_folder);
}

MOUNT_TEST(test_what_the_daemon_cannot_serve_names_this_way_first)
{
    struct mount_own none = own;
    struct mount_node node = machine(NULL, 0);
    struct mount_volume m = share();
    none.why_not = "sshd is not installed here";
    node.own = &none;
    struct failure why = refused(&node, &m, NULL);
    assert_int_equal(why.code, FAIL_MOUNT_NOT_CONFIGURED);
    assert_says(why.message,
                "the daemon cannot serve acct/data to machines (sshd is not installed");
    assert_int_equal(strncmp(why.remedy, "let the daemon serve it (settings `shares`", 42), 0);
    assert_says(why.remedy, "  - match: acct/data\n    kind: files\n    type: nfs\n");
}

MOUNT_TEST(test_local_nodes_see_the_daemons_folders)
{
    struct mount_node node = {.words = &batchai_front_words,
                              .is_local = true,
                              .storage_dir = "/storage",
                              .mount_root = "/n/m"};
    struct mount_volume m = share();
    struct mount_plan plan = planned(&node, &m, NULL);
    assert_string_equal(plan.folder, "/storage/acct/files/data");
    assert_string_equal(plan.target, "/n/m/data");
    assert_null(plan.command);
}

/* --- commands --------------------------------------------------------------------------------- */

static const struct mount_rendering {
    struct site_mount_rule rule;
    const char *shown;
    const char *file; /* its content; NULL: none */
} renderings[] = {
    {{.type = SITE_MOUNT_BIND, .source = "/srv/{account}/{share}"},
     "mount --bind '/srv/acct/data' '/n/mounts/data'",
     NULL},
    {{.type = SITE_MOUNT_NFS, .source = "nas:/e/{share}", .options = "vers=4.2,noatime"},
     "mount -t nfs -o 'vers=4.2,noatime' 'nas:/e/data' '/n/mounts/data'",
     NULL},
    {{.type = SITE_MOUNT_NFS, .source = "nas:/it's $HOME"},
     "mount -t nfs 'nas:/it'\\''s $HOME' '/n/mounts/data'",
     NULL},
    {{.type = SITE_MOUNT_CIFS, .options = "nosharesock"},
     "mount -t cifs -o 'vers=3.0,serverino,dir_mode=0750,file_mode=0640,"
     "credentials=/n/volumes/node/0.credentials,nosharesock' "
     "'//acct.file.core.windows.net/data' '/n/mounts/data'",
     "username=Acct\npassword=" KEY "\n"},
    {{.type = SITE_MOUNT_CIFS, .source = "//nas/{share}", .options = "credentials=/etc/nas"},
     "mount -t cifs -o 'vers=3.0,serverino,dir_mode=0750,file_mode=0640,credentials=/etc/nas' "
     "'//nas/data' '/n/mounts/data'",
     NULL},
    {{.type = SITE_MOUNT_SSHFS, .source = "me@nas:/srv/{share}", .options = "port=2222"},
     "sshfs -o 'BatchMode=yes,reconnect,ServerAliveInterval=15,ServerAliveCountMax=3,allow_other,"
     "port=2222' 'me@nas:/srv/data' '/n/mounts/data'",
     NULL},
    {{.type = SITE_MOUNT_COMMAND,
      .command = "my.mount --key-file {key} -o {options} {url} {account}/{share} {target}",
      .options = "a b"},
     "my.mount --key-file '/n/volumes/node/0.key' -o 'a b' 'acct.file.core.windows.net' "
     "'acct'/'data' '/n/mounts/data'",
     KEY},
    {{.type = SITE_MOUNT_COMMAND, .command = "my.mount {other} {target}"},
     "my.mount {other} '/n/mounts/data'",
     NULL},
};

MOUNT_TEST(test_each_type_has_its_command)
{
    for (size_t i = 0; i < COUNT(renderings); i++) {
        struct site_mount_rule rule = renderings[i].rule;
        rule.files = true;
        struct mount_node node = machine(&rule, 1);
        struct mount_volume m = share();
        struct mount_plan plan = planned(&node, &m, NULL);
        assert_string_equal(plan.shown, renderings[i].shown);
        assert_says(plan.command, plan.shown);
        assert_says_not(plan.command, KEY);
        if (renderings[i].file)
            assert_string_equal(plan.file_text, renderings[i].file);
        else
            assert_null(plan.file);
    }
}

MOUNT_TEST(test_commands_have_the_key_in_their_environment)
{
    struct site_mount_rule rule = {
        .files = true, .type = SITE_MOUNT_COMMAND, .command = "m {target}"};
    struct mount_node node = machine(&rule, 1);
    struct mount_volume m = share();
    struct mount_plan plan = planned(&node, &m, NULL);
    assert_int_equal(plan.n_env, 1);
    assert_string_equal(plan.env[0].name, "BATCHAI_KEY");
    assert_string_equal(plan.env[0].value, KEY);
    assert_true(plan.env[0].is_secret);
    m.key = NULL;
    assert_int_equal(planned(&node, &m, NULL).n_env, 0);
}

MOUNT_TEST(test_blobfuse2_reads_the_key_from_its_own_file)
{
    struct site_mount_rule rule = {.blobs = true, .type = SITE_MOUNT_BLOBFUSE2, .options = "ro"};
    struct mount_node node = machine(&rule, 1);
    struct mount_volume m = container();
    m.options = "-o allow_other  --file-cache-timeout=1";
    m.key = "a'b";
    struct mount_plan plan = planned(&node, &m, NULL);
    assert_string_equal(plan.shown,
                        "blobfuse2 mount '/n/mounts/models' "
                        "'--config-file=/n/volumes/node/0.yaml' -o 'ro' '-o' 'allow_other' "
                        "'--file-cache-timeout=1'");
    assert_says(plan.file_text, "  account-key: 'a''b'\n", "  container: 'models'\n",
                "  endpoint: 'https://acct.blob.core.windows.net'\n");
    assert_says(plan.command, "mkdir -p -- '/n/volumes/node/0.cache'");
}

MOUNT_TEST(test_unmanaged_commands_get_the_path_behind_them)
{
    struct mount_node node = {
        .words = &batchai_front_words, .is_local = true, .root = "/n", .mount_root = "/n/m y"};
    struct mount_volume m = {
        .kind = MOUNT_UNMANAGED, .source = "mount -t lustre a@tcp:/b", .relative_path = "l"};
    struct mount_plan plan = planned(&node, &m, NULL);
    assert_string_equal(plan.shown, "mount -t lustre a@tcp:/b '/n/m y/l'");
    assert_int_equal(plan.code, FAIL_UNMANAGED_MOUNT_ERROR);
}

/* --- refusals --------------------------------------------------------------------------------- */

MOUNT_TEST(test_kernel_mounts_need_root)
{
    static const struct {
        enum site_mount_type type;
        bool refused;
    } rows[] = {{SITE_MOUNT_LOCAL, false},  {SITE_MOUNT_BIND, true},
                {SITE_MOUNT_NFS, true},     {SITE_MOUNT_CIFS, true},
                {SITE_MOUNT_SSHFS, false},  {SITE_MOUNT_BLOBFUSE2, false},
                {SITE_MOUNT_COMMAND, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct site_mount_rule rule = {
            .files = true, .type = rows[i].type, .source = "h:/x", .command = "x"};
        struct mount_node node = machine(&rule, 1);
        struct mount_volume m = share();
        node.is_root = false;
        if (!rows[i].refused) {
            assert_says_not(planned(&node, &m, NULL).command ?: "", "allow_other");
            continue;
        }
        struct failure why = refused(&node, &m, NULL);
        assert_int_equal(why.code, FAIL_NODE_HAS_NO_ROOT);
        assert_says(why.remedy, "become: sudo");
    }
}

MOUNT_TEST(test_keys_are_asked_for_where_they_are_needed)
{
    static const struct site_mount_rule rules[] = {
        {.files = true, .type = SITE_MOUNT_CIFS},
        {.files = true, .type = SITE_MOUNT_BLOBFUSE2},
        {.files = true, .type = SITE_MOUNT_COMMAND, .command = "m {key}"},
    };
    for (size_t i = 0; i < COUNT(rules); i++) {
        struct mount_node node = machine(&rules[i], 1);
        struct mount_volume m = share();
        m.key = NULL;
        assert_says(refused(&node, &m, NULL).message, "accountKey");
        m.key = "one\ndomain=evil";
        assert_says_not(refused(&node, &m, NULL).message, "evil");
    }
}

/* --- file servers ----------------------------------------------------------------------------- */

static const struct site_machine rack[] = {{.name = "gpu1:2222", .host = "fd00::1"}};
static const struct site_file_server_rule server_rules[] = {
    {.name = "nas-*", .nfs = "nas1:/export/{workspace}/{name}", .options = "vers=4.2"},
    {.name = "own", .machine = "gpu1:2222", .directory = "/srv/{name}"},
};
static const struct site served = {.machines = rack,
                                   .n_machines = 1,
                                   .file_servers = server_rules,
                                   .n_file_servers = COUNT(server_rules)};

static struct file_server server(const char *name)
{
    return (struct file_server){
        .name = name, .guid = "G", .scope.workspace = "w", .prov_state = PROV_SUCCEEDED};
}

MOUNT_TEST(test_who_serves_a_file_server)
{
    struct file_server f = server("NAS-1");
    struct file_server_backing at;
    assert_true(file_server_backing(&a, &served, 1, "/storage", &f, &at));
    assert_string_equal(at.host, "nas1");
    assert_string_equal(at.directory, "/export/w/NAS-1");
    assert_null(at.machine);
    f = server("own");
    assert_true(file_server_backing(&a, &served, 0, "/storage", &f, &at));
    assert_string_equal(at.host, "fd00::1");
    assert_string_equal(at.directory, "/srv/own");
    assert_string_equal(at.machine, "gpu1:2222");
    f = server("else");
    assert_true(file_server_backing(&a, &served, 1, "/storage", &f, &at));
    assert_true(at.is_local);
    assert_string_equal(at.directory, "/storage/.fileservers/G");
    assert_false(file_server_backing(&a, &served, 0, "/storage", &f, &at));
}

MOUNT_TEST(test_file_servers_are_mounted_by_nfs)
{
    struct mount_node node = machine(NULL, 0);
    node.site = &served;
    struct file_server f = server("nas-1");
    struct mount_volume m = {.kind = MOUNT_FILE_SERVER,
                             .source = "id",
                             .source_directory = "/export/w/nas-1/sub/",
                             .options = "rw",
                             .relative_path = "nfs"};
    assert_string_equal(planned(&node, &m, &f).shown,
                        "mount -t nfs -o 'vers=4.2,rw' 'nas1:/export/w/nas-1/sub' '/n/mounts/nfs'");
    f = server("own");
    m.source_directory = "sub";
    assert_string_equal(planned(&node, &m, &f).shown,
                        "mount -t nfs -o 'rw' '[fd00::1]:/srv/own/sub' '/n/mounts/nfs'");
    node.is_root = false;
    assert_int_equal(refused(&node, &m, &f).code, FAIL_NODE_HAS_NO_ROOT);
}

MOUNT_TEST(test_local_file_servers_are_folders)
{
    struct mount_node node = {.words = &batchai_front_words,
                              .is_local = true,
                              .local_nodes = 1,
                              .storage_dir = "/storage",
                              .mount_root = "/n/m"};
    struct file_server f = server("fs");
    struct mount_volume m = {.kind = MOUNT_FILE_SERVER, .source = "id", .relative_path = "x"};
    assert_string_equal(planned(&node, &m, &f).folder, "/storage/.fileservers/G");
    m.source_directory = "deep/er";
    assert_string_equal(planned(&node, &m, &f).folder, "/storage/.fileservers/G/deep/er");
    assert_string_equal(planned(&node, &m, &f).within, "/storage/.fileservers/G");
    m.source_directory = "../../acct";
    assert_int_equal(refused(&node, &m, &f).code, FAIL_FILE_SERVER_MOUNT_ERROR);
}

MOUNT_TEST(test_file_servers_that_nobody_serves_are_refused)
{
    struct mount_node node = machine(NULL, 0);
    struct file_server f = server("fs");
    struct mount_volume m = {.kind = MOUNT_FILE_SERVER, .source = "id", .relative_path = "x"};
    node.local_nodes = 1; /* what the daemon serves itself, a machine cannot reach */
    struct failure why = refused(&node, &m, &f);
    assert_int_equal(why.code, FAIL_FILE_SERVER_NOT_CONFIGURED);
    assert_says(why.remedy, "  - name: fs\n");
    assert_int_equal(refused(&node, &m, NULL).code, FAIL_FILE_SERVER_NOT_FOUND);
    node.site = &served;
    f = server("own");
    f.prov_state = PROV_CREATING;
    assert_says(refused(&node, &m, &f).message, "being set up");
}

/* --- the shell's part ------------------------------------------------------------------------- */

static const char *const nasty[] = {"plain",      "two words",
                                    "it's",       "$HOME `id` $(id)",
                                    "\"quoted\"", "back\\slash",
                                    "-dash",      "semi;colon & | > <",
                                    "*",          "ü"};

static const char *content(const char *file)
{
    char *text;
    struct err e;
    if (fs_read(file, 1 << 16, &text, NULL, &e) != 0)
        return "";
    const char *copy = arena_strdup(&a, text);
    free(text);
    return copy;
}

MOUNT_TEST(test_quoting_survives_the_shell)
{
    char dir[] = "/tmp/batchaid-mount-XXXXXX";
    struct err e;
    assert_non_null(mkdtemp(dir));
    const char *out = arena_printf(&a, "%s/out", dir);
    for (size_t i = 0; i < COUNT(nasty); i++) {
        assert_int_equal(shell(arena_printf(&a, "printf %%s %s", shell_quoted(&a, nasty[i])), out),
                         0);
        assert_string_equal(content(out), nasty[i]);
    }
    assert_int_equal(fs_remove_tree(dir, &e), 0);
}

/* Runs a script with `bin` first in PATH; its exit code. */
static int run(const char *bin, const char *with, const char *script)
{
    return shell(arena_printf(&a, "PATH=%s:$PATH %s -c %s", bin, with, shell_quoted(&a, script)),
                 NULL);
}

/* Stands in for mount(8), as this kernel has neither NFS nor CIFS: writes its arguments down, then
 * puts a tmpfs at the last one, as a mount that worked would be there. */
static const char stub[] = "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\"${0%/*}/said\"\n"
                           "for last; do :; done\nexec /bin/mount -t tmpfs stub \"$last\"\n";

static const char *make_folder(char *dir)
{
    struct err e;
    assert_non_null(mkdtemp(dir));
    const char *bin = arena_printf(&a, "%s/bin", dir), *mount = arena_printf(&a, "%s/mount", bin);
    assert_int_equal(fs_mkdirs(bin, 0755, &e), 0);
    assert_int_equal(fs_write_atomic(mount, stub, strlen(stub), 0755, &e), 0);
    return bin;
}

static const char *said(const char *bin)
{
    return content(arena_printf(&a, "%s/said", bin));
}

MOUNT_TEST(test_nfs_and_cifs_command_lines_reach_a_recording_stub_of_mount)
{
    char dir[] = "/tmp/batchaid-mount-XXXXXX";
    struct err e;
    const char *bin = make_folder(dir);
    if (!may_mount()) {
        assert_int_equal(fs_remove_tree(dir, &e), 0);
        skip_because("not allowed to mount");
    }
    for (size_t i = 0; i < COUNT(nasty); i++) {
        bool cifs = i % 2;
        struct site_mount_rule rule = {.files = true,
                                       .type = cifs ? SITE_MOUNT_CIFS : SITE_MOUNT_NFS,
                                       .source = cifs ? "//nas/{share}" : "nas:/{share}",
                                       .options = "x=$y"};
        struct mount_node node = machine(&rule, 1);
        node.root = dir;
        node.mount_root = arena_printf(&a, "%s/m", dir);
        node.work_dir = arena_printf(&a, "%s/work", dir);
        struct mount_volume m = share();
        m.relative_path = nasty[i];
        struct mount_plan plan = planned(&node, &m, NULL);
        for (int again = 0; again < 2; again++) /* the second time there is nothing to do */
            assert_int_equal(run(bin, i % 3 ? "/bin/sh" : "/bin/bash", plan.command), 0);
        const char *options =
            cifs ? arena_printf(&a,
                                "vers=3.0,serverino,dir_mode=0750,file_mode=0640,credentials=%s/"
                                "0.credentials,x=$y",
                                node.work_dir)
                 : "x=$y";
        assert_string_equal(said(bin),
                            arena_printf(&a, "-t\n%s\n-o\n%s\n%s\n%s\n", cifs ? "cifs" : "nfs",
                                         options, cifs ? "//nas/data" : "nas:/data", plan.target));
        assert_int_equal(unlink(arena_printf(&a, "%s/said", bin)), 0);
        const char *gone = unmount_script(&a, dir, plan.target, "umount \"$target\"");
        assert_int_equal(run(bin, "/bin/sh", gone), 0);
        assert_int_equal(run(bin, "/bin/sh", gone), 0);
    }
    assert_int_equal(fs_remove_tree(dir, &e), 0);
}

MOUNT_TEST(test_a_command_that_mounts_nothing_fails)
{
    char dir[] = "/tmp/batchaid-mount-XXXXXX";
    struct err e;
    const char *bin = make_folder(dir), *target = arena_printf(&a, "%s/m/x", dir),
               *file = arena_printf(&a, "%s/key", dir);
    assert_int_equal(fs_write_atomic(file, "k", 1, 0600, &e), 0);
    assert_int_equal(run(bin, "/bin/sh", mount_script(&a, dir, target, "exit 7", file, NULL)), 7);
    assert_int_not_equal(access(file, F_OK), 0); /* the key went with it */
    assert_int_equal(run(bin, "/bin/sh", mount_script(&a, dir, target, "true", NULL, NULL)), 1);
    assert_int_equal(symlink(bin, arena_printf(&a, "%s/link", dir)), 0);
    target = arena_printf(&a, "%s/link/x", dir);
    assert_int_equal(
        run(bin, "/bin/sh", mount_script(&a, dir, target, "touch \"$root/ran\"", NULL, NULL)), 1);
    assert_int_not_equal(access(arena_printf(&a, "%s/ran", dir), F_OK), 0);
    assert_int_equal(fs_remove_tree(dir, &e), 0);
}
