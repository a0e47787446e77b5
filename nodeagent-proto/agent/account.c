/* SPDX-License-Identifier: MIT
 *
 * Finds an account in /etc/passwd and /etc/group, otherwise by getent(1) and id(1), and lets the
 * process act with the account's rights: temporarily (account_assume, account_resume) or
 * permanently (account_become). If nsswitch.conf names only local files, no program is run. The
 * caller owns the found account.
 */
#include "nodeagent-proto/agent/account.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/run_tool.h"

/* The most bytes that are read of /etc/passwd and /etc/group, which are large at large sites. */
#define DATABASE_MAX (16U * 1024 * 1024)
#define NAME_MAX_LEN 256 /* LOGIN_NAME_MAX is 256 */

enum { PASSWD_NAME, PASSWD_UID = 2, PASSWD_GID, PASSWD_HOME = 5, PASSWD_SHELL, PASSWD_FIELDS };
enum { GROUP_GID = 2, GROUP_MEMBERS, GROUP_FIELDS };

/* Cuts a line at its colons; returns the number of fields (at most n). */
static size_t split(char *line, char **fields, size_t n)
{
    size_t got = 0;
    while (got < n) {
        fields[got++] = line;
        line = strchr(line, ':');
        if (!line)
            break;
        *line++ = '\0';
    }
    return got;
}

static char *next_line(char **text)
{
    char *line = *text;
    if (!line || !*line)
        return NULL;
    char *end = strchr(line, '\n');
    *text = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static bool read_id(const char *text, unsigned *out)
{
    char *end;
    errno = 0;
    unsigned long v = strtoul(text, &end, 10);
    *out = (unsigned)v;
    /* UINT_MAX means "no id" to the system calls. */
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && v < UINT_MAX;
}

static void add_group(struct account *a, gid_t gid)
{
    for (size_t i = 0; i < a->n_groups; i++)
        if (a->groups[i] == gid)
            return;
    a->groups = xrealloc(a->groups, (a->n_groups + 1) * sizeof *a->groups);
    a->groups[a->n_groups++] = gid;
}

/* Reads the account from a line of passwd(5); modifies the line. */
static bool read_passwd(char *text, const char *name, struct account *out)
{
    char *line, *f[PASSWD_FIELDS];
    while ((line = next_line(&text))) {
        if (split(line, f, PASSWD_FIELDS) != PASSWD_FIELDS || strcmp(f[PASSWD_NAME], name) != 0 ||
            !read_id(f[PASSWD_UID], &out->uid) || !read_id(f[PASSWD_GID], &out->gid))
            continue;
        out->name = xstrdup(name);
        out->home = xstrdup(*f[PASSWD_HOME] ? f[PASSWD_HOME] : "/");
        out->shell = xstrdup(*f[PASSWD_SHELL] ? f[PASSWD_SHELL] : "/bin/sh");
        add_group(out, out->gid);
        return true;
    }
    return false;
}

static bool lists(const char *members, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = members; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && strncmp(p, name, n) == 0)
            return true;
    return false;
}

static void read_local_groups(struct account *a)
{
    char *text, *line, *f[GROUP_FIELDS];
    if (fs_read("/etc/group", DATABASE_MAX, &text, NULL, NULL) < 0)
        return;
    gid_t gid;
    for (char *at = text; (line = next_line(&at));)
        if (split(line, f, GROUP_FIELDS) == GROUP_FIELDS && lists(f[GROUP_MEMBERS], a->name) &&
            read_id(f[GROUP_GID], &gid))
            add_group(a, gid);
    free(text);
}

static bool read_group_list(char *text, struct account *a)
{
    char *save, *word = strtok_r(text, " \n", &save);
    gid_t gid;
    if (!word)
        return false;
    for (; word; word = strtok_r(NULL, " \n", &save))
        if (read_id(word, &gid))
            add_group(a, gid);
    return true;
}

/* True: this source of nsswitch.conf is local. The users and groups of the source "systemd" are
 * local, too, and no job runs as one of them. */
static bool is_local_source(const char *word)
{
    static const char *const local[] = {"files", "systemd"};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (strcmp(word, local[i]) == 0)
            return true;
    return false;
}

/* True: according to nsswitch.conf, groups are only in /etc/group, or the file has no line for
 * groups. */
