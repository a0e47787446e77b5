/* SPDX-License-Identifier: MIT
 *
 * The programs that speak to a container runtime, with a recorder in the runtime's place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "shell.h"
#include "test/unit/support/says.h"
#include "test/unit/support/skip.h"

static struct arena a;
static char dir[] = "/tmp/batchaid-container-XXXXXX";

/* Notes its arguments in `said`; says what `answer` holds; fails as the file `broken` says, and
 * hangs as `hangs` says: once, or as long as `always` is there. */
static const char runtime[] = "#!/bin/sh\n"
                              "cd %s && echo \"$@ config=$DOCKER_CONFIG\" >>said\n"
                              "if grep -qsx \"$1\" hangs; then\n"
                              "    [ -e always ] || rm hangs\n"
                              "    exec sleep 1000\n"
                              "fi\n"
                              "case $1 in inspect) exit 1 ;; ps) cat answer ;; esac\n"
                              "! grep -qsx \"$1\" broken\n";

static const char *path(const char *rest)
{
    return arena_printf(&a, "%s/%s", dir, rest);
}

static void put(const char *name, const char *text, mode_t mode)
{
    struct err e;
    assert_int_equal(fs_write_atomic(path(name), text, strlen(text), mode, &e), 0);
}

static const char *said(void)
{
    char *text;
    if (fs_read(path("said"), 1 << 20, &text, NULL, NULL) != 0)
        return "";
    const char *copy = arena_strdup(&a, text);
    free(text);
    return copy;
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&a);
    memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(shell(arena_printf(&a,
                                        "mkdir -p %s/bin %s/root/mounts %s/root/jobs/j/mounts "
                                        "%s/share",
                                        dir, dir, dir, dir),
                           NULL),
                     0);
    put("bin/docker", arena_printf(&a, runtime, dir), 0755);
    put("bin/podman", "#!/bin/sh\n", 0755);
    put("answer", "", 0600);
    return 0;
}

/* What tests set in the environment, which the programs read. */
static const char *const variables[] = {"AS",
                                        "BATCHAI_BINDS",
                                        "BATCHAI_COMMAND",
                                        "BATCHAI_ENV_FILE",
                                        "BATCHAI_NARROW",
                                        "BATCHAI_OPTIONS",
                                        "BATCHAI_PATIENCE_S",
                                        "BATCHAI_WORK_DIR",
                                        "DEV",
                                        "DEVICES",
                                        "FILES",
                                        "GPUS",
                                        "PULL",
                                        "SERVER",
                                        "TMPDIR",
                                        "WHO"};

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    (void)shell(arena_printf(&a, "umount %s/root/mounts/data; rm -rf %s", dir, dir), NULL);
    arena_free(&a);
    return 0;
}

static const char *command_of(const char *program)
{
    return arena_printf(
        &a,
        "PATH=%s/bin:$PATH BATCHAI_RUNTIME=docker BATCHAI_CONTAINER=batchai-g-1-r0 BATCHAI_IMAGE=i "
        "BATCHAI_ROOT=%s/root BATCHAI_JOB_DIR=%s/root/jobs/j BATCHAI_USER=$WHO "
        "BATCHAI_WHO=${AS:-${WHO:+account}} BATCHAI_FILES_AS=7:7 "
        "BATCHAI_PULL=\"${PULL-i}\" BATCHAI_SERVER=\"$SERVER\" "
        "BATCHAI_REGISTRY_USER=u BATCHAI_REGISTRY_PASSWORD=s3cret BATCHAI_SHM_SIZE= "
        "BATCHAI_MEMORY=0 BATCHAI_CPUS=0 BATCHAI_PROCESSES=0 BATCHAI_OPEN_FILES=0 "
        "BATCHAI_GPUS=${GPUS-0} BATCHAI_DEVICES=${DEVICES-all} BATCHAI_GPU_FILES=\"$FILES\" "
        "BATCHAI_DEV=${DEV-/dev} "
        "sh scheduler/fleet/container/programs/%s.sh",
        dir, dir, dir, program);
}

