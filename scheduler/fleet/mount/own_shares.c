/* SPDX-License-Identifier: MIT
 *
 * Asks the share server for keys and keeps each in the fleet's list until it is sent. While the
 * server makes a key, its callback owns the `struct own_key`, also after the key was forgotten.
 * Private keys are wiped after use. All this runs on the loop's thread.
 */
#include "scheduler/fleet/mount/own_shares.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent-proto/login/share_server.h"
#include "scheduler/fleet/node/node_priv.h"

static bool serves(const struct node_rt *rt)
{
    return rt->machine && rt->fleet->cfg.shares;
}

/* The id of a key. Runs have separate keys; the preparation of a node makes the keys of its runs
 * invalid. */
static const char *id_of(struct arena *a, const char *node, const char *owner)
{
    if (strcmp(owner, OWN_SHARES_NODE) == 0)
        return arena_concat(a, node, "." OWN_SHARES_NODE);
    return arena_concat(a, node, ".run-", owner);
}

/* --- keys in the making ----------------------------------------------------------------------- */

static struct own_key **find(struct fleet *fl, const char *node, const char *owner)
{
    struct own_key **at = &fl->own_keys;
    while (*at && (strcmp((*at)->node, node) != 0 || strcmp((*at)->owner, owner) != 0))
        at = &(*at)->next;
    return at;
}

static void key_free(struct own_key *k)
{
    if (k->private_key)
        explicit_bzero(k->private_key, strlen(k->private_key));
    free(k->private_key);
    free(k->host_key);
    free(k->user);
    free(k->node);
    free(k->owner);
    free(k);
}

/* Removes the key from the list. As long as the key is being made, its callback owns it and frees
 * it later. */
static void remove_at(struct own_key **at)
{
    struct own_key *k = *at;
    *at = k->next;
    if (k->made)
        key_free(k);
    else
        k->fleet = NULL;
}

void own_shares_forget(struct fleet *fl, const char *node, const char *owner)
{
    struct own_key **at = find(fl, node, owner);
    if (*at)
        remove_at(at);
}

void own_shares_free(struct fleet *fl)
{
    while (fl->own_keys)
        remove_at(&fl->own_keys);
}

static void on_given(void *ctx, const struct err *why, const struct share_key *key)
{
    struct own_key *k = ctx;
    k->made = true;
    if (!k->fleet) {
        key_free(k);
        return;
    }
    if (why) {
        k->why = *why;
    } else {
        k->private_key = xstrdup(key->private_key);
        k->host_key = xstrdup(key->host_key);
        k->user = xstrdup(key->user);
    }
    wake(k->fleet->wakes, k->kind, k->id);
}

/* Lists the folders of the volumes, relative to the storage directory; `out` has room for all. */
static size_t folders_of(const struct node_rt *rt, struct arena *a, const struct mount_list *list,
                         const char **out)
{
    const struct mount_own any = {.address = "", .user = ""};
    const struct mount_node node = {.words = words_of_node(rt),
                                    .site = rt->fleet->cfg.site,
                                    .storage_dir = rt->fleet->cfg.storage_dir,
                                    .root = rt->root,
                                    .mount_root = rt->root,
                                    .work_dir = rt->root,
                                    .own = &any};
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct mount_volume *v = &list->items[i];
        struct mount_plan plan;
        struct failure ignored;
        if ((v->kind == MOUNT_FILE_SHARE || v->kind == MOUNT_BLOBS) &&
            mount_plan(a, &node, &(struct mount_wish){v, i, NULL}, &plan, &ignored) &&
            plan.own_folder)
            out[n++] = plan.own_folder;
    }
    return n;
}

static void ask(const struct node_rt *rt, struct own_key *k, const char **folders, size_t n)
{
    struct fleet *fl = rt->fleet;
    struct arena a;
    arena_init(&a);
    share_server_give(fl->cfg.shares, id_of(&a, k->node, k->owner), folders, n, on_given, k);
    arena_free(&a);
}

