/* SPDX-License-Identifier: MIT
 *
 * Cleans up after seeds and resets that a killed daemon has left. At the start of the daemon,
 * removes an unfinished seed as a reset would. A reset renames folders before its transaction, so a
 * folder may have the name of a detached account although the account still exists; such a folder
 * gets its old name back.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/testing/seed/detach_group.h"
#include "api/testing/seed/steps.h"
#include "lib/fs.h"
#include "lib/log.h"
#include "model/spec.h"
#include "storage/seeding.h"
#include "storage/storage.h"

/* --- seeds ------------------------------------------------------------------------------------ */

struct beginning {
    struct detachment detachment;
    const struct log *log;
};

static int detach_unmade(struct storage *st, void *ctx, struct err *e)
{
    struct beginning *b = ctx;
    struct resource_group *rows;
    size_t n;
    if (st_group_unmade(st, b->detachment.a, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        LOG_WARN(b->log, "testing.seed_unfinished", LF_STR("subscription", rows[i].subscription),
                 LF_STR("group", rows[i].name));
        if (detach_group_alone(&b->detachment, &rows[i], e) < 0)
            return -1;
    }
    return seed_subscriptions_begin(st, b->detachment.a, e);
}

/* Removes those folders of an account that are empty. */

static void remove_empty(const char *path)
{
    const char *const inside[] = {SHARE_ASIDE, SHARE_BLOCKS,
                                  enum_to_name(share_kind_names, SHARE_FILES),
                                  enum_to_name(share_kind_names, SHARE_BLOBS)};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        char *below = fs_join(path, inside[i]);
        (void)rmdir(below);
        free(below);
    }
    (void)rmdir(path);
}

/* Handles the folder "NAME#ID" of a detached account. */
static int look(struct beginning *b, const char *folder, struct err *e)
{
    struct storage_account acct;
    const char *mark = strchr(folder, '#');
    const char *name = arena_strndup(b->detachment.a, folder, (size_t)(mark - folder));
    const char *from = arena_concat(b->detachment.a, b->detachment.storage_dir, "/", folder);
    const char *to = arena_concat(b->detachment.a, b->detachment.storage_dir, "/", name);
    int rc =
        st_account_by_id(b->detachment.st, b->detachment.a, strtoll(mark + 1, NULL, 10), &acct, e);
    if (rc < 0)
        return -1;
    if (rc == 0)
        remove_empty(from);
    else if (strcasecmp(acct.name, name) == 0 &&
             renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) < 0)
        LOG_WARN(b->log, "testing.folder_not_renamed", LF_STR("folder", from),
                 LF_STR("why", strerror(errno)));
    return 0;
}

static int look_at_folders(struct beginning *b, struct err *e)
{
    DIR *d = opendir(b->detachment.storage_dir);
    int rc = 0;
    for (const struct dirent *de; rc == 0 && d && (de = readdir(d));)
        if (de->d_name[0] != '.' && strchr(de->d_name, '#'))
            rc = look(b, de->d_name, e);
    if (d)
        closedir(d);
    return rc;
}

int seed_begin(struct storage *st, const char *storage_dir, int64_t now_us, const struct log *log,
               struct err *e)
{
    struct arena a;
    arena_init(&a);
    struct beginning b = {
        .detachment = {.st = st, .a = &a, .storage_dir = storage_dir, .now_us = now_us},
        .log = log};
    int rc = look_at_folders(&b, e);
    if (rc == 0 && st_tx(st, "unfinished seeds", detach_unmade, &b, e) < 0) {
        detach_undo(&b.detachment);
        rc = -1;
    }
    arena_free(&a);
    return rc;
}
