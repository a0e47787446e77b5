/* SPDX-License-Identifier: MIT
 *
 * Blobs with only uncommitted blocks. The first block of such a blob stores the blob's name in a
 * row, because the folder of the blocks has another name. Lists these blobs if the request asks for
 * them.
 */
#include <string.h>

#include "api/plane/blob/handlers.h"
#include "storage/storage.h"

int uncommitted_note(struct request *r, struct err *e)
{
    struct share_item i;
    if (item_load(r, r->rest, &i, e) < 0)
        return -1;
    if (i.id > 0) /* the blob itself exists already */
        return 0;
    return st_uncommitted_add(azstorage_of(r)->storage, grant_of(r)->share.id, r->rest, r->now_us,
                              e);
}

/* The number of rows up to `last`, the last row of the other list if that list is incomplete (NULL:
 * it is complete). Rows after `last` cannot be merged yet. */
static size_t until(const struct share_item *rows, size_t n, const char *last)
{
    while (last && n > 0 && strcmp(rows[n - 1].path, last) > 0)
        n--;
    return n;
}

static const char *last_of(const struct share_item *rows, size_t n, bool is_cut)
{
    return is_cut && n > 0 ? rows[n - 1].path : NULL;
}

int uncommitted_add(struct request *r, const char *from, const char *to, int max,
                    struct share_item **rows, size_t *n, bool *is_cut, struct err *e)
{
    struct share_item_rows waiting;
    if (st_uncommitted_list(azstorage_of(r)->storage, &r->arena, grant_of(r)->share.id,
                            &(struct st_paths){.from = from, .to = to, .limit = max}, &waiting,
                            e) < 0)
        return -1;
    bool waiting_is_cut = waiting.n == (size_t)max;
    const char *last = last_of(*rows, *n, *is_cut);
    const char *last_waiting = last_of(waiting.items, waiting.n, waiting_is_cut);
    size_t n_rows = until(*rows, *n, last_waiting);
    waiting.n = until(waiting.items, waiting.n, last);
    struct share_item *all = arena_alloc(&r->arena, (n_rows + waiting.n + 1) * sizeof *all);
    size_t i = 0, k = 0, at = 0;
    while (i < n_rows || k < waiting.n) {
        bool is_row =
            k == waiting.n || (i < n_rows && strcmp((*rows)[i].path, waiting.items[k].path) <= 0);
        if (!is_row)
            waiting.items[k].aside = blocks_folder_of(r, waiting.items[k].path);
        all[at++] = is_row ? (*rows)[i++] : waiting.items[k++];
    }
    *rows = all;
    *n = at;
    *is_cut = *is_cut || waiting_is_cut;
    return 0;
}
