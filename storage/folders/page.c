/* SPDX-License-Identifier: MIT
 *
 * A page of a directory: reads its names, some in each step; then the facts of the names on the
 * page.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/fs.h"
#include "storage/folders/files_priv.h"
#include "storage/folders/names_priv.h"
#include "storage/folders/place_priv.h"

/* How many entries, or facts of names, one step reads: some ms altogether on a nearby server. */
#define ENTRIES_A_STEP 256

struct page_job {
    struct folder_job job; /* must be first */
    char *share, *path, *prefix, *after;
    DIR *dir;               /* open between steps */
    struct dir_names names; /* one more name than the page has */
    bool is_read;
    size_t next; /* index of the next name whose facts are needed */
    struct paging p;
};

static enum file_fault open_page(struct page_job *l)
{
    struct file_facts facts;
    int fd;
    enum file_fault fault = place_find(l->share, l->path, &fd, &facts);
    if (fault)
        return fault;
    close(fd);
    fd = fs_open_beneath(l->share, l->path, O_RDONLY | O_DIRECTORY);
    l->dir = fd < 0 ? NULL : fdopendir(fd);
    if (l->dir)
        return FILE_FINE;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return fault_of(error);
}

static enum file_fault read_names(struct page_job *l)
{
    const char *name;
    unsigned char type;
    for (int i = 0; i < ENTRIES_A_STEP; i++) {
        if (!names_next(l->dir, &name, &type, &l->p.found.left_out)) {
            l->is_read = true;
            names_end(&l->names);
            return fault_of(errno);
        }
        if (strncmp(name, l->prefix, strlen(l->prefix)) == 0 &&
            (!l->after || strcmp(name, l->after) > 0))
            names_offer(&l->names, name, type);
    }
    return FILE_FINE;
}

/* Reads the facts of a name. A file that was removed meanwhile is left out, and so is a link to an
 * entry that lists do not show. */
static enum file_fault facts_of_name(struct page_job *l, const struct name *name,
                                     struct file_facts *out)
{
    if (name->type != DT_LNK)
        return facts_at(dirfd(l->dir), name->text, out, NULL);
    char *path = *l->path ? fs_join(l->path, name->text) : xstrdup(name->text);
    int fd;
    enum file_fault fault = place_find(l->share, path, &fd, out);
    if (fd >= 0)
        close(fd);
    free(path);
    return fault ? fault : out->is_directory ? FILE_IS_DIRECTORY : FILE_FINE;
}

static void read_facts(struct page_job *l, size_t end)
{
    assert(l->dir);
    for (; l->next < end; l->next++) {
        const struct name *name = &l->names.at[l->next];
        struct file_facts facts;
        if (facts_of_name(l, name, &facts) == FILE_FINE)
            item_add(&l->p.found, name->text)->facts = facts;
    }
}

static enum file_fault page_run(struct page_job *l, bool *more)
{
    enum file_fault fault = l->dir ? FILE_FINE : open_page(l);
    *more = true;
    if (!fault && !l->is_read)
        return read_names(l);
    size_t shown = l->names.max - 1, n = l->names.n < shown ? l->names.n : shown;
    size_t end = l->next + ENTRIES_A_STEP < n ? l->next + ENTRIES_A_STEP : n;
    if (!fault)
        read_facts(l, end);
    *more = !fault && end < n;
    if (!fault && !*more && l->names.n > shown)
        l->p.found.last = xstrdup(l->names.at[shown - 1].text);
    return fault;
}

static bool page_step(struct folder_job *job)
{
    struct page_job *l = CONTAINER_OF(job, struct page_job, job);
    bool more;
    l->p.fault = page_run(l, &more);
    l->p.error = errno;
    more = more && !l->p.fault;
    if (!more && l->dir) {
        closedir(l->dir);
        l->dir = NULL;
    }
    return more;
}

static void page_tell(struct folder_job *job, const struct err *why)
{
    paging_tell(&CONTAINER_OF(job, struct page_job, job)->p, why);
}

static void page_destroy(struct folder_job *job)
{
    struct page_job *l = CONTAINER_OF(job, struct page_job, job);
    if (l->dir)
        close_directory_later(job->share, l->dir);
    names_clear(&l->names);
    file_items_free(&l->p.found);
    free(l->share);
    free(l->path);
    free(l->prefix);
    free(l->after);
    free(l);
}

static const struct job_kind page_kind = {
    .step = page_step, .tell = page_tell, .destroy = page_destroy};

void files_page(struct files *f, const struct files_page *what, files_paged cb, void *ctx)
{
    struct page_job *l = xcalloc(1, sizeof *l);
    assert(what->max > 0);
    *l = (struct page_job){.job.kind = &page_kind,
                           .share = xstrdup(what->at.share),
                           .path = xstrdup(what->at.path),
                           .prefix = xstrdup(what->prefix ? what->prefix : ""),
                           .after = what->after ? xstrdup(what->after) : NULL,
                           .names.max = what->max + 1,
                           .p = {.cb = cb, .ctx = ctx}};
    job_begin(f, what->at.share, &l->job);
}
