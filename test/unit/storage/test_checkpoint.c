/* SPDX-License-Identifier: MIT
 *
 * Checkpoints: the WAL starts over under a steady stream of writes, beside others that hold its
 * locks, and on a disk that it has filled.
 */
#include <sqlite3.h>

#include "test/unit/storage/fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void add_page_fillers(struct fx *f, int turn)
{
    char doc[3000];
    memset(doc, 'y', sizeof doc - 1);
    doc[sizeof doc - 1] = '\0';
    for (int k = 0; k < 50; k++) {
        struct job j = fx_job(f, arena_printf(&f->a, "job%d-%d", turn, k));
        j.doc = doc;
        int64_t id;
        ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
    }
}

/* The WAL starts over although there is no pause in the writing. */
DB_TEST(test_the_wal_starts_over)
{
    int turn = 0, before;
    do {
        assert_in_range(turn, 0, 2000); /* 126,000 frames */
        before = f->st->wal_frames;
        add_page_fillers(f, turn++);
        assert_false(fx_flush(f).failed);
    } while (f->st->wal_frames >= before);
    assert_true(before >= 1000);
    int64_t n; /* each of these jobs wants one node */
    ok(f, st_run_queue_demand(f->st, f->cluster, 1000, &n, &f->e));
    assert_int_equal(n, turn * 50);
    fx_reopen(f);
    ok(f, st_run_queue_demand(f->st, f->cluster, 1000, &n, &f->e));
    assert_int_equal(n, turn * 50);
}

/* SQLite's lock of whoever moves pages, WAL_CKPT_LOCK, is a byte of the file beside the WAL. */
static pid_t somebody_else_checkpoints(struct fx *f)
{
    char shm[128];
    snprintf(shm, sizeof shm, "%s-shm", f->db);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 121, .l_len = 1};
        int fd = open(shm, O_RDWR);
        if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    close(ready[1]);
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void write_until_a_checkpoint_ended(struct fx *f, int *turn)
{
    for (bool begun = false; !begun; begun = f->st->checkpointing) {
        assert_in_range(*turn, 0, 500);
        add_page_fillers(f, (*turn)++);
        fx_flush(f);
    }
    while (f->st->checkpointing)
        uv_run(&f->loop, UV_RUN_ONCE);
}

DB_TEST(test_a_checkpoint_beside_another_is_put_off)
{
    int turn = 0;
    pid_t other = somebody_else_checkpoints(f);
    write_until_a_checkpoint_ended(f, &turn);
    assert_int_equal(st_counters(f->st)->checkpoints, 0);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    write_until_a_checkpoint_ended(f, &turn);
    assert_true(st_counters(f->st)->checkpoints > 0);
    char path[96], *text;
    snprintf(path, sizeof path, "%s/log", f->dir);
    ok(f, fs_read(path, 1 << 20, &text, NULL, &f->e));
    assert_says_not(text, "db.checkpoint_failed");
    free(text);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit r;
    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* What fills the disk is the WAL: its pages are moved, and then there is room again. */
DB_TEST(test_a_full_disk_is_written_again_once_the_wal_is_cut)
{
    struct stat db, wal;
    char path[128];
    snprintf(path, sizeof path, "%s-wal", f->db);
    signal(SIGXFSZ, SIG_IGN);
    fx_flush(f);
    assert_int_equal(stat(f->db, &db), 0);
    limit_file_size((rlim_t)db.st_size + 400000); /* fewer pages than a checkpoint waits for */
    bool failed = false;
    for (int turn = 0; !failed; turn++) {
        assert_in_range(turn, 0, 1000);
        fx_add_job(f, arena_printf(&f->a, "job%d", turn));
        failed = fx_flush(f).failed;
    }
    assert_true(f->st->sheds_wal);
    while (f->st->sheds_wal) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        st_turn_end(f->st);
    }
    assert_int_equal(stat(path, &wal), 0);
    assert_int_equal(wal.st_size, 0);
    fx_add_job(f, "later");
    assert_false(fx_flush(f).failed);
    limit_file_size(RLIM_INFINITY);
    struct job j;
    fx_reopen(f);
    found(f, st_job_get(f->st, &f->a, f->experiment, "job0", &j, &f->e));
    found(f, st_job_get(f->st, &f->a, f->experiment, "later", &j, &f->e));
}
