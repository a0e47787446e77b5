/* SPDX-License-Identifier: MIT
 *
 * Collects names and keeps the first ones in order, so a directory of any size needs the memory of
 * one page. Also makes the items of a page. Runs on a worker of the share; the loop owns the list
 * after the answer.
 */
#include "storage/folders/names_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/jsontext.h"
#include "storage/folders/files_priv.h"
#include "storage/folders/place_priv.h"
#include "storage/folders/unfinished_priv.h"

/* --- ordered, and not too many ---------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

void names_end(struct dir_names *names)
{
    if (names->n > 1)
        qsort(names->at, names->n, sizeof *names->at, by_text);
    for (; names->n > names->max; names->is_cut = true)
        free(names->at[--names->n].text);
}

/* Collects twice as many names as wanted, then sorts them and drops the second half: on average
 * each name is sorted once or twice, in whatever order the names come. */
void names_offer(struct dir_names *names, const char *text, unsigned char type)
{
    if (names->is_cut && strcmp(text, names->at[names->max - 1].text) > 0)
        return;
    if ((names->n & (names->n - 1)) == 0)
        names->at = xrealloc(names->at, (names->n ? names->n * 2 : 1) * sizeof *names->at);
    names->at[names->n++] = (struct name){xstrdup(text), type};
    if (names->n >= 2 * names->max)
        names_end(names);
}

void names_clear(struct dir_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->at[i].text);
    free(names->at);
    *names = (struct dir_names){.max = names->max};
}

/* --- directories ------------------------------------------------------------------------------ */

static unsigned char type_of(DIR *dir, const struct dirent *de)
{
    struct stat st;
    if (de->d_type != DT_UNKNOWN)
        return de->d_type;
    if (fstatat(dirfd(dir), de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(st.st_mode);
}

bool names_next(DIR *dir, const char **name, unsigned char *type, size_t *left_out)
{
    const struct dirent *de;
    while (errno = 0, (de = readdir(dir))) {
        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
            continue;
        if (place_is_unfinished(de->d_name)) {
            unfinished_sweep(dirfd(dir), de->d_name);
            continue;
        }
        *name = de->d_name;
        *type = type_of(dir, de);
        if (*type != DT_REG && *type != DT_DIR && *type != DT_LNK)
            continue;
        if (jsontext_is_utf8(de->d_name, strlen(de->d_name)))
            return true;
        ++*left_out;
    }
    return false;
}

/* Closes a directory. The descriptor is duplicated, and the duplicate is closed later on a worker:
 * closing the first of two descriptors of one open directory cannot hang. */
void close_directory_later(struct folder_share *s, DIR *dir)
{
    int fd = fcntl(dirfd(dir), F_DUPFD_CLOEXEC, 0);
    closedir(dir);
    if (fd >= 0)
        close_later(s, fd);
}

/* --- results ---------------------------------------------------------------------------------- */

struct file_item *item_add(struct file_items *items, const char *name)
{
    if ((items->n & (items->n - 1)) == 0)
        items->item = xrealloc(items->item, (items->n ? items->n * 2 : 1) * sizeof *items->item);
    items->item[items->n] = (struct file_item){.name = xstrdup(name)};
    return &items->item[items->n++];
}

void file_items_free(struct file_items *items)
{
    for (size_t i = 0; i < items->n; i++)
        free(items->item[i].name);
    free(items->item);
    free(items->last);
    *items = (struct file_items){0};
}

void paging_tell(struct paging *p, const struct err *why)
{
    struct err e;
    enum file_fault fault = why ? FILE_UNAVAILABLE : p->fault;
    if (!why && fault) {
        fault_say(&e, fault, p->error);
        why = &e;
    }
    p->cb(p->ctx, why, fault, why ? NULL : &p->found);
}
