/* SPDX-License-Identifier: MIT
 *
 * Writes files in place: sizes, ranges, appended bytes, zeros. Also hashes ranges. Each write sets
 * or restores the file's time and is synced before it is reported; other acts may use the share
 * during the sync. See act_priv.h for threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/crc64.h"
#include "storage/folders/act_priv.h"
#include "storage/folders/change.h"

/* Bytes of zeros to write, or of ranges to search, before other work runs. */
#define ZEROS_A_STEP  (1024 * 1024)
#define RANGES_A_STEP 4096

/* Sets the file's time to now, and one nanosecond later if it has this time already. Older kernels
 * take a file's time from a clock that stands for some milliseconds, so that a second write would
 * not change it. Skipped for a file of another owner, because only the owner may set its time. */
static void set_time(int fd, const struct file_facts *before)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    const struct timespec times[] = {time_to_set(FILES_TIME_KEPT),
                                     time_to_set(ns + (ns == before->mtime_ns))};
    (void)!futimens(fd, times);
}

/* Call after a write: syncs the file and reads its facts. */
static enum file_fault synced(struct act *a, int fd)
{
    errno = a->sync ? place_sync_data(fd) : 0;
    return errno ? fault_of(errno) : facts_of(fd, &a->r.facts);
}

static enum file_fault run_synced(struct act *a)
{
    return synced(a, a->fd);
}

/* Call after a write, before the sync: sets the file's time, or restores the time that it had
 * `before`. */
static enum file_fault timed(const struct act *a, int fd, const struct file_facts *before)
{
    const struct timespec times[] = {time_to_set(FILES_TIME_KEPT), time_to_set(before->mtime_ns)};
    if (a->keeps_mtime && futimens(fd, times) < 0)
        return fault_of(errno);
    if (!a->keeps_mtime && a->time_ns != FILES_TIME_KEPT)
        place_set_time(fd, a->time_ns);
    else if (!a->keeps_mtime)
        set_time(fd, before);
    return FILE_FINE;
}

static enum file_fault written(struct act *a, int fd, const struct file_facts *before)
{
    enum file_fault fault = timed(a, fd, before);
    return fault ? fault : synced(a, fd);
}

/* Call when the bytes are written. The sync is a step of its own, and other jobs may read the file
 * during it. */
static enum file_fault range_written(struct act *a, const struct file_facts *before)
{
    enum file_fault fault = timed(a, a->fd, before);
    if (fault || !a->sync)
        return fault ? fault : synced(a, a->fd);
    a->run = run_synced;
    a->more = a->job.lets_go = true;
    return FILE_FINE;
}

/* --- cutting, lengthening --------------------------------------------------------------------- */

static enum file_fault run_set_size(struct act *a)
{
    enum file_fault fault = place_open(a->share, a->path, O_WRONLY, &a->fd, &a->r.facts);
    if (fault)
        return fault;
    if (a->len > INT64_MAX)
        return FILE_TOO_LARGE;
    if (a->r.facts.size > a->len && act_is_for_worker(a, a->r.facts.size - a->len))
        return FILE_FINE;
    if (ftruncate(a->fd, (off_t)a->len) < 0)
        return fault_of(errno);
    return written(a, a->fd, &a->r.facts);
}

