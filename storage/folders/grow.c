/* SPDX-License-Identifier: MIT
 *
 * Appends bytes to an existing file in place; the sync follows later.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/crc64.h"
#include "storage/folders/unfinished_priv.h"

static enum file_fault add_at_end(struct unfinished *u, const char *bytes, size_t n,
                                  struct file_result *r)
{
    errno = place_write(u->fd, bytes, n, u->size);
    if (!errno)
        place_set_time(u->fd, u->time_ns);
    if (!errno && u->sync && !u->later)
        errno = place_sync_data(u->fd);
    u->size += n;
    return errno ? fault_of(errno) : facts_of(u->fd, &r->facts);
}

enum file_fault unfinished_grow(struct unfinished *u, const char *bytes, size_t n, uint64_t offset,
                                struct file_result *r)
{
    struct file_facts before;
    enum file_fault fault = place_open(u->share, u->path, O_WRONLY, &u->fd, &before);
    if (!fault && before.size != offset)
        fault = FILE_BEYOND_END;
    if (!fault && u->wants_md5 && gnutls_hash_fast(GNUTLS_DIG_MD5, bytes, n, r->md5) < 0)
        fault = FILE_BROKEN;
    if (fault)
        return fault;
    if (u->wants_crc64)
        r->crc64 = crc64_add(0, bytes, n);
    u->size = before.size;
    u->device = before.device;
    u->later = u->sync && place_syncs_whole(u->fd);
    fault = add_at_end(u, bytes, n, r);
    if (fault)
        (void)place_cut_back(u->fd, &before);
    r->owes = u->later;
    return fault;
}