/* The shell does this well. */
__attribute__((format(printf, 1, 2))) static void must(const char *format, ...)
{
    char command[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(shell(command, NULL), 0);
}

static int run(const char *program)
{
    return shell(command_of(program), NULL);
}

static void starts(void)
{
    assert_int_equal(run("start"), 0);
}

static bool is_given(const char *folder)
{
    return strstr(said(), arena_printf(&a, "source=%s,target=%s ", folder, folder)) != NULL;
}

#define RUNTIME_TEST(name) TEST_SETUP(name, set_up, tear_down)

RUNTIME_TEST(test_folders_that_mounts_lead_to_are_in_the_container)
{
    assert_int_equal(symlink(path("share"), path("root/mounts/share")), 0);
    starts();
    assert_true(is_given(path("root")));
    assert_true(is_given(path("share")));
}

RUNTIME_TEST(test_a_container_starts_while_the_last_one_goes_and_takes_the_folder_along)
{
    put("bin/chmod",
        arena_printf(&a,
                     "#!/bin/sh\n"
                     "[ -e %s/gone ] || { : >%s/gone; rmdir %s/root/containers; }\n"
                     "exec /bin/chmod \"$@\"\n",
                     dir, dir, dir),
        0755);
    starts();
    assert_int_equal(access(path("gone"), F_OK), 0);
    assert_int_equal(access(path("root/containers/batchai-g-1-r0"), F_OK), 0);
}

/* As the runtime goes on when whoever asked it to start one was killed. */
RUNTIME_TEST(test_a_container_that_begins_after_its_node_has_gone_ends)
{
    put("bin/docker",
        arena_printf(&a,
                     "#!/bin/sh\n[ \"$1 $2\" = \"run -d\" ] || exit 0\n"
                     "while [ \"$1\" != -c ]; do shift; done\n"
                     "rm -r %s/root/containers\nexec timeout -s KILL 5 /bin/sh \"$@\"\n",
                     dir),
        0755);
    starts();
}

RUNTIME_TEST(test_a_container_that_cannot_start_leaves_nothing)
{
    setenv("TMPDIR", path("tmp"), 1);
    assert_int_equal(mkdir(path("tmp"), 0700), 0);
    assert_int_equal(mkdir(path("a,b"), 0755), 0);
    assert_int_equal(symlink(path("a,b"), path("root/mounts/odd")), 0);
    assert_int_not_equal(run("start"), 0);
    assert_int_equal(rmdir(path("tmp")), 0); /* it is empty */
}

/* Whoever writes to a share could else have any folder of the machine. */
RUNTIME_TEST(test_links_in_what_is_mounted_are_not_followed)
{
    if (!may_mount())
        skip_because("not allowed to mount");
    assert_int_equal(mkdir(path("root/mounts/data"), 0755), 0);
    must("mkdir -p %s/share/deep; ln -s /etc %s/share/deep/etc", dir, dir);
    must("mount --bind %s/share %s/root/mounts/data", dir, dir);
    starts();
    assert_true(is_given(path("root")));
    assert_false(is_given("/etc"));
}

RUNTIME_TEST(test_the_jobs_user_gains_no_rights_by_programs_of_the_image)
{
    setenv("WHO", "somebody", 1);
    starts();
    assert_says(said(), "--security-opt no-new-privileges");
    unlink(path("said"));
    unsetenv("WHO");
    starts();
    assert_says_not(said(), "no-new-privileges");
}

static bool has_login(void)
{
    return shell(arena_printf(&a, "find %s/root -name '*.login' | grep -q .", dir), NULL) == 0;
}

/* The job's directory belongs to the run's account. */
RUNTIME_TEST(test_credentials_are_kept_outside_of_the_jobs_directory_and_only_while_pulling)
{
    put("broken", "image\nlogin\n", 0600); /* the image is not there, and nobody is let in */
    assert_int_not_equal(run("pull"), 0);
    assert_says(said(), arena_printf(&a, "config=%s/root/containers/batchai-g-1-r0.login", dir));
    assert_says_not(said(), "s3cret");
    assert_false(has_login());
    assert_int_not_equal(access(path("root/containers"), F_OK), 0);
}

static void kill_a_pull(void)
{
    put("broken", "image\n", 0600);
    put("hangs", "pull\n", 0600);
    put("always", "", 0600);
    assert_int_not_equal(
        shell(arena_printf(&a,
                           "setsid sh -c '%s' & n=$!; "
                           "until grep -q ^pull %s/said; do sleep 0.05; done; kill -9 -$n; wait $n",
                           command_of("pull"), dir),
              NULL),
        0);
    unlink(path("hangs"));
    unlink(path("said"));
    assert_true(has_login());
}

RUNTIME_TEST(test_credentials_of_a_killed_pull_are_removed_with_the_container_or_by_the_sweep)
{
    kill_a_pull();
    assert_int_equal(run("remove"), 0);
    assert_false(has_login());
    kill_a_pull();
    put("broken", "ps\n", 0600); /* no runtime answers */
    (void)run("sweep");
    assert_false(has_login());
}

/* What a client said never becomes an option of docker or podman, and never several arguments. */
RUNTIME_TEST(test_names_are_no_options)
{
    put("broken", "image\n", 0600);
    setenv("PULL", "--tls-verify=false x", 1);
    setenv("SERVER", "--authfile=/tmp/x --tls-verify=false", 1);
    assert_int_equal(run("pull"), 0);
    assert_says(said(), "login -u u --password-stdin -- --authfile=/tmp/x --tls-verify=false",
                "pull -- --tls-verify=false x", "image inspect -- i");
    unsetenv("PULL");
    unsetenv("SERVER");
    unlink(path("said"));
    assert_int_equal(run("pull"), 0);
    assert_says(said(), "login -u u --password-stdin -- config"); /* the runtime's own registry */
    starts();
    assert_says(said(), "--entrypoint /bin/sh -- i -c");
}

/* As docker reads it: the list is one value, so it has quotes of its own. */
RUNTIME_TEST(test_a_container_has_the_gpus_of_its_job_alone)
{
    put("bin/nvidia-container-cli", "#!/bin/sh\n", 0755);
    setenv("GPUS", "2", 1);
    starts();
    assert_says(said(), " --gpus all ");
    unlink(path("said"));
    setenv("DEVICES", "0,2", 1);
    starts();
    assert_says(said(), " --gpus \"device=0,2\" ");
    unlink(path("said"));
    setenv("GPUS", "0", 1);
    setenv("DEVICES", "", 1);
    starts();
    assert_says_not(said(), "--gpus");
    assert_says(said(), " -e NVIDIA_VISIBLE_DEVICES=void ");
}

/* Devices of a machine, as far as a program looks at them. */
static void put_devices(void)
{
    must(
        "mkdir -p %s/dev/dri && cd %s/dev && for i in nvidia0 nvidia1 nvidiactl kfd dri/renderD128 "
        "dri/renderD129; do ln -s /dev/null $i; done",
        dir, dir);
    setenv("DEV", path("dev"), 1);
    setenv("GPUS", "1", 1);
    setenv("DEVICES", "0", 1);
}

static bool has_device(const char *name)
{
    return strstr(said(), arena_printf(&a, " --device %s/dev/%s ", dir, name)) != NULL;
}

/* The driver numbers its devices otherwise than the GPUs on the bus. */
RUNTIME_TEST(test_a_gpu_without_a_toolkit_is_its_own_device)
{
    put_devices();
    setenv("FILES", "nvidia1", 1);
    starts();
    assert_true(has_device("nvidia1") && has_device("nvidiactl"));
    assert_false(has_device("nvidia0") || has_device("kfd"));
    unlink(path("said"));
    setenv("DEVICES", "all", 1);
    setenv("FILES", "nvidia1 nvidia0", 1);
    starts();
    assert_true(has_device("nvidia0") && has_device("nvidia1"));
}

RUNTIME_TEST(test_gpus_of_amd_are_devices)
{
    put_devices();
    put("bin/nvidia-container-cli", "#!/bin/sh\n", 0755);
    setenv("FILES", "dri/renderD129", 1);
    starts();
    assert_true(has_device("kfd") && has_device("dri/renderD129"));
    assert_false(has_device("dri/renderD128") || has_device("nvidia0"));
    assert_says_not(said(), "--group-add"); /* everybody may open them */
    unlink(path("said"));
    put("bin/stat", "#!/bin/sh\necho 660 44\n", 0755);
    starts();
    assert_says(said(), " --group-add 44 ");
    unlink(path("bin/stat"));
    unlink(path("said"));
    setenv("FILES", "nvidia0 dri/renderD128", 1);
    starts();
    assert_says(said(), " --gpus \"device=0\" ");
    assert_true(has_device("dri/renderD128"));
    setenv("GPUS", "0", 1);
    setenv("DEVICES", "", 1);
    setenv("FILES", "", 1);
    unlink(path("said"));
    starts();
    assert_false(has_device("kfd"));
}

static void narrow(const char *binds)
{
    setenv("BATCHAI_NARROW", "1", 1);
    setenv("BATCHAI_BINDS", binds, 1);
    starts();
}

static bool is_read_only(const char *folder)
{
    return strstr(said(), arena_printf(&a, "target=%s,readonly ", folder)) != NULL;
}

RUNTIME_TEST(test_a_narrow_container_has_what_is_named_and_what_it_needs_to_run)
{
    must("mkdir -p %s/root/b/task/wd %s/root/b/else", dir, dir);
    setenv("BATCHAI_WORK_DIR", path("root/b/task/wd"), 1);
    narrow(arena_printf(&a, "rw %s\nro %s\n", path("root/b/task"), path("root/b/else")));
    assert_false(is_given(path("root")));
    assert_true(is_given(path("root/b/task")));
    assert_true(is_read_only(path("root/b/else")));
    assert_true(is_read_only(path("root/jobs/j"))); /* its environment */
    assert_true(is_read_only(path("root/containers")));
    assert_false(is_given(path("root/b/task/wd")));
    unlink(path("said"));
    narrow("");
    assert_says(said(),
                arena_printf(&a, "source=%s,target=%s ", path("root/containers/batchai-g-1-r0.wd"),
                             path("root/b/task/wd")));
    assert_int_equal(run("remove"), 0);
    assert_int_not_equal(access(path("root/containers"), F_OK), 0);
}

/* A runtime makes only the folder itself read-only. */
RUNTIME_TEST(test_volumes_below_a_read_only_folder_are_read_only)
{
    if (!may_mount())
        skip_because("not allowed to mount");
    assert_int_equal(mkdir(path("root/mounts/data"), 0755), 0);
    assert_int_equal(symlink(path("share"), path("root/mounts/share")), 0);
    must("mount --bind %s/share %s/root/mounts/data", dir, dir);
    narrow(arena_printf(&a, "ro %s\n", path("root/mounts")));
    assert_true(is_read_only(path("root/mounts")));
    assert_true(is_read_only(path("root/mounts/data")));
    assert_true(is_read_only(path("share")));
}

/* A task may have put it there. */
RUNTIME_TEST(test_a_link_in_the_place_of_a_named_folder_is_refused)
{
    assert_int_equal(symlink("/etc", path("root/shared")), 0);
    setenv("BATCHAI_NARROW", "1", 1);
    setenv("BATCHAI_BINDS", arena_printf(&a, "rw %s\n", path("root/shared")), 1);
    assert_int_not_equal(run("start"), 0);
    assert_says_not(said(), "run -d");
}

/* The runtime takes what follows a comma for one more option of the mount. */
RUNTIME_TEST(test_a_folder_with_a_comma_is_refused)
{
    const char *folder = path("share,readonly");
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(symlink(folder, path("root/mounts/share")), 0);
    assert_int_not_equal(run("start"), 0);
    assert_says_not(said(), "run -d");
}

/* Nobody could find them later: they have no names. */
RUNTIME_TEST(test_volumes_of_the_image_go_with_its_container)
{
    static const char *const programs[] = {"start", "remove", "sweep"};
    put("answer", "4711\n", 0600);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        unlink(path("said"));
        (void)mkdir(path("root/containers"), 0755); /* the last container takes it along */
        (void)run(programs[i]);
        assert_says(said(), "rm -f -v ");
    }
}