static bool groups_are_local(void)
{
    char *text, *line, *save;
    bool local = true;
    if (fs_read("/etc/nsswitch.conf", DATABASE_MAX, &text, NULL, NULL) < 0)
        return true;
    for (char *at = text; (line = next_line(&at));) {
        line[strcspn(line, "#")] = '\0';
        char *word = strtok_r(line, " \t", &save);
        if (!word || (strcmp(word, "group:") != 0 && strcmp(word, "initgroups:") != 0))
            continue;
        while ((word = strtok_r(NULL, " \t", &save)))
            local = local && is_local_source(word);
    }
    free(text);
    return local;
}

static bool find_in_file(const char *name, struct account *out)
{
    char *text;
    if (fs_read("/etc/passwd", DATABASE_MAX, &text, NULL, NULL) < 0)
        return false;
    bool found = read_passwd(text, name, out);
    free(text);
    return found;
}

static int find_by_getent(const char *name, struct account *out, struct err *e)
{
    const char *argv[] = {"getent", "passwd", name, NULL};
    char *text;
    struct err why;
    if (ask_program(argv, &text, &why) < 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, "user",
                       "there is no account '%s' on this machine (not in /etc/passwd; %s)", name,
                       why.msg);
    bool found = read_passwd(text, name, out);
    free(text);
    return found ? 0
                 : err_set(e, ERR_RESOURCE_NOT_FOUND, "user",
                           "there is no account '%s' on this machine (getent has no valid entry)",
                           name);
}

static int find_groups(struct account *a, bool local, struct err *e)
{
    const char *argv[] = {"id", "-G", a->name, NULL};
    char *text;
    if (local && groups_are_local()) {
        read_local_groups(a);
        return 0;
    }
    if (ask_program(argv, &text, e) < 0)
        return err_prefix(e, "the groups of account '%s' cannot be determined", a->name);
    bool found = read_group_list(text, a);
    free(text);
    return found ? 0
                 : err_set(e, ERR_NODE, "user",
                           "the groups of account '%s' cannot be determined: id(1) prints nothing",
                           a->name);
}

int account_find(const char *name, struct account *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    /* getent would treat a number as a uid, and a word that begins with a dash as an option. */
    if (!*name || *name == '-' || strlen(name) > NAME_MAX_LEN || strpbrk(name, ":,/ \t\n") ||
        strspn(name, "0123456789") == strlen(name))
        return err_set(e, ERR_RESOURCE_NOT_FOUND, "user", "'%.100s' is not the name of an account",
                       name);
    bool local = find_in_file(name, out);
    if ((!local && find_by_getent(name, out, e) < 0) || find_groups(out, local, e) < 0) {
        account_free(out);
        return -1;
    }
    return 0;
}

void account_free(struct account *a)
{
    free(a->name);
    free(a->home);
    free(a->shell);
    free(a->groups);
    memset(a, 0, sizeof *a);
}

int account_check(const struct account *a, struct err *e)
{
    uid_t own = getuid();
    if (own == 0 || own == a->uid)
        return 0;
    return err_set(e, ERR_NOT_SUPPORTED, "user",
                   "the node agent has uid %u and cannot act as '%s' (uid %u): that needs root "
                   "(see 'become' of the inventory), or log in as '%s'",
                   (unsigned)own, a->name, (unsigned)a->uid, a->name);
}

static bool is_other(const struct account *a)
{
    return a && getuid() == 0 && a->uid != 0;
}

mode_t account_umask(const struct account *a)
{
    mode_t was = umask(ACCOUNT_SHARED_UMASK);
    if (!a || !a->shares)
        (void)umask(was);
    return was;
}

int account_assume(const struct account *a, struct err *e)
{
    if (!is_other(a))
        return 0;
    if (setgroups(a->n_groups, a->groups) == 0 && setegid(a->gid) == 0 && seteuid(a->uid) == 0)
        return 0;
    err_errno(e, ERR_NODE, "cannot take the rights of account '%s'", a->name);
    account_resume();
    return -1;
}

void account_resume(void)
{
    if (getuid() != 0)
        return;
    if (seteuid(0) < 0 || setegid(0) < 0 || setgroups(0, NULL) < 0)
        abort();
}

int account_become(const struct account *a, struct err *e)
{
    if (!is_other(a))
        return 0;
    if (setgroups(a->n_groups, a->groups) == 0 && setresgid(a->gid, a->gid, a->gid) == 0 &&
        setresuid(a->uid, a->uid, a->uid) == 0)
        return 0;
    return err_errno(e, ERR_NODE, "cannot become account '%s'", a->name);
}
