/* SPDX-License-Identifier: MIT
 *
 * Reads and caches the list of mounts, and finds the mounts at or below a path. The kernel reports
 * changes of the list (POLLPRI on mountinfo), so it is read again only after a change, or after
 * KEPT_MS. struct mounts_kept belongs to the agent; a forked worker has a copy.
 */
#include "nodeagent-proto/agent/mounts.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/monotonic.h"

#define MOUNTINFO     "/proc/self/mountinfo"
#define KEPT_MS       1000
#define MOUNTINFO_MAX (64U * 1024 * 1024)

/* Returns the text without escapes: mountinfo contains blanks, tabs, newlines and backslashes as
 * three octal digits. */
static char *unescape(const char *s, size_t n)
{
    char *out = xcalloc(1, n + 1), *at = out;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\' && i + 3 < n && s[i + 1] >= '0' && s[i + 1] <= '3') {
            *at++ = (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 | (s[i + 3] - '0'));
            i += 3;
        } else {
            *at++ = s[i];
        }
    }
    return out;
}

/* Adds the mount of a line "36 35 98:0 /root /mount/point options optional... - type source
 * options". */
static void add_line(struct agent_mounts *m, const char *line)
{
    enum { DEVICE = 2, POINT = 4, FIELDS };
    const char *field[FIELDS];
    size_t len[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        field[i] = line;
        len[i] = strcspn(line, " ");
        if (line[len[i]] != ' ')
            return;
        line += len[i] + 1;
    }
    const char *type = strstr(line, " - ");
    if (!type || len[DEVICE] >= sizeof m->items->device)
        return;
    if ((m->n & (m->n - 1)) == 0)
        m->items = xrealloc(m->items, (m->n ? m->n * 2 : 1) * sizeof *m->items);
    struct mount_point *p = &m->items[m->n++];
    memset(p, 0, sizeof *p);
    memcpy(p->device, field[DEVICE], len[DEVICE]);
    p->path = unescape(field[POINT], len[POINT]);
    p->type = unescape(type + 3, strcspn(type + 3, " "));
}

int mounts_read(struct agent_mounts *out, struct err *e)
{
    char *text, *save = NULL;
    memset(out, 0, sizeof *out);
    if (fs_read(MOUNTINFO, MOUNTINFO_MAX, &text, NULL, e) < 0)
        return err_prefix(e, "cannot read the list of mounts");
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        add_line(out, line);
    free(text);
    return 0;
}

void mounts_free(struct agent_mounts *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->items[i].path);
        free(m->items[i].type);
    }
    free(m->items);
}

/* The kernel remembers for each descriptor whether a mount changed since the last poll, so a change
 * while the list is read is noticed at the next call. */
const struct agent_mounts *mounts_now(struct mounts_kept *k)
{
    struct pollfd p = {.fd = k->fd, .events = POLLPRI};
    if (k->fd >= 0 && monotonic_ms() < k->until_ms && poll(&p, 1, 0) == 0)
        return &k->list;
    mounts_let_go(k);
    k->fd = open(MOUNTINFO, O_RDONLY | O_CLOEXEC);
    k->until_ms = monotonic_ms() + KEPT_MS;
    if (k->fd < 0)
        return NULL;
    if (mounts_read(&k->list, NULL) == 0)
        return &k->list;
    mounts_let_go(k);
    return NULL;
}

void mounts_let_go(struct mounts_kept *k)
{
    mounts_free(&k->list);
    if (k->fd >= 0)
        close(k->fd);
    *k = (struct mounts_kept)MOUNTS_NOT_KEPT;
}

bool mounts_is_within(const char *top, const char *path)
{
    size_t n = strlen(top);
    return strncmp(path, top, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

const struct mount_point *mounts_last_within(const struct agent_mounts *m, const char *top)
{
    for (size_t i = m->n; i-- > 0;)
        if (mounts_is_within(top, m->items[i].path))
            return &m->items[i];
    return NULL;
}

bool mounts_is_shared(const struct agent_mounts *m, const char *device, const char *top)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->items[i].device, device) == 0 && !mounts_is_within(top, m->items[i].path))
            return true;
    return false;
}

bool mounts_concern(const char *root, const char *path)
{
    struct agent_mounts m;
    bool concern = false;
    if (mounts_read(&m, NULL) < 0)
        return true; /* the list of mounts is not known */
    for (size_t i = 0; i < m.n && !concern; i++)
        concern =
            mounts_is_within(path, m.items[i].path) ||
            (mounts_is_within(m.items[i].path, path) && strlen(m.items[i].path) > strlen(root));
    mounts_free(&m);
    return concern;
}

int mounts_refuse_within(struct mounts_kept *k, const char *path, struct err *e)
{
    struct agent_mounts anew = {.n = 0};
    const struct agent_mounts *m = k ? mounts_now(k) : NULL;
    struct strbuf names = STRBUF_INIT;
    if (!m && mounts_read(&anew, e) < 0)
        return -1;
    m = m ? m : &anew;
    for (size_t i = 0; i < m->n; i++)
        if (mounts_is_within(path, m->items[i].path))
            strbuf_printf(&names, "%s%s (%s)", names.len ? ", " : "", m->items[i].path,
                          m->items[i].type);
    mounts_free(&anew);
    int rc =
        names.len == 0
            ? 0
            : err_set(e, ERR_CONFLICT, "path",
                      "cannot remove %s: still mounted there: %.600s; unmount it first, so that "
                      "nothing is deleted inside",
                      path, names.s);
    strbuf_free(&names);
    return rc;
}
