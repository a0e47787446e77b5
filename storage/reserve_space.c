/* SPDX-License-Identifier: MIT
 *
 * Reserves space on the database's disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fs.h"
#include "storage/seeding.h"
#include "storage/storage_priv.h"

/* The file has no name, so that it disappears however the daemon ends. */
int st_room_keep(struct storage *st, int64_t bytes, int *fd, struct err *e)
{
    char *dir = fs_folder(st->path);
    int rc = 0;
    *fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    /* Not posix_fallocate(), which writes each block if the file system cannot allocate at once. */
    if (*fd >= 0 && fallocate(*fd, 0, 0, (off_t)bytes) < 0) {
        int why = errno;
        if (why == ENOSPC || why == EDQUOT)
            st_shed_wal(st);
        if (why != EOPNOTSUPP)
            rc = err_set(
                e, ERR_STORAGE, NULL,
                "The disk that holds the database has no room for this (%lld MiB more): %s.",
                (long long)(bytes >> 20) + 1, strerror(why));
        close(*fd);
        *fd = -1;
    }
    free(dir);
    return rc;
}
