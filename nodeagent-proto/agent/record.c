/* SPDX-License-Identifier: MIT
 *
 * Makes, reads and removes the files of tasks. A claim is renamed into place, never over another
 * claim. The records of start and exit are written into the files that were reserved with the
 * claim, then these files are renamed. The agent and the supervisors share only these files and the
 * lock.
 */
#include "nodeagent-proto/agent/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/jsonread.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "nodeagent-proto/wire/codec.h"
#include "nodeagent-proto/wire/message.h"

#define RECORD_MAX   (64U * 1024) /* bytes; a status with its stderr tail is far smaller */
#define RECORD_USUAL 2048

#define STARTING_MARK "starting\n"

/* The longest records: JSON writes a byte in at most six (\u0001). The rest, reason included, is
 * below 2 KiB of text. */
#define JSON_GROWTH 6
#define START_ROOM  (JSON_GROWTH * 2 * PATH_MAX + 1024)
#define EXIT_ROOM   (JSON_GROWTH * (NODE_TAIL_MAX + 2048) + 1024)

#define ROOM ".room" /* the suffix of a reserved file, after the suffix of the record */

/* The files of a forgotten task are kept as a set of spare files, and a later task reuses them; no
 * task id can form their names. Constantly making and removing files costs ext4 more and more,
 * because it searches past all recently removed inodes. */
static const struct record_room {
    const char *suffix, *record, *spare;
    off_t size;
} rooms[] = {{".start" ROOM, ".start", "=start", START_ROOM},
             {".exit" ROOM, ".exit", "=exit", EXIT_ROOM}};
#define N_ROOMS     (sizeof rooms / sizeof rooms[0])
#define CLAIM       ".claim"
#define SPARE_CLAIM "=claim"
#define SPARE_SETS  16 /* sets of spare files; the files of further forgotten tasks are removed */
#define NO_SET      (-1)

static const char *const suffixes[] = {CLAIM, ".start", ".exit", ".start" ROOM, ".exit" ROOM};
#define N_SUFFIXES (sizeof suffixes / sizeof suffixes[0])

static char *path_of(const char *dir, const char *id, const char *suffix)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s/%s%s", dir, id, suffix);
    return strbuf_take(&b);
}

/* The path of a spare file of a set; the files of the first set have no number. */
static char *spare_of(const char *dir, const char *name, int set)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_concat(&b, dir, "/", name);
    if (set > 0)
        strbuf_printf(&b, "%d", set);
    return strbuf_take(&b);
}

/* Locks a spare claim and overwrites its text; truncates it only then, so that its disk block
 * stays. -1: there is no such file, or its last holder still has the lock. */