bool own_shares_await(const struct node_rt *rt, const char *owner, const struct mount_list *list,
                      const struct wake_kind *kind, int64_t id)
{
    struct fleet *fl = rt->fleet;
    struct own_key *k = serves(rt) && list->n > 0 ? *find(fl, rt->name, owner) : NULL;
    if (!serves(rt) || list->n == 0 || (k && k->made))
        return false;
    if (k)
        return true;
    struct arena a;
    arena_init(&a);
    const char **folders = arena_alloc(&a, list->n * sizeof *folders);
    size_t n = folders_of(rt, &a, list, folders);
    if (n > 0) {
        k = xcalloc(1, sizeof *k);
        *k = (struct own_key){.next = fl->own_keys,
                              .fleet = fl,
                              .node = xstrdup(rt->name),
                              .owner = xstrdup(owner),
                              .kind = kind,
                              .id = id};
        fl->own_keys = k;
        ask(rt, k, folders, n);
    }
    arena_free(&a);
    return n > 0;
}

/* --- planning --------------------------------------------------------------------------------- */

const struct own_key *own_shares_key(const struct node_rt *rt, const char *owner)
{
    const struct own_key *k = *find(rt->fleet, rt->name, owner);
    return k && k->made && k->why.code == ERR_NONE ? k : NULL;
}

const struct mount_own *own_shares_plan(const struct node_rt *rt, struct arena *a,
                                        const char *owner, const char *work_dir)
{
    const struct fleet_config *c = &rt->fleet->cfg;
    if (!serves(rt))
        return NULL;
    const struct own_key *k = *find(rt->fleet, rt->name, owner);
    const char *seen = rt->contact.link ? node_link_own_address(rt->contact.link) : "";
    bool given = c->shares_address && *c->shares_address;
    struct mount_own *own = arena_alloc(a, sizeof *own);
    *own = (struct mount_own){.address = given ? c->shares_address : arena_strdup(a, seen),
                              .port = share_server_port(c->shares),
                              .user = k && k->user ? arena_strdup(a, k->user) : "",
                              .key_file = arena_concat(a, work_dir, "/key"),
                              .hosts_file = arena_concat(a, work_dir, "/known_hosts")};
    if (!k || k->why.code)
        own->why_not = k ? arena_strdup(a, k->why.msg) : "its key is not made yet";
    return own;
}

/* --- taking back ------------------------------------------------------------------------------ */

void own_shares_take_back(struct fleet *fl, const char *node, const char *owner)
{
    struct arena a;
    if (!fl->cfg.shares)
        return;
    arena_init(&a);
    for (struct own_key **at = &fl->own_keys; *at;) {
        if (strcmp((*at)->node, node) == 0 && (!owner || strcmp((*at)->owner, owner) == 0))
            remove_at(at);
        else
            at = &(*at)->next;
    }
    share_server_take_back(fl->cfg.shares,
                           owner ? id_of(&a, node, owner) : arena_concat(&a, node, "."));
    arena_free(&a);
}

void own_shares_end_runs(const struct node_rt *rt)
{
    struct arena a;
    if (!serves(rt))
        return;
    arena_init(&a);
    share_server_take_back(rt->fleet->cfg.shares, id_of(&a, rt->name, ""));
    arena_free(&a);
}

void own_shares_start(struct fleet *fl)
{
    struct arena a;
    size_t n = 0;
    if (!fl->cfg.shares)
        return;
    arena_init(&a);
    const char **kept = arena_alloc(&a, (fl->nodes.n + 1) * sizeof *kept);
    for (size_t i = 0; i < fl->nodes.n; i++) {
        const struct node_rt *rt = fl->nodes.e[i].p;
        if (rt->machine)
            kept[n++] = arena_concat(&a, rt->name, ".");
    }
    share_server_keep(fl->cfg.shares, kept, n);
    arena_free(&a);
}
