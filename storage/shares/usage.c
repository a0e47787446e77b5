/* SPDX-License-Identifier: MIT */
#include "storage/shares/usage.h"

#include "storage/folders/walk.h"
#include "storage/shares/shares_priv.h"

#define FILES_A_PAGE 5000 /* files that are added up per turn of the loop */

struct counting {
    struct files *files;
    const char *folder;
    uint64_t bytes;
    shares_counted cb;
    void *ctx;
};

static void count(struct counting *c, const char *after);

static void on_walked(void *ctx, const struct err *why, enum file_fault fault,
                      struct file_items *found)
{
    struct counting *c = ctx;
    if (why) {
        c->cb(c->ctx, why, fault, 0);
        return;
    }
    for (size_t i = 0; i < found->n; i++)
        c->bytes += found->item[i].facts.size;
    if (found->last)
        count(c, found->last);
    else
        c->cb(c->ctx, NULL, FILE_FINE, c->bytes);
}

static void count(struct counting *c, const char *after)
{
    const struct files_walk what = {.share = c->folder, .after = after, .max = FILES_A_PAGE};
    files_walk(c->files, &what, on_walked, c);
}

void shares_count(const struct shares *sh, struct arena *a, const struct share *s,
                  shares_counted cb, void *ctx)
{
    struct counting *c = arena_alloc(a, sizeof *c);
    *c = (struct counting){
        .files = sh->c.files, .folder = shares_folder(sh, a, s), .cb = cb, .ctx = ctx};
    count(c, NULL);
}