RUNTIME_TEST(test_a_container_that_cannot_be_removed_is_told)
{
    put("answer", "4711\n", 0600);
    assert_int_equal(run("remove"), 0);
    put("broken", "rm\n", 0600);
    assert_int_not_equal(run("remove"), 0);
    assert_int_equal(mkdir(path("root/containers"), 0755), 0);
    assert_int_not_equal(run("sweep"), 0);
    unlink(path("broken"));
    assert_int_equal(run("sweep"), 0);
    assert_int_not_equal(access(path("root/containers"), F_OK), 0);
}

/* What start.sh leaves. */
static void put_mark(void)
{
    mkdir(path("root/containers"), 0755);
    put("root/containers/batchai-g-1-r0", "", 0600);
}

static void hangs(const char *command, bool always)
{
    put("hangs", command, 0600);
    if (always)
        put("always", "", 0600);
    setenv("BATCHAI_PATIENCE_S", "1", 1);
}

RUNTIME_TEST(test_a_runtime_that_hangs_once_is_asked_again)
{
    put("answer", "4711\n", 0600);
    put_mark();
    hangs("ps\n", false);
    assert_int_equal(run("remove"), 0);
    assert_says(said(), "rm -f -v 4711");
    hangs("rm\n", false);
    assert_int_equal(run("remove"), 0);
}

