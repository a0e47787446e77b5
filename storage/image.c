/* SPDX-License-Identifier: MIT
 *
 * The build's version of migrations/: their texts, and the database that they make. SQLite takes
 * tens of milliseconds to apply them, so a new database is written as a complete file.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/fs.h"
#include "storage/storage_priv.h"

/* A part of the file; the rest of it is zero. */
struct image_piece {
    unsigned at, n;
    const char *bytes;
};

#include "image.inc"

static const struct st_migration migrations[] = {
#include "migrations.inc"
};

const struct st_migration *st_migrations(int *n)
{
    *n = (int)(sizeof migrations / sizeof migrations[0]);
    return migrations;
}

int st_image_write(const char *path, bool sync, struct err *e)
{
    struct stat s;
    /* An existing file, even an empty one, belongs to somebody: it gets the migrations, and stays
     * the same file. */
    if (lstat(path, &s) == 0 || errno != ENOENT)
        return 0;
    char *file = mmap(NULL, IMAGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (file == MAP_FAILED)
        return err_errno(e, ERR_STORAGE, "cannot create the database %s", path);
    for (size_t i = 0; i < sizeof image / sizeof image[0]; i++)
        memcpy(file + image[i].at, image[i].bytes, image[i].n);
    struct err why;
    int rc = fs_write_whole(path, file, IMAGE_BYTES, 0600, sync, &why);
    munmap(file, IMAGE_BYTES);
    return rc < 0 ? err_set(e, ERR_STORAGE, NULL, "%s", why.msg) : 1;
}
