/* SPDX-License-Identifier: MIT
 *
 * The key that seals secrets: 32 bytes in a separate file. The database keeps a sealed constant, so
 * a wrong or lost key is found at the start and not by the first job with secrets.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "storage/storage_priv.h"

#define KEY_CHECK_TEXT "batchaid key check"

static int key_read(struct storage *st, struct err *e)
{
    char *data;
    size_t len;
    if (fs_read(st->key_path, 4096, &data, &len, e) < 0)
        return -1;
    bool fits = len == sizeof st->key;
    if (fits)
        memcpy(st->key, data, sizeof st->key);
    sodium_memzero(data, len);
    free(data);
    if (!fits)
        return err_set(e, ERR_CONFIG, NULL, "%s is not a key file: it has %zu bytes, not %zu",
                       st->key_path, len, sizeof st->key);
    struct stat s;
    if (stat(st->key_path, &s) == 0 && (s.st_mode & 077) != 0)
        LOG_WARN(st->log, "key.readable_by_others", LF_STR("file", st->key_path),
                 LF_STR("remedy", "chmod 600"));
    return 0;
}

/* Reads the key, or makes it. `known`: the database was sealed with a key before, so the key must
 * exist. */
static int key_get(struct storage *st, bool known, struct err *e)
{
    if (access(st->key_path, F_OK) == 0)
        return key_read(st, e);
    if (errno != ENOENT)
        return err_errno(e, ERR_CONFIG, "cannot look at the key file %s", st->key_path);
    if (known)
        return err_set(e, ERR_CONFIG, NULL,
                       "the key file %s is missing, and no other key opens the secrets in %s; "
                       "restore it from a backup",
                       st->key_path, st->path);
    randombytes_buf(st->key, sizeof st->key);
    return fs_write_whole(st->key_path, st->key, sizeof st->key, 0600, !st->without_sync, e);
}

static int key_prove(struct storage *st, const void *check, size_t len, struct err *e)
{
    struct arena a;
    arena_init(&a);
    const char *plain;
    bool ok = st_unseal(st, &a, check, len, &plain, NULL) == 0 && plain &&
              strcmp(plain, KEY_CHECK_TEXT) == 0;
    arena_free(&a);
    if (ok)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "the key file %s does not belong to %s: it cannot open the sealed values in it; "
                   "restore the right key from a backup",
                   st->key_path, st->path);
}

static int key_remember(struct storage *st, struct err *e)
{
    return st_meta_set_key_check(st, KEY_CHECK_TEXT, e);
}

int st_key_load(struct storage *st, struct err *e)
{
    if (sodium_init() < 0)
        return err_set(e, ERR_INTERNAL, NULL, "libsodium does not start");
    struct q q;
    q_read(&q, st, ST_META_GET);
    int rc = q_step(&q, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_STORAGE, NULL, "%s has lost its meta row", st->path);
    bool known = !c_is_null(&q);
    rc = key_get(st, known, e);
    if (rc == 0 && known) {
        size_t n;
        const void *check = c_blob(&q, &n);
        rc = key_prove(st, check, n, e);
    }
    q_end(&q);
    if (rc == 0 && !known)
        rc = key_remember(st, e);
    return rc;
}

struct sealed {
    unsigned char bytes[256];
    size_t n;
};
static_assert(sizeof KEY_CHECK_TEXT - 1 + ST_SEAL_OVERHEAD <= sizeof((struct sealed *)NULL)->bytes,
              "what is sealed there has room");

static void take_sealed(void *ctx, const void *cell, size_t n)
{
    struct sealed *s = ctx;
    if (cell && n <= sizeof s->bytes) {
        memcpy(s->bytes, cell, n);
        s->n = n;
    }
}

int st_key_check(struct storage *st, struct err *e)
{
    struct sealed s = {.n = 0};
    if (sodium_init() < 0)
        return err_set(e, ERR_INTERNAL, NULL, "libsodium does not start");
    if (st_query(st, "SELECT key_check FROM meta", "meta", take_sealed, &s, e) < 0)
        return -1;
    if (s.n == 0)
        return 0;
    return key_get(st, true, e) < 0 ? -1 : key_prove(st, s.bytes, s.n, e);
}