RUNTIME_TEST(test_a_runtime_that_hangs_holds_up_nobody_for_ever)
{
    put_mark();
    hangs("ps\n", true);
    assert_int_not_equal(run("remove"), 0);
    assert_int_not_equal(run("sweep"), 0);
    put("answer", "4711\n", 0600);
    hangs("rm\n", true);
    assert_int_not_equal(run("sweep"), 0);
    assert_int_equal(access(path("root/containers/batchai-g-1-r0"), F_OK), 0);
    unlink(path("hangs"));
    assert_int_equal(run("remove"), 0);
}

/* docker and podman take long to answer. */
RUNTIME_TEST(test_a_runtime_is_not_asked_for_containers_where_none_was_started)
{
    put("answer", "4711\n", 0600);
    put("broken", "rm\n", 0600);
    assert_int_equal(run("sweep"), 0);
}

/* Of a runtime that hangs or fails it is not known that the container is gone. */
RUNTIME_TEST(test_a_runtime_that_does_not_answer_is_no_sign_that_the_container_is_gone)
{
    assert_int_equal(run("remove"), 0);
    put("broken", "ps\n", 0600);
    assert_int_equal(run("remove"), 0); /* none was started */
    put_mark();
    assert_int_not_equal(run("remove"), 0);
    assert_int_equal(run("sweep"), 0);
    assert_int_equal(access(path("root/containers"), F_OK), 0); /* it is asked again */
}

