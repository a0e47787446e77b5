/* SPDX-License-Identifier: MIT
 *
 * A node without room: what runs is told of to its end, and what could not be is not begun.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "lib/strbuf.h"
#include "test/unit/nodeagent-proto/link/fixture.h"

/* Puts a small disk at the root, for this process and its children alone. */
static void mount_small_disk(struct fixture *f)
{
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", f->root, "tmpfs", 0, "size=512k,mode=0700") < 0) {
        skip_because("a small disk cannot be mounted: %s", strerror(errno));
    }
}

static void unmount_small_disk(struct fixture *f)
{
    close_link(f);
    assert_int_equal(umount2(f->root, MNT_DETACH), 0);
}

static void fill_disk(struct fixture *f)
{
    static const char block[4096];
    int fd = open(in_root(f, "filler"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    while (write(fd, block, sizeof block) > 0)
        ;
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

static bool is_there(struct fixture *f, const char *relative)
{
    char *path = in_root(f, relative);
    struct stat st;
    bool there = lstat(path, &st) == 0;
    return there;
}

static bool any_record(struct fixture *f, const char *id)
{
    static const char *const suffixes[] = {"claim", "start", "exit", "start.room", "exit.room"};
    bool any = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "tasks/%s.%s", id, suffixes[i]);
        any = any || is_there(f, name);
    }
    return any;
}

static void try_to_start(struct fixture *f, const char *id)
{
    start_with(f, id, "exit 5", NULL, 0);
    WAIT(f, f->run_answers == 1);
}

static char disk_error[100];

static void on_health(void *ctx, const struct err *why, const struct node_health *h)
{
    keep_why(ctx, why);
    assert_non_null(h);
    snprintf(disk_error, sizeof disk_error, "%s", h->disk_error);
}

LINK_TEST(test_health_says_why_nothing_can_be_written)
{
    mount_small_disk(f);
    open_ready(f);
    ASK(f, node_health(f->link, on_health, f));
    assert_string_equal(disk_error, "");
    fill_disk(f);
    ASK(f, node_health(f->link, on_health, f));
    assert_string_equal(disk_error, "No space left on device");
    assert_int_equal(unlink(in_root(f, "filler")), 0);
    ASK(f, node_health(f->link, on_health, f));
    assert_string_equal(disk_error, "");
    assert_false(is_there(f, ".writable"));
    assert_int_equal(mount("tmpfs", f->root, "tmpfs", MS_RDONLY, NULL), 0);
    ASK(f, node_health(f->link, on_health, f));
    assert_string_equal(disk_error, "Read-only file system");
    assert_int_equal(umount(f->root), 0);
    unmount_small_disk(f);
}

LINK_TEST(test_end_on_a_full_disk)
{
    mount_small_disk(f);
    open_ready(f);
    /* The longest tail there is, each byte of it six in the record. */
    start(f, "runs",
          "head -c 4000 /dev/zero | tr '\\0' '\\1' >&2; echo up; "
          "until [ -e ../go ]; do sleep 0.01; done; exit 7");
    WAIT(f, file_has(f, "out/stdout.txt", "up\n"));
    fill_disk(f);
    char *go = in_root(f, "work/go"), *filler = in_root(f, "filler");
    int fd = open(go, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(nth_end(f, 1)->s.state, TASK_EXITED);
    assert_int_equal(f->ended[0].s.exit_code, 7);
    assert_int_equal(strlen(f->ended[0].tail), NODE_TAIL_MAX);

    close_link(f); /* it is on disk: the next agent knows it too */
    open_ready(f);
    assert_int_equal(nth_end(f, 1)->s.exit_code, 7);

    fill_disk(f); /* the rest of the room that was kept */
    try_to_start(f, "next");
    assert_why(f, ERR_IO, "No space left on device");
    assert_false(any_record(f, "next"));
    assert_int_equal(unlink(filler), 0);
    try_to_start(f, "next");
    assert_string_equal(f->why.msg, "");
    assert_int_equal(nth_end(f, 2)->s.exit_code, 5);
    unmount_small_disk(f);
}

/* Needs no rights: the agent may not make files as big as the room that a task needs. */
LINK_TEST(test_no_room_no_start)
{
    struct strbuf script = STRBUF_INIT;
    struct err e;
    char *limited = in_root(f, "limited-agent");
    strbuf_printf(&script, "#!/bin/bash\nulimit -f 8\nexec %s \"$@\"\n", f->agent);
    assert_int_equal(fs_write_atomic(limited, script.s, script.len, 0700, &e), 0);
    snprintf(f->agent, sizeof f->agent, "%s", limited);
    open_ready(f);
    try_to_start(f, "big");
    assert_why(f, ERR_IO, "cannot keep");
    assert_says(f->why.msg, "File too large");
    assert_false(any_record(f, "big"));
    assert_false(is_there(f, "out/stdout.txt"));
    ASK(f, node_tasks(f->link, on_tasks, f)); /* the agent lives */
    assert_int_equal(f->n_tasks, 0);
    strbuf_free(&script);
}
