/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/ids.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/fs.h"

#define DATABASE_MAX (16U * 1024 * 1024)

/* Searches lines "name:x:number:..." of passwd(5) or group(5). If `name` is NULL, searches for the
 * number, otherwise for the name. Returns the name in the line, or NULL if there is no such line.
 * The caller frees it. */
static char *find(const char *path, const char *name, unsigned number)
{
    char *text, *save = NULL, *found = NULL;
    if (fs_read(path, DATABASE_MAX, &text, NULL, NULL) < 0)
        return NULL;
    for (char *line = strtok_r(text, "\n", &save); line && !found;
         line = strtok_r(NULL, "\n", &save)) {
        char *words = NULL, *first = strtok_r(line, ":", &words);
        char *second = first ? strchr(words, ':') : NULL, *end;
        if (!second)
            continue;
        unsigned long long n = strtoull(second + 1, &end, 10);
        bool fits = name ? strcmp(first, name) == 0 : end > second + 1 && n == number;
        found = fits ? xstrdup(first) : NULL;
    }
    free(text);
    return found;
}

bool id_is_users(unsigned uid)
{
    char *name = find("/etc/passwd", NULL, uid);
    bool is = name != NULL;
    free(name);
    return is;
}

bool group_is_there(const char *group)
{
    char *name = find("/etc/group", group, 0);
    bool is = name != NULL;
    free(name);
    return is;
}

static int refuse(const char *what, unsigned number, const char *name, struct err *e)
{
    return err_set(e, ERR_CONFLICT, what,
                   "the %s %u belongs to '%s' on this machine; choose a free number", what, number,
                   name);
}

int ids_check_free(unsigned uid, unsigned gid, const char *group, struct err *e)
{
    char *user = find("/etc/passwd", NULL, uid), *other = find("/etc/group", NULL, gid);
    int rc = user ? refuse("uid", uid, user, e) : 0;
    if (rc == 0 && other && !(group && strcmp(group, other) == 0))
        rc = refuse("gid", gid, other, e);
    free(user);
    free(other);
    return rc;
}