static int lock_claim(const char *path, const char *boot_id)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    int n = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? dprintf(fd, "%s\n", boot_id) : -1;
    if (n > 0 && ftruncate(fd, n) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The claim of a forgotten task, locked; *path is its name, for the caller to free. -1: there is
 * none. */
static int take_spare_claim(const char *dir, const char *boot_id, char **path, int *set)
{
    for (int i = 0; i < SPARE_SETS; i++) {
        *path = spare_of(dir, SPARE_CLAIM, i);
        int fd = lock_claim(*path, boot_id);
        *set = i;
        if (fd >= 0)
            return fd;
        free(*path);
    }
    *path = NULL;
    *set = NO_SET;
    return -1;
}

/* There is one agent per root, so the name needs no randomness. A temporary file of a killed agent
 * may be a second name of a published claim (publish()), so it is removed, not truncated. */
static int make_claim(const char *dir, const char *boot_id, char **tmp, int *set)
{
    int fd = take_spare_claim(dir, boot_id, tmp, set);
    if (fd >= 0)
        return fd;
    *tmp = fs_join(dir, "claim.tmp");
    if (unlink(*tmp) < 0 && errno != ENOENT)
        return -1;
    fd = open(*tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && dprintf(fd, "%s\n", boot_id) > 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Gives the claim its name, never over another claim. Not all file systems can do this in one
 * step. */
static int publish(const char *tmp, const char *path)
{
    if (renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return link(tmp, path) == 0 ? unlink(tmp) : -1;
}

/* Makes the reserved file at `path`: renames the spare file of the set, or makes a new file.
 * Returns 0 or an errno value. */
static int take_room(const char *dir, const char *path, const struct record_room *room, int set)
{
    struct stat st;
    char *left = set != NO_SET ? spare_of(dir, room->spare, set) : NULL;
    bool has = left && rename(left, path) == 0 && stat(path, &st) == 0 && st.st_size >= room->size;
    free(left);
    if (has)
        return 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int why = fd < 0 ? errno : posix_fallocate(fd, 0, room->size);
    if (fd >= 0)
        close(fd);
    return why;
}

static int keep_room(const char *dir, const char *id, const struct record_room *room, int set,
                     struct err *e)
{
    char *path = path_of(dir, id, room->suffix);
    int why = take_room(dir, path, room, set);
    errno = why;
    int rc = why ? err_errno(e, ERR_IO,
                             "cannot claim task %s: cannot keep %lld bytes in %s for the record of "
                             "its run",
                             id, (long long)room->size, path)
                 : 0;
    free(path);
    return rc;
}

/* Makes the reserved files of both records. If that fails, removes all files of the task, because
 * nothing was started yet. Called only after the claim was made: if the claim exists already, the
 * files belong to another task. */
static int keep_rooms(const char *dir, const char *id, int set, struct err *e)
{
    if (keep_room(dir, id, &rooms[0], set, e) == 0 && keep_room(dir, id, &rooms[1], set, e) == 0)
        return 0;
    int ignored = record_forget(dir, id, NULL);
    (void)ignored;
    return -1;
}

int record_claim(const char *dir, const char *id, const char *boot_id, struct err *e)
{
    char *path = path_of(dir, id, CLAIM), *tmp = NULL;
    int set, fd = make_claim(dir, boot_id, &tmp, &set);
    if (fd < 0) {
        err_errno(e, ERR_IO, "cannot claim task %s: cannot make %s", id, tmp);
    } else if (publish(tmp, path) < 0) { /* the claim is complete and locked when it appears */
        if (errno == EEXIST)
            err_set(e, ERR_CONFLICT, "id", "task %s is already claimed", id);
        else
            err_errno(e, ERR_IO, "cannot claim task %s: cannot create %s", id, path);
        close(fd);
        fd = -1;
    } else if (keep_rooms(dir, id, set, e) < 0) {
        close(fd);
        fd = -1;
    }
    free(tmp);
    free(path);
    return fd;
}

int record_commit(int claim_fd, struct err *e)
{
    if (dprintf(claim_fd, STARTING_MARK) == (int)strlen(STARTING_MARK))
        return 0;
    return err_errno(e, ERR_IO, "cannot note that the task is being started");
}

bool record_is_unused(const char *dir, const char *id, const char *boot_id)
{
    char *path = path_of(dir, id, CLAIM), *text = NULL;
    size_t n = strlen(boot_id);
    bool unused = fs_read(path, 256, &text, NULL, NULL) == 0 && strncmp(text, boot_id, n) == 0 &&
                  strcmp(text + n, "\n") == 0;
    free(text);
    free(path);
    return unused;
}

bool record_is_supervised(const char *dir, const char *id)
{
    char *path = path_of(dir, id, CLAIM);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) < 0;
    close(fd);
    return held;
}

void record_claimed_boot(const char *dir, const char *id, char *out, size_t size)
{
    char *path = path_of(dir, id, CLAIM), *text = NULL;
    out[0] = '\0';
    if (fs_read(path, 256, &text, NULL, NULL) == 0)
        snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
    free(path);
}

/* Writes into existing blocks, so that a full disk does not matter. Old bytes after the text stay:
 * readers stop at the end of the text. */
static int fill(const char *path, const struct strbuf *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    int rc = fs_write_all(fd, text->s, text->len) < 0;
    int saved = errno;
    close(fd);
    errno = saved;
    return rc ? -1 : 0;
}

static int write_json(const char *dir, const char *id, const char *suffix, const json_t *j,
                      struct err *e)
{
    struct strbuf text = STRBUF_INIT, room = STRBUF_INIT;
    char *path = path_of(dir, id, suffix);
    int rc = 0;
    strbuf_printf(&room, "%s" ROOM, path);
    if (!j || codec_text(j, &text) < 0)
        rc = err_set(e, ERR_INTERNAL, NULL, "the record of task %s could not be made", id);
    else if (fill(room.s, &text) < 0 || rename(room.s, path) < 0)
        rc = err_errno(e, ERR_IO, "cannot write %s", path);
    free(path);
    strbuf_free(&room);
    strbuf_free(&text);
    return rc;
}

/* Reads RECORD_USUAL bytes first, and the rest of the file only if the text does not end there,
 * because the rest is mostly padding. */
static json_t *read_json(const char *dir, const char *id, const char *suffix)
{
    char *path = path_of(dir, id, suffix), *text, first[RECORD_USUAL];
    size_t len;
    json_t *j = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, first, sizeof first) : -1;
    if (fd >= 0)
        close(fd);
    if (n > 0)
        j = jsonread(first, (size_t)n, JSON_DISABLE_EOF_CHECK, NULL);
    if (!j && n == (ssize_t)sizeof first && fs_read(path, RECORD_MAX, &text, &len, NULL) == 0) {
        j = jsonread(text, len, JSON_DISABLE_EOF_CHECK, NULL);
        free(text);
    }
    free(path);
    return j;
}

int record_write_start(const char *dir, const char *id, const struct start_record *r, struct err *e)
{
    json_t *j = json_pack(
        "{s:i, s:i, s:I, s:I, s:I, s:I, s:s, s:s*}", "supervisor", (int)r->supervisor, "command",
        (int)r->command, "command_start", (json_int_t)r->command_start, "supervisor_start",
        (json_int_t)r->supervisor_start, "started_us", (json_int_t)r->started_us, "stderr_from",
        (json_int_t)r->stderr_from, "stderr_path", r->stderr_path, "cgroup", r->cgroup);
    if (j && r->has_account) {
        json_object_set_new(j, "uid", json_integer((json_int_t)r->uid));
        json_object_set_new(j, "gid", json_integer((json_int_t)r->gid));
    }
    int rc = write_json(dir, id, ".start", j, e);
    json_decref(j);
    return rc;
}

json_t *record_read_start(const char *dir, const char *id, struct start_record *out)
{
    memset(out, 0, sizeof *out);
    json_t *j = read_json(dir, id, ".start");
    int supervisor, command;
    json_int_t command_start, own_start = 0, started, from, uid = -1, gid = -1;
    if (!j)
        return NULL;
    if (json_unpack(j, "{s:i, s:i, s:I, s?I, s:I, s:I, s:s, s?s, s?I, s?I}", "supervisor",
                    &supervisor, "command", &command, "command_start", &command_start,
                    "supervisor_start", &own_start, "started_us", &started, "stderr_from", &from,
                    "stderr_path", &out->stderr_path, "cgroup", &out->cgroup, "uid", &uid, "gid",
                    &gid) < 0) {
        json_decref(j);
        return NULL;
    }
    out->supervisor = supervisor;
    out->command = command;
    out->command_start = (uint64_t)command_start;
    out->supervisor_start = (uint64_t)own_start;
    out->started_us = started;
    out->stderr_from = from;
    out->has_account = uid >= 0 && gid >= 0;
    out->uid = out->has_account ? (uid_t)uid : 0;
    out->gid = out->has_account ? (gid_t)gid : 0;
    return j;
}

int record_write_exit(const char *dir, const char *id, const json_t *status, struct err *e)
{
    return write_json(dir, id, ".exit", status, e);
}

json_t *record_read_exit(const char *dir, const char *id)
{
    json_t *j = read_json(dir, id, ".exit");
    struct task_status s;
    if (j && message_task_status_read(j, &s, NULL) == 0 && strcmp(s.id, id) == 0)
        return j;
    json_decref(j);
    return NULL;
}

/* Renames the task's claim to the claim of a free set. Returns the set; NO_SET: the claim was not
 * renamed. */
static int leave_claim(const char *dir, const char *id)
{
    char *path = path_of(dir, id, CLAIM);
    int set = NO_SET;
    for (int i = 0; i < SPARE_SETS && set == NO_SET; i++) {
        char *left = spare_of(dir, SPARE_CLAIM, i);
        if (renameat2(AT_FDCWD, path, AT_FDCWD, left, RENAME_NOREPLACE) == 0)
            set = i;
        else if (errno != EEXIST)
            i = SPARE_SETS;
        free(left);
    }
    free(path);
    return set;
}

static bool leave(const char *dir, const char *id, const char *suffix, const char *spare, int set)
{
    char *path = path_of(dir, id, suffix), *left = spare_of(dir, spare, set);
    bool done = rename(path, left) == 0;
    free(left);
    free(path);
    return done;
}

static int drop(const char *dir, const char *id, const char *suffix, struct err *e)
{
    char *path = path_of(dir, id, suffix);
    int rc = unlink(path) < 0 && errno != ENOENT
                 ? err_errno(e, ERR_IO, "cannot forget task %s: cannot remove %s", id, path)
                 : 0;
    free(path);
    return rc;
}

/* The claim is removed first: files without a claim belong to no task. A record is its reserved
 * file under another name, so only one of the two exists. */
int record_forget(const char *dir, const char *id, struct err *e)
{
    int set = leave_claim(dir, id);
    int rc = set == NO_SET ? drop(dir, id, CLAIM, e) : 0;
    for (size_t i = 0; i < N_ROOMS && rc == 0; i++) {
        const struct record_room *r = &rooms[i];
        if (set != NO_SET &&
            (leave(dir, id, r->record, r->spare, set) || leave(dir, id, r->suffix, r->spare, set)))
            continue;
        rc = drop(dir, id, r->record, e) < 0 || drop(dir, id, r->suffix, e) < 0 ? -1 : 0;
    }
    return rc;
}

bool record_id_of(const char *name, const char *suffix, char *id, size_t size)
{
    size_t n = strlen(name), k = strlen(suffix);
    if (n <= k || n - k >= size || strcmp(name + n - k, suffix) != 0)
        return false;
    memcpy(id, name, n - k);
    id[n - k] = '\0';
    return task_id_valid(id);
}

static void clear_orphan(const char *dir, const char *name)
{
    char id[TASK_ID_MAX + 1];
    for (size_t i = 1; i < N_SUFFIXES; i++) {
        if (!record_id_of(name, suffixes[i], id, sizeof id))
            continue;
        char *claim = path_of(dir, id, CLAIM), *path = fs_join(dir, name);
        if (access(claim, F_OK) < 0 && errno == ENOENT)
            unlink(path);
        free(claim);
        free(path);
    }
}

int record_each(const char *dir, void (*fn)(void *ctx, const char *id), void *ctx, struct err *e)
{
    DIR *d = opendir(dir);
    if (!d)
        return err_errno(e, ERR_IO, "cannot read %s", dir);
    struct dirent *de;
    char id[TASK_ID_MAX + 1];
    while ((de = readdir(d))) {
        if (record_id_of(de->d_name, CLAIM, id, sizeof id))
            fn(ctx, id);
        else
            clear_orphan(dir, de->d_name);
    }
    closedir(d);
    return 0;
}