void files_set_size(struct files *f, const struct file_place *at, uint64_t size, files_changed cb,
                    void *ctx)
{
    struct act *a = act_new(f, run_set_size, at, cb, ctx);
    a->len = size;
    act_begin(f, a);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static enum file_fault check_hashes(struct act *a)
{
    if (a->has_crc64 || a->wants_crc64)
        a->r.crc64 = crc64_add(0, a->bytes, a->n);
    if (a->has_crc64 && a->r.crc64 != a->crc64)
        return FILE_CRC64_WRONG;
    if (!a->wants_md5 && !a->has_md5)
        return FILE_FINE;
    if (gnutls_hash_fast(GNUTLS_DIG_MD5, a->bytes, a->n, a->r.md5) < 0)
        return FILE_BROKEN;
    return a->has_md5 && memcmp(a->r.md5, a->md5, FILES_MD5) != 0 ? FILE_MD5_WRONG : FILE_FINE;
}

/* Sets the offset of an append at the end. False: the bytes lie outside of the file, or the append
 * does not begin at its end. */
static bool is_within(struct act *a, uint64_t size)
{
    if (a->appends && a->offset == FILES_AT_END)
        a->offset = size;
    if (a->appends)
        return a->offset == size;
    return a->offset <= size && a->n <= size - a->offset;
}

static enum file_fault run_hash(struct act *a)
{
    enum file_fault fault = place_open(a->share, a->path, O_RDONLY, &a->fd, &a->r.facts);
    if (fault)
        return fault;
    a->bytes = xrealloc(NULL, a->len ? a->len : 1);
    errno = place_read(a->fd, a->offset, a->bytes, a->len, &a->n);
    return errno ? fault_of(errno) : check_hashes(a);
}

void files_md5(struct files *f, const struct file_place *at, const struct file_range *range,
               files_changed cb, void *ctx)
{
    struct act *a = act_new(f, run_hash, at, cb, ctx);
    a->job.reach = READS_BYTES;
    a->offset = range->offset;
    a->len = range->len;
    a->wants_md5 = true;
    act_begin(f, a);
}

void files_crc64(struct files *f, const struct file_place *at, const struct file_range *range,
                 files_changed cb, void *ctx)
{
    struct act *a = act_new(f, run_hash, at, cb, ctx);
    a->job.reach = READS_BYTES;
    a->offset = range->offset;
    a->len = range->len;
    a->wants_crc64 = true;
    act_begin(f, a);
}

static enum file_fault run_write(struct act *a)
{
    struct file_facts before;
    enum file_fault fault = check_hashes(a);
    if (!fault)
        fault = place_open(a->share, a->path, O_WRONLY, &a->fd, &before);
    if (fault)
        return fault;
    if (!is_within(a, before.size))
        return FILE_BEYOND_END;
    errno = place_write(a->fd, a->bytes, a->n, a->offset);
    a->r.added = a->appends;
    if (errno && a->appends) /* nobody may read a part of these bytes */
        a->r.added = !place_cut_back(a->fd, &before);
    return errno ? fault_of(errno) : range_written(a, &before);
}

void files_write(struct files *f, const struct files_write *what, files_changed cb, void *ctx)
{
    struct act *a = act_new(f, run_write, &what->at, cb, ctx);
    a->job.reach = WRITES_BYTES;
    a->offset = what->offset;
    a->bytes = what->bytes;
    a->n = what->n;
    a->appends = what->appends;
    a->keeps_mtime = what->keeps_mtime;
    a->wants_md5 = what->wants_md5;
    a->has_crc64 = what->has_crc64;
    a->wants_crc64 = what->wants_crc64;
    a->crc64 = what->crc64;
    a->has_md5 = what->md5 != NULL;
    if (what->md5)
        memcpy(a->md5, what->md5, FILES_MD5);
    act_begin(f, a);
}

/* a->from is the inode; a->offset and a->len are the sizes without and with the bytes. */
static enum file_fault run_cut_back(struct act *a)
{
    enum file_fault fault = place_open(a->share, a->path, O_WRONLY, &a->fd, &a->r.facts);
    const struct file_facts *now = &a->r.facts;
    if (fault || now->inode != a->from || now->size <= a->offset || now->size > a->len)
        return fault;
    if (now->size < a->len)
        return FILE_BEYOND_END;
    if (ftruncate(a->fd, (off_t)a->offset) < 0)
        return fault_of(errno);
    place_set_time(a->fd, a->mtime_ns);
    return synced(a, a->fd);
}

void files_cut_back(struct files *f, const struct file_place *at, const struct file_facts *was,
                    size_t n, files_changed cb, void *ctx)
{
    struct act *a = act_new(f, run_cut_back, at, cb, ctx);
    a->job.reach = WRITES_BYTES;
    a->from = was->inode;
    a->offset = was->size;
    a->len = was->size + n;
    a->mtime_ns = was->mtime_ns;
    act_begin(f, a);
}

/* --- bytes of another file -------------------------------------------------------------------- */

/* Reads the bytes to write into a->bytes. */
static enum file_fault read_source(struct act *a)
{
    struct file_facts facts;
    enum file_fault fault = place_open(a->from_share, a->to, O_RDONLY, &a->fd, &facts);
    if (fault)
        return fault;
    if (a->from > facts.size || a->n > facts.size - a->from)
        return FILE_BEYOND_END;
    a->bytes = xrealloc(NULL, a->n ? a->n : 1);
    size_t got = 0;
    errno = place_read(a->fd, a->from, a->bytes, a->n, &got);
    if (errno)
        return fault_of(errno);
    act_close(a);
    return got == a->n ? FILE_FINE : FILE_BEYOND_END;
}

static enum file_fault run_copy_range(struct act *a)
{
    enum file_fault fault = read_source(a);
    return fault ? fault : run_write(a);
}

void files_copy_range(struct files *f, const struct files_copy_range *what, files_changed cb,
                      void *ctx)
{
    struct act *a = act_new(f, run_copy_range, &what->at, cb, ctx);
    a->job.reach = WRITES_BYTES;
    a->from_share = xstrdup(what->from.share);
    a->to = xstrdup(what->from.path);
    a->from = what->range.offset;
    a->n = (size_t)what->range.len;
    a->offset = what->offset;
    a->keeps_mtime = what->keeps_mtime;
    a->wants_crc64 = true;
    act_begin(f, a);
}

/* --- holes ------------------------------------------------------------------------------------ */

/* Writes some of the zeros; a->offset and a->len become the rest of the range. Existing holes
 * remain. */
static enum file_fault write_zeros(struct act *a)
{
    off_t end = (off_t)(a->offset + a->len), data = lseek(a->fd, (off_t)a->offset, SEEK_DATA);
    if (data < 0 && errno != ENXIO)
        data = (off_t)a->offset;
    if (data < 0 || data >= end) {
        a->len = 0;
        return FILE_FINE;
    }
    size_t n = end - data < ZEROS_A_STEP ? (size_t)(end - data) : ZEROS_A_STEP;
    char *zeros = xcalloc(1, n);
    int error = place_write(a->fd, zeros, n, (uint64_t)data);
    free(zeros);
    errno = error;
    a->offset = (uint64_t)data + n;
    a->len = (uint64_t)end - a->offset;
    return fault_of(error);
}

static bool cannot_punch(int error)
{
    return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

static enum file_fault run_zeros(struct act *a)
{
    enum file_fault fault = write_zeros(a);
    a->more = !fault && a->len > 0;
    if (fault || a->more)
        return fault;
    return range_written(a, &a->r.facts);
}

static enum file_fault run_clear(struct act *a)
{
    enum file_fault fault = place_open(a->share, a->path, O_RDWR, &a->fd, &a->r.facts);
    if (fault)
        return fault;
    if (a->offset > a->r.facts.size || a->len > a->r.facts.size - a->offset)
        return FILE_BEYOND_END;
    if (act_is_for_worker(a, a->len))
        return FILE_FINE;
    if (a->len == 0 || fallocate(a->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 (off_t)a->offset, (off_t)a->len) == 0)
        return range_written(a, &a->r.facts);
    if (!cannot_punch(errno))
        return fault_of(errno);
    a->run = run_zeros;
    a->more = true;
    return FILE_FINE;
}

void files_clear(struct files *f, const struct files_clear *what, files_changed cb, void *ctx)
{
    struct act *a = act_new(f, run_clear, &what->at, cb, ctx);
    a->job.reach = WRITES_BYTES;
    a->offset = what->range.offset;
    a->len = what->range.len;
    a->keeps_mtime = what->keeps_mtime;
    act_begin(f, a);
}

static void keep_range(struct file_result *r, uint64_t offset, uint64_t len)
{
    if ((r->ranges & (r->ranges - 1)) == 0)
        r->range = xrealloc(r->range, (r->ranges ? r->ranges * 2 : 1) * sizeof *r->range);
    r->range[r->ranges++] = (struct file_range){offset, len};
}

/* Searches for ranges with data from a->offset on. The file may become shorter meanwhile. */
static enum file_fault look_for_data(struct act *a)
{
    a->more = true;
    for (int i = 0; i < RANGES_A_STEP; i++) {
        off_t data = lseek(a->fd, (off_t)a->offset, SEEK_DATA);
        off_t hole = data < 0 ? -1 : lseek(a->fd, data, SEEK_HOLE);
        if (hole < 0 || data == hole) {
            a->more = false;
            return errno == ENXIO || hole >= 0 ? FILE_FINE : fault_of(errno);
        }
        keep_range(&a->r, (uint64_t)data, (uint64_t)(hole - data));
        a->offset = (uint64_t)hole;
    }
    return FILE_FINE;
}

static enum file_fault run_data(struct act *a)
{
    enum file_fault fault = place_open(a->share, a->path, O_RDONLY, &a->fd, &a->r.facts);
    if (fault)
        return fault;
    a->run = look_for_data;
    return look_for_data(a);
}

void files_data(struct files *f, const struct file_place *at, files_changed cb, void *ctx)
{
    act_begin(f, act_new(f, run_data, at, cb, ctx));
}
