/* SPDX-License-Identifier: MIT
 *
 * Landlock rules can only allow access. So to hide a directory, the rules allow all entries of its
 * parent directories except those on the path to it. One process opens the ruleset; others inherit
 * the descriptor and enter it.
 */
#include "lib/confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/strbuf.h"

/* Copies of definitions in <linux/landlock.h>, because the installed header may be older than the
 * kernel. The numbers of the system calls are equal on all architectures. */
#define CREATE_RULESET 444
#define ADD_RULE       445
#define RESTRICT_SELF  446
#define VERSION_FLAG   1U
#define PATH_BENEATH   1

enum {
    MAY_EXECUTE = 1 << 0,
    MAY_WRITE_FILE = 1 << 1,
    MAY_READ_FILE = 1 << 2,
    MAY_READ_DIR = 1 << 3,
    MAY_REMOVE_AND_MAKE = 0x1ff << 4, /* each kind of entry */
    MAY_REFER = 1 << 13,              /* from Landlock version 2 on */
    MAY_TRUNCATE = 1 << 14            /* 3 */
};
#define OF_FILES     (MAY_EXECUTE | MAY_WRITE_FILE | MAY_READ_FILE | MAY_TRUNCATE)
#define SCOPE_SIGNAL 2 /* from Landlock version 6 on */

enum { RULES_FS, RULES_NET, RULES_SCOPED, RULES_PARTS }; /* struct landlock_ruleset_attr */
struct beneath {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

static long version(void)
{
    return syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);
}

bool confine_works(void)
{
    return version() > 0;
}

/* The kinds of access that the rules restrict. Listing directories is not restricted: jobs may list
 * / or their home, as without confinement. */
static uint64_t handled(long v)
{
    return MAY_EXECUTE | MAY_WRITE_FILE | MAY_READ_FILE | MAY_REMOVE_AND_MAKE |
           (v >= 2 ? MAY_REFER : 0) | (v >= 3 ? MAY_TRUNCATE : 0);
}

static int open_rules(long v, uint64_t fs)
{
    uint64_t set[RULES_PARTS] = {[RULES_FS] = fs, [RULES_SCOPED] = v >= 6 ? SCOPE_SIGNAL : 0};
    /* Kernels accept a shorter struct than their own, but not a longer one. */
    size_t size = v >= 6 ? sizeof set : sizeof set[RULES_FS];
    return (int)syscall(CREATE_RULESET, set, size, 0);
}

/* Allows access to an entry. An entry that was removed meanwhile needs no rule; a symbolic link
 * needs none, because its target is an entry itself. */
static int allow(int rules, uint64_t all, int at, const char *name, int more_flags)
{
    struct stat st;
    int fd = openat(at, name, O_PATH | O_CLOEXEC | more_flags);
    if (fd < 0)
        return errno == ENOENT || errno == EACCES || errno == ELOOP ? 0 : -1;
    struct beneath b = {.fd = fd};
    int rc = fstat(fd, &st);
    if (rc == 0 && !S_ISLNK(st.st_mode)) {
        b.allowed = S_ISDIR(st.st_mode) ? all : all & OF_FILES;
        rc = (int)syscall(ADD_RULE, rules, PATH_BENEATH, &b, 0);
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

/* Allows all entries of a directory except the one on the path to the hidden directory. */
static int allow_beside(int rules, uint64_t all, const char *dir, const char *but)
{
    DIR *d = opendir(dir);
    struct dirent *de;
    int rc = d ? 0 : errno == EACCES ? 0 : -1;
    while (d && rc == 0 && (de = readdir(d)))
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0 &&
            strcmp(de->d_name, but) != 0)
            rc = allow(rules, all, dirfd(d), de->d_name, O_NOFOLLOW);
    int saved = errno;
    if (d)
        closedir(d);
    errno = saved;
    return rc;
}

/* Allows everything except `path`, which is absolute and contains no symbolic links. */
static int allow_around(int rules, uint64_t all, char *path)
{
    int rc = 0;
    for (char *at = path; at && rc == 0;) {
        char *next = strchr(at + 1, '/');
        *at = '\0';
        if (next)
            *next = '\0';
        rc = allow_beside(rules, all, at == path ? "/" : path, at + 1);
        *at = '/';
        if (next)
            *next = '/';
        at = next;
    }
    return rc;
}

static int fill(int rules, uint64_t all, const char *dir, const char *const *reach, size_t n)
{
    char *real = realpath(dir, NULL);
    int rc = real ? allow_around(rules, all, real) : -1;
    free(real);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = allow(rules, all, AT_FDCWD, reach[i], 0);
    return rc;
}

int confine_open(const char *dir, const char *const *reach, size_t n, struct err *e)
{
    long v = version();
    uint64_t all = handled(v);
    int rules = open_rules(v, all);
    if (rules >= 0 && fill(rules, all, dir, reach, n) == 0)
        return rules;
    err_errno(e, ERR_IO, "cannot hide %s from the task (Landlock)", dir);
    if (rules >= 0)
        close(rules);
    return -1;
}

int confine_open_only(const struct confine_part *parts, size_t n, struct err *e)
{
    long v = version();
    uint64_t all = handled(v) | MAY_READ_DIR;
    int rules = open_rules(v, all), rc = rules;
    for (size_t i = 0; i < n && rc >= 0; i++) {
        uint64_t may = parts[i].writable ? all & ~(uint64_t)MAY_EXECUTE
                                         : MAY_EXECUTE | MAY_READ_FILE | MAY_READ_DIR;
        rc = allow(rules, may, AT_FDCWD, parts[i].path, 0);
    }
    if (rc >= 0)
        return rules;
    err_errno(e, ERR_IO, "cannot confine the process to its folders (Landlock)");
    if (rules >= 0)
        close(rules);
    return -1;
}

int confine_enter(int rules, struct err *e)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(RESTRICT_SELF, rules, 0) == 0)
        return 0;
    return err_errno(e, ERR_IO, "cannot confine the task (Landlock)");
}
