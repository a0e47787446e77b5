/* SPDX-License-Identifier: MIT
 *
 * Forgets the entries of removed node roots. Other agents own these roots, and a root may be on a
 * share that hangs. So a separate process checks them, without the registry's lock; it takes the
 * lock only to remove an entry that is unchanged since the check. Roots on shares are checked last.
 * The process waits at most LIMIT_S for its turn (the lock of AT_WORK), and then works for at most
 * LIMIT_S.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/arena.h"
#include "nodeagent-proto/agent/descriptors.h"
#include "nodeagent-proto/agent/mounts.h"
#include "nodeagent-proto/agent/names.h"
#include "nodeagent-proto/agent/procs.h"
#include "nodeagent-proto/agent/registry.h"
#include "nodeagent-proto/agent/uids.h"

/* Locked by the process that checks entries now; other such processes wait. */
#define AT_WORK ".forgetting"

#define LIMIT_S 60

struct gone_files {
    const struct uid_holder *holder;
    char **items;
    size_t n, cap;
};

static bool add_file(void *ctx, int registry, const struct registry_entry *en)
{
    struct gone_files *all = ctx;
    (void)registry;
    if (entry_is_held_by(en, all->holder))
        return false;
    if (all->n == all->cap) {
        all->cap = all->cap ? all->cap * 2 : 64;
        all->items = xrealloc(all->items, all->cap * sizeof *all->items);
    }
    all->items[all->n++] = xstrdup(en->file);
    return false;
}

static bool has_number(void *ctx, int registry, const struct registry_entry *en)
{
    (void)registry;
    return en->uid == *(const uid_t *)ctx;
}

/* Removes an entry, and the name of its number unless another root has the same number for this
 * job. */
static void forget(const struct registry_entry *seen)
{
    struct registry_entry now;
    struct err e;
    uid_t uid = seen->uid;
    int registry = registry_lock(&e);
    if (registry < 0)
        return;
    if (registry_read(registry, seen->file, &now) && strcmp(now.text, seen->text) == 0 &&
        unlinkat(registry, seen->file, 0) == 0 &&
        !registry_each(registry, seen->name, has_number, &uid))
        name_take_back(uid);
    close(registry);
}

static void look_at(int registry, struct mounts_kept *mounts, const char *file, bool far)
{
    struct registry_entry en;
    if (registry_read(registry, file, &en) && mounts_may_hang(mounts, "/", en.root) == far &&
        entry_is_gone(&en) && !procs_run_as(en.uid, 2))
        forget(&en);
}

struct spares {
    const struct uid_holder *holder;
    struct mounts_kept *mounts;
    bool far;
};

static bool is_left(void *ctx, const struct registry_entry *en)
{
    const struct spares *s = ctx;
    return !entry_is_held_by(en, s->holder) &&
           mounts_may_hang(s->mounts, "/", en->root) == s->far && entry_is_gone(en);
}

static void look_at_all(const struct uid_holder *h)
{
    struct gone_files all = {.holder = h};
    int registry = registry_look();
    int busy = registry < 0 ? -1 : openat(registry, AT_WORK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (busy < 0 || flock(busy, LOCK_EX) < 0)
        return;
    struct mounts_kept mounts = MOUNTS_NOT_KEPT;
    alarm(LIMIT_S);
    (void)registry_each(registry, NULL, add_file, &all);
    for (int far = 0; far < 2; far++) {
        for (size_t i = 0; i < all.n; i++)
            look_at(registry, &mounts, all.items[i], far);
        registry_remove_spares(registry, is_left, &(struct spares){h, &mounts, far});
    }
}

void uids_forget_gone(const struct uid_holder *h)
{
    pid_t pid = fork();
    if (pid != 0)
        return;
    prctl(PR_SET_NAME, "batchai-forget");
    setsid();
    /* This takes long, so the process must not keep the link or the agent's lock open. */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (dup2(null, fd) < 0)
            _exit(1);
    descriptors_close_all_but(-1, -1, -1);
    alarm(LIMIT_S);
    look_at_all(h);
    _exit(0);
}
