/* SPDX-License-Identifier: MIT
 *
 * Uncommitted blocks: the service drops the blocks of a blob a week after the last put. They are
 * searched at each start and once a day, on a worker. The rows of such blobs are removed some days
 * later.
 *
 * <storage_dir>/ACCOUNT/.blocks/SHARE/BLOB/BLOCK
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/spec.h"
#include "scheduler/wake/wake.h"
#include "storage/folders/files.h"
#include "storage/shares/shares_priv.h"
#include "storage/storage.h"

#define SECOND_US INT64_C(1000000)
#define LEVELS    3 /* below .blocks: shares, blobs, blocks */
/* A row is removed after the blocks, because it may be older than they are, and blocks are swept
 * once a day. */
#define ROW_KEPT_US   (SWEEP_AFTER_US + ST_UNCOMMITTED_NEW_US + SWEEP_EVERY_US)
#define ROWS_PER_PASS 1000 /* some milliseconds */

struct block_sweep {
    struct shares *sh;
    struct wakes *wakes;
    char *root;
    int64_t before_us;
    int64_t blobs; /* blobs that lost their blocks */
};

/* --- on a worker ------------------------------------------------------------------------------ */

DIR *sweep_open(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    return d;
}

const char *sweep_next(DIR *d)
{
    const struct dirent *de;
    while ((de = readdir(d)) != NULL)
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            return de->d_name;
    return NULL;
}

/* When a block was written: the earlier of mtime and ctime, because a blob whose times are ahead of
 * the clock gives its blocks a later mtime. */
static int64_t written_s(const struct stat *st)
{
    return st->st_mtim.tv_sec < st->st_ctim.tv_sec ? st->st_mtim.tv_sec : st->st_ctim.tv_sec;
}

/* Whether the directory and all its files were written before `before_us`. */
static bool is_old(DIR *d, int64_t before_us)
{
    struct stat st;
    bool old = fstat(dirfd(d), &st) == 0 && written_s(&st) < before_us / SECOND_US;
    for (const char *name; old && (name = sweep_next(d));)
        old = fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
              written_s(&st) < before_us / SECOND_US;
    rewinddir(d);
    return old;
}

/* Removes the directory of one blob, unless a block is put into it meanwhile. */
static void sweep_blob(struct block_sweep *s, DIR *blob, int above, const char *name)
{
    if (!is_old(blob, s->before_us))
        return;
    for (const char *block; (block = sweep_next(blob));)
        unlinkat(dirfd(blob), block, 0);
    s->blobs += unlinkat(above, name, AT_REMOVEDIR) == 0;
}

/* Handles a directory `level` levels above the blocks. */
static void sweep_below(struct block_sweep *s, int above, const char *name, int level)
{
    DIR *d = sweep_open(above, name);
    if (!d)
        return;
    if (level == 1)
        sweep_blob(s, d, above, name);
    else
        for (const char *below; (below = sweep_next(d));)
            sweep_below(s, dirfd(d), below, level - 1);
    closedir(d);
}

static void on_worker(void *ctx)
{
    struct block_sweep *s = ctx;
    DIR *root = opendir(s->root);
    for (const char *name; root && (name = sweep_next(root));) {
        DIR *account = account_name_valid(name) ? sweep_open(dirfd(root), name) : NULL;
        if (!account)
            continue;
        sweep_below(s, dirfd(account), SHARE_BLOCKS, LEVELS);
        closedir(account);
    }
    if (root)
        closedir(root);
}

/* --- on the loop ------------------------------------------------------------------------------ */

static void sweep_free(void *ctx)
{
    struct block_sweep *s = ctx;
    free(s->root);
    free(s);
}

static void on_swept(void *ctx, const struct err *why)
{
    struct block_sweep *s = ctx;
    struct wakes *wakes = s->wakes;
    if (!why) {
        if (s->blobs > 0)
            LOG_INFO(s->sh->c.log, "blocks.removed", LF_INT("blobs", s->blobs),
                     LF_STR("why", "the blocks were not committed within a week"));
        sweep_free(s);
    }
    wakes_unref(wakes);
}

void shares_sweep_blocks(struct shares *sh, int64_t before_us)
{
    static const struct files_task task = {on_worker, on_swept, sweep_free};
    struct block_sweep *s = xcalloc(1, sizeof *s);
    *s = (struct block_sweep){
        .sh = sh, .wakes = sh->c.wakes, .root = xstrdup(sh->storage_dir), .before_us = before_us};
    wakes_ref(sh->c.wakes);
    files_run(sh->c.files, sh->storage_dir, &task, s);
}

int shares_forget_uncommitted(struct shares *sh, struct err *e)
{
    int gone;
    int64_t before_us = wakes_steady_wall(sh->c.wakes) - ROW_KEPT_US;
    if (st_uncommitted_forget_old(sh->c.storage, before_us, ROWS_PER_PASS, &gone, e) < 0)
        return -1;
    return gone == ROWS_PER_PASS;
}