RUNTIME_TEST(test_options_of_the_job_come_first)
{
    setenv("BATCHAI_OPTIONS", "'--env' 'A=it'\\''s $HOME'", 1);
    starts();
    assert_says(said(), "run -d --rm --network host --env A=it's $HOME --name ");
    unlink(path("said"));
    setenv("BATCHAI_OPTIONS", "'--network' 'none'", 1);
    starts();
    assert_says(said(), "run -d --rm --network none --name ");
    assert_says_not(said(), "--network host");
}

/* Each line of the answer is a word, as the numbers of its bytes. */
RUNTIME_TEST(test_without_a_command_the_image_decides)
{
    put("bin/docker",
        arena_printf(
            &a,
            "#!/bin/sh\ncase $1 in image) printf 'word 0x70\\nword \\nword 0x61 0xa\\n' ;; "
            "*) printf '<%%s>' \"$@\" >%s/said ;; esac\n",
            dir),
        0755);
    setenv("BATCHAI_ENV_FILE", "/e", 1);
    assert_int_equal(run("exec"), 0);
    assert_memory_equal(said(), "<exec><batchai-g-1-r0></bin/sh><-c><", 36);
    assert_says(said(), ". \"$0\"; exec \"$@\"></e><p><><a\n>");
    setenv("BATCHAI_COMMAND", "echo $A", 1);
    setenv("BATCHAI_WORK_DIR", "/w", 1);
    assert_int_equal(run("exec"), 0);
    assert_says(said(), "<exec><-w></w><batchai-g-1-r0></bin/sh><-c>", "</e><echo $A><>");
}

/* The image's user is `app`; looking that name up in the image goes as `lookup` says. */
static int start_as_the_images_user(const char *lookup)
{
    put("bin/docker",
        arena_printf(&a,
                     "#!/bin/sh\ncd %s && echo \"$@\" >>said\n"
                     "case \"$1 $2\" in\n"
                     "\"inspect \"*) exit 1 ;;\n"
                     "\"image inspect\") echo app ;;\n"
                     "\"run --rm\") n=$(cat n 2>/dev/null); echo 1$n >n; %s ;;\n"
                     "esac\n",
                     dir, lookup),
        0755);
    setenv("AS", "rootless", 1);
    return shell(arena_printf(&a, "{ %s; } 2>%s/errors", command_of("start"), dir), NULL);
}

RUNTIME_TEST(test_a_user_of_the_image_is_looked_up_again_if_the_answer_is_lost)
{
    assert_int_equal(start_as_the_images_user("[ -z \"$n\" ] || echo '7 8 /home/app'"), 0);
    assert_says(said(), "run -d");
}

RUNTIME_TEST(test_a_user_of_the_image_that_cannot_be_looked_up_fails_with_the_runtimes_words)
{
    char *errors;
    assert_int_equal(start_as_the_images_user("echo 'no such storage' >&2; exit 125"), 1);
    assert_int_equal(fs_read(path("errors"), 1 << 20, &errors, NULL, NULL), 0);
    assert_says(errors, "no such storage");
    free(errors);
    assert_says_not(said(), "run -d");
}
